"""How a report is decided and what of it is wanted, where that stands in the address."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Annotated

from fastapi import Depends, Query

from app.http.state import LeftEmpty
from workers.store.boards import Choice


async def _choice(
    alpha: Annotated[
        float | None,
        LeftEmpty,
        Query(description="Level of decisions, instead of the one that was asked for."),
    ] = None,
    correction: Annotated[
        str | None,
        LeftEmpty,
        Query(description="For multiple comparisons, instead of the one that was asked for."),
    ] = None,
) -> Choice:
    return Choice(alpha, correction)


Decided = Annotated[Choice, Depends(_choice)]


@dataclass(frozen=True)
class Part:
    """What of a report is wanted; the whole where nothing is named.

    Attributes:
        metric: The only metric.
        test: The only significance test.
        systems: One, with the pairs that it is part of; or several, with the pairs among them.
    """

    metric: str | None = None
    test: str | None = None
    systems: tuple[str, ...] = ()


async def _part(
    metric: Annotated[str | None, LeftEmpty, Query(description="The only metric.")] = None,
    test: Annotated[str | None, LeftEmpty, Query(description="The only significance test.")] = None,
    system: Annotated[
        list[str] | None,
        Query(
            description="A system, with the pairs that it is part of; may be repeated, for several "
            "and the pairs among them."
        ),
    ] = None,
) -> Part:
    return Part(metric, test, tuple(filter(None, system or ())))


PartWanted = Annotated[Part, Depends(_part)]
