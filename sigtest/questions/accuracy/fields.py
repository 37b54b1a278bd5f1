"""What a request of accuracy of tests says besides texts and judgements."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

from sigtest.comparison.parse import NAMED
from sigtest.data.compound import Numbers, object_schema
from sigtest.data.fields import SHOWN, Field, Number
from sigtest.errors import RecipeError
from sigtest.questions.human.request.choices import people_schema

ALPHAS = (0.05, 0.01, 0.001)
SAME = "same"


LEVEL = Number("level", "of a test")


@dataclass(frozen=True)
class Same(Field):
    """A level of its own, or that of the tests."""

    metavar = f"{SAME}|NUMBER"

    def check(self, value: object, path: str) -> float | None:
        if isinstance(value, str) and value != SAME:
            raise RecipeError(
                f'{path} must be a number or "{SAME}", not {value[:SHOWN]!r}.', field=path
            )
        return None if value == SAME else LEVEL.check(value, path)

    @property
    def form(self) -> dict[str, Any]:
        return {"anyOf": [{"const": SAME}, LEVEL.form]}

    def read(self, words: Sequence[str]) -> object:
        return SAME if words[-1] == SAME else LEVEL.read(words)


LEVELS = Numbers("alphas", "levels of the tests; by default .05, .01 and .001", option="alpha")
OF_PEOPLE = Same(
    "human_alpha", "level of the conclusions of people: a number, or that of the tests",
    default=SAME,
)  # fmt: skip
FIELDS: tuple[Field, ...] = (LEVELS, OF_PEOPLE)

P = {"type": "number", "minimum": 0, "maximum": 1}
NAME = {"type": "string"}
DIRECTIONS: dict[str, Any] = {"a": NAME, "b": NAME, "p_greater": P, "p_less": P}


def schema() -> dict[str, Any]:
    """JSON schema of a request."""
    human = people_schema(
        "A request of /v1/human-evaluations, or the id of one, as `evaluation`; or `pairs` with "
        "one-sided p-values of people, each perhaps with its criterion.",
        {"pairs": _pairs({}, {"criterion": {"type": "string", "minLength": 1}})},
    )
    tests = _pairs({"metric": NAME, "test": NAME}, {})
    tests["items"]["additionalProperties"] = False
    tested = {
        "type": "object",
        "properties": {"pairs": tests},
        "required": ["pairs"],
        "additionalProperties": False,
    }
    comparison = {
        "description": "A request of /v1/comparisons on one test set, or the id of one; or `pairs` "
        "with one-sided p-values that were computed elsewhere.",
        "anyOf": [{"$ref": "#/components/schemas/ComparedRequest"}, NAMED, tested],
    }
    return object_schema(FIELDS, {"human": human, "comparison": comparison})


def _pairs(needed: dict[str, Any], other: dict[str, Any]) -> dict[str, Any]:
    needed = {**DIRECTIONS, **needed}
    return {
        "type": "array",
        "minItems": 1,
        "items": {
            "type": "object",
            "properties": {**needed, **other},
            "required": list(needed),
        },
    }
