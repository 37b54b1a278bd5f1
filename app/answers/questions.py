"""Answers with their headers: questions, reports, pictures, distributions, segments."""

from __future__ import annotations

import hashlib
import json
from collections.abc import Sequence
from dataclasses import dataclass
from functools import lru_cache, partial
from typing import Any

from fastapi import Request
from starlette.concurrency import run_in_threadpool
from starlette.responses import Response

from app.answers.options import PairOptions, PartOptions, PictureOptions, SegmentOptions
from app.http.negotiation import Wish, choose_format, matches
from app.http.problems import NotAcceptableError
from app.http.state import in_turn
from app.http.waiting import MAKING_SECONDS, Watcher
from app.schema.models import DistributionBody, QuestionBody, SegmentsBody
from sigtest.data.choices import choose
from sigtest.draws.distribution import Distribution
from sigtest.errors import InputError, RecipeError
from sigtest.kinds import KINDS, Kind
from sigtest.render.converters import PICTURE_FORMATS, converted
from sigtest.render.formats import FORMATS, Layout
from sigtest.render.pictures import find_pair
from sigtest.render.standings import leading_test, titled
from sigtest.report import PairReport, Report
from sigtest.report.selection import select
from sigtest.segments import Segments, Slice, rows_of
from sigtest.version import __version__
from workers.questions import PairAsked, Questions, Record, Status
from workers.store.boards import Choice

RETRY_SECONDS = 1
AS_ASKED = Choice()
WHOLE = PartOptions()
LARGE = 8_000_000  # bytes of a report that is not held in memory from one request to the next
# Of what a browser opens as a document of our origin: it runs nothing and loads nothing.
INERT = "default-src 'none'; style-src 'unsafe-inline'; sandbox"


def question(record: Record, status: int = 200, wait: int | None = None) -> Response:
    """A question as it stands.

    Args:
        record: The question.
        status: Status code.
        wait: Seconds that were granted to `Prefer: wait`.
    """
    headers = {"ETag": f'"{record.etag}"', **waited(not record.status.finished, wait)}
    body = QuestionBody.of(record).model_dump_json()
    return Response(body, status, headers, "application/json")


def waited(unfinished: bool, wait: int | None) -> dict[str, str]:
    """Headers that say when to ask again, and which wait was granted."""
    again = {"Retry-After": str(RETRY_SECONDS)} if unfinished else {}
    return again if wait is None else {**again, "Preference-Applied": f"wait={wait}"}


def submitted(record: Record, wait: int | None) -> Response:
    """200 where the report is there, 202 otherwise."""
    answer = question(record, 200 if record.status is Status.SUCCEEDED else 202, wait)
    answer.headers["Location"] = f"/v1/{record.kind}/{record.id}"
    return answer


def unless_held(request: Request, answer: Response) -> Response:
    """An answer, or 304 where the client has it already."""
    if not matches(request, answer.headers["ETag"]):
        return answer
    kept = {"etag", "vary", "retry-after"}
    return Response(status_code=304, headers={k: v for k, v in answer.headers.items() if k in kept})


def read(stored: bytes, record: Record, choice: Choice = AS_ASKED) -> Any:
    """A report as it is stored, as an object of its kind; or decided in another way.

    The tables and pictures of a page are asked for one by one, all of the same report.

    Raises:
        NotAcceptableError: Another version of sigtest wrote it, with other fields.
        RecipeError: It cannot be decided so; or it is that of a leaderboard, which keeps what
            systems that have left say.
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
    made = (_decided if small else _decided.__wrapped__)(stored, record.kind, choice)
    if record.testset is not None and made.signature != report.signature:
        raise RecipeError(
            f"This comparison is shown by the leaderboard of test set {record.testset}; decide it "
            "there.",
            field="correction" if choice.alpha is None else "alpha",
        )
    return made


@lru_cache(maxsize=4)
def _decoded(stored: bytes, kind: str) -> Any:
    return KINDS[kind].read(json.loads(stored))


@lru_cache(maxsize=4)
def _decided(stored: bytes, kind: str, choice: Choice) -> Any:
    return KINDS[kind].decided(_decoded(stored, kind), choice.alpha, choice.correction)


def report(
    stored: bytes, record: Record, wish: Wish, choice: Choice = AS_ASKED, part: PartOptions = WHOLE
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
        presented = KINDS[record.kind].lay_out(shown, wish.layout)
        content = FORMATS[name].render(presented)
    # A report is a function of its id, which has the versions in it: it never changes.
    laid = tagged(wish.layout, Layout()) + tagged(choice, AS_ASKED) + tagged(part, WHOLE)
    etag = f"{record.id}-{name}{laid}"
    return document(content, name, etag, record.id)


def tagged(asked: object, usual: object) -> str:
    """What an ETag says of a choice: nothing of the one that no client made."""
    return "" if asked == usual else f"-{hashlib.sha256(repr(asked).encode()).hexdigest()[:16]}"


def document(content: bytes | str, name: str, etag: str, stem: str) -> Response:
    """A report in one of the formats.

    Args:
        content: The report.
        name: Of the format.
        etag: Changes when the content does.
        stem: What to call a file that a browser saves.
    """
    form = FORMATS[name]
    shown = "attachment" if form.saved else "inline"
    headers = {
        "ETag": f'"{etag}"',
        "Vary": "Accept",
        "Content-Security-Policy": INERT,
        "Content-Disposition": f'{shown}; filename="{stem}.{form.suffix}"',
    }
    return Response(content, 200, headers, form.media_type)


def distribution(drawn: Distribution, values: bool) -> Response:
    """The pseudo-statistics of one pair; all of them, or binned alone."""
    body = DistributionBody.of(drawn, values).model_dump_json(exclude_none=True)
    return Response(body, media_type="application/json")


async def picture(request: Request, svg: str, suffix: str = "svg") -> Response:
    """A picture in a format, or 304 where the client has it already.

    Raises:
        UnavailableError: What makes the format of SVG is not installed.
    """
    content = await in_turn(converted, svg, suffix)
    headers = {
        "ETag": f'"{hashlib.sha256(content).hexdigest()[:32]}"',
        "Content-Security-Policy": INERT,
        "Vary": "Accept",
    }
    return unless_held(request, Response(content, 200, headers, PICTURE_FORMATS[suffix]))


def listing(kind: Kind[Any], records: Sequence[Record], after: str | None) -> Response:
    """A page of a listing, whose entries stand under the name of their kind's path."""
    told = [QuestionBody.of(record).model_dump(mode="json") for record in records]
    body = json.dumps({kind.path: told, "next_cursor": after}, ensure_ascii=False)
    return Response(body, media_type="application/json")


async def draw(
    name: str, record: Record, caller: str, watch: Watcher, options: PictureOptions
) -> str:
    """The SVG of a picture.

    A worker draws distributions when they are first asked for; 409 with `Retry-After` where that
    takes longer than this request.

    Raises:
        RecipeError: No such picture, or nothing such in the report.
        NotReadyError: There is no report, or no distribution yet.
    """
    kind = KINDS[record.kind]
    picture = kind.pictures[choose(name, kind.pictures, "picture", "picture")]
    choice = options.choice if kind.decides else AS_ASKED
    apart = ("format", *(("alpha", "correction") if kind.decides else ()))
    named = {
        part: str(value)
        for part, value in vars(options).items()
        if value is not None and part not in apart
    }
    kind.check_chosen(name, named)
    drawn: Distribution | None = None
    if picture.needs == "distribution":
        drawn = await distribution_of(record, caller, watch, options)

    def made() -> str:
        report = read(watch.questions.report(record.id, caller), record, choice)
        return picture.draw(report, named, drawn)

    return await in_turn(made)


async def distribution_of(
    record: Record, caller: str, watch: Watcher, options: PairOptions
) -> Distribution:
    """The pseudo-statistics of the pair that is asked for; raises as `draw` does."""
    pair = await run_in_threadpool(pair_of, record, caller, watch.questions, options)
    look = partial(watch.questions.distribution, record.id, caller, pair)
    return await watch.made(record, look, "distribution is")


def pair_of(record: Record, caller: str, questions: Questions, options: PairOptions) -> PairAsked:
    """The pair that is asked for; metric and test are those that stand first by default.

    Raises:
        RecipeError: No pair is named.
        NotReadyError: There is no report.
    """
    for field in ("a", "b"):
        if getattr(options, field) is None:
            raise RecipeError(f"{field} is missing: the name of a system.", field=field)
    report = read(questions.report(record.id, caller), record)
    leading = leading_test(report)
    if leading is None:
        raise RecipeError("The report has no pairs; it needs two systems.", field="a")
    return PairAsked(
        str(options.a),
        str(options.b),
        options.metric or next(iter(report.metrics)),
        options.test or leading,
        options.testset,
    )


@dataclass(frozen=True)
class Behind:
    """A pair with the segments behind its difference.

    Attributes:
        query: Which pair, metric, test and test set.
        pair: Of the report, in the order that was asked for.
        report: Of the test set that was asked for.
        segments: All of them.
        slice: Those that are wanted.
        testsets: Names of several test sets.
    """

    query: PairAsked
    pair: PairReport
    report: Report
    segments: Segments
    slice: Slice
    testsets: tuple[str, ...] = ()


async def behind(
    record: Record,
    caller: str,
    watch: Watcher,
    options: PairOptions,
    wanted: SegmentOptions,
    choice: Choice = AS_ASKED,
    seconds: float = MAKING_SECONDS,
) -> Behind:
    """The pair that is asked for and the segments behind its difference.

    Args:
        record: A comparison that has a report.
        caller: Whose it is.
        watch: Waits for what a worker makes.
        options: Which pair, metric, test and test set.
        wanted: Which segments.
        choice: How the report is decided.
        seconds: To wait at most.

    Raises:
        RecipeError: No such pair, test set or segments.
        NotReadyError: There is no report, or no shares yet.
    """
    asked = await run_in_threadpool(pair_of, record, caller, watch.questions, options)
    if asked.a == asked.b:
        raise RecipeError("a and b must be two different systems.", field="b")
    look = partial(watch.questions.segments, record.id, caller, asked)
    segments = await watch.made(record, look, "shares are", seconds)

    def made() -> Behind:
        stored = watch.questions.report(record.id, caller)
        whole: Report = read(stored, record, choice)
        sets = dict(titled(whole))
        report = sets.get(asked.testset or "", whole)
        pair = find_pair(report, asked.a, asked.b, asked.metric, asked.test)
        higher = report.metrics[asked.metric].higher_is_better
        shown = rows_of(segments, wanted.filter, higher, wanted.start, wanted.limit)
        testsets = tuple(sets)[:-1]
        return Behind(asked, pair, report, segments, shown, testsets)

    return await in_turn(made)


def answer(found: Behind, wanted: SegmentOptions) -> Response:
    """The segments that are wanted, as JSON."""
    body = SegmentsBody.of(
        found.query, len(found.segments.shares), found.pair.difference, found.slice, wanted.start
    )
    return Response(body.model_dump_json(), media_type="application/json")
