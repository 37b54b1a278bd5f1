"""What a reader chooses of a report; all of it lives in the address.

Each class is a dependency whose fields are query parameters, so this module has no postponed
annotations: FastAPI reads them as they are.
"""

from dataclasses import dataclass, replace
from typing import Annotated, Any
from urllib.parse import urlencode

from fastapi import Depends, Query
from pydantic import AfterValidator, Field

from app.http.state import InDigits, LeftEmpty
from sigtest.render.converters import PICTURE_FORMATS
from sigtest.render.drawing import PARTS
from sigtest.segments import ORDERS, Filter
from workers.store.boards import Choice

SEGMENTS = 20  # a page, where nothing is said
MOST_SEGMENTS = 200
Count = Annotated[int, Field(ge=0)]


@dataclass(frozen=True)
class DecisionOptions:
    """How a report is decided, where not as it was asked for."""

    alpha: Annotated[
        float | None,
        LeftEmpty,
        Query(description="Level of decisions, instead of the one that was asked for."),
    ] = None
    correction: Annotated[
        str | None,
        LeftEmpty,
        Query(description="For multiple comparisons, instead of the one that was asked for."),
    ] = None

    @property
    def choice(self) -> Choice:
        """The same for the store."""
        return Choice(self.alpha, self.correction)


@dataclass(frozen=True)
class PartOptions:
    """What of a report is wanted; the whole where nothing is named."""

    metric: Annotated[str | None, LeftEmpty, Query(description="The only metric.")] = None
    test: Annotated[str | None, LeftEmpty, Query(description="The only significance test.")] = None
    system: Annotated[
        tuple[str, ...],
        AfterValidator(lambda names: tuple(filter(None, names))),  # forms send empty ones
        Query(
            description="A system, with the pairs that it is part of; may be repeated, for several "
            "and the pairs among them."
        ),
    ] = ()


@dataclass(frozen=True)
class MeasureOptions:
    """A metric and a significance test."""

    metric: Annotated[str | None, Query(description="The first by default.")] = None
    test: Annotated[str | None, Query(description="By default the first that keeps its level.")] = (
        None
    )


@dataclass(frozen=True)
class PairOptions(MeasureOptions):
    """A pair, by a metric and under a test."""

    testset: Annotated[
        str | None,
        Query(description="One of several; pictures of a report show all together by default."),
    ] = None
    a: Annotated[str | None, Query(description="First system of the pair.")] = None
    b: Annotated[str | None, Query(description="Second system.")] = None


@dataclass(frozen=True)
class PictureOptions(DecisionOptions, PairOptions):
    """What a picture shows."""

    criterion: Annotated[str | None, Query(description="Of a human evaluation.")] = None
    width: Annotated[
        str | None, Query(description="Of a comparison's picture, such as 16cm; 8.5cm by default.")
    ] = None
    title: Annotated[str | None, Query(description="Of a comparison's picture.")] = None
    omit: Annotated[
        str | None,
        Query(description=f"Of a comparison's picture, between commas: {', '.join(PARTS)}."),
    ] = None
    format: Annotated[
        str | None,
        Query(
            description="Overrides the suffix and Accept.",
            json_schema_extra={"enum": list(PICTURE_FORMATS)},
        ),
    ] = None


@dataclass(frozen=True)
class SegmentOptions:
    """Which segments behind a difference are shown."""

    document: Annotated[str | None, LeftEmpty, Query(description="Of this document only.")] = None
    shortest: Annotated[Count | None, LeftEmpty, Query(description="At least so many words.")] = (
        None
    )
    longest: Annotated[Count | None, LeftEmpty, Query(description="At most so many words.")] = None
    better: Annotated[
        str | None,
        LeftEmpty,
        Query(
            description="Only those on which this one is better.",
            json_schema_extra={"enum": ["a", "b"]},
        ),
    ] = None
    order: Annotated[
        str,
        Query(
            description="By the size of the share; the best for `a` or for `b` first; by place.",
            json_schema_extra={"enum": list(ORDERS)},
        ),
    ] = ORDERS[0]
    start: Annotated[int, Query(ge=0, description="How many to pass over."), InDigits] = 0
    limit: Annotated[
        int, Query(ge=1, le=MOST_SEGMENTS, description="How many to show."), InDigits
    ] = SEGMENTS

    @property
    def filter(self) -> Filter:
        """Those that pass, and their order."""
        return Filter(self.document, self.shortest, self.longest, self.better, self.order)


@dataclass(frozen=True)
class View(DecisionOptions, PairOptions):
    """What of a report a page shows.

    Attributes:
        beside: Whether all metrics are shown side by side.
        hide: Systems that are left out.
        sort: Order of the tables: a column's heading, falling where a hyphen stands before it.
        first: Rows that are passed over, of tables with very many.
    """

    beside: bool = False
    hide: Annotated[tuple[str, ...], Query()] = ()
    sort: str = ""
    first: Annotated[int, Query(ge=0), InDigits] = 0

    @property
    def fields(self) -> list[tuple[str, str]]:
        """Names and values, as a form sends them."""
        single = ("metric", "test", "a", "b", "testset", "alpha", "correction", "sort", "first")
        named = [(name, getattr(self, name)) for name in single]
        beside = [("beside", "1")] if self.beside else []
        hidden = [("hide", name) for name in self.hide]
        chosen = [(name, str(value)) for name, value in named if value not in (None, "", 0)]
        return [*chosen, *beside, *hidden]

    def without(self, *names: str) -> list[tuple[str, str]]:
        """The same, but for the fields that a form has itself."""
        return [(name, value) for name, value in self.fields if name not in names]

    def downloaded(self, form: str) -> str:
        """The report in a format, decided like the page, as part of an address."""
        decided = [(k, v) for k, v in self.fields if k in ("alpha", "correction")]
        return urlencode([("format", form), *decided])

    def query(self, **changed: Any) -> str:
        """The same as part of an address, some of it changed."""
        return urlencode(replace(self, **changed).fields)


Decided = Annotated[DecisionOptions, Depends()]
PartChosen = Annotated[PartOptions, Depends()]
MeasureNamed = Annotated[MeasureOptions, Depends()]
PairNamed = Annotated[PairOptions, Depends()]
PictureNamed = Annotated[PictureOptions, Depends()]
SegmentsChosen = Annotated[SegmentOptions, Depends()]
Viewed = Annotated[View, Depends()]
