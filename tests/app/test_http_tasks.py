"""Shared tasks over HTTP: teams with tokens of their own, deadlines, blind boards."""

import hashlib
import io
import time
import zipfile
from collections.abc import Callable, Iterator
from concurrent.futures import ThreadPoolExecutor
from contextlib import contextmanager
from datetime import UTC, datetime, timedelta, timezone
from typing import Any

import httpx
import pytest
from exchange import Serve, problem

from app.settings import Settings
from sigtest.cli import main
from workers.access import digest_of

REFERENCE = [f"the cat number {i} sat on a mat of wool" for i in range(12)]
OUTPUTS = {
    "good": [f"the cat number {i} sat on a mat of silk" for i in range(12)],
    "fair": [f"the cat number {i} sits on some mat of wool" for i in range(12)],
    "poor": [f"a dog {i} stood by the mat" for i in range(12)],
}
OWNER = {"Authorization": "Bearer secret-of-ann"}
AOE = timezone(timedelta(hours=-12))


@pytest.fixture
def owner(serve: Serve) -> httpx.Client:
    """The client of who organises a task, on a service with keys."""
    keys: Any = (("ann", digest_of("secret-of-ann")), ("bob", digest_of("secret-of-bob")))
    client = serve(Settings(api_keys=keys))
    client.headers.update(OWNER)
    return client


def made(client: httpx.Client, name: str, **more: Any) -> str:
    """Id of a new test set."""
    body = {"name": name, "references": [REFERENCE], "metrics": ["chrf"], "capacity": 12}
    answer = client.post("/v1/testsets", json={**body, "resamples": 199, **more})
    assert answer.status_code in (200, 201), answer.text
    return str(answer.json()["id"])


def tasked(client: httpx.Client, name: str, tracks: int = 1, **rules: Any) -> dict[str, Any]:
    """A new task."""
    own = {f"track{i}": made(client, f"{name} {i}") for i in range(tracks)}
    answer = client.post("/v1/tasks", json={"name": name, "testsets": own, **rules})
    assert answer.status_code == 201, answer.text
    assert answer.headers["location"] == f"/v1/tasks/{answer.json()['id']}"
    body: dict[str, Any] = answer.json()
    return body


@contextmanager
def team_of(owner: httpx.Client, task: str, name: str) -> Iterator[httpx.Client]:
    """The client of a new team."""
    answer = owner.post(f"/v1/tasks/{task}/teams", json={"name": name})
    assert answer.status_code == 201, answer.text
    assert answer.headers["cache-control"] == "no-store"
    headers = {"Authorization": f"Bearer {answer.json()['token']}"}
    with httpx.Client(base_url=owner.base_url, headers=headers, timeout=60) as client:
        yield client


def put(
    client: httpx.Client, task: str, name: str, output: str, testset: str = "track0", **params: Any
) -> httpx.Response:
    """Submit a system, and wait until it is measured."""
    path = f"/v1/tasks/{task}/systems/{testset}/{name}"
    body = {"hypotheses": OUTPUTS[output]}
    return client.put(path, json=body, params=params, headers={"Prefer": "wait=30"})


def ends(seconds: float) -> str:
    """A deadline in so many seconds, anywhere on earth."""
    return datetime.fromtimestamp(time.time() + seconds, AOE).isoformat()


def test_a_team_submits_replaces_and_withdraws_its_own_systems(owner):
    task = tasked(owner, "own", deadline=ends(3600))["id"]
    with team_of(owner, task, "lynx") as lynx:
        first = put(lynx, task, "main", "poor")
        assert first.status_code == 201
        told = first.json()
        assert (told["team"], told["system"], told["event"]) == ("lynx", "main", "submitted")
        assert told["task"] == task
        assert (told["primary"], told["late"], told["status"]) == (True, False, "measured")
        assert told["scores"] is None  # blind until it is published
        again = put(lynx, task, "main", "poor")
        assert (again.status_code, again.json()) == (200, told)  # nothing happened twice
        second = put(lynx, task, "main", "good").json()
        assert (second["event"], second["primary"]) == ("replaced", True)
        other = put(lynx, task, "other", "fair").json()
        assert (other["event"], other["primary"]) == ("submitted", False)
        assert lynx.delete(f"/v1/tasks/{task}/systems/track0/other").status_code == 204
        listed = lynx.get(f"/v1/tasks/{task}/systems").json()
        assert [own["system"] for own in listed["systems"]] == ["main"]
        events = [(own["system"], own["event"]) for own in listed["receipts"]]
        assert {own["task"] for own in listed["receipts"]} == {task}
        submitted = ("main", "submitted"), ("main", "replaced"), ("other", "submitted")
        assert events == [*submitted, ("other", "withdrawn")]
        assert [own["digest"] for own in listed["receipts"]][:2] == [
            told["digest"],
            second["digest"],
        ]
        problem(lynx.get(f"/v1/tasks/{task}/systems/track0/other"), 404, "not-found")
    board = owner.get(f"/v1/tasks/{task}/testsets/track0/leaderboard").json()
    assert [own["name"] for own in board["systems"]] == ["lynx.main"]


def test_scores_are_seen_when_the_rules_say_so(owner):
    task = tasked(owner, "seen")["id"]
    with team_of(owner, task, "lynx") as lynx, team_of(owner, task, "puma") as puma:
        assert put(lynx, task, "main", "good").json()["scores"] is None
        assert put(puma, task, "main", "fair").json()["scores"] is None
        board = f"/v1/tasks/{task}/testsets/track0/leaderboard"
        problem(lynx.get(board), 409, "not-now")
        assert owner.patch(f"/v1/tasks/{task}", json={"scores": "own"}).status_code == 200
        mine = lynx.get(f"/v1/tasks/{task}/systems/track0/main").json()["scores"]
        assert mine["chrf"]["score"] > 50
        assert [own["team"] for own in lynx.get(f"/v1/tasks/{task}/systems").json()["systems"]] == [
            "lynx"
        ]
        published = owner.patch(f"/v1/tasks/{task}", json={"published": True}).json()
        assert published["phase"] == "published"
        shown = lynx.get(board, headers={"Prefer": "wait=30"}).json()
        scores = {own["name"]: own["scores"] for own in shown["systems"]}
        assert scores["lynx.main"]["chrf"].items() >= mine["chrf"].items()
        problem(put(puma, task, "more", "poor"), 409, "not-now")
        owner.patch(f"/v1/tasks/{task}", json={"published": False})
        problem(lynx.get(board), 409, "not-now")


def test_what_comes_late_is_kept_marked_and_replaces_nothing(owner):
    task = tasked(owner, "late", deadline=ends(-60), grace=5, systems=1)["id"]
    with team_of(owner, task, "lynx") as lynx:
        assert lynx.get(f"/v1/tasks/{task}").json()["phase"] == "open"
        assert put(lynx, task, "main", "good").json()["late"] is False  # within the grace
        owner.patch(f"/v1/tasks/{task}", json={"grace": 0})
        assert lynx.get(f"/v1/tasks/{task}").json()["phase"] == "closed"
        assert "was in time" in problem(put(lynx, task, "main", "poor"), 409, "not-now")["detail"]
        withdrawn = lynx.delete(f"/v1/tasks/{task}/systems/track0/main")
        problem(withdrawn, 409, "not-now")
        late = put(lynx, task, "afterwards", "fair")
        assert (late.status_code, late.json()["late"]) == (201, True)
        assert put(lynx, task, "afterwards", "poor").json()["late"] is True
        spent = problem(put(lynx, task, "later", "good"), 409, "quota-spent")["detail"]
        assert spent.endswith("replace or withdraw one of afterwards.")
        owner.patch(f"/v1/tasks/{task}", json={"opens": ends(600), "deadline": ends(1200)})
        assert lynx.get(f"/v1/tasks/{task}").json()["phase"] == "announced"
        assert "opens at" in problem(put(lynx, task, "x", "good"), 409, "not-now")["detail"]


@pytest.mark.parametrize("ahead", [-2, 2])
def test_the_clock_of_the_store_decides_what_is_late(owner, monkeypatch, ahead):
    """A front end whose clock is two seconds off says the same of a deadline in a second."""
    true = time.time
    task = tasked(owner, f"clock {ahead}", systems=20, per_day=20)["id"]
    with team_of(owner, task, "lynx") as lynx:
        monkeypatch.setattr(time, "time", lambda: true() + ahead)
        for tried in range(10):  # until one comes in time on a busy machine, and one behind it
            moment = datetime.fromtimestamp(true() + 1.5, UTC).isoformat()
            deadline = owner.patch(f"/v1/tasks/{task}", json={"deadline": moment}).json()[
                "deadline"
            ]
            early = put(lynx, task, f"early{tried}", "good").json()
            assert early["late"] is (early["at"] > deadline)
            if not early["late"]:
                break
        assert not early["late"]
        while true() < datetime.fromisoformat(deadline).timestamp() + 0.01:
            time.sleep(0.01)
        assert put(lynx, task, "behind", "fair").json()["late"] is True
        assert abs(datetime.fromisoformat(early["at"]).timestamp() - true()) < 60


def test_a_team_has_so_many_systems_and_submissions_a_day(owner):
    task = tasked(owner, "quota", systems=2, per_day=4)["id"]
    with team_of(owner, task, "lynx") as lynx:
        assert put(lynx, task, "a", "good").status_code == 201
        assert put(lynx, task, "b", "fair").status_code == 201
        assert "2 systems" in problem(put(lynx, task, "c", "poor"), 409, "quota-spent")["detail"]
        refused = problem(put(lynx, task, "b", "poor", primary=True), 409, "name-taken")
        assert "primary system is 'a'" in refused["detail"]
        assert put(lynx, task, "b", "poor").status_code in (200, 202)
        assert put(lynx, task, "b", "fair").status_code in (200, 202)
        spent = problem(put(lynx, task, "b", "poor"), 409, "quota-spent")
        assert "4 times a day" in spent["detail"]


def test_room_is_left_for_teams_that_have_submitted_nothing(owner):
    testset = made(owner, "room", capacity=3)
    task = owner.post("/v1/tasks", json={"name": "room", "testsets": {"track0": testset}})
    key = task.json()["id"]
    with team_of(owner, key, "lynx") as lynx, team_of(owner, key, "puma") as puma:
        assert put(lynx, key, "a", "good").status_code == 201
        assert put(lynx, key, "b", "fair").status_code == 201
        problem(put(lynx, key, "c", "poor"), 409, "capacity-spent")
        assert put(puma, key, "a", "poor").status_code == 201


def test_one_family_for_the_whole_task(owner):
    """Two boards of 12 systems have 132 pairs: a family of 17 systems, which has 136, is enough."""
    task = tasked(owner, "family", tracks=2, family="task")
    with team_of(owner, task["id"], "lynx") as lynx, team_of(owner, task["id"], "puma") as puma:
        put(lynx, task["id"], "main", "good")
        put(puma, task["id"], "main", "poor")
    board = owner.get(
        f"/v1/tasks/{task['id']}/testsets/track0/leaderboard", headers={"Prefer": "wait=30"}
    ).json()
    assert board["family"]["systems"] == 17
    (pair,) = board["pairs"]
    assert pair["p_adjusted"] == pytest.approx(min(1, 136 * pair["p_value"]))


def test_tokens_end_and_are_taken_back(owner):
    task = tasked(owner, "ends")["id"]
    teams = f"/v1/tasks/{task}/teams"
    soon = (datetime.now(UTC) + timedelta(seconds=1)).isoformat()
    token = owner.post(teams, json={"name": "lynx", "expires": soon}).json()["token"]
    assert token.startswith("sigtest_team_")
    headers = {"X-API-Key": token}
    with httpx.Client(base_url=owner.base_url, headers=headers) as lynx:
        assert lynx.get(f"/v1/tasks/{task}").json()["team"] == "lynx"
        while lynx.get(f"/v1/tasks/{task}").status_code != 401:
            time.sleep(0.05)
    problem(owner.post(teams, json={"name": "lynx"}), 409, "name-taken")
    assert owner.delete(f"{teams}/lynx").status_code == 204
    with team_of(owner, task, "lynx") as lynx:
        assert lynx.get(f"/v1/tasks/{task}").status_code == 200
        told = owner.get(teams)
        assert [own["name"] for own in told.json()["teams"]] == ["lynx"]
        assert "token" not in told.text
        assert owner.delete(f"{teams}/lynx").status_code == 204
        problem(lynx.get(f"/v1/tasks/{task}"), 401, "unauthorized")
    over = {"name": "puma", "expires": "2020-01-01T00:00Z"}
    problem(owner.post(teams, json=over), 422, "invalid-input")
    problem(owner.post(teams, json={"name": "a.b"}), 422, "invalid-input")
    assert owner.delete(f"/v1/tasks/{task}").status_code == 204
    problem(owner.get(f"/v1/tasks/{task}"), 410, "gone")


def test_a_test_set_has_one_task(owner):
    own = made(owner, "single")
    body = {"name": "first", "testsets": {"x": own}}
    first = owner.post("/v1/tasks", json=body)
    assert first.status_code == 201
    assert owner.post("/v1/tasks", json=body).status_code == 200
    problem(owner.post("/v1/tasks", json={**body, "name": "second"}), 409, "name-taken")
    with team_of(owner, first.json()["id"], "lynx") as lynx:
        path = f"/v1/tasks/{first.json()['id']}/systems/x/main"
        assert lynx.put(path, json={"hypotheses": REFERENCE}).status_code in (201, 202)
    theirs = f"/v1/testsets/{own}/systems/lynx.main?replace=true"
    other = {"hypotheses": [f"{line} more" for line in REFERENCE]}
    refused = problem(owner.put(theirs, json=other), 409, "name-taken")
    assert "is a name of the team" in refused["detail"]
    assert owner.delete(first.headers["location"]).status_code == 204
    assert owner.put(theirs, json=other).status_code == 202  # it is the owner's now
    assert owner.post("/v1/tasks", json={**body, "name": "second"}).status_code == 201
    twice = {"name": "third", "testsets": {"x": own, "y": own}}
    problem(owner.post("/v1/tasks", json=twice), 422, "invalid-input")
    unknown = {"name": "third", "testsets": {"x": "0" * 32}}
    problem(owner.post("/v1/tasks", json=unknown), 404, "not-found")
    late = {"name": "fourth", "testsets": {"x": made(owner, "fourth")}}
    rules = {"opens": "2027-01-02T00:00Z", "deadline": "2027-01-01T00:00Z"}
    problem(owner.post("/v1/tasks", json={**late, **rules}), 422, "invalid-recipe")


def two_tracks(owner: httpx.Client, name: str, **rules: Any) -> str:
    """A task of two tracks with primary systems of three teams; one of them has one track."""
    task = str(tasked(owner, name, tracks=2, **rules)["id"])
    outputs = {"lynx": ("good", "good"), "puma": ("poor", "good"), "wolf": ("good",)}
    for team, own in outputs.items():
        with team_of(owner, task, team) as client:
            for i, output in enumerate(own):
                assert put(client, task, "main", output, f"track{i}").status_code == 201
            put(client, task, "second", "fair")
    return task


@pytest.mark.parametrize("order", ["mean", "wins"])
def test_teams_have_an_order_over_all_test_sets(owner, order):
    task = two_tracks(owner, f"order {order}", overall=order)
    told = owner.get(f"/v1/tasks/{task}/overall", headers={"Prefer": "wait=30"}).json()
    assert [one["team"] for one in told["teams"]] == ["lynx", "puma"]  # wolf has one track alone
    first, second = told["teams"]
    for one in told["teams"]:
        boards = [
            owner.get(f"/v1/tasks/{task}/testsets/{name}/leaderboard").json()
            for name in ("track0", "track1")
        ]
        scores = [
            system["scores"]["chrf"]["score"]
            for board in boards
            for system in board["systems"]
            if system["name"] == f"{one['team']}.main"
        ]
        assert list(one["scores"].values()) == scores
        assert one["mean"] == pytest.approx(sum(scores) / 2)
        won = [
            pair
            for board in boards
            for pair in board["pairs"]
            if pair.get("significant")
            and f"{one['team']}.main" == (pair["a"] if pair["difference"] > 0 else pair["b"])
        ]
        assert one["wins"] == len(won)
    assert first["wins"] > second["wins"] == 0
    page = owner.get(f"/tasks/{task}", headers={"Accept": "text/html"}).text
    assert "Over all boards" in page
    none = tasked(owner, f"no {order}")["id"]
    problem(owner.get(f"/v1/tasks/{none}/overall"), 422, "invalid-recipe")


def test_the_archive_has_what_a_paper_needs_and_verifies(owner, tmp_path):
    task = two_tracks(owner, "archive", overall="mean")
    answer = owner.get(f"/v1/tasks/{task}/archive", headers={"Prefer": "wait=30"})
    assert answer.status_code == 200, answer.text
    assert answer.content == owner.get(f"/v1/tasks/{task}/archive").content
    with zipfile.ZipFile(io.BytesIO(answer.content)) as packed:
        packed.extractall(tmp_path)
    sums = (tmp_path / "SHA256SUMS").read_text().splitlines()
    files = {path.relative_to(tmp_path).as_posix() for path in tmp_path.rglob("*.*")}
    assert {line.partition("  ")[2] for line in sums} == files
    for line in sums:
        digest, _, file = line.partition("  ")
        assert hashlib.sha256((tmp_path / file).read_bytes()).hexdigest() == digest
    kinds = ("json", "tex", "csv", "md", "html", "bib", "txt")
    assert {f"track1/report.{kind}" for kind in kinds} <= files
    assert {"receipts.csv", "overall.csv", "README.txt", "track0/methods.txt"} <= files
    assert [file for file in files if file.startswith("track0/matrix")]
    board = owner.get(f"/v1/tasks/{task}/testsets/track1/leaderboard").json()["comparison"]
    assert (tmp_path / "track1/report.json").read_bytes() == owner.get(f"{board}/report").content
    (tmp_path / "reference").write_text("\n".join(REFERENCE) + "\n")
    (tmp_path / "good").write_text("\n".join(OUTPUTS["good"]) + "\n")
    names = [f"{team}.main={tmp_path / 'good'}" for team in ("lynx", "puma")]
    report, reference = str(tmp_path / "track1/report.json"), str(tmp_path / "reference")
    assert main(["verify", report, "-r", reference, *names]) == 0
    with team_of(owner, task, "yak") as yak:
        problem(yak.get(f"/v1/tasks/{task}/archive"), 403, "forbidden")
        problem(yak.get(f"/v1/tasks/{task}/overall"), 409, "not-now")


def test_a_mean_is_of_one_metric(owner):
    first, second = made(owner, "mean 1"), made(owner, "mean 2", metrics=["bleu", "chrf"])
    body = {"name": "mixed", "testsets": {"x": first, "y": second}}
    refused = problem(
        owner.post("/v1/tasks", json={**body, "overall": "mean"}), 422, "invalid-recipe"
    )
    assert "chrf on x, bleu on y" in refused["detail"]
    task = owner.post("/v1/tasks", json={**body, "overall": "wins"}).json()["id"]
    problem(owner.patch(f"/v1/tasks/{task}", json={"overall": "mean"}), 422, "invalid-recipe")


def test_the_form_of_rules_is_read_as_all_forms_are(owner):
    """Times are in the zone of the form; digits that are no number are refused, not converted."""
    task = tasked(owner, "form")["id"]
    form = {"grace": "30", "deadline": "2098-05-01T23:59", "opens": "", "zone": "-12:00"}
    page = {"Sec-Fetch-Site": "same-origin", "Accept": "text/html"}

    def post(**more: str) -> httpx.Response:
        return owner.post(f"/tasks/{task}/describe", data={**form, **more}, headers=page)

    assert post(scores="own").status_code == 303
    told = owner.get(f"/v1/tasks/{task}").json()
    assert (told["grace"], told["scores"], told["opens"]) == (30, "own", None)
    assert told["deadline"] == "2098-05-01T23:59:00-12:00"
    assert post(deadline="").status_code == 303
    assert owner.get(f"/v1/tasks/{task}").json()["deadline"] is None
    for digits in ("9" * 5000, "\u0663\u0660x", "-1"):
        assert post(grace=digits).status_code == 422
    assert owner.post(f"/tasks/{task}/describe", data={"published": "1"}, headers=page).is_redirect
    assert owner.get(f"/v1/tasks/{task}").json()["phase"] == "published"
    assert owner.post(f"/tasks/{task}/describe", data={"published": "0"}, headers=page).is_redirect
    assert owner.get(f"/v1/tasks/{task}").json()["phase"] == "open"


Asked = Callable[[httpx.Client], httpx.Response]


def test_a_token_opens_nothing_else_and_tells_of_nothing_else(owner):
    """Of every route of the document: what exists and what does not is answered alike."""
    task, other = tasked(owner, "shut")["id"], tasked(owner, "elsewhere")["id"]
    testset = made(owner, "beside")
    comparison = owner.post(
        "/v1/comparisons",
        json={
            "references": [REFERENCE],
            "systems": [{"name": n, "hypotheses": h} for n, h in OUTPUTS.items()],
            "resamples": 99,
        },
        headers={"Prefer": "wait=30"},
    ).json()["id"]
    there = {"testsets": testset, "tasks": other, "comparisons": comparison}
    document = owner.get("/openapi.json").json()
    own = {
        "get /v1/tasks/{id}",
        "get /v1/tasks/{id}/systems",
        "put /v1/tasks/{id}/systems/{testset}/{name}",
        "get /v1/tasks/{id}/systems/{testset}/{name}",
        "delete /v1/tasks/{id}/systems/{testset}/{name}",
        "get /v1/tasks/{id}/testsets/{testset}/leaderboard",
        "get /v1/tasks/{id}/overall",
    }
    public = {"get /", "get /healthz", "get /readyz"}
    seen = set()
    with team_of(owner, other, "puma") as puma:
        put(puma, other, "main", "good")
    with team_of(owner, task, "lynx") as lynx:
        for path, operations in document["paths"].items():
            for method in operations:
                what = f"{method} {path}"
                seen.add(what)
                if what in public:
                    continue
                kind = path.split("/")[2] if path.startswith("/v1/") else ""

                def ask(key: str, path: str = path, method: str = method) -> httpx.Response:
                    names = {"id": key, "testset": "track0", "name": "main"}
                    address = path.format(**names, picture="matrix.svg", **{"name:path": "main"})
                    return lynx.request(method, address, json={} if method != "get" else None)

                answers = [ask(there.get(kind, "0" * 32)), ask("0" * 32)]
                known, unknown = (
                    (one.status_code, one.text.replace(key, "KEY"))
                    for one, key in zip(answers, (there.get(kind, "0" * 32), "0" * 32), strict=True)
                )
                assert known == unknown, what
                assert known[0] == (404 if what in own else 403), (what, known)
    assert own <= seen


def test_names_of_teams_are_theirs_on_boards(owner):
    testset = made(owner, "theirs")
    system = f"/v1/testsets/{testset}/systems/lynx.main"
    body = {"hypotheses": OUTPUTS["good"]}
    assert owner.put(system, json=body, headers={"Prefer": "wait=30"}).status_code == 201
    answer = owner.post("/v1/tasks", json={"name": "theirs", "testsets": {"track0": testset}})
    task = answer.json()["id"]
    with team_of(owner, task, "lynx") as lynx:
        refused = problem(put(lynx, task, "main", "poor"), 409, "name-taken")
        assert refused["detail"] == (
            "A system that is not yours has the name 'main'; take another."
        )
        claimed = put(lynx, task, "main", "good")  # the same, which the organiser had put
        assert (claimed.status_code, claimed.json()["event"]) == (200, "submitted")
        body = {"hypotheses": OUTPUTS["fair"]}
        refused = problem(owner.put(f"{system}?replace=true", json=body), 409, "name-taken")
        assert "team 'lynx', which submits with its token" in refused["detail"]
        other = f"/v1/testsets/{testset}/systems"
        problem(owner.put(f"{other}/lynx.other", json=body), 409, "name-taken")
        assert owner.put(f"{other}/lynxes.other", json=body).status_code in (201, 202)
        assert owner.delete(system).status_code == 204
        listed = lynx.get(f"/v1/tasks/{task}/systems").json()
        assert listed["systems"] == []
        assert [own["event"] for own in listed["receipts"]] == ["submitted", "removed"]
        again = put(lynx, task, "other", "fair").json()  # a primary one, since there is none
        assert (again["event"], again["primary"]) == ("submitted", True)


def test_what_is_refused_tells_nothing_of_other_teams(owner):
    testset = made(owner, "silent", capacity=3)
    answer = owner.post("/v1/tasks", json={"name": "silent", "testsets": {"track0": testset}})
    task = answer.json()["id"]
    with team_of(owner, task, "lynx") as lynx, team_of(owner, task, "puma") as puma:
        assert put(lynx, task, "a", "good").status_code == 201
        assert put(lynx, task, "b", "fair").status_code == 201
        waits = problem(put(lynx, task, "c", "poor"), 409, "capacity-spent")
        assert put(lynx, task, "a", "good").status_code == 200  # it is there, whoever waits
        assert put(puma, task, "a", "poor").status_code == 201
        spent = problem(put(puma, task, "b", "fair"), 409, "capacity-spent")
        assert waits["detail"] == spent["detail"]
        assert not any(sign.isdigit() for sign in spent["detail"])
        assert owner.delete(f"/v1/testsets/{testset}").status_code == 204
        over = problem(put(puma, task, "a", "good"), 410, "gone")
        assert over["detail"] == "The test set 'track0' of this task expired or was deleted."
        problem(puma.delete(f"/v1/tasks/{task}/systems/track0/a"), 410, "gone")


def test_names_of_teams_can_be_told_apart_and_fit_on_boards(owner):
    task = tasked(owner, "apart")["id"]
    with team_of(owner, task, "caf\u00e9") as accented:
        assert put(accented, task, "main", "good").status_code == 201
    for twin in ("cafe\u0301", "CAF\u00c9", "c\u0430f\u00e9", "\uff43af\u00e9"):
        refused = owner.post(f"/v1/tasks/{task}/teams", json={"name": twin})
        told = problem(refused, 409, "name-taken")
        assert "look alike" in told["detail"]
        assert told["errors"][0]["field"] == "name"
    again = owner.post(f"/v1/tasks/{task}/teams", json={"name": "caf\u00e9"})
    assert "has a team" in problem(again, 409, "name-taken")["detail"]
    with team_of(owner, task, "t" * 150) as long:
        refused = problem(put(long, task, "s" * 60, "good"), 422, "invalid-input")
        assert "1 to 200 characters" in refused["detail"]


def test_a_task_that_is_not_made_holds_no_test_set(owner):
    free, taken = made(owner, "free"), made(owner, "taken")
    first = {"name": "first of two", "testsets": {"x": taken}}
    assert owner.post("/v1/tasks", json=first).status_code == 201
    both = {"name": "both", "testsets": {"x": free, "y": taken}, "family": "task"}
    problem(owner.post("/v1/tasks", json=both), 409, "name-taken")
    rules = {"opens": "2027-01-02T00:00Z", "deadline": "2027-01-01T00:00Z"}
    alone = {"name": "alone", "testsets": {"x": free}}
    problem(owner.post("/v1/tasks", json={**alone, "name": "no", **rules}), 422, "invalid-recipe")
    assert owner.post("/v1/tasks", json=alone).status_code == 201


def test_a_task_is_seen_without_a_board_that_was_deleted(owner):
    task = tasked(owner, "deleted", tracks=2, overall="mean")
    page = f"/tasks/{task['id']}"
    with team_of(owner, task["id"], "lynx") as lynx:
        put(lynx, task["id"], "main", "good", "track1")
        assert owner.delete(f"/v1/testsets/{task['testsets']['track0']['id']}").status_code == 204
        seen = owner.get(page, headers={"Accept": "text/html"})
        assert (seen.status_code, "lynx" in seen.text) == (200, True)
        assert owner.get(f"{page}/archive", headers={"Prefer": "wait=30"}).status_code == 200
        order = owner.get(f"/v1{page}/overall", headers={"Prefer": "wait=30"}).json()
        assert [own["team"] for own in order["teams"]] == ["lynx"]


def test_teams_that_race_for_the_last_places_get_each_once(owner):
    testset = made(owner, "places", capacity=4)
    answer = owner.post("/v1/tasks", json={"name": "places", "testsets": {"track0": testset}})
    task = answer.json()["id"]
    with team_of(owner, task, "lynx") as lynx, team_of(owner, task, "puma") as puma:

        def submit(number: int) -> int:
            body = {"hypotheses": [f"{line} {number}" for line in REFERENCE]}
            path = f"/v1/tasks/{task}/systems/track0/s{number // 2}"
            return (lynx, puma)[number % 2].put(path, json=body).status_code

        with ThreadPoolExecutor(6) as pool:
            statuses = sorted(pool.map(submit, range(6)))
        assert set(statuses[:4]) <= {200, 201, 202}
        assert statuses[4:] == [409, 409]
        receipts = owner.get(f"/v1/tasks/{task}/systems").json()["receipts"]
        assert len({(own["team"], own["system"]) for own in receipts}) == len(receipts) == 4
        assert sum(own["primary"] for own in receipts) == 2
        assert {own["team"] for own in receipts} == {"lynx", "puma"}
