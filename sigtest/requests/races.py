"""Requests about evaluations that are looked at while they run."""

from typing import Annotated, Any

from annotated_types import Len
from pydantic import WithJsonSchema

from sigtest.requests.comparisons import Label, PilotBody
from sigtest.requests.model import Between, Flag, Must, Name, Names, Request, Span, WholeNumber
from sigtest.requests.notes import Notes
from sigtest.requests.people import BySegment, people_schema

MAX_RACING, MAX_ITEMS = 300, 1_000_000
SOURCES = ("scores", "comparison", "human")
People = Annotated[dict[str, Any], WithJsonSchema(people_schema())]


class RaceChoices(Request):
    """How a race is decided.

    Attributes:
        metric: Of a comparison, the label of the metric, by default its first; of scores, what they
            are called.
        scale: Lowest and highest score that there can be, with which decisions hold from the first
            item on.
        burn_in: Items of a pair that are needed for a decision where there is no scale.
        alpha: How often any decision may be false, over all pairs and looks.
        lower: Less is better, as of error rates.
    """

    metric: Name | None = None
    scale: Span | None = None
    # with fewer than 100, skewed differences err too often: docs/VALIDITY.md, part 18
    burn_in: Annotated[int, WholeNumber(10, MAX_ITEMS)] = 100
    alpha: Annotated[float, Between(0, 0.5)] = 0.05
    lower: Flag = False


class SequentialRequest(RaceChoices):
    """Scores, from one of three sources, and how a race is decided.

    Attributes:
        scores: By system, in the order of arrival: a list, or an object by name of the item.
        comparison: Instead: a request of /v1/comparisons, or the id of one.
        human: Instead: a request of /v1/human-evaluations, or the id of one.
    """

    scores: BySegment | None = None
    comparison: PilotBody | None = None
    human: Annotated[People, Must("an object")] | None = None


class RaceRequest(Notes, RaceChoices):
    """A race whose scores arrive in batches.

    Attributes:
        name: What to call it.
        systems: All that race, also those that join late: their pairs are corrected for.
    """

    name: Label
    systems: Annotated[Names, Len(2, MAX_RACING), Must(f"a list of 2 to {MAX_RACING} names")]


class ObservationsRequest(Request):
    """A batch of scores.

    Attributes:
        scores: By system, an object by name of the item; the same score again changes nothing.
    """

    scores: Annotated[BySegment, Must("an object with the scores of each system")]
