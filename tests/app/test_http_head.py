"""HEAD answers like GET, without the body."""

from typing import Any

import httpx
import pytest
from exchange import COMPARISONS, submit

CHANGING = {"date", "retry-after", "x-request-id"}
PLAIN = {"Accept-Encoding": "identity"}  # a length is that of what is sent
TEXT = [f"word{i} " * 20 for i in range(2000)]


@pytest.fixture
def url(service: httpx.Client, body: dict[str, Any]) -> str:
    return str(submit(service, body).headers["location"])


def test_head_has_the_headers_of_get(service, url):
    pair = "a=A&b=B&metric=bleu&test=approximate_randomization"
    paths = [
        "/healthz",
        "/readyz",
        "/openapi.json",
        COMPARISONS,
        f"{COMPARISONS}?limit=0",
        f"{COMPARISONS}/{'0' * 32}",
        url,
        f"{url}?misspelt=1",
        f"{url}/report",
        f"{url}/report?format=html",
        f"{url}/distribution?{pair}",
        f"{url}/plots/matrix.svg",
        f"{url}/plots/distribution.svg?{pair}",
        "/v1/testsets",
    ]
    for path in paths:
        got, head = service.get(path, headers=PLAIN), service.head(path, headers=PLAIN)
        assert head.content == b"", path
        assert head.status_code == got.status_code, path
        kept = [{k: v for k, v in a.headers.items() if k not in CHANGING} for a in (got, head)]
        assert kept[0] == kept[1], path
        assert head.headers["content-length"] == str(len(got.content)), path


def test_every_route_with_get_has_head(service):
    document = service.get("/openapi.json").json()
    paths = [path for path, methods in document["paths"].items() if "get" in methods]
    paths.remove("/metrics")  # which counts the requests
    assert len(paths) > 15
    for path in paths:
        filled = path.replace("{id}", "0" * 32).replace("{name}", "A")
        got, head = service.get(filled, headers=PLAIN), service.head(filled, headers=PLAIN)
        assert (head.status_code, head.content) == (got.status_code, b""), path
        assert head.headers["content-length"] == str(len(got.content)), path


def test_head_of_a_leaderboard(service, body):
    testset = {"name": "head", "references": body["references"], "resamples": 99}
    url = service.post("/v1/testsets", json=testset).headers["location"]
    for system in body["systems"]:
        brought = {"hypotheses": system["hypotheses"]}
        path = f"{url}/systems/{system['name']}"
        service.put(path, json=brought, headers={"Prefer": "wait=60"})
    for name in ("", "/plots/intervals.svg", "/distribution?a=A&b=B"):
        head = service.head(f"{url}/leaderboard{name}", headers=PLAIN)
        got = service.get(f"{url}/leaderboard{name}", headers=PLAIN)
        assert (head.status_code, got.status_code) == (200, 200)
        assert head.headers["content-length"] == str(len(got.content))
        assert head.headers.get("etag") == got.headers.get("etag")


def test_head_of_a_stream_ends_at_once(service, body):
    systems = [{"name": n, "hypotheses": [f"{n} {line}" for line in TEXT]} for n in "AB"]
    large = {"references": [TEXT], "systems": systems, "resamples": 999_999, "metrics": ["ter"]}
    url = service.post(COMPARISONS, json=body | large).headers["location"]
    answer = service.head(f"{url}/events")
    assert answer.status_code == 200
    assert answer.headers["content-type"].startswith("text/event-stream")
    assert service.get(url).json()["status"] in {"queued", "running"}  # and nobody waited for it
    service.delete(url)


def test_an_etag_answers_head_too(service, url):
    held = {"If-None-Match": service.get(f"{url}/report").headers["etag"]}
    assert service.head(f"{url}/report", headers=held).status_code == 304


def test_head_goes_where_get_goes(service, url):
    assert service.head(f"{url}/nothing").status_code == 404
    allowed = service.put(url).headers["allow"]
    assert allowed == "DELETE, GET, HEAD, PATCH"


@pytest.mark.parametrize(
    ("accepted", "told"),
    [
        ("gzip", "gzip"),
        ("br, gzip;q=0.5", "gzip"),
        ("gzip;q=0", None),
        ("*, GZIP; q=0.000", None),
        ("identity", None),
    ],
)
def test_answers_are_compressed_for_who_does_not_refuse(service, accepted, told):
    answer = service.get("/openapi.json", headers={"Accept-Encoding": accepted})
    assert answer.headers.get("content-encoding") == told
    assert answer.json()["info"]["title"] == "sigtest"
    assert "Accept-Encoding" in answer.headers["vary"]
