"""Requests for comparisons, on one test set or on several."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Annotated, Any

from pydantic import BeforeValidator, Field, Strict

from sigtest.errors import InputError
from sigtest.requests.model import ELSEWHERE, Must, Name
from sigtest.requests.notes import Notes
from sigtest.requests.recipe import Choices
from sigtest.requests.testsets import EntryRequest, Label, named_systems, reference_sets

NAMED: dict[str, Any] = {  # JSON schema of a comparison that is nothing but an id
    "type": "object",
    "properties": {"id": {"type": "string", "description": "Of a finished comparison."}},
    "required": ["id"],
    "additionalProperties": False,
}
COMPARED = {ELSEWHERE: "#/components/schemas/ComparedRequest"}


def named_testsets(testsets: Any) -> Any:
    """A list of objects with a name each, from that or from a mapping by name."""
    if not isinstance(testsets, Mapping):
        return testsets
    return [
        {"name": name, **body} if isinstance(body, Mapping) else body
        for name, body in testsets.items()
    ]


class ComparedRequest(Choices, EntryRequest):
    """A test set, its systems, and what to compute, inside of another request."""

    builtin: Name | None = Field(
        default=None,
        description="instead of references: a test set that sacreBLEU knows, such as "
        "`wmt17/en-de`; the operator must have it or allow downloads",
    )
    testset: Name | None = Field(
        default=None,
        description="instead of references, documents and labels: the id of a test set of the "
        "caller's, which has them",
    )


class ComparisonRequest(Notes, ComparedRequest):
    """The same with what is written on it."""


class NamedTestSetRequest(EntryRequest):
    """One test set of several, and what systems bring to it."""

    name: Label = Field(description="what the report calls it; each its own")


class ComparedOnSeveralRequest(Choices):
    """Several test sets, the same systems on each, and what to compute."""

    testsets: Annotated[
        tuple[NamedTestSetRequest, ...],
        BeforeValidator(
            named_testsets,
            json_schema_input_type=list[NamedTestSetRequest] | dict[str, EntryRequest],
        ),
        Must("a list of test sets", InputError),
    ] = Field(
        description="two at least, each under a name of its own: a list of objects, or an object "
        "by name"
    )
    pooled: Annotated[bool, Strict(), Must("true or false", InputError)] = Field(
        default=False,
        description="whether sums over all test sets mean something: they share a language and "
        "all else that a score depends on; scores are averaged otherwise",
    )


class SeveralRequest(Notes, ComparedOnSeveralRequest):
    """The same with what is written on it."""


def listed(request: Mapping[str, Any]) -> dict[str, Any]:
    """A request with lists where it has the shorter spellings; what is of no use stays as it is."""
    body = dict(request)
    if "references" in body:
        body["references"] = reference_sets(body["references"])
    if isinstance(body.get("systems"), Mapping):
        body["systems"] = named_systems(body["systems"])
    testsets = named_testsets(body.get("testsets"))
    if isinstance(testsets, list | tuple):
        body["testsets"] = [listed(own) if isinstance(own, Mapping) else own for own in testsets]
    return body
