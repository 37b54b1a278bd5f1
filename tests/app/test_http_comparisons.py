"""The life of a comparison over HTTP."""

import gzip
import json
import time
from datetime import datetime
from pathlib import Path
from typing import Any

import httpx
import pytest
from computed import rendered
from exchange import COMPARISONS, problem, submit
from service import until

from app.settings import Settings
from sigtest.comparison.comparison import parse_comparison
from sigtest.data.text import parse_lines
from sigtest.engine import compare

SLOW = {"tests": ["bootstrap", "paired_bootstrap"], "resamples": 999_999, "exact": "never"}


@pytest.fixture
def endless(body: dict[str, Any]) -> dict[str, Any]:
    """A comparison that is still at work whenever a test looks."""
    lines = ["a b c d e f g", "h i j k l m n"] * 2000
    systems = [{"name": f"s{i}", "hypotheses": lines[i:] + lines[:i]} for i in range(6)]
    return body | SLOW | {"references": [lines], "systems": systems, "metrics": ["bleu", "chrf"]}


def test_a_new_comparison_is_accepted(service, body):
    response = service.post(COMPARISONS, json=body | {"seed": 100})
    assert response.status_code == 202
    assert int(response.headers["retry-after"]) >= 1
    told = response.json()
    assert response.headers["location"] == told["links"]["self"] == f"{COMPARISONS}/{told['id']}"
    assert told["status"] == "queued"
    assert told["progress"]["done"] == 0
    assert set(told["progress"]) == {"phase", "done", "total"}
    assert (told["systems"], told["metrics"]) == (["A", "B"], ["bleu"])
    assert told["tests"] == ["approximate_randomization"]
    created = datetime.fromisoformat(told["created_at"])
    assert datetime.fromisoformat(told["expires_at"]) > created


def test_waiting_answers_with_the_finished_comparison(service, body):
    response = submit(service, body | {"seed": 101}, wait=30)
    assert response.status_code == 200
    assert response.json()["status"] == "succeeded"
    assert response.headers["preference-applied"] == "wait=30"
    assert "retry-after" not in response.headers


def test_a_wait_is_granted_up_to_its_limit(service, body):
    response = submit(service, body | {"seed": 102}, wait=10**6)
    assert response.headers["preference-applied"] == "wait=60"


def test_a_wait_ends_when_it_is_over(service, endless):
    start = time.monotonic()
    response = submit(service, endless | {"seed": 1}, wait=1)
    assert time.monotonic() - start >= 1
    assert response.status_code == 202
    assert response.headers["preference-applied"] == "wait=1"
    service.delete(response.headers["location"])


def test_equal_content_is_the_same_comparison(service, body):
    first = submit(service, body | {"seed": 103})
    again = service.post(COMPARISONS, json={"seed": 103, **body})
    assert again.status_code == 200
    assert again.json() == first.json()


def test_an_idempotency_key_stands_for_one_content(service, body):
    headers = {"Idempotency-Key": "key-1"}
    first = service.post(COMPARISONS, json=body | {"seed": 104}, headers=headers)
    again = service.post(COMPARISONS, json=body | {"seed": 104}, headers=headers)
    assert again.json()["id"] == first.json()["id"]
    other = service.post(COMPARISONS, json=body | {"seed": 105}, headers=headers)
    problem(other, 422, "idempotency-key-reused")


def test_files_and_json_are_the_same_comparison(service, example):
    references = [example / "reference.en"]
    systems = sorted((example / "systems").iterdir())
    documents = example / "documents.txt"
    recipe = {"metrics": ["bleu", "chrf"], "seed": 0, "resamples": 999}
    parts = [
        *(("references", (path.name, path.read_bytes())) for path in references),
        *(("systems", (path.name + ".gz", gzip.compress(path.read_bytes()))) for path in systems),
        ("documents", (documents.name, documents.read_bytes())),
        ("request", (None, json.dumps(recipe).encode(), "application/json")),
    ]
    response = service.post(COMPARISONS, files=parts, headers={"Prefer": "wait=60"})
    assert response.json()["systems"] == [path.stem for path in systems]

    def lines(path: Path) -> list[str]:
        return list(parse_lines(path.read_bytes(), path.name))

    same = {
        "references": [lines(path) for path in references],
        "systems": [{"name": path.stem, "hypotheses": lines(path)} for path in systems],
        "documents": lines(documents),
        **recipe,
    }
    again = service.post(COMPARISONS, json=same)
    assert (again.status_code, again.json()["id"]) == (200, response.json()["id"])
    report = service.get(response.json()["links"]["report"])
    assert report.text == rendered("json", compare(parse_comparison(same)))


def test_marks_and_line_ends_of_files_are_stripped(service):
    plain = "a b\u2028c\x0cd\ne\u0085f\n".encode()
    marked = b"\xef\xbb\xbf" + plain.replace(b"\n", b"\r\n")

    def ask(second: bytes) -> str:
        files = [
            ("references", ("r.txt", plain)),
            ("systems", ("A.txt", plain)),
            ("systems", ("B.txt", second)),
        ]
        response = service.post(COMPARISONS, files=files)
        assert response.status_code in {200, 202}, response.text
        return str(response.json()["id"])

    assert ask(marked) == ask(plain)


def test_an_etag_saves_the_answer(service, body):
    url = submit(service, body | {"seed": 106}).headers["location"]
    etag = service.get(url).headers["etag"]
    for held in (etag, f'"x", W/{etag}', "*"):
        response = service.get(url, headers={"If-None-Match": held})
        assert (response.status_code, response.content) == (304, b"")
        assert response.headers["etag"] == etag
    assert service.get(url, headers={"If-None-Match": '"x"'}).status_code == 200


def test_unfinished_comparisons_say_when_to_look_again(service, endless):
    url = service.post(COMPARISONS, json=endless | {"seed": 2}).headers["location"]
    while (response := service.get(url)).json()["progress"]["phase"] == "statistics":
        time.sleep(0.05)
    assert response.json()["status"] in {"queued", "running"}
    assert int(response.headers["retry-after"]) >= 1
    early = service.get(url + "/report")
    phase, told = response.json()["progress"]["phase"], problem(early, 409, "not-ready")
    assert (phase, told["progress"]["phase"]) == ("resampling", "resampling")
    again = service.post(COMPARISONS, json=endless | {"seed": 2})
    assert (again.status_code, again.headers["location"]) == (202, url)
    assert int(early.headers["retry-after"]) >= 1
    service.delete(url)


def test_cancelling_keeps_the_record_and_deleting_does_not(service, stored, endless):
    url = service.post(COMPARISONS, json=endless | {"seed": 3}).headers["location"]
    cancelled = service.delete(url)
    assert (cancelled.status_code, cancelled.json()["status"]) == (200, "cancelled")
    problem(service.get(url + "/report"), 409, "not-ready")
    assert service.delete(url).status_code == 204
    problem(service.get(url), 410, "gone")
    id = url.rpartition("/")[2]  # noqa: A001
    assert {key for key in stored() if key.endswith(id)} <= {f"sigtest:gone:{id}"}


def test_a_cancelled_comparison_runs_again(service, endless):
    url = service.post(COMPARISONS, json=endless | {"seed": 4}).headers["location"]
    service.delete(url)
    again = service.post(COMPARISONS, json=endless | {"seed": 4})
    assert (again.status_code, again.headers["location"]) == (202, url)
    service.delete(url)


def test_what_runs_again_keeps_what_is_not_said_anew(service, endless):
    said = {"title": "Nightly", "tags": ["en-de"], "metadata": {"commit": "4f2a"}}
    asked = endless | {"seed": 5}
    url = service.post(COMPARISONS, json=asked | said).headers["location"]
    service.delete(url)
    again = service.post(COMPARISONS, json=asked | {"title": "Weekly"})
    assert again.status_code == 202
    for told in (again.json(), service.get(url).json()):
        assert {part: told[part] for part in said} == {**said, "title": "Weekly"}
    service.delete(url)
    service.delete(url)  # which forgets what was written on it
    anew = service.post(COMPARISONS, json=asked).json()
    assert (anew["title"], anew["tags"], anew["metadata"]) == ("", [], {})
    service.delete(url)


@pytest.mark.parametrize(
    "path", ["", "/report", "/events", "/distribution?a=A&b=B&metric=bleu&test=t"]
)
def test_what_never_was_is_not_found(service, path):
    problem(service.get(f"{COMPARISONS}/{'0' * 32}{path}"), 404, "not-found")
    problem(service.get(f"{COMPARISONS}/%00{path}"), 404, "not-found")


def test_listing_goes_from_newest_to_oldest(service, body):
    asked = [submit(service, body | {"seed": 200 + i}).json()["id"] for i in range(5)]
    seen: list[str] = []
    cursor: str | None = None
    while len(seen) < 5:
        page = service.get(
            COMPARISONS, params={"limit": 2} | ({"cursor": cursor} if cursor else {})
        )
        told = page.json()
        assert len(told["comparisons"]) == 2
        seen += [comparison["id"] for comparison in told["comparisons"]]
        cursor = told["next_cursor"]
    assert seen[:5] == asked[::-1]


def test_listing_ends(service, body):
    submit(service, body | {"seed": 210})
    url, pages = COMPARISONS + "?limit=100", 0
    while url:
        cursor = service.get(url).json()["next_cursor"]
        url = f"{COMPARISONS}?limit=100&cursor={cursor}" if cursor else ""
        pages += 1
    assert pages < 10


@pytest.mark.parametrize("limit", ["0", "-1", "many"])
def test_a_page_has_a_size(service, limit):
    (error,) = problem(service.get(COMPARISONS, params={"limit": limit}), 422, "invalid-parameter")[
        "errors"
    ]
    assert error["field"] == "limit"


def test_a_cursor_comes_from_a_listing(service):
    response = service.get(COMPARISONS, params={"cursor": "x"})
    assert problem(response, 422, "invalid-input")["errors"][0]["field"] == "cursor"


def test_a_full_queue_is_busy(serve_on, queue, service, endless):
    client = serve_on(Settings(), queue.model_copy(update={"pending": 1}))
    url = client.post(COMPARISONS, json=endless | {"seed": 5}).headers["location"]
    response = client.post(COMPARISONS, json=endless | {"seed": 6})
    problem(response, 429, "busy")
    assert int(response.headers["retry-after"]) >= 1
    client.delete(url)


def events(service: httpx.Client, url: str) -> list[tuple[str, dict[str, Any]]]:
    """Events until the stream ends."""
    found, kind = [], ""
    with service.stream("GET", url + "/events") as response:
        assert response.headers["content-type"].startswith("text/event-stream")
        for line in response.iter_lines():
            name, _, value = line.partition(": ")
            if name == "event":
                kind = value
            if name == "data":
                found.append((kind, json.loads(value)))
    return found


def test_events_tell_progress_until_the_end(service, body):
    lines = [f"a b c {i} d e f" for i in range(300)]
    for system in body["systems"]:
        system["hypotheses"] = [line.replace("d", system["name"]) for line in lines]
    body |= {"references": [lines], "resamples": 99_999, "exact": "never", "seed": 107}
    url = service.post(COMPARISONS, json=body).headers["location"]
    told = events(service, url)
    assert [kind for kind, _ in told] == ["progress"] * (len(told) - 1) + ["finished"]
    assert told[-1][1]["status"] == "succeeded"
    assert told[-1][1] == service.get(url).json()
    assert events(service, url) == told[-1:]


def test_readiness_counts_workers(service):
    assert service.get("/healthz").json() == {"status": "ok"}
    ready = {"status": "ready", "workers": 2}  # where one ended, another comes
    until(lambda: service.get("/readyz").json() == ready)


def test_a_parameter_that_does_not_fit_is_told_with_what_was_given(service):
    told = service.get(COMPARISONS, params={"status": "bogus"}).json()
    assert told["status"] == 422
    assert "must be 'queued', 'running'" in told["detail"]
    assert told["detail"].endswith("not 'bogus'.")
