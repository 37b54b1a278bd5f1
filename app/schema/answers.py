"""Wire models of answers about questions: how far they are, where to go on."""

from __future__ import annotations

from datetime import datetime
from typing import Any

from pydantic import BaseModel, Field, create_model

from app.schema.fragments import absent
from sigtest.draws.distribution import Distribution
from sigtest.kinds import Kind
from sigtest.segments import METHOD, Slice
from workers.questions import PairAsked, Record, Status


class ProgressBody(BaseModel):
    """How far a question is."""

    phase: str = Field(description="statistics, resampling or report.")
    done: int = Field(description="Pieces of this phase that exist.")
    total: int = Field(description="Pieces of this phase in all.")


class Links(BaseModel):
    """Where to go on. Every link can be followed as it stands."""

    self: str
    report: str
    events: str
    testset: str | None = Field(
        default=None,
        exclude_if=absent,
        description="The test set whose leaderboard shows this comparison.",
    )
    plots: dict[str, str] = Field(description="Pictures of the report, by name.")


class QuestionBody(BaseModel):
    """A question: what was asked for and how far it is."""

    id: str = Field(description="Hash of content, choices and versions, and of the caller.")
    kind: str = Field(description="Path of its kind.")
    status: Status
    progress: ProgressBody
    created_at: datetime
    expires_at: datetime = Field(description="When it is deleted with its texts; 410 afterwards.")
    systems: list[str]
    metrics: list[str] = Field(description="What the report calls them.")
    tests: list[str]
    testsets: list[str] | None = Field(
        default=None, exclude_if=absent, description="Their names, where there are several."
    )
    computed_with: str | None = Field(
        default=None, exclude_if=absent, description="Version of sigtest, once it has succeeded."
    )
    error: str | None = Field(description="Why it failed, if it did.")
    title: str = Field(description="As its caller wrote it; empty where nothing was.")
    tags: list[str]
    metadata: dict[str, Any]
    links: Links

    @classmethod
    def of(cls, record: Record) -> QuestionBody:
        """What is told of a stored question."""
        here = f"/v1/{record.kind}/{record.id}"
        about = {**vars(record.about), "testsets": record.about.testsets or None}
        own = {**vars(record), "progress": vars(record.progress)}
        links = Links(
            self=here,
            report=f"{here}/report",
            events=f"{here}/events",
            testset=f"/v1/testsets/{record.testset}" if record.testset else None,
            plots={name: f"{here}/plots/{name}.svg" for name in record.pictures},
        )
        return cls(**own, **about, **vars(record.envelope), links=links)


def listing_model(kind: Kind[Any]) -> type[BaseModel]:
    """A page of the caller's questions of one kind, newest first."""
    fields: dict[str, Any] = {
        kind.path: (list[QuestionBody], Field(description="Newest first.")),
        "next_cursor": (
            str | None,
            Field(description="Send as ?cursor= for the next page."),
        ),
    }
    title = "".join(word.capitalize() for word in kind.name.split())
    model: type[BaseModel] = create_model(f"{title}Listing", **fields)
    return model


class SegmentBody(BaseModel):
    """One segment behind a difference."""

    segment: int = Field(description="Its place in the test set, from 1.")
    share: float = Field(description="Of the difference, in units of the metric.")
    document: str | None
    source: str | None
    reference: str | None = Field(description="Of the first reference set.")
    a: str | None = Field(description="Output of a.")
    b: str | None = Field(description="Output of b.")


class SegmentsBody(BaseModel):
    """The segments that made the difference between two systems."""

    a: str
    b: str
    metric: str
    testset: str | None = Field(description="Where there are several.")
    method: str = Field(description="How the difference is shared out; shares sum to it.")
    difference: float = Field(description="score_a - score_b, in units of the metric.")
    total: int = Field(description="Segments of the test set.")
    wanted: int = Field(description="Segments that pass the filters.")
    carried: float = Field(description="What these and those passed over add up to.")
    in_all: float = Field(description="What all that pass the filters add up to.")
    next: int | None = Field(description="Send as ?start= for the following ones.")
    segments: list[SegmentBody]

    @classmethod
    def of(
        cls, asked: PairAsked, total: int, difference: float, shown: Slice, start: int
    ) -> SegmentsBody:
        """What is told of a slice."""
        after = start + len(shown.rows)
        return cls(
            **vars(asked),
            **vars(shown),
            method=METHOD,
            difference=difference,
            total=total,
            next=after if after < shown.wanted else None,
            segments=[SegmentBody(segment=row.number, **vars(row)) for row in shown.rows],
        )


class DistributionBody(BaseModel):
    """Pseudo-statistics of one pair, which its observed difference is held against."""

    a: str
    b: str
    metric: str
    test: str
    observed: float = Field(description="score_a - score_b, in units of the metric.")
    bins: list[float] = Field(description="51 edges.")
    counts: list[int] = Field(description="Pseudo-statistics in each of 50 bins.")
    values: list[float] | None = Field(default=None, description="All of them, by resample.")

    @classmethod
    def of(cls, drawn: Distribution, values: bool) -> DistributionBody:
        """What is told of a distribution."""
        edges, counts = drawn.histogram()
        told = {**vars(drawn), "values": drawn.values.tolist() if values else None}
        # numbers of our own need no validation, and are many
        return cls.model_construct(**told, bins=edges.tolist(), counts=counts.tolist())
