"""Every answer that the service gives is declared: its status, its media type, its headers."""

import json
from collections.abc import Iterator
from typing import Any

import httpx
import pytest

METHODS = ["post", "put", "get", "patch", "delete"]
SYSTEMS = ("A", "B")
# of every HTTP server, and of no interest to a client's author
USUAL = {
    "content-encoding", "content-length", "content-type", "date", "server", "transfer-encoding",
    "connection", "x-content-type-options", "vary",
}  # fmt: skip


def smallest(operation: dict[str, Any]) -> Any:
    examples = operation["requestBody"]["content"]["application/json"]["examples"].values()
    return min((entry["value"] for entry in examples), key=lambda value: len(json.dumps(value)))


def place(entry: tuple[str, str, Any]) -> tuple[float, bool, int]:
    path, method, _ = entry
    if path.endswith("/frozen"):  # which needs systems
        return METHODS.index("put") + 0.5, False, 0
    ends = method == "delete"
    return (
        METHODS.index(method),
        path.startswith("/v1/tasks") != ends,
        -len(path) if ends else len(path),
    )


@pytest.fixture(scope="module")
def document(service: httpx.Client) -> dict[str, Any]:
    told: dict[str, Any] = service.get("/openapi.json").json()
    return told


def asked(
    service: httpx.Client, document: dict[str, Any], headers: dict[str, str]
) -> Iterator[tuple[str, dict[str, Any], httpx.Response]]:
    """Every operation with its smallest documented request, again where it may be unchanged."""
    ids: dict[str, str] = {}
    calls = [
        (path, method, operation)
        for path, methods in document["paths"].items()
        for method, operation in methods.items()
    ]
    for path, method, operation in sorted(calls, key=place):
        collection = path.partition("/{id}")[0]
        for name in SYSTEMS if method == "put" else SYSTEMS[:1]:
            named = ids.get("team", name) if "/teams/" in path else name
            url = path.replace("{id}", ids.get(collection, "")).replace("{name}", named)
            url = url.replace("{testset}", "track")
            for parameter in operation.get("parameters", ()):
                if parameter["name"] == "picture":
                    url = url.replace("{picture}", parameter["schema"]["enum"][0])
            pair = dict(zip("ab", SYSTEMS, strict=True))
            params = pair if path.endswith(("/segments", "/distribution")) else {}
            body = {"json": smallest(operation)} if "requestBody" in operation else {}
            if (method, path) == ("post", "/v1/tasks"):
                body["json"]["testsets"] = {"track": ids["/v1/testsets"]}
            own = {"X-API-Key": ids["token"]} if "/systems/{testset}" in path else {}
            given = {**headers, **own}
            answer = service.request(method, url, params=params, headers=given, **body)
            if path.endswith("/teams") and method == "post":
                ids |= {"team": answer.json()["name"], "token": answer.json()["token"]}
            if method == "post" and path == collection:
                ids[path] = answer.json()["id"]
            yield f"{method} {path}", operation, answer
            if method == "get" and "etag" in answer.headers:
                held = {**given, "If-None-Match": answer.headers["etag"]}
                again = service.get(url, params=params, headers=held)
                yield f"{method} {path}", operation, again


def resolved(document: dict[str, Any], part: dict[str, Any]) -> dict[str, Any]:
    while "$ref" in part:
        _, _, kind, name = part["$ref"].split("/")
        part = document["components"][kind][name]
    return part


def undeclared(
    document: dict[str, Any], name: str, operation: dict[str, Any], answer: httpx.Response
) -> list[str]:
    """What of an answer the document does not say."""
    declared = operation["responses"].get(str(answer.status_code))
    if declared is None and answer.is_error:
        declared = operation["responses"]["default"]
    if declared is None:
        return [f"{name} {answer.status_code}"]
    told = resolved(document, declared)
    missing = {h.lower() for h in answer.headers} - {h.lower() for h in told.get("headers", {})}
    media = answer.headers.get("content-type", "").partition(";")[0]
    if answer.content and media not in told.get("content", {}):
        missing.add(media)
    return [f"{name} {answer.status_code} {what}" for what in sorted(missing - USUAL)]


@pytest.mark.parametrize("wait", [0, 30])
def test_what_occurs_is_declared(service, document, wait):
    headers = {"Prefer": f"wait={wait}"} if wait else {"Accept": "*/*"}
    found, statuses = [], set()
    for name, operation, answer in asked(service, document, headers):
        if wait:
            assert answer.status_code < 400, (name, answer.text)
        found += undeclared(document, name, operation, answer)
        statuses.add(answer.status_code)
    assert found == []
    assert {200, 201, 204, 304} <= statuses


def test_no_cache_may_hand_an_answer_to_another_caller(service, document):
    """A cache that is shared knows `Authorization`, not `X-API-Key` (RFC 9111, section 3)."""
    kept = {
        name: answer.headers.get("cache-control")
        for name, _, answer in asked(service, document, {"Prefer": "wait=30"})
    }
    assert kept.pop("post /v1/webhooks") == "no-store"
    assert kept.pop("post /v1/tasks/{id}/teams") == "no-store"
    assert set(kept.values()) == {"private, no-cache"}
    unknown = service.get("/v1/comparisons/" + "0" * 32)
    assert unknown.headers["cache-control"] == "private, no-cache"
