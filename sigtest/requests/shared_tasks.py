"""Requests about shared tasks: test sets under one name, teams that submit to them, phases."""

from __future__ import annotations

from datetime import datetime
from enum import StrEnum
from typing import Annotated, Any, Self

from annotated_types import Len
from pydantic import AwareDatetime, BeforeValidator, model_validator

from sigtest.requests.comparisons import Label
from sigtest.requests.model import Flag, Must, Name, OneOf, Request, WholeNumber, wrong
from sigtest.requests.notes import PARTS, Notes

MOST_TESTSETS = 50


def _as_text(value: object) -> object:
    """A time as text; a number would be taken for seconds since some moment."""
    if not isinstance(value, str | datetime):
        raise wrong("must be text, such as 2027-05-01T23:59-12:00")
    return value


Moment = Annotated[
    AwareDatetime, BeforeValidator(_as_text), Must("a time with its zone: 2027-05-01T23:59-12:00")
]


class Phase(StrEnum):
    """Where a shared task stands."""

    ANNOUNCED = "announced"
    OPEN = "open"
    CLOSED = "closed"
    PUBLISHED = "published"


class Rules(Request):
    """What the owner of a shared task decides, and may change.

    Attributes:
        opens: From when on teams may submit.
        deadline: Until when; what comes later is kept and marked as late.
        grace: Minutes behind the deadline in which nothing is late yet.
        scores: What a team sees before all is published: its own, or none.
        systems: Of a team on a test set, in time and late: one is primary, the others contrastive.
        per_day: Submissions of a team to a test set on one day of UTC.
        overall: Order of teams over all test sets: by the mean of their scores, or by how many
            systems theirs are significantly better than.
    """

    opens: Moment | None = None
    deadline: Moment | None = None
    grace: Annotated[int, WholeNumber(0, 10_080)] = 0
    scores: Annotated[str, OneOf(("hidden", "own"), "choice of scores")] = "hidden"
    systems: Annotated[int, WholeNumber(1, 1000)] = 3
    per_day: Annotated[int, WholeNumber(1, 1000)] = 10
    overall: Annotated[str, OneOf(("none", "mean", "wins"), "overall order")] = "none"

    @model_validator(mode="after")
    def _ends_after_it_opens(self) -> Self:
        if self.opens is not None and self.deadline is not None and self.opens >= self.deadline:
            opens = self.opens.isoformat()
            raise wrong(f"must come after {opens}, when the task opens", field="deadline")
        return self

    def phase(self, now: float) -> Phase:
        """The phase at a time, in seconds since the epoch, before anything is published."""
        if self.opens is not None and now < self.opens.timestamp():
            return Phase.ANNOUNCED
        return Phase.CLOSED if self.late(now) else Phase.OPEN

    def late(self, now: float) -> bool:
        """Whether a submission at this time is late."""
        return self.deadline is not None and now > self.deadline.timestamp() + 60 * self.grace


class SharedTaskRequest(Notes, Rules):
    """Test sets under one name, to which teams submit.

    Attributes:
        name: What to call it.
        testsets: Ids of test sets, by what the task calls each: a language pair, a track.
        family: What is corrected together: the pairs of each test set, or all of the task.
    """

    name: Label
    testsets: Annotated[
        dict[Name, Name], Len(1, MOST_TESTSETS), Must("an object of ids of test sets by names")
    ]
    family: Annotated[str, OneOf(("testset", "task"), "family")] = "testset"

    def changed(self, change: SharedTaskChange) -> SharedTaskRequest:
        """The same task with other rules."""
        rules = {k: v for k, v in change.chosen().items() if k in Rules.model_fields}
        return SharedTaskRequest.of({**dict(self), **rules})

    def as_stored(self) -> dict[str, Any]:
        """As JSON has it, without what is written on it."""
        return self.model_dump(mode="json", exclude={*PARTS})


class SharedTaskChange(Notes, Rules):
    """Other rules of a shared task, what is written on it, and that it is published.

    Attributes:
        published: Whether teams see all boards; then nothing is submitted any more.
    """

    published: Flag | None = None


class TeamRequest(Request):
    """A team, whose token is told once.

    Attributes:
        name: What to call it, without a dot.
        expires: When its token ends.
    """

    name: Label
    expires: Moment | None = None
