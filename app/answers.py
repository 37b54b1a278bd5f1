"""What a reader chooses of a report, and answers: reports, pictures, pairs with their segments.

All choices live in the address: the fields of options are query parameters, which OpenAPI describes
as their docstrings do. So this module has no postponed annotations: FastAPI reads them as they are.
"""

import hashlib
import json
from dataclasses import dataclass, replace
from functools import lru_cache, partial
from typing import Annotated, Any
from urllib.parse import urlencode

from fastapi import Depends, Query, Request
from pydantic import AfterValidator, Field
from starlette.concurrency import run_in_threadpool
from starlette.responses import Response

from app.http.negotiation import Wish, choose_format, matches
from app.http.problems import NotAcceptableError
from app.http.state import InDigits, LeftEmpty, in_turn
from app.http.waiting import MAKING_SECONDS, Watcher
from app.models import DistributionBody, SegmentBody, SegmentsBody
from sigtest.data.names import choose
from sigtest.draws.distribution import Distribution
from sigtest.errors import InputError, RecipeError
from sigtest.kinds import KINDS
from sigtest.render.drawing import PARTS, PICTURE_FORMATS, converted
from sigtest.render.formats import FORMATS
from sigtest.render.pictures import find_pair
from sigtest.render.standings import leading_test, titled
from sigtest.report import PairReport, Report, select
from sigtest.segments import METHOD, ORDERS, Filter, Segments, Slice, rows_of
from sigtest.version import __version__
from workers.questions import PairChoice, Questions, Status
from workers.store import records
from workers.store.records import Record

SEGMENTS = 20  # a page, where nothing is said
MOST_SEGMENTS = 200
LARGE = 8_000_000  # bytes of a report that is not held in memory from one request to the next
# Of what a browser opens as a document of our origin: it runs nothing and loads nothing.
INERT = "default-src 'none'; style-src 'unsafe-inline'; sandbox"

# options


def _enum(*names: str) -> Any:
    return Query(json_schema_extra={"enum": list(names)})


Text = Annotated[str | None, Query()]
TextOrEmpty = Annotated[str | None, LeftEmpty, Query()]  # forms send empty ones
Number = Annotated[Annotated[int, Field(ge=0)] | None, LeftEmpty, Query()]
Some = Annotated[tuple[str, ...], AfterValidator(lambda own: tuple(filter(None, own))), Query()]


@dataclass(frozen=True)
class ListingOptions:
    """Which entries of a listing are wanted.

    Attributes:
        title: Stands in the title.
        tag: It has this tag; repeat it for several.
    """

    title: Annotated[str, Query(max_length=200)] = ""
    tag: Annotated[list[str] | None, Query()] = None

    @property
    def filter(self) -> records.Filter:
        """The same for the store."""
        return records.Filter(self.title, tuple(filter(None, self.tag or ())))


@dataclass(frozen=True)
class QuestionListingOptions(ListingOptions):
    """Which questions are wanted.

    Attributes:
        status: Where it stands.
    """

    status: Annotated[Status | None, LeftEmpty, Query()] = None

    @property
    def filter(self) -> records.Filter:
        """The same for the store."""
        return replace(super().filter, statuses=tuple(filter(None, [self.status])))


@dataclass(frozen=True)
class DecisionOptions:
    """How a report is decided, where not as it was asked for.

    Attributes:
        alpha: Level of decisions, instead of the one that was asked for.
        correction: For multiple comparisons, instead of the one that was asked for.
    """

    alpha: Annotated[float | None, LeftEmpty, Query()] = None
    correction: TextOrEmpty = None

    @property
    def choice(self) -> "DecisionOptions":
        """The same without what else is chosen."""
        return DecisionOptions(self.alpha, self.correction)


@dataclass(frozen=True)
class PartOptions:
    """What of a report is wanted; the whole where nothing is named.

    Attributes:
        metric: The only metric.
        test: The only significance test.
        system: A system, with the pairs that it is part of; may be repeated, for several and the
            pairs among them.
    """

    metric: TextOrEmpty = None
    test: TextOrEmpty = None
    system: Some = ()


@dataclass(frozen=True)
class MeasureOptions:
    """A metric and a significance test.

    Attributes:
        metric: The first by default.
        test: By default the first that keeps its level.
    """

    metric: Text = None
    test: Text = None


@dataclass(frozen=True)
class PairOptions(MeasureOptions):
    """A pair, by a metric and under a test.

    Attributes:
        testset: One of several; pictures of a report show all together by default.
        a: First system of the pair.
        b: Second system.
    """

    testset: Text = None
    a: Text = None
    b: Text = None


@dataclass(frozen=True)
class PictureOptions(DecisionOptions, PairOptions):
    """What a picture shows.

    Attributes:
        criterion: Of a human evaluation.
        system: Whose badge it is; the first by default.
        width: Of a comparison's picture, such as 16cm; 8.5cm by default.
        title: Of a comparison's picture.
        format: Overrides the suffix and Accept.
    """

    criterion: Text = None
    system: Text = None
    width: Text = None
    title: Text = None
    omit: Annotated[
        str | None,
        Query(description=f"Of a comparison's picture, between commas: {', '.join(PARTS)}."),
    ] = None
    format: Annotated[str | None, _enum(*PICTURE_FORMATS)] = None


@dataclass(frozen=True)
class SegmentOptions:
    """Which segments behind a difference are shown.

    Attributes:
        document: Of this document only.
        shortest: At least so many words.
        longest: At most so many words.
        better: Only those on which this one is better.
        order: By the size of the share; the best for `a` or for `b` first; by place.
        start: How many to pass over.
        limit: How many to show.
    """

    document: TextOrEmpty = None
    shortest: Number = None
    longest: Number = None
    better: Annotated[str | None, LeftEmpty, _enum("a", "b")] = None
    order: Annotated[str, _enum(*ORDERS)] = ORDERS[0]
    start: Annotated[int, Query(ge=0), InDigits] = 0
    limit: Annotated[int, Query(ge=1, le=MOST_SEGMENTS), InDigits] = SEGMENTS

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
        pairs = [
            (name, value)
            for name, own in vars(self).items()
            for value in (own if isinstance(own, tuple) else (own,))
        ]
        return [(n, "1" if v is True else str(v)) for n, v in pairs if v not in (None, "", 0)]

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


Wanted = Annotated[ListingOptions, Depends()]
WantedQuestions = Annotated[QuestionListingOptions, Depends()]
Decided = Annotated[DecisionOptions, Depends()]
PartChosen = Annotated[PartOptions, Depends()]
MeasureNamed = Annotated[MeasureOptions, Depends()]
PairNamed = Annotated[PairOptions, Depends()]
PictureNamed = Annotated[PictureOptions, Depends()]
SegmentsChosen = Annotated[SegmentOptions, Depends()]
Viewed = Annotated[View, Depends()]

AS_ASKED, WHOLE = DecisionOptions(), PartOptions()

# answers


def in_json(body: str, status: int = 200, headers: dict[str, str] | None = None) -> Response:
    """JSON that is written already."""
    return Response(body, status, headers, "application/json")


def waited(unfinished: bool, wait: int | None) -> dict[str, str]:
    """Headers that say when to ask again, and which wait was granted."""
    again = {"Retry-After": "1"} if unfinished else {}
    return again if wait is None else {**again, "Preference-Applied": f"wait={wait}"}


def unless_held(request: Request, answer: Response) -> Response:
    """An answer, or 304 where the client has it already."""
    if not matches(request, answer.headers["ETag"]):
        return answer
    kept = {"etag", "vary", "retry-after"}
    return Response(status_code=304, headers={k: v for k, v in answer.headers.items() if k in kept})


def read(stored: bytes, record: Record, choice: DecisionOptions = AS_ASKED) -> Any:
    """A report as it is stored, as an object of its kind; or decided in another way.

    The tables and pictures of a page are asked for one by one, all of the same report.

    Raises:
        NotAcceptableError: Another version of sigtest wrote it, with other fields.
        RecipeError: It cannot be decided so.
    """
    small = len(stored) <= LARGE
    try:
        report = (_decoded if small else _decoded.__wrapped__)(stored, record.kind)
    except InputError as error:
        raise NotAcceptableError(
            f"sigtest {record.computed_with} wrote this report, and {__version__}, which runs "
            "here, can send it only whole and as JSON (?format=json). The same question, asked "
            "again, is computed by this version."
        ) from error
    if choice == AS_ASKED:
        return report
    return (_decided if small else _decided.__wrapped__)(stored, record.kind, choice)


@lru_cache(maxsize=4)
def _decoded(stored: bytes, kind: str) -> Any:
    return KINDS[kind].read(json.loads(stored))


@lru_cache(maxsize=4)
def _decided(stored: bytes, kind: str, choice: DecisionOptions) -> Any:
    return KINDS[kind].decided(_decoded(stored, kind), choice.alpha, choice.correction)


def report(
    stored: bytes,
    record: Record,
    wish: Wish,
    choice: DecisionOptions = AS_ASKED,
    part: PartOptions = WHOLE,
) -> Response:
    """A report in the format that a client wants; JSON is what was stored, byte for byte.

    Args:
        stored: The report.
        record: The question.
        wish: Format and layout.
        choice: How it is decided, where not as it was asked for.
        part: What of it is wanted.

    Raises:
        RecipeError: A metric, test or system that it does not have; a layout of what has no tables.
    """
    name = choose_format(wish)
    content: bytes | str = stored
    if name != "json" or choice != AS_ASKED or part != WHOLE:
        shown = read(stored, record, choice)
        if part != WHOLE:
            shown = select(shown, part.metric, part.test, part.system)
        content = FORMATS[name].render(KINDS[record.kind].lay_out(shown, wish.layout))
    return document(content, name, record.id)


def tag_of(content: bytes) -> str:
    """The ETag of what is sent."""
    return f'"{hashlib.sha256(content).hexdigest()[:32]}"'


def document(content: bytes | str, name: str, stem: str) -> Response:
    """A report in one of the formats.

    Args:
        content: The report.
        name: Of the format.
        stem: What to call a file that a browser saves.
    """
    form, data = FORMATS[name], content if isinstance(content, bytes) else content.encode()
    shown = "attachment" if form.saved else "inline"
    headers = {
        "ETag": tag_of(data),
        "Vary": "Accept",
        "Content-Security-Policy": INERT,
        "Content-Disposition": f'{shown}; filename="{stem}.{form.suffix}"',
    }
    return Response(data, 200, headers, form.media_type)


async def picture(request: Request, svg: str, suffix: str = "svg") -> Response:
    """A picture in a format, or 304 where the client has it already.

    Raises:
        UnavailableError: What makes the format of SVG is not installed.
    """
    content = await in_turn(converted, svg, suffix)
    headers = {
        "ETag": tag_of(content),
        "Content-Security-Policy": INERT,
        "Vary": "Accept",
    }
    return unless_held(request, Response(content, 200, headers, PICTURE_FORMATS[suffix]))


async def draw(name: str, record: Record, watch: Watcher, chosen: PictureOptions) -> str:
    """The SVG of a picture.

    A worker draws distributions when they are first asked for; 409 with `Retry-After` where that
    takes longer than this request.

    Raises:
        RecipeError: No such picture, or nothing such in the report.
        NotReadyError: There is no report, or no distribution yet.
    """
    kind = KINDS[record.kind]
    wanted = kind.pictures[choose(name, kind.pictures, "picture", "picture")]
    choice = chosen.choice if kind.decides else AS_ASKED
    apart = ("format", "alpha", "correction") if kind.decides else ("format",)
    named = {k: str(v) for k, v in vars(chosen).items() if v is not None and k not in apart}
    kind.check_chosen(name, named)
    drawn: Distribution | None = None
    if wanted.needs == "distribution":
        drawn = await distribution_of(record, watch, chosen)

    def made() -> str:
        report = read(watch.questions.report(record.id, record.caller), record, choice)
        return wanted.draw(report, named, drawn)

    return await in_turn(made)


async def distribution(record: Record, watch: Watcher, pair: PairOptions, values: bool) -> Response:
    """The pseudo-statistics of one pair; all of them, or binned alone."""
    drawn = await distribution_of(record, watch, pair)

    def made() -> Response:
        edges, counts = (numbers.tolist() for numbers in drawn.histogram())
        every = drawn.values.tolist() if values else None
        # numbers of our own need no validation, and are many
        told = {**vars(drawn), "values": every, "bins": edges, "counts": counts}
        return in_json(DistributionBody.model_construct(**told).model_dump_json(exclude_none=True))

    return await in_turn(made)


async def distribution_of(record: Record, watch: Watcher, chosen: PairOptions) -> Distribution:
    """The pseudo-statistics of the pair that is asked for; raises as `draw` does."""
    pair = await run_in_threadpool(_pair_of, record, watch.questions, chosen)
    look = partial(watch.questions.distribution, record.id, record.caller, pair)
    return await watch.made(record, look, "distribution is")


def _pair_of(record: Record, questions: Questions, chosen: PairOptions) -> PairChoice:
    """The pair that is asked for; metric and test are those that stand first by default.

    Raises:
        RecipeError: No pair is named.
        NotReadyError: There is no report.
    """
    for field in ("a", "b"):
        if getattr(chosen, field) is None:
            raise RecipeError(f"{field} is missing: the name of a system.", field=field)
    report = read(questions.report(record.id, record.caller), record)
    leading = leading_test(report)
    if leading is None:
        raise RecipeError("The report has no pairs; it needs two systems.", field="a")
    return PairChoice(
        str(chosen.a),
        str(chosen.b),
        chosen.metric or next(iter(report.metrics)),
        chosen.test or leading,
        chosen.testset,
    )


@dataclass(frozen=True)
class PairView:
    """A pair with the segments behind its difference.

    Attributes:
        query: Which pair, metric, test and test set.
        pair: Of the report, in the order that was asked for.
        report: Of the test set that was asked for.
        segments: All of them.
        slice: Those that are wanted.
        wanted: Which these are.
        testsets: Names of several test sets.
    """

    query: PairChoice
    pair: PairReport
    report: Report
    segments: Segments
    slice: Slice
    wanted: SegmentOptions
    testsets: tuple[str, ...]

    def answer(self) -> Response:
        """The segments that are wanted, as JSON."""
        after, part = self.wanted.start + len(self.slice.rows), self.slice
        body = SegmentsBody(
            **vars(self.query),
            **vars(part),
            method=METHOD,
            difference=self.pair.difference,
            total=len(self.segments.shares),
            next=after if after < part.wanted else None,
            segments=[SegmentBody(segment=row.number, **vars(row)) for row in part.rows],
        )
        return in_json(body.model_dump_json())


async def pair_view(
    record: Record,
    watch: Watcher,
    chosen: PairOptions,
    wanted: SegmentOptions,
    choice: DecisionOptions = AS_ASKED,
    seconds: float = MAKING_SECONDS,
) -> PairView:
    """The pair that is asked for and the segments behind its difference.

    Args:
        record: A comparison that has a report.
        watch: Waits for what a worker makes.
        chosen: Which pair, metric, test and test set.
        wanted: Which segments.
        choice: How the report is decided.
        seconds: To wait at most.

    Raises:
        RecipeError: No such pair, test set or segments.
        NotReadyError: There is no report, or no shares yet.
    """
    query = await run_in_threadpool(_pair_of, record, watch.questions, chosen)
    if query.a == query.b:
        raise RecipeError("a and b must be two different systems.", field="b")
    look = partial(watch.questions.segments, record.id, record.caller, query)
    segments = await watch.made(record, look, "shares are", seconds)

    def made() -> PairView:
        whole: Report = read(watch.questions.report(record.id, record.caller), record, choice)
        sets = dict(titled(whole))
        report = sets.get(query.testset or "", whole)
        pair = find_pair(report, query.a, query.b, query.metric, query.test)
        higher = report.metrics[query.metric].higher_is_better
        rows = rows_of(segments, wanted.filter, higher, wanted.start, wanted.limit)
        return PairView(query, pair, report, segments, rows, wanted, tuple(sets)[:-1])

    return await in_turn(made)
