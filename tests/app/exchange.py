"""What tests of the front end say and hear."""

from collections.abc import Callable
from pathlib import Path
from typing import Any, Protocol
from xml.etree import ElementTree

import httpx
from jsonschema_rs import Draft202012Validator

from app.openapi import BESIDES
from app.settings import Settings
from workers.settings import Settings as QueueSettings

ROOT = Path(__file__).parents[2]
COMPARISONS = "/v1/comparisons"

Serve = Callable[[Settings], httpx.Client]


def examples(operation: str) -> dict[str, Any]:
    """Bodies that the OpenAPI document shows of an operation that is of no kind, by name."""
    found: dict[str, Any] = BESIDES["operations"][operation]["requestBody"]["content"]
    return found["application/json"]["examples"]


class ServeOn(Protocol):
    """Starts a front end and says how to ask it."""

    def __call__(
        self, settings: Settings, queue: QueueSettings, host: str = "127.0.0.1"
    ) -> httpx.Client: ...


Stored = Callable[[], set[str]]


def submit(client: httpx.Client, body: dict[str, Any], wait: int = 60) -> httpx.Response:
    """Ask for a comparison and wait for its end."""
    return client.post(COMPARISONS, json=body, headers={"Prefer": f"wait={wait}"})


def safe_picture(client: httpx.Client, url: str, params: dict[str, str]) -> dict[str, str]:
    """Check that a picture runs nothing in a browser; headers with which it is not sent again."""
    response = client.get(url, params=params)
    assert response.headers["content-type"] == "image/svg+xml"
    assert response.headers["x-content-type-options"] == "nosniff"
    assert response.headers["cache-control"] == "private, no-cache"
    policy = response.headers["content-security-policy"]
    assert {"sandbox", "default-src 'none'"} <= set(policy.split("; "))
    names = {e.tag.rpartition("}")[2] for e in ElementTree.fromstring(response.text).iter()}
    assert names <= {"svg", "title", "desc", "rect", "text", "line", "circle", "path"}
    held = {"If-None-Match": response.headers["etag"]}
    again = client.get(url, params=params, headers=held)
    assert (again.status_code, again.content) == (304, b"")
    assert again.headers["etag"] == response.headers["etag"]
    return held


def problem(response: httpx.Response, status: int, kind: str) -> dict[str, Any]:
    """The problem document of a response, which must be of this kind."""
    assert response.status_code == status, response.text
    assert response.headers["content-type"] == "application/problem+json"
    document: dict[str, Any] = response.json()
    assert document["type"] == f"urn:sigtest:problem:{kind}", document
    assert document["status"] == status
    assert document["title"]
    assert document["detail"]
    return document


def check(client: httpx.Client, schema: str | dict[str, Any], told: object) -> None:
    """Hold a body against a schema of the service's document, or one that it calls so."""
    document = client.get("/openapi.json").json()
    named = {"$ref": f"#/components/schemas/{schema}"} if isinstance(schema, str) else schema
    whole = {**named, "components": document["components"]}
    Draft202012Validator(whole).validate(told)
