"""A request's body: of which kind it is, and what its JSON says."""

from __future__ import annotations

import json
import math
from collections.abc import Iterable, Iterator
from typing import Any

from fastapi import Request

from app.http.errors import MalformedError, UnsupportedMediaError
from sigtest.data.shape import shape_of
from sigtest.data.text import decode

JSON = "application/json"
FORM = "multipart/form-data"
MOST_DEPTH = 100
MOST_CONTAINERS = 500_000
MOST_VALUES = 4_000_000  # with their names, where they have some


def kind_of(request: Request) -> str:
    """The media type that a request states, without parameters; empty where it states none."""
    return request.headers.get("content-type", "").partition(";")[0].strip().lower()


def unread(kind: str, *read: str) -> UnsupportedMediaError:
    """The error of a body of one kind where only others are read."""
    *others, last = read
    known = f"{', '.join(others)} or {last}" if others else last
    return UnsupportedMediaError(f"Send {known}, not {kind or 'a body of no stated kind'}.")


def refuse_encoding(request: Request) -> None:
    """Check that a body is as it is.

    Raises:
        UnsupportedMediaError: It has a Content-Encoding.
    """
    if request.headers.get("content-encoding", "identity").lower() != "identity":
        raise UnsupportedMediaError(
            "A body with a Content-Encoding is not read; send .txt.gz files in a form."
        )


def parse_json(data: bytes, what: str) -> dict[str, Any]:
    """A JSON object, strictly: no NaN or Infinity, no field twice.

    The standard parser is used and not a schema over every string, for which test sets are
    too large.

    Raises:
        InputError: Not UTF-8.
        MalformedError: Not a JSON object, or too much in it.
    """
    _check_shape(data, what)
    unbounded: list[str] = []

    def number(text: str) -> float:
        value = float(text)
        if not math.isfinite(value):
            unbounded.append(text[:40])
        return value

    try:
        body = json.loads(
            decode(data, what),
            parse_constant=number,
            parse_float=number,
            object_pairs_hook=_distinct,
        )
        if unbounded:
            raise _not_finite(body, unbounded[0])
    except RecursionError:
        raise MalformedError(f"{what} is nested too deeply.", field=what) from None
    except json.JSONDecodeError as error:
        raise MalformedError(
            f"{what} is not JSON: {error.msg} at line {error.lineno}, column {error.colno}.",
            field=what,
            line=error.lineno,
        ) from None
    except ValueError:  # a whole number of thousands of digits
        raise MalformedError(f"{what} has a number that is too long.", field=what) from None
    if not isinstance(body, dict):
        raise MalformedError(f"{what} must be a JSON object.", field=what)
    return body


def _check_shape(data: bytes, what: str) -> None:
    """Refuse what would take many times its bytes of memory, before it does."""
    shape = shape_of(data)
    if shape.depth > MOST_DEPTH:
        raise MalformedError(
            f"{what} is nested too deeply: {shape.depth:,} levels, of at most {MOST_DEPTH}.",
            field=what,
        )
    for count, most, things in (
        (shape.containers, MOST_CONTAINERS, "lists and objects"),
        (shape.values, MOST_VALUES, "values"),
    ):
        if count > most:
            raise MalformedError(
                f"{what} has {count:,} {things}, more than the {most:,} that are read as JSON; "
                "send texts and scores as files of a form.",
                field=what,
            )


def _not_finite(body: object, text: str) -> MalformedError:
    """The error of a number like NaN, saying where the first one is."""
    field = next(_not_finite_fields(body, "")) or "body"
    return MalformedError(f"{field} is {text}; every number must be finite.", field=field)


def _not_finite_fields(value: object, path: str) -> Iterator[str]:
    if isinstance(value, float) and not math.isfinite(value):
        yield path
    elif isinstance(value, dict):
        for name, entry in value.items():
            yield from _not_finite_fields(entry, f"{path}.{name}" if path else name)
    elif isinstance(value, list):
        for i, entry in enumerate(value):
            yield from _not_finite_fields(entry, f"{path}[{i}]")


def _distinct(pairs: Iterable[tuple[str, Any]]) -> dict[str, Any]:
    entries: dict[str, Any] = {}
    for name, value in pairs:
        if name in entries:
            raise MalformedError(f"The field {name[:60]!r} is given twice.", field=name)
        entries[name] = value
    return entries
