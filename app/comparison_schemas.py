"""Wire models of comparisons as resources: how far they are, where to go on."""

from __future__ import annotations

from datetime import UTC, datetime

from pydantic import BaseModel, Field

from app.schemas import absent
from workers.jobs import Record, Status

PATH = "/v1/comparisons"


class ProgressBody(BaseModel):
    """How far a comparison is."""

    phase: str = Field(description="statistics, resampling or report.")
    done: int = Field(description="Pieces of this phase that exist.")
    total: int = Field(description="Pieces of this phase in all.")


class Links(BaseModel):
    """Where to go on; distributions and plots are made where there is one test set."""

    self: str
    report: str
    distribution: str | None = Field(default=None, exclude_if=absent)
    matrix: str | None = Field(default=None, exclude_if=absent)
    intervals: str | None = Field(default=None, exclude_if=absent)
    events: str


def _pictures(here: str) -> dict[str, str]:
    """Links to what there is of one test set only."""
    return {
        "distribution": f"{here}/distribution",
        "matrix": f"{here}/plots/matrix.svg",
        "intervals": f"{here}/plots/intervals.svg",
    }


class ComparisonBody(BaseModel):
    """A comparison: what was asked for and how far it is."""

    id: str = Field(description="Hash of content, recipe and versions, and of the caller.")
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
    error: str | None = Field(description="Why it failed, if it did.")
    links: Links

    @classmethod
    def of(cls, record: Record) -> ComparisonBody:
        """What is told of a stored comparison."""
        here = f"{PATH}/{record.id}"
        return cls(
            id=record.id,
            status=record.status,
            progress=ProgressBody(**vars(record.progress)),
            created_at=datetime.fromtimestamp(record.created_at, UTC),
            expires_at=datetime.fromtimestamp(record.expires_at, UTC),
            systems=list(record.systems),
            metrics=list(record.metrics),
            tests=list(record.tests),
            testsets=list(record.testsets) or None,
            error=record.error,
            links=Links(
                self=here,
                report=f"{here}/report",
                events=f"{here}/events",
                **({} if record.testsets else _pictures(here)),
            ),
        )


class ListingBody(BaseModel):
    """The caller's comparisons, newest first."""

    comparisons: list[ComparisonBody]
    next_cursor: str | None = Field(description="Send as ?cursor= for the next page.")
