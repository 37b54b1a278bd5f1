"""Races over HTTP: batches come in any order and come again, and the report is the ordinary one."""

import json
from typing import Any

import httpx
import numpy as np
import pytest
from exchange import check, problem
from service import until

from app.settings import Settings
from benchmarks.deliveries import Receiver, receiving
from sigtest.client import Client

RACES = "/v1/races"
WAIT = {"Prefer": "wait=60"}
SYSTEMS = ("new", "old", "older")
SCORES = {  # `new` is better than `old` in half of the items, and `older` never right
    "new": [1] * 120,
    "old": [i % 2 for i in range(120)],
    "older": [0] * 120,
}


def made(service: httpx.Client, name: str, **more: Any) -> str:
    body = {"name": name, "systems": SYSTEMS, "scale": [0, 1], **more}
    answer = service.post(RACES, json=body)
    assert answer.status_code == 201, answer.text
    check(service, "RaceResource", answer.json())
    url: str = answer.headers["location"]
    return url


def batch(first: int, last: int, systems: tuple[str, ...] = SYSTEMS) -> dict[str, Any]:
    items = range(first, last)
    return {"scores": {name: {f"q{i}": SCORES[name][i] for i in items} for name in systems}}


def observed(service: httpx.Client, url: str, body: dict[str, Any]) -> dict[str, Any]:
    answer = service.post(f"{url}/observations", json=body)
    assert answer.status_code == 200, answer.text
    told: dict[str, Any] = answer.json()
    return told


def looked(service: httpx.Client, url: str) -> dict[str, Any]:
    """A race with a report of all its scores."""
    told: dict[str, Any] = service.get(url, headers=WAIT).json()
    assert not told["pending"]
    return told


def ordinary(service: httpx.Client, items: int, **choices: Any) -> dict[str, Any]:
    """The report of the ordinary question about the first items."""
    asked = {"scores": {k: own[:items] for k, own in SCORES.items()}, "scale": [0, 1], **choices}
    question = service.post("/v1/sequential-comparisons", json=asked, headers=WAIT).json()
    report: dict[str, Any] = service.get(question["links"]["report"]).json()
    return report


def test_batches_become_the_ordinary_report(service):
    url = made(service, "ordinary", tags=["x"])
    assert observed(service, url, batch(0, 30))["observations"] == 90
    assert observed(service, url, batch(20, 120))["items"] == 120  # ten items came again
    told = looked(service, url)
    check(service, "RaceResource", told)
    report = service.get(f"{url}/report")
    check(service, "SequentialReport", report.json())
    assert report.json() == ordinary(service, 120)
    assert told["over"] == {"leader": "new", "since": report.json()["over"]}
    assert (told["observations"], told["tags"]) == (360, ["x"])
    assert service.get(f"{url}/report", params={"format": "csv", "table": "pairs"}).text.count(
        "new"
    )
    assert service.get(f"{url}/plots/race.svg").headers["content-type"] == "image/svg+xml"
    service.delete(url)


def test_a_batch_again_changes_nothing_and_another_score_is_refused(service):
    url = made(service, "again")
    before = observed(service, url, batch(0, 10))
    looked(service, url)
    again = observed(service, url, batch(0, 10))
    assert again == looked(service, url)
    assert again["observations"] == before["observations"]
    other = {"scores": {"new": {"q10": 1, "q3": 0}}}
    refused = problem(service.post(f"{url}/observations", json=other), 409, "scored-otherwise")
    assert "'q3' has a score of 1, not 0, for system 'new'" in refused["detail"]
    assert looked(service, url)["items"] == 10  # q10 of the same batch was not taken
    service.delete(url)


def test_scores_may_come_in_any_order_and_decisions_stay(service):
    url, decided = made(service, "any order"), []
    rng = np.random.default_rng(5)
    cells = [(name, i) for name in SYSTEMS for i in range(120)]
    for part in np.array_split(rng.permutation(len(cells)), 12):
        scores: dict[str, dict[str, int]] = {}
        for name, i in (cells[k] for k in part):
            scores.setdefault(name, {})[f"q{i}"] = SCORES[name][i]
        observed(service, url, {"scores": scores})
        looked(service, url)
        pairs = service.get(f"{url}/report").json()["pairs"]
        now = {(own["a"], own["b"]): (own["decided"], own["since"]) for own in pairs}
        assert all(now[pair] == what for pair, what in decided)
        decided = [(pair, what) for pair, what in now.items() if what[0]]
    assert dict(decided) == {
        ("new", "old"): ("a", decided[0][1][1]),
        ("new", "older"): ("a", decided[1][1][1]),
        ("old", "older"): ("a", decided[2][1][1]),
    }
    report = service.get(f"{url}/report").json()
    last = {(look["a"], look["b"]): look["ci"] for look in report["looks"]}
    for pair in report["pairs"]:
        if (pair["a"], pair["b"]) in last:
            assert last[pair["a"], pair["b"]] == pytest.approx(pair["ci"], abs=1e-12)
    service.delete(url)


def test_a_system_joins_late_and_another_stops(service):
    url = made(service, "late")
    observed(service, url, batch(0, 60, ("new", "old")))
    assert looked(service, url)["over"] is None  # who has no score yet may be the best
    observed(service, url, batch(0, 40, ("older",)))
    told = looked(service, url)
    by_name = {own["name"]: own for own in service.get(f"{url}/report").json()["systems"]}
    assert {name: own["items"] for name, own in by_name.items()} == {
        "new": 60, "old": 60, "older": 40,
    }  # fmt: skip
    assert told["over"]["leader"] == "new"
    service.delete(url)


def test_files_bring_the_same(service):
    url, same = made(service, "file"), made(service, "json")
    rows = [f"q{i}\t" + "\t".join(str(SCORES[name][i]) for name in SYSTEMS) for i in range(40)]
    table = "\n".join(["id\t" + "\t".join(SYSTEMS), *rows]) + "\n"
    lines = "".join(
        json.dumps({"id": f"q{i}", "system": name, "metric": "right", "score": SCORES[name][i]})
        + "\n"
        for i in range(40, 50)
        for name in SYSTEMS
    )
    for name, text in (("scores.tsv", table), ("scores.jsonl", lines)):
        sent = service.post(f"{url}/observations", files={"scores": (name, text)})
        assert sent.status_code == 200, sent.text
    observed(service, same, batch(0, 50))
    assert looked(service, url)["observations"] == looked(service, same)["observations"] == 150
    reports = [service.get(f"{own}/report").json() for own in (url, same)]
    assert reports[0] == reports[1]
    bare = "\n".join(row.partition("\t")[2] for row in table.splitlines())
    sent = service.post(f"{url}/observations", files={"scores": ("bare.tsv", bare)})
    assert "column id" in problem(sent, 422, "invalid-input")["detail"]
    for own in (url, same):
        service.delete(own)


@pytest.mark.parametrize(
    ("body", "status", "kind", "words"),
    [
        ({"scores": {"new": [1, 0]}}, 422, "invalid-input", "must name their items"),
        ({"scores": {"newer": {"q": 1}}}, 422, "invalid-recipe", "Did you mean 'new'?"),
        (
            {"scores": {"new": {"q": 2}}},
            422,
            "invalid-input",
            "System 'new', item q: score is 2, outside of the scale from 0 to 1.",
        ),
        ({"scores": {"new": {"q": None}}}, 422, "invalid-input", "no scores"),
        ({"scores": {"new": {"q": "x"}}}, 422, "invalid-input", "is not a finite number"),
        ({}, 422, "invalid-recipe", "scores"),
        ({"scores": {"new": {"\ud800/\x00": 1}, "old": {"q": 3}}}, 422, "invalid-input", "scale"),
    ],
)
def test_what_is_no_batch_is_refused(service, body, status, kind, words):
    url = made(service, "refusals")
    answer = service.post(
        f"{url}/observations",
        content=json.dumps(body),
        headers={"Content-Type": "application/json"},
    )
    told = problem(answer, status, kind)
    assert words in told["detail"]
    assert told["errors"][0]["field"].startswith("scores")
    assert service.get(url).json()["observations"] == 0
    problem(service.get(f"{url}/report"), 409, "not-ready")
    service.delete(url)


@pytest.mark.parametrize(
    ("more", "field"),
    [
        ({"systems": ["A"]}, "systems"),
        ({"systems": ["A", "A"]}, "systems"),
        ({"systems": ["A", "B/C"]}, "systems"),
        ({"systems": [f"s{i}" for i in range(301)]}, "systems"),
        ({"name": "<b>"}, "name"),
        ({"scale": [1, 0]}, "scale"),
        ({"scores": {}}, "scores"),
    ],
)
def test_what_is_no_race_is_refused(service, more, field):
    answer = service.post(RACES, json={"name": "x", "systems": ["A", "B"], **more})
    assert answer.status_code == 422, answer.text
    assert answer.json()["errors"][0]["field"].partition("[")[0] == field


def test_a_report_that_somebody_deletes_is_written_again(service):
    url = made(service, "deleted")
    observed(service, url, batch(0, 60))
    looked(service, url)
    report = service.get(f"{url}/report")
    name = report.headers["content-disposition"].partition('filename="')[2].partition(".")[0]
    assert service.delete(f"/v1/sequential-comparisons/{name}").status_code == 204
    looked(service, url)
    assert service.get(f"{url}/report").content == report.content
    service.delete(url)


def test_a_report_is_sent_again_once_it_says_something_else(service):
    url = made(service, "growing")
    observed(service, url, batch(0, 60))
    looked(service, url)
    first = service.get(f"{url}/report")
    held = {"If-None-Match": first.headers["etag"]}
    assert service.get(f"{url}/report", headers=held).status_code == 304
    observed(service, url, batch(60, 90))
    looked(service, url)
    assert service.get(f"{url}/report", headers=held).json() != first.json()
    service.delete(url)


def test_a_race_is_found_changed_and_deleted(service):
    url = made(service, "kept", title="Nightly")
    again = service.post(RACES, json={"name": "kept", "systems": SYSTEMS, "scale": [0, 1]})
    assert (again.status_code, again.headers["location"]) == (200, url)
    stale = service.get(url).headers["etag"]
    changed = service.patch(url, json={"tags": ["b"]}, headers={"If-Match": stale})
    assert (changed.json()["title"], changed.json()["tags"]) == ("Nightly", ["b"])
    problem(service.patch(url, json={"tags": []}, headers={"If-Match": stale}), 412, "changed")
    listed = service.get(RACES, params={"title": "nightly", "tag": "b"}).json()
    assert [own["links"]["self"] for own in listed["races"]] == [url]
    check(service, "RaceListing", listed)
    observed(service, url, batch(0, 5))
    looked(service, url)
    assert service.delete(url).status_code == 204
    problem(service.get(url), 410, "gone")
    problem(service.post(f"{url}/observations", json=batch(0, 1)), 410, "gone")


def test_a_race_lasts_as_long_as_is_said(service: httpx.Client) -> None:
    """So does what it shows, and what it showed before is gone when the retention is over."""
    least = service.get("/v1/storage").json()["lasting"]
    url = made(service, "lasting", expires="2090-06-30")
    assert service.get(url).json()["expires_at"] == "2090-06-30T00:00:00Z"
    observed(service, url, batch(0, 20))
    told = looked(service, url)
    assert (told["expires"], told["expires_at"]) == ("2090-06-30T00:00:00Z",) * 2
    assert told["size"] > 500
    never = service.patch(url, json={"expires": "never", "title": "Kept"}).json()
    assert (never["expires_at"], never["title"]) == ("9999-12-31T00:00:00Z", "Kept")
    again = service.post(RACES, json={"name": "lasting", "systems": SYSTEMS, "scale": [0, 1]})
    assert again.json()["expires_at"] == "9999-12-31T00:00:00Z"
    assert service.get("/v1/storage").json()["lasting"] > least
    usual = service.patch(url, json={"expires": ""}).json()
    assert usual["expires_at"] < "2090"
    assert service.get("/v1/storage").json()["lasting"] == least  # nor does its report last
    assert service.get(f"{url}/report").is_success
    problem(service.patch(url, json={"expires": "2020-01-01"}), 422, "invalid-input")
    service.delete(url)


def test_a_races_link_shows_what_the_race_shows_now(service: httpx.Client) -> None:
    url = made(service, "public")
    link = service.put(f"{url}/link").json()["address"]
    told = problem(service.get(link), 409, "not-ready")
    assert "no report" in told["detail"]
    seen = []
    for items in (10, 20):
        observed(service, url, batch(0, items))
        looked(service, url)
        seen.append(service.get(link).json()["items"])
    assert seen == [10, 20]
    assert "q19" not in service.get(link, headers={"Accept": "text/html"}).text
    service.delete(url)
    problem(service.get(link), 404, "not-found")


def test_a_race_is_not_drawn_before_there_is_an_interval(service: httpx.Client) -> None:
    url = made(service, "early", scale=None)
    observed(service, url, batch(0, 5))
    looked(service, url)
    told = problem(service.get(f"{url}/plots/race.svg"), 422, "invalid-recipe")
    assert "two looks" in told["detail"]
    service.delete(url)


def test_a_race_leaves_nothing_behind(service, stored):
    before = stored()
    url = made(service, "traces")
    for first in range(0, 120, 10):
        observed(service, url, batch(first, first + 10))
        looked(service, url)
    kept = {key for key in stored() - before if key.startswith("sigtest:report:")}
    assert len(kept) == 1
    service.delete(url)
    left = {key.split(":")[1] for key in stored() - before}
    assert left <= {"gone", "bytes"}


def test_a_race_is_its_owners(serve_on, queue, service):
    keys = {"SIGTEST_API_KEYS": "ann:secret-a,bob:secret-b"}
    guarded = serve_on(Settings.model_validate(keys), queue)
    ann, bob = ({"X-API-Key": f"secret-{own}"} for own in "ab")
    body = {"name": "hers", "systems": SYSTEMS}
    url = guarded.post(RACES, json=body, headers=ann).headers["location"]
    for method, path in (
        ("GET", ""),
        ("GET", "/report"),
        ("POST", "/observations"),
        ("DELETE", ""),
    ):
        sent = {"json": batch(0, 1)} if method == "POST" else {}
        problem(guarded.request(method, f"{url}{path}", headers=bob, **sent), 404, "not-found")
    assert guarded.get(RACES, headers=bob).json()["races"] == []
    assert guarded.delete(url, headers=ann).status_code == 204


def test_webhooks_hear_each_decision_once(service):
    with receiving() as receiver:
        added = service.post("/v1/webhooks", json={"url": receiver.url}).json()
        receiver.secret = added["secret"]
        url = made(service, "hooked", metadata={"run": 5})
        for first in range(0, 120, 20):
            observed(service, url, batch(first, first + 20))
            looked(service, url)

        def heard(receiver: Receiver = receiver) -> list[dict[str, Any]]:
            return [own for own in receiver.bodies if own["type"].startswith("race.")]

        until(lambda: any(own["type"] == "race.over" for own in heard()))
        until(lambda: service.get(f"/v1/webhooks/{added['id']}").json()["pending"] == 0)
        pairs = [
            (own["a"], own["b"], own["decided"], own["since"])
            for body in heard()
            if body["type"] == "race.decided"
            for own in body["data"]["pairs"]
        ]
        report = service.get(f"{url}/report").json()
        expected = [(p["a"], p["b"], p["decided"], p["since"]) for p in report["pairs"]]
        assert sorted(pairs) == sorted(expected)
        document = service.get("/openapi.json").json()
        for body in heard():
            schema = document["webhooks"][body["type"]]["post"]["requestBody"]["content"]
            check(service, schema["application/json"]["schema"], body)
        (over,) = (own["data"] for own in heard() if own["type"] == "race.over")
        assert (over["leader"], over["since"], over["metadata"]) == (
            "new",
            report["over"],
            {"run": 5},
        )
        service.delete(f"/v1/webhooks/{added['id']}")
        service.delete(url)


def streamed(
    service: httpx.Client, url: str, headers: dict[str, str]
) -> list[tuple[str, str, Any]]:
    """Events of a stream to its end: name, id, data."""
    answer = service.get(f"{url}/events", headers=headers)
    assert answer.status_code == 200
    found = []
    for block in filter(None, answer.text.split("\n\n")):
        told = dict(line.partition(": ")[::2] for line in block.splitlines())
        found.append((told["event"], told.get("id", ""), json.loads(told["data"])))
    return found


def test_a_stream_tells_each_decision_once(service):
    url = made(service, "streamed")
    observed(service, url, batch(0, 120))
    looked(service, url)
    found = streamed(service, url, {})
    assert [event for event, _, _ in found] == ["decided"] * 3 + ["finished"]
    assert [number for _, number, _ in found[:3]] == ["1", "2", "3"]
    assert found[-1][2]["over"]["leader"] == "new"
    resumed = streamed(service, url, {"Last-Event-ID": "2"})
    assert [own[:2] for own in resumed] == [("decided", "3"), ("finished", "")]
    assert resumed[0][2] == found[2][2]
    service.delete(url)


def test_the_client_races(service):
    with Client(str(service.base_url)) as client:
        race = client.create_race({"name": "client", "systems": SYSTEMS, "scale": [0, 1]})["id"]
        client.observe(race, batch(0, 120)["scores"])
        told = client.race(race)
        assert told["over"]["leader"] == "new"
        assert client.race_report(race).leader == "new"
        assert [own["id"] for own in client.races(title="client")] == [race]
        client.delete_race(race)
        assert [*client.races(title="client")] == []
