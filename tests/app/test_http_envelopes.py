"""Titles, tags and metadata: kept beside every kind of question, test set and system."""

import html
import json
import os
from concurrent.futures import ThreadPoolExecutor
from typing import Any

import httpx
import pytest
from exchange import COMPARISONS, problem, submit
from test_http_kinds import SAMPLES

from sigtest.cli import main
from sigtest.client import Client, Notes
from sigtest.comparison.comparison import parse_comparison

WAIT = {"Prefer": "wait=60"}
BROWSER = {"Sec-Fetch-Site": "same-origin"}
LINES = ["a b c d e", "f g h i j", "k l m n o"]
PARTS = ("title", "tags", "metadata")


@pytest.fixture
def tag() -> str:
    """A word that no other test writes."""
    return os.urandom(8).hex()


@pytest.fixture
def written(tag: str) -> dict[str, Any]:
    return {"title": "Nightly Run", "tags": ["en-de", tag], "metadata": {"run": [7, {"ok": True}]}}


def of(told: dict[str, Any]) -> dict[str, Any]:
    return {part: told[part] for part in PARTS}


def ids(service: httpx.Client, path: str, **wanted: Any) -> list[str]:
    kind = path.rpartition("/")[2]
    return [entry["id"] for entry in service.get(path, params=wanted).json()[kind]]


def test_what_is_written_changes_neither_id_nor_report(service, body, written):
    plain = submit(service, body).json()
    report = service.get(plain["links"]["report"])
    again = submit(service, {**body, **written})
    assert (again.status_code, again.json()["id"]) == (200, plain["id"])
    assert of(again.json()) == written
    assert of(service.get(plain["links"]["self"]).json()) == written
    later = service.get(plain["links"]["report"])
    assert (later.content, later.headers["etag"]) == (report.content, report.headers["etag"])


@pytest.mark.parametrize("sample", SAMPLES, ids=lambda sample: sample.path)
def test_every_kind_keeps_it_and_finds_it(service, sample, written, tag):
    path = f"/v1/{sample.path}"
    made = service.post(path, json={**sample.body, **written}, headers=WAIT).json()
    assert of(made) == written
    assert ids(service, path, tag=tag) == [made["id"]]
    assert ids(service, path, tag=tag, title="nightly", status="succeeded") == [made["id"]]
    assert ids(service, path, tag=[tag, "en-de"]) == [made["id"]]
    for missed in ({"title": "weekly"}, {"status": "failed"}, {"tag": [tag, "de-en"]}):
        assert ids(service, path, **{"tag": tag, **missed}) == []


def test_a_change_leaves_what_it_does_not_say(service, body, written):
    made = submit(service, {**body, "seed": 31, **written})
    url = made.json()["links"]["self"]
    changed = service.patch(url, json={"title": "Weekly", "tags": []})
    assert of(changed.json()) == {**written, "title": "Weekly", "tags": []}
    assert changed.headers["etag"] != made.headers["etag"]
    assert of(service.get(url).json()) == of(changed.json())
    problem(service.patch(url, json={"seed": 3}), 422, "invalid-recipe")
    assert service.patch(f"{COMPARISONS}/{'0' * 32}", json={"title": "x"}).status_code == 404


def test_nothing_is_changed_that_is_not_as_it_was_seen(service, body, tag):
    question = submit(service, {**body, "seed": 32}).json()["links"]["self"]
    asked = {"name": f"board {tag}", "references": LINES, "resamples": 99}
    for url in (question, service.post("/v1/testsets", json=asked).headers["location"]):
        seen = service.get(url).headers["etag"]
        held = {"If-Match": seen}
        first = service.patch(url, json={"title": "First"}, headers=held)
        assert (first.status_code, first.json()["title"]) == (200, "First")
        told = problem(service.patch(url, json={"title": "Late"}, headers=held), 412, "changed")
        assert told["errors"][0]["field"] == "If-Match"
        weak = {"If-Match": f"W/{first.headers['etag']}"}  # compared strongly: RFC 9110, 13.1.1
        problem(service.delete(url, headers=weak), 412, "changed")
        problem(service.delete(url, headers=held), 412, "changed")
        assert service.get(url).json()["title"] == "First"
        several = {"If-Match": f"{seen}, {first.headers['etag']}"}
        assert service.patch(url, json={"tags": [tag]}, headers=several).is_success
        assert service.patch(url, json={"tags": []}, headers={"If-Match": "*"}).is_success
        now = {"If-Match": service.get(url).headers["etag"]}
        assert service.delete(url, headers=now).status_code == 204


def test_no_system_is_replaced_or_deleted_that_is_not_as_it_was_seen(service, tag):
    asked = {"name": f"systems {tag}", "references": LINES, "resamples": 99}
    url = f"{service.post('/v1/testsets', json=asked).headers['location']}/systems/a"
    first, second, third = ({"hypotheses": [line, *LINES[1:]]} for line in ("x", "y", "z"))
    problem(service.put(url, json=first, headers={"If-Match": "*"}), 404, "not-found")
    service.put(url, json=first, headers={"Prefer": "wait=20"})
    seen = service.get(url).headers["etag"]
    assert service.get(url, headers={"If-None-Match": seen}).status_code == 304
    held = {"If-Match": seen, "Prefer": "wait=20"}
    replaced = service.put(f"{url}?replace=true", json=second, headers=held)
    assert replaced.status_code == 200
    assert replaced.headers["etag"] != seen
    problem(service.put(f"{url}?replace=true", json=third, headers=held), 412, "changed")
    problem(service.delete(url, headers=held), 412, "changed")
    assert service.get(url).headers["etag"] == replaced.headers["etag"]
    now = {"If-Match": replaced.headers["etag"]}
    assert service.delete(url, headers=now).status_code == 204


def test_one_of_those_who_change_the_same_at_the_same_time_does(service, body, tag):
    question = submit(service, {**body, "seed": 33}).json()["links"]["self"]
    asked = {"name": f"raced {tag}", "references": LINES, "resamples": 99}
    for url in (question, service.post("/v1/testsets", json=asked).headers["location"]):
        for turn in range(5):
            held = {"If-Match": service.get(url).headers["etag"]}

            def change(
                number: int, url: str = url, turn: int = turn, held: dict[str, str] = held
            ) -> tuple[int, str]:
                title = f"{turn} {number}"
                return service.patch(url, json={"title": title}, headers=held).status_code, title

            with ThreadPoolExecutor(6) as pool:
                answers = sorted(pool.map(change, range(6)))
            (first, title), *others = answers
            assert first == 200
            assert {status for status, _ in others} == {412}
            assert service.get(url).json()["title"] == title


def test_nothing_that_is_changed_at_the_same_time_is_deleted(service, body, tag):
    """Either it is deleted as it was seen, and a change finds nothing, or it is changed first."""
    outcomes = set()
    for turn in range(12):
        question = submit(service, {**body, "seed": 50 + turn}).json()["links"]["self"]
        asked = {"name": f"deleted {turn} {tag}", "references": LINES, "resamples": 99}
        for url in (question, service.post("/v1/testsets", json=asked).headers["location"]):
            held = {"If-Match": service.get(url).headers["etag"]}
            with ThreadPoolExecutor(2) as pool:
                changed = pool.submit(service.patch, url, json={"title": "x"}, headers=held)
                deleted = pool.submit(service.delete, url, headers=held)
            outcomes.add((deleted.result().status_code, changed.result().status_code))
    assert outcomes <= {(204, 410), (412, 200)}


@pytest.mark.parametrize(
    ("said", "field"),
    [
        ({"title": 7}, "title"),
        ({"title": "x" * 201}, "title"),
        ({"title": "two\nlines"}, "title"),
        ({"title": "\ud800"}, "title"),
        ({"tags": "nightly"}, "tags"),
        ({"tags": [f"t{i}" for i in range(21)]}, "tags"),
        ({"tags": ["good", "a,b"]}, "tags[1]"),
        ({"tags": [""]}, "tags[0]"),
        ({"tags": ["x" * 51]}, "tags[0]"),
        ({"metadata": ["a"]}, "metadata"),
        ({"metadata": {"a": "x" * 4090}}, "metadata"),
        ({"metadata": {"a": "\ud800"}}, "metadata"),
    ],
)
def test_what_cannot_be_kept_is_refused_by_its_name(service, body, said, field):
    asked = json.dumps({**body, **said}).encode()
    answer = service.post(COMPARISONS, content=asked, headers={"Content-Type": "application/json"})
    assert problem(answer, 422, "invalid-input")["errors"][0]["field"] == field


def test_it_belongs_to_the_whole_request(service, body):
    asked = {"comparison": {**body, "title": "inside"}, "difference": 1.5}
    problem(service.post("/v1/plans", json=asked), 422, "invalid-recipe")


def test_test_sets_and_their_systems(service, written, tag):
    asked = {"name": f"board {tag}", "references": LINES, "resamples": 99}
    plain = service.post("/v1/testsets", json=asked).json()
    again = service.post("/v1/testsets", json={**asked, **written})
    url = plain["links"]["self"]
    assert (again.status_code, again.json()["id"]) == (200, plain["id"])
    assert of(again.json()) == written
    assert ids(service, "/v1/testsets", tag=tag, title="BOARD") == [plain["id"]]
    assert ids(service, "/v1/testsets", tag=tag, title="no such") == []
    changed = service.patch(url, json={"tags": [tag]}).json()
    assert of(changed) == {**written, "tags": [tag]}

    said = {**written, "title": "Team A"}
    put = service.put(f"{url}/systems/A", json={"hypotheses": LINES, **said}, headers=WAIT)
    assert of(put.json()) == said
    form = {"hypotheses": ("b.txt", "\n".join(LINES).encode())}
    more = {"request": json.dumps({"tags": ["open"]})}
    assert service.put(f"{url}/systems/B", files=form, data=more, headers=WAIT).is_success
    listed = service.get(f"{url}/systems").json()["systems"]
    assert [of(entry) for entry in listed] == [
        said,
        {"title": "", "tags": ["open"], "metadata": {}},
    ]
    kept = service.put(f"{url}/systems/A", json={"hypotheses": LINES, "title": "Team Z"})
    assert (kept.status_code, of(kept.json())) == (200, {**said, "title": "Team Z"})
    service.delete(f"{url}/systems/A")
    back = service.put(f"{url}/systems/A", json={"hypotheses": LINES}).json()
    assert of(back) == {"title": "", "tags": [], "metadata": {}}


def test_a_filtered_listing_is_turned_over(service, body):
    tag = os.urandom(8).hex()
    made = [
        submit(service, {**body, "seed": 900 + i, "tags": [tag] if i % 2 else []}, 0).json()["id"]
        for i in range(6)
    ]
    found, cursor = [], None
    while cursor or not found:
        wanted = {"tag": tag, "limit": 1} | ({"cursor": cursor} if cursor else {})
        page = service.get(COMPARISONS, params=wanted).json()
        assert len(page["comparisons"]) == 1
        found += [entry["id"] for entry in page["comparisons"]]
        cursor = page["next_cursor"]
    assert found == [made[5], made[3], made[1]]


def test_forms_the_client_and_the_shell_write_alike(service, body, tag, tmp_path):
    texts = {name: "\n".join(LINES[i:] + LINES[:i]) for i, name in enumerate(("r", "one", "two"))}
    files = [("references", ("r.txt", texts["r"].encode()))]
    files += [("systems", (f"{name}.txt", texts[name].encode())) for name in ("one", "two")]
    said = {"title": "By form", "tags": [tag]}
    asked = {"request": json.dumps({**said, "resamples": 99})}
    form = service.post(COMPARISONS, files=files, data=asked).json()
    assert of(form) == {**said, "metadata": {}}

    with Client(str(service.base_url)) as client:
        envelope = Notes(title="By client", tags=(tag,), metadata={"n": 1})
        key = client.run(parse_comparison({**body, "seed": 41}), envelope=envelope)
        assert of(client.status(key)) == envelope.as_json()
        client.describe(key, metadata={})
        assert [e["title"] for e in client.listing(tag=tag)] == ["By client", "By form"]

    for name, text in texts.items():
        (tmp_path / f"{name}.txt").write_text(text)
    command = ["compare", "-r", str(tmp_path / "r.txt"), str(tmp_path / "one.txt"),
               str(tmp_path / "two.txt"), "--seed", "5", "--resamples", "99"]  # fmt: skip
    options = ["--call", "By shell", "--tag", tag, "--metadata", "commit=abc"]
    report = ["--output", str(tmp_path / "report.txt")]
    assert main([*command, *options, *report]) == 2  # there is no service to keep it
    assert main([*command, *options, *report, "--server", str(service.base_url)]) == 0
    newest = service.get(COMPARISONS, params={"tag": tag}).json()["comparisons"][0]
    assert of(newest) == {"title": "By shell", "tags": [tag], "metadata": {"commit": "abc"}}


def test_pages_show_write_and_find_it(pages, tag):
    form = {
        "reference-text": "a b c d\ne f", "first-text": "a b c d\ne f", "second-text": "a b\ne f",
        "first-name": "A", "second-name": "B", "title": f"<b>{tag}", "tags": f"x y, {tag}",
    }  # fmt: skip
    looked = pages.post("/comparisons", data={**form, "do": "look"}, headers=BROWSER).text
    kept = html.unescape(looked.partition('name="kept" value="')[2].partition('"')[0])
    made = pages.post("/comparisons", data={"kept": kept}, headers=BROWSER)
    url = made.headers["location"]
    found = pages.get("/comparisons", params={"tag": tag, "title": "", "status": ""}).text
    assert url in found
    assert f"&lt;b&gt;{tag}" in found
    assert "Nothing here fits" in pages.get("/comparisons", params={"title": f"no {tag}"}).text
    changed = pages.post(f"{url}/describe", data={"title": "Other", "tags": tag}, headers=BROWSER)
    assert changed.headers["location"] == url
    told = pages.get(url, headers={"Accept": "application/json"}).json()
    assert (told["title"], told["tags"]) == ("Other", [tag])
    foreign = pages.post(f"{url}/describe", data={"title": "x"}, headers={"Origin": "http://evil"})
    assert foreign.status_code == 403
