"""What the OpenAPI document says of a request is what is checked, and nothing else is taken."""

import asyncio
import json
from types import SimpleNamespace
from typing import Any

import pytest
from jsonschema import Draft202012Validator
from starlette.requests import Request
from twisted import BODIES, found, places, twisted, with_part

from app import openapi
from app.requests.envelope import read_envelope
from app.requests.parsing import Parser
from app.requests.question import read_question
from app.requests.testset import read_change, read_system, read_testset
from app.settings import Settings
from sigtest.errors import SigtestError

DOCUMENT = json.loads(openapi.text())
SETTINGS = Settings()
OPERATIONS = pytest.mark.parametrize("operation", BODIES, ids=" ".join)


def refusal(operation: tuple[str, str], body: Any) -> SigtestError | None:
    """What the service says against a body; nothing where it takes it."""
    method, path = operation
    parser = Parser(SETTINGS.max_body_bytes)
    state = {"settings": SETTINGS, "parser": parser}
    state |= dict.fromkeys(("testsets", "questions", "watcher"))

    async def receive() -> dict[str, Any]:
        return {"type": "http.request", "body": json.dumps(body).encode(), "more_body": False}

    headers = [(b"content-type", b"application/json")]
    scope = {"type": "http", "method": method, "path": path, "headers": headers, "state": state}
    request = Request({**scope, "query_string": b""}, receive)
    caller: Any = SimpleNamespace(name="anybody")
    reading = {
        ("POST", "/v1/testsets"): lambda: read_testset(request, SETTINGS, parser),
        ("PATCH", "/v1/testsets/{id}"): lambda: read_change(request, SETTINGS, parser),
        ("PATCH", "/v1/comparisons/{id}"): lambda: read_envelope(request, parser),
        ("PUT", "/v1/testsets/{id}/systems/{name}"): lambda: read_system(
            request, SETTINGS, parser, "A"
        ),
    }.get(operation, lambda: read_question(request, caller, None))
    try:
        asyncio.run(reading())  # type: ignore[arg-type]
    except SigtestError as error:
        return error
    return None


def declared(operation: tuple[str, str]) -> Draft202012Validator:
    """Checks bodies as the document says."""
    method, path = operation
    content = DOCUMENT["paths"][path][method.lower()]["requestBody"]["content"]
    schema = content["application/json"]["schema"]
    return Draft202012Validator({**schema, "components": DOCUMENT["components"]})


@OPERATIONS
def test_whole_bodies_are_taken(operation: tuple[str, str]) -> None:
    for body in BODIES[operation]:
        declared(operation).validate(body)
        assert refusal(operation, body) is None


@OPERATIONS
def test_nothing_is_taken_that_is_not_declared(operation: tuple[str, str]) -> None:
    schema = declared(operation)
    taken = [
        (way, other)
        for body in BODIES[operation]
        for way, other, whole in twisted(body)
        if not schema.is_valid(whole) and refusal(operation, whole) is None
    ]
    assert taken == []


@OPERATIONS
def test_whole_numbers_may_be_written_with_a_point(operation: tuple[str, str]) -> None:
    for body in BODIES[operation]:
        for way in places(body):
            if type(found(body, way)) is int:
                whole = with_part(body, way, float(found(body, way)))
                declared(operation).validate(whole)
                assert refusal(operation, whole) is None, way


@OPERATIONS
def test_what_is_declared_is_not_refused_for_its_type(operation: tuple[str, str]) -> None:
    schema = declared(operation)
    for body in BODIES[operation]:
        for way in filter(None, places(body)):
            for other in (True, 1.5, "x", [], {}):
                whole = with_part(body, way, other)
                if type(other) is not type(found(body, way)) and schema.is_valid(whole):
                    error = refusal(operation, whole)
                    assert error is None or " must be " not in error.message, (way, other)
