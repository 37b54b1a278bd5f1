"""Requests for the accuracy of significance tests."""

from __future__ import annotations

from typing import Annotated, Literal

from annotated_types import Len
from pydantic import BeforeValidator, Field

from sigtest.requests.model import Between, Distinct, Must, Name, Renames, Request

ALPHAS = (0.05, 0.01, 0.001)
SAME = "same"


class AccuracyRequest(Request):
    """Levels; texts and judgements are read elsewhere."""

    alphas: Annotated[
        tuple[Annotated[float, Between(0, 1)], ...],
        Len(1),
        Distinct(),
        Must("a list of levels, one at least"),
    ] = Field(
        default=ALPHAS,
        title="alpha",
        description="levels of the tests; by default .05, .01 and .001",
    )
    human_alpha: Annotated[
        Annotated[float, Between(0, 1)] | None,
        BeforeValidator(
            lambda value: None if value == SAME else value,
            json_schema_input_type=Literal["same"] | Annotated[float, Between(0, 1)] | None,
        ),
        Must(f'a number or "{SAME}"'),
    ] = Field(
        default=None,
        description=f"level of the conclusions of people: a number, or that of the tests; default "
        f"{SAME}",
    )


class JudgedPairsRequest(Request):
    """What is done with p-values of people; the pairs are read elsewhere."""

    aliases: Renames = Field(default={}, description="another name for a system")
    criteria: Annotated[tuple[Name, ...], Distinct()] = Field(
        default=(), description="in the order in which they decide; default all"
    )
