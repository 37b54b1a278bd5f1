"""What the OpenAPI document says of a request is what is checked, and nothing else is taken."""

import asyncio
import json
from collections.abc import Iterable
from contextlib import closing
from functools import cache
from types import SimpleNamespace
from typing import Any
from unittest.mock import Mock

import pytest
from jsonschema_rs import Draft202012Validator
from starlette.requests import Request
from twisted import BODIES, found, places, twisted, with_part

from app.http.observing import EXCHANGE, Exchange
from app.main import openapi_text
from app.requests.bodies import Parser, read_notes
from app.requests.questions import read_question
from app.requests.reading import ReadingProcess
from app.requests.testsets import read_change, read_system, read_testset
from app.settings import Settings
from sigtest.errors import SigtestError

SETTINGS = Settings()
OPERATIONS = pytest.mark.parametrize("operation", BODIES, ids=" ".join)
SHARES = pytest.mark.parametrize(  # a few wrong parts of each place, another few of the next one
    "share", [7, pytest.param(1, marks=pytest.mark.slow)], ids=["a seventh", "all"]
)


@cache  # not when tests are collected: each process collects all, and one runs these
def document() -> dict[str, Any]:
    """What the code says of all requests."""
    read: dict[str, Any] = json.loads(openapi_text())
    return read


def refusals(operation: tuple[str, str], bodies: Iterable[Any]) -> list[SigtestError | None]:
    """What the service says against each body; nothing where it takes it."""

    async def all_read() -> list[SigtestError | None]:
        with closing(ReadingProcess(10)) as process:
            return [await refusal(operation, body, process) for body in bodies]

    return asyncio.run(all_read())


async def refusal(
    operation: tuple[str, str], body: Any, process: ReadingProcess
) -> SigtestError | None:
    method, path = operation
    parser = Parser(SETTINGS.max_body_bytes, process)
    state = {"settings": SETTINGS, "parser": parser}
    state |= {"watcher": None, "questions": Mock()}

    async def receive() -> dict[str, Any]:
        return {"type": "http.request", "body": json.dumps(body).encode(), "more_body": False}

    headers = [(b"content-type", b"application/json")]
    scope = {"type": "http", "method": method, "path": path, "headers": headers, "state": state}
    scope["path_params"] = {"name": "A"}
    request = Request({**scope, "query_string": b""}, receive)
    caller: Any = SimpleNamespace(name="anybody")
    EXCHANGE.set(Exchange("this one", caller.name))
    reading: Any = {
        ("POST", "/v1/testsets"): lambda: read_testset(request, SETTINGS),
        ("PATCH", "/v1/testsets/{id}"): lambda: read_change(request, SETTINGS),
        ("PATCH", "/v1/comparisons/{id}"): lambda: read_notes(request),
        ("PUT", "/v1/testsets/{id}/systems/{name}"): lambda: read_system(request, SETTINGS),
    }.get(operation, lambda: read_question(request, caller, None))
    try:
        await reading()
    except SigtestError as error:
        return error
    return None


def declared(operation: tuple[str, str]) -> Draft202012Validator:
    """Checks bodies as the document says."""
    method, path = operation
    content = document()["paths"][path][method.lower()]["requestBody"]["content"]
    schema = content["application/json"]["schema"]
    return Draft202012Validator({**schema, "components": document()["components"]})


@OPERATIONS
def test_whole_bodies_are_taken(operation):
    for body in BODIES[operation]:
        declared(operation).validate(body)
    assert set(refusals(operation, BODIES[operation])) == {None}


@SHARES
@OPERATIONS
def test_nothing_is_taken_that_is_not_declared(operation, share):
    schema = declared(operation)
    wrong = [
        (way, other, whole)
        for body in BODIES[operation]
        for way, other, whole in twisted(body)
        if not schema.is_valid(whole)
    ][::share]
    refused = refusals(operation, [whole for _, _, whole in wrong])
    taken = [
        (way, other) for (way, other, _), error in zip(wrong, refused, strict=True) if error is None
    ]
    assert wrong
    assert taken == []


@OPERATIONS
def test_whole_numbers_may_be_written_with_a_point(operation):
    ways, wholes = [], []
    for body in BODIES[operation]:
        for way in places(body):
            if type(found(body, way)) is int:
                ways.append(way)
                wholes.append(with_part(body, way, float(found(body, way))))
                declared(operation).validate(wholes[-1])
    errors = refusals(operation, wholes)
    assert [way for way, error in zip(ways, errors, strict=True) if error is not None] == []


@OPERATIONS
def test_what_is_declared_is_not_refused_for_its_type(operation):
    schema = declared(operation)
    ways, wholes = [], []
    for body in BODIES[operation]:
        for way in filter(None, places(body)):
            for other in (True, 1.5, "x", [], {}):
                whole = with_part(body, way, other)
                if type(other) is not type(found(body, way)) and schema.is_valid(whole):
                    ways.append((way, other))
                    wholes.append(whole)
    errors = refusals(operation, wholes)
    refused = [
        (way, error.message)
        for way, error in zip(ways, errors, strict=True)
        if error is not None and " must be " in error.message
    ]
    assert refused == []


@OPERATIONS
def test_null_is_declared_only_where_it_can_stand_for_nothing(operation):
    schema = declared(operation)
    wholes = [
        with_part(body, way, None)
        for body in BODIES[operation]
        for way in filter(None, places(body))
    ]
    errors = refusals(operation, filter(schema.is_valid, wholes))
    assert [error.message for error in errors if error and " is empty" in error.message] == []
