"""Wire models of answers, forms and messages.

What a docstring says of an attribute is what people and generators of clients read of the field.
"""

from __future__ import annotations

import re
from collections.abc import Mapping
from datetime import UTC, datetime
from functools import partial
from typing import Annotated, Any, Literal
from urllib.parse import quote

from annotated_types import Len
from pydantic import (
    AfterValidator,
    BaseModel,
    BeforeValidator,
    ConfigDict,
    FailFast,
    Field,
    create_model,
)

from app.http import problems
from sigtest.documented import Documented
from sigtest.errors import InputError
from sigtest.kinds import KINDS
from sigtest.render.pictures import PICTURES
from sigtest.report import WarningReport, encode
from sigtest.requests.comparisons import TestSetRequest
from sigtest.requests.model import Must, OneOf, Request, wrong
from sigtest.requests.notes import Notes, PlainNotes
from sigtest.requests.recipe import Choices, Settings
from sigtest.requests.shared_tasks import Phase
from sigtest.version import __version__
from workers.errors import PROBLEM
from workers.questions import Record, Status
from workers.races import RaceRecord
from workers.shared_tasks import Submitted
from workers.store.boards import Standing, SystemRecord, TestSetRecord
from workers.store.records import Link
from workers.store.shared_tasks import SharedTaskRecord, Team
from workers.store.webhooks import EVENTS, TEST

TESTSETS, TASKS, WEBHOOKS = "/v1/testsets", "/v1/tasks", "/v1/webhooks"
RACES = "/v1/races"
ORIGIN = re.compile(r"\*|https?://[a-z0-9.-]+(:[0-9]{1,5})?")
PUBLIC_SETTINGS = (*Settings.model_fields, "replicas", "capacity")


class Body(Documented):
    """What answers and messages are made of."""

    model_config = ConfigDict(from_attributes=True)


class Form(Documented):
    """Parts of a form."""


# of a field that only some resources have
ABSENT: Any = Field(default=None, exclude_if=lambda value: value is None)
# pydantic takes seconds of far years for milliseconds
Moment = Annotated[datetime, BeforeValidator(partial(datetime.fromtimestamp, tz=UTC))]


class ProgressBody(Body):
    """How far a question is.

    Attributes:
        phase: statistics, resampling or report.
        done: Pieces of this phase that exist.
        total: Pieces of this phase in all.
    """

    phase: str
    done: int
    total: int


class Links(Body):
    """Where to go on. Every link can be followed as it stands.

    Attributes:
        testset: The test set whose leaderboard shows this comparison.
        observations: Where batches of a race are sent.
        plots: Pictures of the report, by name.
    """

    self: str
    report: str
    events: str
    testset: str | None = ABSENT
    observations: str | None = ABSENT
    plots: dict[str, str]


class ProblemError(Form):
    """One flaw of a request.

    Attributes:
        field: Path of the field, or name of the parameter.
        line: 1-based line, or segment.
    """

    field: str | None = ABSENT
    system: str | None = ABSENT
    line: int | None = ABSENT
    message: str


class LastingBody(Documented):
    """What lasts, as its owner sees it.

    Attributes:
        id: Hash of caller, content, settings and versions.
        expires_at: When it is deleted unless something changes; 410 afterwards. 9999-12-31 where
            that is never.
        size: Bytes of the store that it takes; what it shows counts besides.
    """

    id: str
    created_at: datetime
    expires_at: Moment
    size: int


class Written(Documented):
    """What is written on a thing.

    Attributes:
        title: As its owner wrote it; empty where nothing was.
        expires: Until when it is to last, as its owner wrote; empty for the service's retention.
    """

    title: str
    tags: list[str]
    metadata: dict[str, Any]
    expires: str


class QuestionBody(Written, LastingBody, Body):
    """A question: what was asked for and how far it is.

    Attributes:
        kind: Path of its kind.
        metrics: What the report calls them.
        testsets: Their names, where there are several.
        computed_with: Version of sigtest, once it has succeeded.
        frozen: Of what a leaderboard showed when its owner froze it.
        error: Why it failed, if it did.
        type: What failed, as the `type` of a problem says it, such as `invalid-input`,
            `limit-exceeded`, `task-timeout`, `workers-died` or `internal-error`; ends with `error`
            where an older version did not say.
        errors: What that is about, where it is known.
    """

    kind: str
    status: Status
    progress: ProgressBody
    systems: list[str]
    metrics: list[str]
    tests: list[str]
    testsets: list[str] | None = ABSENT
    computed_with: str | None = ABSENT
    frozen: bool | None = ABSENT
    error: str | None
    type: str | None = ABSENT
    errors: list[ProblemError] | None = ABSENT
    links: Links

    @classmethod
    def of(cls, record: Record) -> QuestionBody:
        """What is told of a stored question."""
        here = f"/v1/{record.kind}/{record.id}"
        failed, board = record.status is Status.FAILED, None if record.frozen else record.testset
        places = {name: place for name, place in record.problem.items() if name != "type"}
        links = Links(
            self=here,
            report=f"{here}/report",
            events=f"{here}/events",
            testset=f"{TESTSETS}/{board}" if board else None,
            plots={name: f"{here}/plots/{name}.svg" for name in record.pictures},
        )
        more = {
            "testsets": record.about.testsets or None,
            "frozen": record.frozen or None,
            "type": record.problem["type"] if failed else None,
            "errors": [{**places, "message": record.error}] if failed and places else None,
            "links": links,
        }
        return cls(**{**vars(record), **vars(record.about), **vars(record.envelope), **more})


class SegmentBody(Body):
    """One segment behind a difference.

    Attributes:
        segment: Its place in the test set, from 1.
        share: Of the difference, in units of the metric.
        reference: Of the first reference set.
        a: Output of a.
        b: Output of b.
    """

    segment: int
    share: float
    document: str | None
    source: str | None
    reference: str | None
    a: str | None
    b: str | None


class SegmentsBody(Body):
    """The segments that made the difference between two systems.

    Attributes:
        testset: Where there are several.
        method: How the difference is shared out; shares sum to it.
        difference: score_a - score_b, in units of the metric.
        total: Segments of the test set.
        wanted: Segments that pass the filters.
        carried: What these and those passed over add up to.
        in_all: What all that pass the filters add up to.
        next: Send as ?start= for the following ones.
    """

    a: str
    b: str
    metric: str
    testset: str | None
    method: str
    difference: float
    total: int
    wanted: int
    carried: float
    in_all: float
    next: int | None
    segments: list[SegmentBody]


class DistributionBody(Body):
    """Pseudo-statistics of one pair, which its observed difference is held against.

    Attributes:
        observed: score_a - score_b, in units of the metric.
        bins: 51 edges.
        counts: Pseudo-statistics in each of 50 bins.
        values: All of them, by resample.
    """

    a: str
    b: str
    metric: str
    test: str
    observed: float
    bins: list[float]
    counts: list[int]
    values: list[float] | None = None


class StorageBody(Body):
    """What you have of the store.

    Attributes:
        bytes: In all: questions, test sets and webhooks, with texts and reports, and caches.
        lasting: Of these, bytes that last longer than the service's retention.
        budget: How many of those there may be.
    """

    bytes: int
    lasting: int
    budget: int


class EntryBody(Body):
    """Where everything else is.

    Attributes:
        version: Of sigtest.
        openapi: All requests and answers.
        questions: Each kind of question.
    """

    version: str = __version__
    openapi: str = "/openapi.json"
    testsets: str = TESTSETS
    races: str = RACES
    webhooks: str = WEBHOOKS
    storage: str = "/v1/storage"
    questions: dict[str, str] = {path: f"/v1/{path}" for path in KINDS}


class HealthBody(Body):
    """The process is alive."""

    status: Literal["ok"] = "ok"


class ReadyBody(Body):
    """The service can do its work.

    Attributes:
        workers: Worker processes that are alive.
    """

    status: Literal["ready"] = "ready"
    workers: int


KINDS_OF_PROBLEMS = (
    *problems.KINDS.values(), problems.PARAMETERS, problems.INTERNAL, *problems.OF_TASKS,
)  # fmt: skip
TYPES = ", ".join(f"`{kind.slug}` ({kind.title})" for kind in KINDS_OF_PROBLEMS)


class Problem(Form):
    """Problem details (RFC 9457).

    Attributes:
        limit: Name of the setting that was exceeded, in small letters without SIGTEST_.
        predicted: Of a question that is too much (413) or too much now (429): `seconds` of one core
            and `bytes` in the store that it is predicted to take, those `unfinished` of the same
            caller, and those that are `accepted`.
        progress: Of a question whose report is not there yet (409).
        id: Of the entry in the service's log (500).
    """

    type: str = Field(
        description=f"Stable name of this kind of problem: `{PROBLEM}` and one of {TYPES}, "
        "or what HTTP calls the status, such as `method-not-allowed`."
    )
    title: str
    status: int
    detail: str
    errors: list[ProblemError] | None = None
    limit: str | None = None
    predicted: dict[str, float] | None = None
    progress: ProgressBody | None = None
    id: str | None = None


class FilesRequest(Notes, Choices):
    """What to compute, and how files are put together.

    Attributes:
        builtin: Instead of references: a test set that sacreBLEU knows, such as `wmt17/en-de`. The
            operator must have it or allow downloads.
        testset: Instead of references, documents and labels: the id of a test set of the caller's,
            which has them.
        missing: About segments that not all files have, or without a score: refuse them, or leave
            them out for every system and say so.
        select: One of the test sets in the files, where there are several.
    """

    builtin: str | None = None
    testset: str | None = None
    missing: Literal["error", "drop"] = "error"
    select: str | None = None


BINARY = {"type": "string", "format": "binary"}
File = Annotated[bytes | None, Field(json_schema_extra={"format": "binary"})]
Files = Annotated[list[bytes], Field(json_schema_extra={"items": BINARY})]


class TextsForm(Form):
    """Files of a test set.

    Attributes:
        references: Files with a reference set each.
        documents: A file with the document of each segment.
        labels: A file with the label of each segment.
        source: A file with the source of each segment.
    """

    references: Files = []
    documents: File = None
    labels: File = None
    source: File = None


class FormRequest(TextsForm):
    """The same as files of any format, which their content says, perhaps `.gz`.

    A system's name is that in the file, or else the file's without `.gz` and the last suffix.

    Attributes:
        systems: Files with the hypotheses of a system each.
        scores: Files of scores, called `[LABEL:]SYSTEM.tsv`: numbers, one line a segment, or any
            format.
        archive: Files of any format or archives of several, which say what they bring: a zip, tar
            or tar.gz with `reference*` and `systems/*`, WMT XML, tables, logs of evaluations.
        request: The rest, as JSON.
    """

    systems: Files = []
    scores: Files = []
    archive: Files = []
    request: FilesRequest | None = None


class TestSetForm(TextsForm):
    """The same as files of any format: plain text with one line a segment, SGML, ...; or `.gz`.

    Attributes:
        request: Name and settings, as JSON.
    """

    request: TestSetRequest


class OutputForm(Form):
    """The same as files of any format: plain text with one line a segment, SGML, ...; or `.gz`.

    Attributes:
        hypotheses: A file with the hypotheses; or one for each training replica, in their order.
        scores: Files of scores: numbers, one line a segment, or any format; called
            `[LABEL:]ANYTHING`.
        request: What is written on it, as JSON.
    """

    hypotheses: Files = []
    scores: Files = []
    request: PlainNotes | None = None


class ContentBody(Body):
    """Sizes and content hash."""

    segments: int
    references: int
    documents: int | None = None
    labels: int | None = None
    sha256: str


class TestSetLinks(Body):
    """Where to go on.

    Attributes:
        plots: Pictures of the leaderboard, by name; none before two systems are measured.
    """

    self: str
    systems: str
    leaderboard: str
    plots: dict[str, str]


class TestSetResource(Written, LastingBody, Body):
    """A test set, its settings and how many systems it has.

    Attributes:
        settings: As they are in force.
        submissions: How many systems were taken, with those deleted or replaced; at most `capacity`
            of the settings.
        pending: How many systems are still to be measured.
    """

    name: str
    testset: ContentBody
    settings: dict[str, Any]
    systems: int
    submissions: int
    pending: int
    links: TestSetLinks

    @classmethod
    def of(cls, record: TestSetRecord) -> TestSetResource:
        """What is told of a stored test set."""
        here = f"{TESTSETS}/{record.id}"
        drawn = {
            name: f"{here}/leaderboard/plots/{name}.svg"
            for name, picture in PICTURES.items()
            if picture.needs == "report" and not picture.whole and len(record.measured) >= 2
        }
        more = {
            "testset": record.content,
            "settings": {k: v for k, v in record.settings.items() if k in PUBLIC_SETTINGS},
            "systems": len(record.digests),
            "pending": len(record.pending),
            "links": TestSetLinks(
                self=here,
                systems=f"{here}/systems",
                leaderboard=f"{here}/leaderboard",
                plots=drawn,
            ),
        }
        return cls(**{**vars(record), **vars(record.envelope), **more})


class SystemLinks(Body):
    """Where to go on."""

    self: str
    testset: str
    leaderboard: str


class SystemResource(Body):
    """A system of a test set.

    Attributes:
        digest: Hash of its content; the name is no part of it.
        scores: By metric, as a report has them, at the test set's own alpha; once measured.
        error: Why it could not be measured, if it could not.
        title: As its owner wrote it; empty where nothing was.
    """

    name: str
    status: Standing
    digest: str
    scores: dict[str, dict[str, Any]] | None
    error: str | None
    title: str
    tags: list[str]
    metadata: dict[str, Any]
    links: SystemLinks

    @classmethod
    def of(cls, testset_id: str, record: SystemRecord) -> SystemResource:
        """What is told of a stored system."""
        here = f"{TESTSETS}/{testset_id}"
        scores = {metric: encode(score) for metric, score in (record.scores or {}).items()}
        links = SystemLinks(
            self=system_path(testset_id, record.name),
            testset=here,
            leaderboard=f"{here}/leaderboard",
        )
        told = {**vars(record), **vars(record.envelope), "scores": scores or None}
        return cls(**told, status=record.standing, links=links)


def system_path(testset_id: str, name: str) -> str:
    """Where a system is."""
    return f"{TESTSETS}/{testset_id}/systems/{quote(name, safe='')}"


class SystemListing(Body):
    """The systems of a test set in the order of their names.

    Attributes:
        next_cursor: Send as ?cursor= for the next page.
    """

    systems: list[SystemResource]
    next_cursor: str | None


class ClaimBody(Body):
    """A significant difference that a leaderboard has shown.

    Attributes:
        claimed_at: When it was first shown.
    """

    a: str
    b: str
    claimed_at: datetime


class LeaderboardEnvelope(Body):
    """What a leaderboard says besides the report that it shows.

    Attributes:
        id: Of the test set.
        name: Of the test set.
        comparison: Where the whole report stays: all metrics and tests, every format and picture.
        capacity: How many systems may be submitted, from first to last.
        submissions: How many were.
        claims: The significant pairs, where alpha and correction are the test set's own: other
            systems cannot take these back.
        pending: Systems that are not in it yet.
        failed: Why systems could not be measured.
    """

    id: str
    name: str
    metric: str
    test: str
    comparison: str | None
    capacity: int
    submissions: int
    claims: list[ClaimBody]
    pending: list[str]
    failed: dict[str, str]


class RaceResource(Written, LastingBody, Body):
    """A race: who races, how it is decided, what came.

    Attributes:
        settings: As they were asked for, without defaults.
        items: Of which some system has a score.
        observations: Scores.
        pending: Whether scores came that its report does not have yet.
        over: Who was left as `leader`, and `since` which item; null while several may be the best.
    """

    name: str
    systems: list[str]
    settings: dict[str, Any]
    items: int
    observations: int
    pending: bool
    over: dict[str, Any] | None
    links: Links

    @classmethod
    def of(cls, record: RaceRecord) -> RaceResource:
        """What is told of a stored race."""
        here = f"{RACES}/{record.id}"
        onward = {name: f"{here}/{name}" for name in ("observations", "report", "events")}
        told = {**vars(record), **vars(record.envelope), "pending": record.pending}
        plots = {"race": f"{here}/plots/race.svg"}
        return cls(**told, links=Links(self=here, plots=plots, **onward))


class ScoresForm(Form):
    """The same as a file of any format that `sigtest race` reads, with a column id.

    Attributes:
        scores: A file with an item a row.
    """

    scores: Files = []


def _origin(text: str) -> str:
    words = text.strip().lower()
    if not ORIGIN.fullmatch(words):  # it stands in headers
        raise wrong(f"must be an origin such as https://example.org, not {text[:60]!r}")
    return words


class LinkRequest(Request):
    """Who may show what a public link leads to.

    Attributes:
        origins: of other sites whose pages may frame it, show its pictures and read it, such as
            `https://example.org`; `"*"` for all; none by default
    """

    origins: Annotated[
        tuple[Annotated[str, AfterValidator(_origin)], ...],
        FailFast(),
        Len(0, 20),
        Must('a list of at most 20 origins such as ["https://example.org"]', InputError),
    ] = ()


class LinkBody(Body):
    """A public link: with it everybody reads the report, or what the board shows, and no texts.

    Attributes:
        address: Of the page. Below it are `report` with `?format=`, and `pictures/intervals.svg`.
        origins: Of other sites whose pages may show it.
    """

    address: str
    origins: list[str]

    @classmethod
    def of(cls, link: Link) -> LinkBody:
        """What is told of a link."""
        return cls(address=f"/shared/{link.word}", origins=list(link.origins))


class TaskTestSetBody(Body):
    """A test set of a shared task.

    Attributes:
        id: Of the test set; its owner alone is told.
    """

    id: str | None = ABSENT
    testset: ContentBody
    metrics: list[str]
    replicas: int


class SharedTaskResource(Body):
    """A shared task; its teams are told the same, without ids, notes and size.

    Attributes:
        phase: announced, open, closed or published.
        testsets: By what the task calls each.
        published_at: When teams began to see all boards.
        now: The clock that decides what is late.
        team: Whose token was sent.
    """

    id: str
    name: str
    phase: Phase
    opens: datetime | None
    deadline: datetime | None
    grace: int
    scores: str
    systems: int
    per_day: int
    overall: str
    family: str
    testsets: dict[str, TaskTestSetBody]
    created_at: datetime
    expires_at: Moment
    published_at: datetime | None
    now: datetime
    team: str | None = ABSENT
    size: int | None = ABSENT
    title: str | None = ABSENT
    tags: list[str] | None = ABSENT
    metadata: dict[str, Any] | None = ABSENT
    expires: str | None = ABSENT

    @classmethod
    def of(
        cls, record: SharedTaskRecord, testsets: Mapping[str, TestSetRecord], team: Team | None
    ) -> SharedTaskResource:
        """What is told of a stored task, to its owner or to a team."""
        shown = {
            name: TaskTestSetBody(
                id=own.id if team is None else None,
                testset=ContentBody(**own.content),
                metrics=list(own.metrics),
                replicas=own.settings["replicas"],
            )
            for name, own in testsets.items()
        }
        owners = {**vars(record.envelope), "size": record.size}
        notes = owners if team is None else {"team": team.name}
        told = {**dict(record.settings), **vars(record), "phase": record.phase}
        rules = {k: v for k, v in told.items() if k not in owners}
        return cls(**{**rules, **notes, "testsets": shown, "now": record.seen_at})


class TeamBody(Body):
    """A team of a shared task.

    Attributes:
        expires_at: When its token ends; nothing for never.
        token: Lets the team in. It is told this once.
    """

    name: str
    created_at: datetime
    expires_at: datetime | None
    token: str | None = ABSENT


class TeamListing(Body):
    """The teams of a task that have a token, oldest first."""

    teams: list[TeamBody]


class ReceiptBody(Body):
    """What a team did, and when, by the service's clock.

    Attributes:
        task: Id of the task.
        event: submitted, replaced, withdrawn, or removed by the organiser.
        digest: Hash of the content.
        late: Whether it came behind the deadline and its grace.
    """

    task: str
    testset: str
    team: str
    system: str
    event: str
    digest: str
    at: datetime
    primary: bool
    late: bool


class SubmissionBody(ReceiptBody):
    """A system of a team as it stands, with its last receipt.

    Attributes:
        status: pending, measured or failed.
        warnings: What health checks say of it, once it is measured.
        scores: By metric, where the phase lets them be seen.
        error: Why it could not be measured.
    """

    status: Standing
    warnings: list[WarningReport]
    scores: dict[str, dict[str, Any]] | None
    error: str | None

    @classmethod
    def of(cls, submitted: Submitted) -> SubmissionBody:
        """What is told of a system."""
        system = submitted.system
        scores = {metric: encode(score) for metric, score in (system.scores or {}).items()}
        return cls(
            **vars(submitted.receipt),
            task=submitted.task,
            testset=submitted.testset,
            status=system.standing,
            warnings=list(submitted.warnings),
            scores=scores or None,
            error=system.error,
        )


class SubmissionListing(Body):
    """The systems of teams as they stand, and all receipts, oldest first."""

    systems: list[SubmissionBody]
    receipts: list[ReceiptBody]


class StandingBody(Body):
    """A team over all test sets of a task, by its primary systems.

    Attributes:
        mean: Of their scores, by the first metric; nothing where test sets have different ones.
        wins: How many systems they are significantly better than, on all test sets.
        scores: By test set.
    """

    team: str
    mean: float | None
    wins: int
    scores: dict[str, float]


class OverallBody(Body):
    """Teams with a primary system in time on every test set, best first; no test is behind this."""

    order: str
    teams: list[StandingBody]


class WebhookRequest(Request):
    """Where messages are sent, and of which events.

    Attributes:
        url: Http or https; private addresses are refused unless the operator allows them, and
            redirects are not followed.
    """

    url: Annotated[str, Len(1, 2000), Must("an address of 1 to 2000 characters", InputError)]
    events: Annotated[
        tuple[Annotated[str, OneOf(EVENTS, "event")], ...],
        FailFast(),
        Len(1),
        Must(f"a list of some of {', '.join(EVENTS)}", InputError),
    ] = Field(
        default=tuple(EVENTS),
        description=" ".join(f"`{name}`: {words}" for name, words in EVENTS.items()),
    )


class WebhookBody(Body):
    """A webhook, and how its deliveries go.

    Attributes:
        delivered: Messages that the receiver accepted.
        pending: Messages that are still to be delivered.
        dropped: Messages that were given up.
        error: Why the last attempt failed, if it did.
    """

    id: str
    url: str
    events: list[str] = Field(json_schema_extra={"items": {"type": "string", "enum": list(EVENTS)}})
    created_at: datetime
    delivered: int
    pending: int
    dropped: int
    error: str | None


class NewWebhookBody(WebhookBody):
    """A new webhook with its secret.

    Attributes:
        secret: Messages are signed with it. It is told this once.
    """

    secret: str


class WebhookListing(Body):
    """The caller's webhooks, newest first."""

    webhooks: list[WebhookBody]


class QuestionData(Written):
    """A question that has its outcome: `/v1/{kind}/{id}`.

    Attributes:
        kind: Path of its kind.
        error: Why it failed; only where it did.
        type: What failed, as the `type` of a problem says it; only where it did.
    """

    kind: str
    id: str
    status: Literal["succeeded", "failed", "cancelled"]
    error: str | None = ABSENT
    type: str | None = ABSENT


class LeaderboardData(Written):
    """A test set whose leaderboard shows another comparison: `/v1/testsets/{id}/leaderboard`.

    Attributes:
        id: Of the test set.
        comparison: Id of the comparison that is shown.
    """

    id: str
    name: str
    comparison: str


class RaceData(Written):
    """A race of which something is decided: `/v1/races/{id}`.

    Attributes:
        pairs: Of `race.decided`: those that were open before; of `a` and `b`, which is `decided` to
            be better, and `since` which item.
        leader: Of `race.over`: the system that is left.
        since: Likewise: item with which it was.
    """

    id: str
    name: str
    pairs: list[dict[str, Any]] | None = ABSENT
    leader: str | None = ABSENT
    since: int | None = ABSENT


class TestData(Form):
    """A webhook that is tried.

    Attributes:
        id: Of the webhook.
    """

    id: str


def _listing(title: str, name: str, entry: type[Body]) -> type[BaseModel]:
    """A page of what a caller has of one kind, newest first."""
    fields: dict[str, Any] = {
        name: (list[entry], Field(description="Newest first.")),  # type: ignore[valid-type]
        "next_cursor": (str | None, Field(description="Send as ?cursor= for the next page.")),
    }
    model: type[BaseModel] = create_model(f"{title}Listing", **fields)
    return model


LISTINGS = {
    path: _listing("".join(map(str.capitalize, kind.name.split())), path, QuestionBody)
    for path, kind in KINDS.items()
}
LISTINGS["testsets"] = _listing("TestSet", "testsets", TestSetResource)
LISTINGS["races"] = _listing("Race", "races", RaceResource)
LISTINGS["tasks"] = _listing("SharedTask", "tasks", SharedTaskResource)


def message_models() -> dict[str, type[BaseModel]]:
    """What receivers of webhooks are sent, by event."""
    data = {
        "question": QuestionData, "leaderboard": LeaderboardData, "race": RaceData,
        "webhook": TestData,
    }  # fmt: skip
    found: dict[str, type[BaseModel]] = {}
    for event in (*EVENTS, TEST):
        subject, _, happened = event.partition(".")
        fields: dict[str, Any] = {
            "type": (Literal[event], ...),
            "timestamp": (datetime, Field(description="When it happened.")),
            "data": (data[subject], ...),
        }
        name = f"{subject.capitalize()}{happened.capitalize()}Message"
        found[event] = create_model(name, **fields)
    return found
