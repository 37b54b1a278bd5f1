"""Wire models of answers, forms and messages, described for people and code generators."""

from __future__ import annotations

from datetime import datetime
from typing import Annotated, Any, Literal
from urllib.parse import quote

from annotated_types import Len
from fastapi import APIRouter
from pydantic import BaseModel, Field, create_model
from pydantic.config import JsonDict

from app.http import problems
from sigtest.draws.distribution import Distribution
from sigtest.errors import InputError
from sigtest.kinds import KINDS, Kind
from sigtest.render.pictures import PICTURES
from sigtest.report import encode
from sigtest.requests.model import Must, OneOf, Request
from sigtest.requests.notes import Notes
from sigtest.requests.recipe import Choices, Settings
from sigtest.requests.testsets import TestSetRequest
from sigtest.segments import METHOD, Slice
from sigtest.version import __version__
from workers.questions import PairAsked, Record, Status
from workers.store.boards import Standing, SystemRecord, TestSetRecord
from workers.store.webhooks import EVENTS, TEST, WebhookRecord
from workers.testsets import Claim

REF = "#/components/schemas/{model}"


def absent(value: object) -> bool:
    """Whether a field that only some resources have is left out."""
    return value is None


def ref(model: type) -> dict[str, str]:
    """Where the schema of a model is."""
    return {"$ref": REF.format(model=model.__name__)}


def header(name: str, description: str, **more: Any) -> dict[str, Any]:
    """A header of a request."""
    told = {"description": description, "schema": {"type": "string"}}
    return {"name": name, "in": "header", **more, **told}


def file_field(description: str) -> Any:
    """A field of a form: one file, which may be missing."""
    return Field(default=None, description=description, json_schema_extra={"format": "binary"})


def files_field(description: str) -> Any:
    """A field of a form: any number of files."""
    items: dict[str, Any] = {"items": {"type": "string", "format": "binary"}}
    return Field(default=[], description=description, json_schema_extra=items)


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


PROBLEMS = (*problems.KINDS.values(), problems.PARAMETERS, problems.INTERNAL)
TYPES = f"`{problems.PREFIX}` and one of " + ", ".join(
    f"`{kind.slug}` ({kind.title})" for kind in PROBLEMS
)


class EntryBody(BaseModel):
    """Where everything else is."""

    version: str = Field(default=__version__, description="Of sigtest.")
    openapi: str = Field(default="/openapi.json", description="All requests and answers.")
    testsets: str = "/v1/testsets"
    webhooks: str = "/v1/webhooks"
    questions: dict[str, str] = Field(
        default={path: f"/v1/{path}" for path in KINDS}, description="Each kind of question."
    )


class HealthBody(BaseModel):
    """The process is alive."""

    status: Literal["ok"] = "ok"


class ReadyBody(BaseModel):
    """The service can do its work."""

    status: Literal["ready"] = "ready"
    workers: int = Field(description="Worker processes that are alive.")


class ProblemError(BaseModel):
    """One flaw of a request."""

    field: str | None = Field(
        default=None, description="Path of the field, or name of the parameter."
    )
    system: str | None = None
    line: int | None = Field(default=None, description="1-based line, or segment.")
    message: str


class Problem(BaseModel):
    """Problem details (RFC 9457)."""

    type: str = Field(
        description=f"Stable name of this kind of problem: {TYPES}, or what HTTP "
        "calls the status, such as `method-not-allowed`."
    )
    title: str
    status: int
    detail: str
    errors: list[ProblemError] | None = None
    limit: str | None = Field(
        default=None,
        description="Name of the setting that was exceeded, in small letters without SIGTEST_.",
    )
    predicted: dict[str, float] | None = Field(
        default=None,
        description="Of a question that is too much (413) or too much now (429): `seconds` of one "
        "core and `bytes` in the store that it is predicted to take, those `unfinished` of the "
        "same caller, and those that are `accepted`.",
    )
    progress: ProgressBody | None = Field(
        default=None, description="Of a question whose report is not there yet (409)."
    )
    id: str | None = Field(default=None, description="Of the entry in the service's log (500).")


class FilesRequest(Notes, Choices):
    """What to compute, and how files are put together."""

    builtin: str | None = Field(
        default=None,
        description="Instead of references: a test set that sacreBLEU knows, such as "
        "`wmt17/en-de`. The operator must have it or allow downloads.",
    )
    testset: str | None = Field(
        default=None,
        description="Instead of references, documents and labels: the id of a test set of the "
        "caller's, which has them.",
    )
    missing: Literal["error", "drop"] = Field(
        default="error",
        description="About segments that not all files have, or without a score: refuse them, or "
        "leave them out for every system and say so.",
    )
    select: str | None = Field(
        default=None, description="One of the test sets in the files, where there are several."
    )


class TextsForm(BaseModel):
    """Files of a test set."""

    references: list[bytes] = files_field("Files with a reference set each.")
    documents: bytes | None = file_field("A file with the document of each segment.")
    labels: bytes | None = file_field("A file with the label of each segment.")
    source: bytes | None = file_field("A file with the source of each segment.")


class FormRequest(TextsForm):
    """The same as files of any format, which their content says, perhaps `.gz`.

    A system's name is that in the file, or else the file's without `.gz` and the last suffix.
    """

    systems: list[bytes] = files_field("Files with the hypotheses of a system each.")
    scores: list[bytes] = files_field(
        "Files of scores, called `[LABEL:]SYSTEM.tsv`: numbers, one line a segment, or any format."
    )
    archive: list[bytes] = files_field(
        "Files of any format or archives of several, which say what they bring: a zip, tar or "
        "tar.gz with `reference*` and `systems/*`, WMT XML, tables, logs of evaluations."
    )
    request: FilesRequest | None = Field(default=None, description="The rest, as JSON.")


TESTSETS = "/v1/testsets"
SETTINGS = tuple(Settings.model_fields)
SETTINGS_SHOWN = (*SETTINGS, "replicas", "capacity")


class TestSetForm(TextsForm):
    """The same as files of any format: plain text with one line a segment, SGML, ...; or `.gz`."""

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
        here = f"{TESTSETS}/{record.id}"
        settings = {
            name: value for name, value in record.settings.items() if name in SETTINGS_SHOWN
        }
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
                testset=f"{TESTSETS}/{testset_id}",
                leaderboard=f"{TESTSETS}/{testset_id}/leaderboard",
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
    return f"{TESTSETS}/{testset_id}/systems/{quote(name, safe='')}"


WEBHOOKS = "/v1/webhooks"
EXAMPLES = {
    "leaderboards": {
        "summary": "Tell of leaderboards.",
        "value": {"url": "https://board.example/hook", "events": ["leaderboard.refreshed"]},
    },
}
ONE: JsonDict = {"type": "string", "enum": list(EVENTS)}


class WebhookRequest(Request):
    """Where messages are sent, and of which events."""

    url: Annotated[str, Len(1, 2000), Must("an address of 1 to 2000 characters", InputError)] = (
        Field(
            description="http or https; private addresses are refused unless the operator allows "
            "them, and redirects are not followed"
        )
    )
    events: Annotated[
        tuple[Annotated[str, OneOf(EVENTS, "event")], ...],
        Len(1),
        Must(f"a list of some of {', '.join(EVENTS)}", InputError),
    ] = Field(
        default=tuple(EVENTS),
        description=" ".join(f"`{name}`: {words}" for name, words in EVENTS.items()),
    )


class WebhookBody(BaseModel):
    """A webhook, and how its deliveries go."""

    id: str
    url: str
    events: list[str] = Field(json_schema_extra={"items": ONE})
    created_at: datetime
    delivered: int = Field(description="Messages that the receiver accepted.")
    pending: int = Field(description="Messages that are still to be delivered.")
    dropped: int = Field(description="Messages that were given up.")
    error: str | None = Field(description="Why the last attempt failed, if it did.")

    @classmethod
    def of(cls, record: WebhookRecord) -> WebhookBody:
        """What is told of a stored webhook."""
        return cls(**vars(record))


class NewWebhookBody(WebhookBody):
    """A new webhook with its secret."""

    secret: str = Field(description="Messages are signed with it. It is told this once.")


class WebhookListing(BaseModel):
    """The caller's webhooks, newest first."""

    webhooks: list[WebhookBody]


class QuestionData(BaseModel):
    """A question that has its outcome: `/v1/{kind}/{id}`."""

    kind: str = Field(description="Path of its kind.")
    id: str
    status: Literal["succeeded", "failed", "cancelled"]
    error: str | None = Field(
        default=None, exclude_if=absent, description="Why it failed; only where it did."
    )
    title: str
    tags: list[str]
    metadata: dict[str, Any]


class LeaderboardData(BaseModel):
    """A test set whose leaderboard shows another comparison: `/v1/testsets/{id}/leaderboard`."""

    id: str = Field(description="Of the test set.")
    name: str
    comparison: str = Field(description="Id of the comparison that is shown.")
    title: str
    tags: list[str]
    metadata: dict[str, Any]


class TestData(BaseModel):
    """A webhook that is tried."""

    id: str = Field(description="Of the webhook.")


SIGNED = {
    "parameters": [
        header(name, words, required=True)
        for name, words in {
            "webhook-id": "The same for all attempts to deliver a message.",
            "webhook-timestamp": "Of the attempt, in seconds since the epoch.",
            "webhook-signature": "`v1,` and the HMAC-SHA256 of id, timestamp and body with points "
            "between, in base64.",
        }.items()
    ]
}
RECEIVED: dict[int | str, dict[str, Any]] = {
    204: {"description": "It was delivered, as with any 2xx, and is not sent again."},
    410: {"description": "The receiver wants no more: the webhook is deleted."},
    "default": {"description": "It is sent again later."},
}


def messages() -> APIRouter:
    """What receivers are sent, as routes that receivers have, not this service."""
    made = APIRouter(generate_unique_id_function=lambda route: route.name)
    for event, words in {**EVENTS, TEST: "A webhook is tried."}.items():
        made.add_api_route(
            event,
            _receiver(event),
            methods=["POST"],
            name=event.replace(".", "_"),
            description=words,
            status_code=204,
            openapi_extra=SIGNED,
            responses=RECEIVED,
        )
    return made


def _receiver(event: str) -> Any:
    data = {"question": QuestionData, "leaderboard": LeaderboardData, "webhook": TestData}
    subject, _, happened = event.partition(".")
    fields: dict[str, Any] = {
        "type": (Literal[event], ...),
        "timestamp": (datetime, Field(description="When it happened.")),
        "data": (data[subject], ...),
    }
    model = create_model(f"{subject.capitalize()}{happened.capitalize()}Message", **fields)

    def receive(message: Any) -> None:
        """Never called."""

    receive.__annotations__["message"] = model
    return receive
