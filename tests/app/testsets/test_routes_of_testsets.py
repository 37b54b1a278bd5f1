"""Test sets, systems that arrive over time, and leaderboards over HTTP and on the command line."""

import gzip
import json
import time
from collections.abc import Callable
from concurrent.futures import ThreadPoolExecutor
from typing import Any

import httpx
import pytest
from computed import rendered
from exchange import examples, problem

from app.settings import Settings
from sigtest.cli import main
from sigtest.comparison.comparison import parse_comparison
from sigtest.engine import compare
from sigtest.report import select

TESTSETS = "/v1/testsets"
REFERENCE = ["a b c d e", "f g h i j", "k l m n o", "p q r s t"]
GOOD = ["a b c d e", "f g h i", "k l m n o", "p q r s t"]
FAIR = ["a b c d", "f g h i j k", "k l n o", "p q r s"]
POOR = ["x b c d", "f g j k", "z z n o", "p q t"]
WAIT = {"Prefer": "wait=60"}

Make = Callable[..., str]


@pytest.fixture
def make(service: httpx.Client, request: pytest.FixtureRequest) -> Make:
    """Make a test set, each test its own; its address."""

    def made(**fields: Any) -> str:
        body = {"name": request.node.name[:90].replace("[", "("), **settings(**fields)}
        answer = service.post(TESTSETS, json=body)
        assert answer.status_code == 201, answer.text
        return answer.headers["location"]

    return made


def settings(**fields: Any) -> dict[str, Any]:
    return {"references": [REFERENCE], "metrics": ["bleu", "chrf"], "resamples": 99, **fields}


def put(service: httpx.Client, url: str, name: str, lines: list[str]) -> httpx.Response:
    body = {"hypotheses": lines}
    return service.put(f"{url}/systems/{name}?replace=true", json=body, headers=WAIT)


def test_from_test_set_to_leaderboard(service, make):
    url = make(documents=["d1", "d1", "d2", "d2"])
    assert put(service, url, "Poor", FAIR).status_code == 201
    assert put(service, url, "Poor", POOR).status_code == 200
    assert put(service, url, "good", GOOD).status_code == 201
    answer = service.get(f"{url}/leaderboard", params={"metric": "chrf"})
    assert answer.status_code == 200
    shown = answer.json()
    whole = parse_comparison(
        {
            **settings(documents=["d1", "d1", "d2", "d2"]),
            "family": 64,
            "systems": [{"name": "Poor", "hypotheses": POOR}, {"name": "good", "hypotheses": GOOD}],
        }
    )
    expected = rendered("json", select(compare(whole), metric="chrf"))
    for part in ("systems", "pairs", "testset", "signature", "warnings"):
        assert json.dumps(shown[part]) == json.dumps(json.loads(expected)[part])
    assert answer.text.endswith(expected[1:])  # byte for byte
    problem(service.delete(shown["comparison"]), 409, "shown-by-leaderboard")
    stays = service.get(shown["comparison"]).json()["links"]
    assert service.get(stays["report"]).text == rendered("json", compare(whole))
    assert stays["testset"] == url
    assert (shown["id"], shown["metric"]) == (url.rpartition("/")[2], "chrf")
    assert (shown["test"], shown["pending"]) == ("approximate_randomization", [])


@pytest.mark.parametrize("unit", ["segment", "document"])
def test_boards_say_of_right_answers_what_comparisons_say(service, make, unit):
    """Wilson's intervals, clustered standard errors, and the sentences about them."""
    right = {"good": [1] * 11 + [0], "poor": [0, 1] * 6}
    recipe = {
        "metrics": [{"name": "scores", "of": "acc"}],
        "resamples": 99,
        "unit": unit,
        "documents": [f"d{i // 3}" for i in range(12)],
    }
    url = make(references=[], segments=12, **recipe)
    for name, scores in right.items():
        body = {"scores": {"acc": scores}}
        assert service.put(f"{url}/systems/{name}", json=body, headers=WAIT).status_code == 201
    shown = service.get(service.get(f"{url}/leaderboard").json()["comparison"]).json()["links"]
    systems = [{"name": name, "scores": {"acc": scores}} for name, scores in right.items()]
    whole = compare(parse_comparison({"systems": systems, "family": 64, **recipe}))
    score = whole.systems[0].scores["acc"]
    assert whole.metrics["acc"].shares == (unit == "segment")
    assert (score.clustered_stderr is None) == (unit == "segment")
    assert service.get(shown["report"]).text == rendered("json", whole)


@pytest.mark.parametrize("replicas", [1, 2])
def test_boards_of_labels_say_what_comparisons_say(service, make, replicas):
    gold = ["yes", "no", "maybe"] * 4
    said = {"good": ["yes", "no", "no"] * 4, "poor": ["maybe", "yes", "no"] * 4}
    recipe = {
        "metrics": ["accuracy", "macro_f1", {"name": "f1", "positive": "yes"}],
        "resamples": 99,
    }
    url = make(references=[gold], replicas=replicas, **recipe)

    def brought(lines: list[str]) -> dict[str, Any]:
        return {"hypotheses": lines} if replicas == 1 else {"replicas": [gold, lines]}

    for name, lines in said.items():
        answer = service.put(f"{url}/systems/{name}", json=brought(lines), headers=WAIT)
        assert answer.status_code == 201, answer.text
    answer = service.put(f"{url}/systems/wrong", json=brought(["yes", "sometimes"] * 6))
    told = problem(answer, 422, "invalid-input")["detail"]
    assert "segment 2: 'sometimes' is none of the classes" in told
    shown = service.get(service.get(f"{url}/leaderboard").json()["comparison"]).json()["links"]
    systems = [{"name": name, **brought(lines)} for name, lines in said.items()]
    asked = {"references": [gold], "systems": systems, "family": 64, **recipe}
    assert service.get(shown["report"]).text == rendered("json", compare(parse_comparison(asked)))


def test_what_is_told_of_test_sets_and_systems(service, make):
    url = make(unit="document", documents=["d1", "d1", "d2", "d3"], seed=5)
    found = service.get(url).json()
    assert found["links"]["self"] == url
    assert found["settings"]["seed"] == 5
    assert found["testset"]["documents"] == 3
    body = {"name": found["name"], **settings(unit="document", seed=5)}
    again = service.post(TESTSETS, json={**body, "documents": ["d1", "d1", "d2", "d3"]})
    assert (again.status_code, again.headers["location"]) == (200, url)
    made = put(service, url, "a%20b", GOOD)
    assert made.headers["location"] == f"{url}/systems/a%20b"
    assert made.headers["preference-applied"] == "wait=60"
    system = service.get(made.headers["location"]).json()
    assert (system["name"], system["status"]) == ("a b", "measured")
    shown = service.get(f"{url}/leaderboard").json()["systems"][0]["scores"]["bleu"]
    assert system["scores"]["bleu"] == shown
    assert service.get(url).json()["systems"] == 1


def test_listings_have_pages(service, make):
    urls = [make(seed=seed) for seed in (1, 2)]
    first = service.get(TESTSETS, params={"limit": 1}).json()
    second = service.get(TESTSETS, params={"limit": 1, "cursor": first["next_cursor"]}).json()
    listed = [page["testsets"][0]["links"]["self"] for page in (first, second)]
    assert listed == urls[::-1]
    for name, lines in (("c", GOOD), ("a", FAIR), ("b", POOR)):
        put(service, urls[0], name, lines)
    page = service.get(f"{urls[0]}/systems", params={"limit": 2}).json()
    rest = service.get(f"{urls[0]}/systems", params={"cursor": page["next_cursor"]}).json()
    assert [system["name"] for system in page["systems"] + rest["systems"]] == ["a", "b", "c"]
    assert rest["next_cursor"] is None


@pytest.mark.parametrize("kind", ["text", "gzip", "encoded"])
def test_systems_as_files(service, make, kind):
    url = make()
    text = "\n".join(GOOD).encode()
    headers = {"Content-Type": "text/plain; charset=utf-8", **WAIT}
    if kind == "encoded":
        headers["Content-Encoding"] = "gzip"
    if kind == "gzip":
        headers["Content-Type"] = "application/gzip"
    content = text if kind == "text" else gzip.compress(text)
    answer = service.put(f"{url}/systems/good", content=content, headers=headers)
    assert answer.status_code == 201
    assert put(service, url, "good", GOOD).status_code == 200
    assert put(service, url, "good", GOOD).json()["digest"] == answer.json()["digest"]


def test_the_same_content_again_changes_nothing(service, make):
    url = make()
    body = {"hypotheses": GOOD}
    first = service.put(f"{url}/systems/good", json=body)
    assert first.status_code in (201, 202)
    assert first.json()["links"]["leaderboard"] == f"{url}/leaderboard"
    assert service.put(f"{url}/systems/good", json=body).status_code == 200
    taken = service.put(f"{url}/systems/good", json={"hypotheses": FAIR})
    document = problem(taken, 409, "name-taken")
    assert document["errors"][0]["system"] == "good"
    assert service.put(f"{url}/systems/good", json=body).status_code == 200


def test_etag_of_a_leaderboard(service, make):
    url = make()
    put(service, url, "good", GOOD)
    put(service, url, "poor", POOR)
    first = service.get(f"{url}/leaderboard")
    held = {"If-None-Match": first.headers["etag"]}
    assert service.get(f"{url}/leaderboard", headers=held).status_code == 304
    assert service.get(f"{url}/leaderboard?alpha=0.1", headers=held).status_code == 200
    put(service, url, "fair", FAIR)
    assert service.get(f"{url}/leaderboard", headers=held).status_code == 200


def test_alpha_and_correction_change_only_what_is_shown(service, make):
    url = make(tests=["bootstrap"], capacity=3)
    for name, lines in (("good", GOOD), ("fair", FAIR), ("poor", POOR)):
        put(service, url, name, lines)
    plain = service.get(f"{url}/leaderboard").json()
    params = {"alpha": "0.2", "correction": "none"}
    other = service.get(f"{url}/leaderboard", params=params).json()
    assert (other["alpha"], other["correction"]) == (0.2, "none")
    for field in ("p_value", "ci"):
        assert [p[field] for p in other["pairs"]] == [p[field] for p in plain["pairs"]]
    assert all(p["p_adjusted"] == p["p_value"] for p in other["pairs"])
    assert (plain["claims"] != [], other["claims"], other["interval_alpha"]) == (True, [], 0.05)
    same = service.get(f"{url}/leaderboard", params={"alpha": "0.05"}).json()
    assert same == plain
    assert service.get(f"{url}/leaderboard").json() == plain
    own = f"/boards/{url.rpartition('/')[2]}"
    for chosen, facts in (
        (params, "no correction over 3 pairs of 3 systems, alpha 0.2"),
        ({}, "holm over 3 pairs of 3 systems, alpha 0.05"),
    ):
        page = service.get(own, params=chosen, headers={"Accept": "text/html"}).text
        assert facts in page
    tiny = service.get(f"{url}/leaderboard", params={"alpha": "1e-300"})
    assert "at least 1e-100" in problem(tiny, 422, "invalid-recipe")["detail"]
    doubled = service.get(f"{url}/leaderboard?metric=bleu&metric=chrf")
    assert "'metric' is given twice" in problem(doubled, 422, "invalid-recipe")["detail"]
    for joint in ("max_t", "tukey"):
        refused = service.get(f"{url}/leaderboard", params={"correction": joint})
        assert "counts in the draws" in problem(refused, 422, "invalid-recipe")["detail"]
    empty = make()
    for wrong in ({"alpha": "1.5"}, {"alpha": "0"}, {"correction": "bonferoni"}):
        for board in (url, empty):
            refused = service.get(f"{board}/leaderboard", params=wrong)
            assert problem(refused, 422, "invalid-recipe")["errors"][0]["field"] in wrong


@pytest.mark.parametrize("kind", ["text", "csv", "markdown", "latex", "html"])
def test_formats(service, make, kind):
    url = make()
    put(service, url, "good", GOOD)
    alone = service.get(f"{url}/leaderboard", params={"format": kind})
    assert alone.status_code == 200
    assert "good" in alone.text or kind == "csv"
    put(service, url, "fair", FAIR)
    answer = service.get(f"{url}/leaderboard", params={"format": kind})
    assert answer.status_code == 200
    assert "good" in answer.text


def test_more_resamples_and_nothing_else(service, make):
    url = make()
    put(service, url, "good", GOOD)
    put(service, url, "fair", FAIR)
    answer = service.patch(url, json={"resamples": 199})
    assert answer.json()["settings"]["resamples"] == 199
    while service.get(url).json()["pending"]:
        time.sleep(0.02)
    assert "resamples:199" in service.get(f"{url}/leaderboard").json()["signature"]
    problem(service.patch(url, json={"resamples": 99}), 422, "invalid-recipe")
    problem(service.patch(url, json={"alpha": 0.1}), 422, "invalid-recipe")
    problem(service.patch(url, json={"resamples": "many"}), 422, "invalid-recipe")


def test_deleted_systems_and_test_sets(service, make):
    url = make()
    put(service, url, "good", GOOD)
    put(service, url, "fair", FAIR)
    assert service.delete(f"{url}/systems/good").status_code == 204
    problem(service.get(f"{url}/systems/good"), 404, "not-found")
    problem(service.delete(f"{url}/systems/good"), 404, "not-found")
    names = [system["name"] for system in service.get(f"{url}/leaderboard").json()["systems"]]
    assert names == ["fair"]
    assert service.delete(url).status_code == 204
    for answer in (
        service.get(url),
        service.get(f"{url}/leaderboard"),
        service.delete(url),
        service.patch(url, json={"resamples": 999}),
        put(service, url, "good", GOOD),
    ):
        problem(answer, 410, "gone")
    problem(service.get(f"{TESTSETS}/{'0' * 32}/leaderboard"), 404, "not-found")


def test_making_a_test_set_succeeds_while_others_delete_it(service):
    body = examples("create_testset")["test set"]["value"] | {"name": "made and deleted"}

    def made_and_deleted(_: int) -> list[int]:
        told = []
        for _ in range(50):
            made = service.post("/v1/testsets", json=body)
            told.append(made.status_code)
            if made.is_success:
                service.delete(f"/v1/testsets/{made.json()['id']}")
        return told

    with ThreadPoolExecutor(4) as pool:
        told = [status for own in pool.map(made_and_deleted, range(4)) for status in own]
    assert set(told) <= {200, 201}


@pytest.mark.parametrize(
    ("body", "kind", "field"),
    [
        ({"hypotheses": GOOD[1:]}, "length-mismatch", "hypotheses"),
        ({"hypotheses": [*GOOD[1:], "two\nlines"]}, "invalid-input", "hypotheses[3]"),
        ({"hypotheses": GOOD, "name": "x"}, "invalid-recipe", "name"),
        ({"hypotheses": "text"}, "invalid-input", "hypotheses"),
        ({"hypotheses": GOOD, "scores": {"c": [1]}}, "length-mismatch", "scores.c"),
        ({"scores": {"comet": [1, 2, 3, 4]}}, "invalid-input", "hypotheses"),
        ({}, "invalid-input", "hypotheses"),
    ],
)
def test_a_system_that_does_not_fit_changes_nothing(service, make, body, kind, field):
    url = make()
    document = problem(service.put(f"{url}/systems/bad", json=body), 422, kind)
    assert document["errors"][0]["field"] == field
    assert service.get(f"{url}/systems").json()["systems"] == []


@pytest.mark.parametrize(
    ("kind", "content", "line", "encoding"),
    [
        ("text/plain", b"a\nb\xff\n", 2, ""),
        ("text/plain", b"", None, ""),
        ("application/gzip", b"a", None, ""),
        ("text/plain", b"a\nb\nc\n", None, "gzip"),
        ("text/plain", b"a\nb\nc\n", None, "GZIP"),
    ],
    ids=["no UTF-8", "empty", "no gzip", "not encoded", "not encoded in capitals"],
)
def test_a_file_that_is_no_text_is_a_body_in_error(service, make, kind, content, line, encoding):
    headers = {"Content-Type": kind} | ({"Content-Encoding": encoding} if encoding else {})
    answer = service.put(f"{make()}/systems/bad", content=content, headers=headers)
    entry = problem(answer, 422, "invalid-input")["errors"][0]
    assert (entry["field"], entry["system"], entry.get("line")) == ("body", "bad", line)


@pytest.mark.parametrize("name", ["%3Cscript%3E", "a%22b", "%0A", "a%2Fb", "", "x" * 201])
def test_names_that_no_system_may_have(service, make, name):
    url = make()
    document = problem(put(service, url, name, GOOD), 422, "invalid-input")
    assert document["errors"][0]["field"] == "name"


@pytest.mark.parametrize("name", ["%FF", "a%ED%A0%80"])
def test_names_in_paths_are_utf_8(service, make, name):
    answer = service.put(f"{make()}/systems/{name}", json={"hypotheses": GOOD})
    assert "not UTF-8" in problem(answer, 422, "invalid-input")["detail"]


@pytest.mark.parametrize(("segments", "status"), [(100_000, 201), (100_001, 413), (1e25, 413)])
def test_a_number_of_segments_is_limited_as_lines_are(service, segments, status):
    body = {"name": "scored", "segments": segments, "metrics": ["scores"]}
    answer = service.post("/v1/testsets", json=body)
    assert answer.status_code == status, answer.text
    if answer.is_success:
        service.delete(answer.headers["location"])
    else:
        assert problem(answer, 413, "limit-exceeded")["errors"][0]["field"] == "segments"


@pytest.mark.parametrize(
    ("fields", "kind"),
    [
        ({"documents": ["d"]}, "length-mismatch"),
        ({"labels": ["d"]}, "length-mismatch"),
        ({"source": ["d"]}, "length-mismatch"),
        ({"unit": "document"}, "invalid-recipe"),
        ({"stratified": True}, "invalid-recipe"),
        ({"correction": "max_t"}, "invalid-recipe"),
        ({"pairs": {"baseline": "a"}}, "invalid-recipe"),
        ({"systems": []}, "invalid-recipe"),
        ({"references": []}, "invalid-input"),
        ({"name": "a/b"}, "invalid-input"),
        ({"resamples": 0}, "invalid-recipe"),
        ({"metrics": ["f1"]}, "invalid-recipe"),  # of which class?
        ({"metrics": ["accuracy"], "references": [[""] * len(REFERENCE)]}, "invalid-input"),
    ],
)
def test_test_sets_that_cannot_be(service, fields, kind):
    answer = service.post(TESTSETS, json={"name": "bad", **settings(**fields)})
    problem(answer, 422, kind)


def test_limits_hold_for_test_sets(serve):
    small = serve(Settings(max_systems=1, max_segments=4, max_resamples=200, max_metrics=2))
    url = small.post(TESTSETS, json={"name": "limits", **settings()}).headers["location"]
    assert put(small, url, "good", GOOD).status_code in (200, 201)
    problem(put(small, url, "fair", FAIR), 413, "limit-exceeded")
    problem(put(small, url, "long", [*FAIR, "x"]), 413, "limit-exceeded")
    problem(small.patch(url, json={"resamples": 201}), 422, "limit-exceeded")
    many = {"name": "limits", **settings(metrics=["bleu", "chrf", "ter"])}
    problem(small.post(TESTSETS, json=many), 422, "limit-exceeded")


def test_scores_of_a_test_set_are_limited(serve):
    small = serve(Settings(max_scores=2 * 2 * 99))
    body = {"name": "scores", **settings(metrics=["bleu", "ter"], resamples=99)}
    many = problem(small.post(TESTSETS, json=body | {"resamples": 199}), 422, "limit-exceeded")
    assert (many["limit"], many["errors"][0]["field"]) == ("max_scores", "resamples")
    url = small.post(TESTSETS, json=body).headers["location"]
    for name in ("good", "fair"):
        assert put(small, url, name, GOOD).is_success
    third = problem(put(small, url, "poor", FAIR), 422, "limit-exceeded")
    assert third["limit"] == "max_scores"
    assert "2 systems already" in third["detail"]
    assert small.put(f"{url}/systems/fair?replace=true", json={"hypotheses": FAIR}).is_success
    raised = problem(small.patch(url, json={"resamples": 100}), 422, "limit-exceeded")
    assert raised["limit"] == "max_scores"
    assert "at most 99 resamples fit" in raised["detail"]
    assert small.get(url).json()["settings"]["resamples"] == 99


def test_callers_do_not_see_each_other(serve):
    guarded = serve(Settings.model_validate({"SIGTEST_API_KEYS": "ann:1,bob:2"}))
    ann, bob = ({"X-API-Key": key} for key in "12")
    body = {"name": "mine", **settings()}
    url = guarded.post(TESTSETS, json=body, headers=ann).headers["location"]
    problem(guarded.get(url), 401, "unauthorized")
    problem(guarded.get(url, headers=bob), 404, "not-found")
    assert guarded.post(TESTSETS, json=body, headers=bob).headers["location"] != url


def test_examples_of_the_documentation_run(service):
    for example in examples("create_testset").values():
        url = service.post(TESTSETS, json=example["value"]).headers["location"]
        for system in examples("put_system").values():
            address = f"{url}/systems/example"
            answer = service.put(address, json=system["value"], headers=WAIT)
            assert answer.json()["status"] == "measured"


def test_the_command_line(service, tmp_path, capsys):
    files = {"ref": REFERENCE, "good": GOOD, "fair": FAIR, "short": FAIR[1:]}
    for name, lines in files.items():
        (tmp_path / f"{name}.txt").write_text("\n".join(lines) + "\n")
    server = ["--server", str(service.base_url)]

    def sigtest(*words: str, status: int = 0) -> str:
        assert main([*words, *server]) == status
        printed = capsys.readouterr()
        return printed.err if status else printed.out

    reference = str(tmp_path / "ref.txt")
    create = ["testset", "create", "-r", reference, "--name", "cli", "--resamples", "99"]
    created = sigtest(*create, "--metric", "bleu", "--metric", "chrf").strip()
    assert f"{created}    0 systems  cli" in sigtest("testset", "list")
    good, fair = str(tmp_path / "good.txt"), str(tmp_path / "fair.txt")
    assert (
        sigtest("submit", created, good, f"b={fair}", "--wait") == "good: measured\nb: measured\n"
    )
    assert "good" in sigtest("leaderboard", created, "--metric", "chrf")
    parsed = json.loads(sigtest("leaderboard", created, "--format", "json", "--alpha", "0.1"))
    assert (parsed["alpha"], len(parsed["pairs"])) == (0.1, 1)
    assert "another name" in sigtest("submit", created, f"good={fair}", status=2)
    assert "3 lines" in sigtest("submit", created, str(tmp_path / "short.txt"), status=2)
    taken = sigtest("submit", created, f"c={good}", f"good={fair}", f"d={good}", status=2)
    assert taken.endswith("another name. Submitted before that: c.\n")
    sigtest("submit", created, f"good={fair}", "--replace", "--wait")
    sigtest("testset", "raise", created, "--resamples", "199")
    assert "resamples: 199" in sigtest("testset", "show", created)
    assert "withdraw which system" in sigtest("testset", "withdraw", created, status=2)
    assert "no system 'nobody'" in sigtest("testset", "withdraw", created, "nobody", status=2)
    assert "A system's name must have" in sigtest("testset", "withdraw", created, "", status=2)
    assert "show takes no system" in sigtest("testset", "show", created, "c", status=2)
    assert " c\n" in sigtest("testset", "show", created)
    sigtest("testset", "withdraw", created, "c")
    assert " c\n" not in sigtest("testset", "show", created)
    sigtest("testset", "delete", created)
    assert "deleted" in sigtest("leaderboard", created, status=2)
    assert "choose one of create" in sigtest("testset", status=2)
    raised = ["testset", "raise", created, "--resamples", "299", "--alpha", "0.1"]
    assert "raise takes no --alpha" in sigtest(*raised, status=2)
    assert "list takes no id" in sigtest("testset", "list", created, status=2)
