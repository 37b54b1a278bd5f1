"""Wire models of test sets, their systems and their leaderboards."""

from __future__ import annotations

from datetime import datetime
from typing import Any
from urllib.parse import quote

from pydantic import BaseModel, Field

from app.schema.fragments import file_field, files_field
from sigtest.render.pictures import PICTURES
from sigtest.report import encode
from sigtest.requests.notes import Notes
from sigtest.requests.recipe import Settings
from sigtest.requests.testsets import TestSetRequest
from workers.store.boards import Standing, SystemRecord, TestSetRecord
from workers.testsets import Claim

PATH = "/v1/testsets"
SETTINGS = tuple(Settings.model_fields)
SHOWN = (*SETTINGS, "replicas", "capacity")


class TestSetForm(BaseModel):
    """The same as files of any format: plain text with one line a segment, SGML, ...; or `.gz`."""

    references: list[bytes] = files_field("Files with a reference set each.")
    documents: bytes | None = file_field("A file with the document of each segment.")
    labels: bytes | None = file_field("A file with the label of each segment.")
    source: bytes | None = file_field("A file with the source of each segment.")
    request: TestSetRequest = Field(description="Name and settings, as JSON.")


class OutputForm(BaseModel):
    """The same as files of any format: plain text with one line a segment, SGML, ...; or `.gz`."""

    hypotheses: list[bytes] = files_field(
        "A file with the hypotheses; or one for each training replica, in their order."
    )
    scores: list[bytes] = files_field(
        "Files of scores: numbers, one line a segment, or any format; called `[LABEL:]ANYTHING`."
    )
    request: Notes | None = Field(default=None, description="What is written on it, as JSON.")


class ContentBody(BaseModel):
    """Sizes and content hash."""

    segments: int
    references: int
    documents: int | None = None
    labels: int | None = None
    sha256: str


class TestSetLinks(BaseModel):
    """Where to go on."""

    self: str
    systems: str
    leaderboard: str
    plots: dict[str, str] = Field(
        description="Pictures of the leaderboard, by name; none before two systems are measured."
    )


class TestSetResource(BaseModel):
    """A test set, its settings and how many systems it has."""

    id: str = Field(description="Hash of caller, content, settings and versions.")
    name: str
    created_at: datetime
    expires_at: datetime = Field(
        description="When it is deleted with its systems unless something changes; 410 afterwards."
    )
    testset: ContentBody
    settings: dict[str, Any] = Field(description="As they are in force.")
    systems: int
    submissions: int = Field(
        description="How many systems were taken, with those deleted or replaced; at most "
        "`capacity` of the settings."
    )
    pending: int = Field(description="How many systems are still to be measured.")
    title: str = Field(description="As its owner wrote it; empty where nothing was.")
    tags: list[str]
    metadata: dict[str, Any]
    links: TestSetLinks

    @classmethod
    def of(cls, record: TestSetRecord) -> TestSetResource:
        """What is told of a stored test set."""
        here = f"{PATH}/{record.id}"
        settings = {name: value for name, value in record.settings.items() if name in SHOWN}
        return cls(
            **{**vars(record), "settings": settings},
            **vars(record.envelope),
            testset=ContentBody(**record.content),
            links=TestSetLinks(
                self=here,
                systems=f"{here}/systems",
                leaderboard=f"{here}/leaderboard",
                plots={
                    name: f"{here}/leaderboard/plots/{name}.svg"
                    for name, picture in PICTURES.items()
                    if picture.needs == "report" and not picture.whole and record.measured >= 2
                },
            ),
        )


class TestSetListing(BaseModel):
    """The caller's test sets, newest first."""

    testsets: list[TestSetResource]
    next_cursor: str | None = Field(description="Send as ?cursor= for the next page.")


class SystemLinks(BaseModel):
    """Where to go on."""

    self: str
    testset: str
    leaderboard: str


class SystemResource(BaseModel):
    """A system of a test set."""

    name: str
    status: Standing
    digest: str = Field(description="Hash of its content; the name is no part of it.")
    scores: dict[str, dict[str, Any]] | None = Field(
        description="By metric, as a report has them, at the test set's own alpha; once measured."
    )
    error: str | None = Field(description="Why it could not be measured, if it could not.")
    title: str = Field(description="As its owner wrote it; empty where nothing was.")
    tags: list[str]
    metadata: dict[str, Any]
    links: SystemLinks

    @classmethod
    def of(cls, testset_id: str, record: SystemRecord) -> SystemResource:
        """What is told of a stored system."""
        scores = {metric: encode(score) for metric, score in (record.scores or {}).items()}
        return cls(
            **{**vars(record), "scores": scores or None},
            **vars(record.envelope),
            status=record.standing,
            links=SystemLinks(
                self=system_path(testset_id, record.name),
                testset=f"{PATH}/{testset_id}",
                leaderboard=f"{PATH}/{testset_id}/leaderboard",
            ),
        )


class SystemListing(BaseModel):
    """The systems of a test set in the order of their names."""

    systems: list[SystemResource]
    next_cursor: str | None = Field(description="Send as ?cursor= for the next page.")


class ClaimBody(BaseModel):
    """A significant difference that a leaderboard has shown."""

    a: str
    b: str
    claimed_at: datetime = Field(description="When it was first shown.")

    @classmethod
    def of(cls, claim: Claim) -> ClaimBody:
        """What is told of a claim."""
        return cls(**vars(claim))


class LeaderboardEnvelope(BaseModel):
    """What a leaderboard says besides the report that it shows."""

    id: str = Field(description="Of the test set.")
    name: str = Field(description="Of the test set.")
    metric: str
    test: str
    comparison: str | None = Field(
        description="Where the whole report stays: all metrics and tests, every format and picture."
    )
    capacity: int = Field(description="How many systems may be submitted, from first to last.")
    submissions: int = Field(description="How many were.")
    claims: list[ClaimBody] = Field(
        description="The significant pairs, where alpha and correction are the test set's own: "
        "other systems cannot take these back."
    )
    pending: list[str] = Field(description="Systems that are not in it yet.")
    failed: dict[str, str] = Field(description="Why systems could not be measured.")


def system_path(testset_id: str, name: str) -> str:
    """Where a system is."""
    return f"{PATH}/{testset_id}/systems/{quote(name, safe='')}"
