"""The segments behind a difference: what a request wants to see of them, and its answer."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Annotated

from fastapi import Depends, Query
from pydantic import Field
from starlette.concurrency import run_in_threadpool
from starlette.responses import Response

from app.http.state import InDigits, LeftEmpty
from app.http.turns import in_turn
from app.http.waiting import MAKING_SECONDS, Watcher
from app.questions import answers
from app.questions.drawing import Options, pair_of
from app.schema.answers import SegmentsBody
from sigtest.errors import RecipeError
from sigtest.render.pictures import find_pair
from sigtest.render.standings import titled
from sigtest.report import PairReport, Report
from sigtest.segments import ORDERS, Filter, Segments, Slice, rows_of
from workers.questions import PairAsked, Record

PAGE = 20
MOST = 200


@dataclass(frozen=True)
class Wanted:
    """Which segments are wanted.

    Attributes:
        chosen: By document, length and sign, and their order.
        start: How many to pass over.
        limit: How many to show.
    """

    chosen: Filter
    start: int
    limit: int


Count = Annotated[int, Field(ge=0)]


async def _wanted(
    document: Annotated[str | None, LeftEmpty, Query(description="Of this document only.")] = None,
    shortest: Annotated[
        Count | None, LeftEmpty, Query(description="At least so many words.")
    ] = None,
    longest: Annotated[Count | None, LeftEmpty, Query(description="At most so many words.")] = None,
    better: Annotated[
        str | None,
        LeftEmpty,
        Query(
            description="Only those on which this one is better.",
            json_schema_extra={"enum": ["a", "b"]},
        ),
    ] = None,
    order: Annotated[
        str,
        Query(
            description="By the size of the share; the best for `a` or for `b` first; by place.",
            json_schema_extra={"enum": list(ORDERS)},
        ),
    ] = ORDERS[0],
    start: Annotated[int, Query(ge=0, description="How many to pass over."), InDigits] = 0,
    limit: Annotated[int, Query(ge=1, le=MOST, description="How many to show."), InDigits] = PAGE,
) -> Wanted:
    return Wanted(Filter(document, shortest, longest, better, order), start, limit)


SegmentsWanted = Annotated[Wanted, Depends(_wanted)]


@dataclass(frozen=True)
class Behind:
    """A pair with the segments behind its difference.

    Attributes:
        asked: Which pair, metric, test and test set.
        pair: Of the report, in the order that was asked for.
        report: Of the test set that was asked for.
        segments: All of them.
        shown: Those that are wanted.
        testsets: Names of several test sets.
    """

    asked: PairAsked
    pair: PairReport
    report: Report
    segments: Segments
    shown: Slice
    testsets: tuple[str, ...] = ()


async def behind(
    record: Record,
    caller: str,
    watch: Watcher,
    options: Options,
    wanted: Wanted,
    seconds: float = MAKING_SECONDS,
) -> Behind:
    """The pair that is asked for and the segments behind its difference.

    Args:
        record: A comparison that has a report.
        caller: Whose it is.
        watch: Waits for what a worker makes.
        options: Which pair, metric, test and test set.
        wanted: Which segments.
        seconds: To wait at most.

    Raises:
        RecipeError: No such pair, test set or segments.
        NotReadyError: There is no report, or no shares yet.
    """
    asked = await run_in_threadpool(pair_of, record, caller, watch.questions, options)
    if asked.a == asked.b:
        raise RecipeError("a and b must be two different systems.", field="b")
    segments = await watch.segments(record, caller, asked, seconds)

    def made() -> Behind:
        stored = watch.questions.report(record.id, caller)
        whole: Report = answers.read(stored, record, options.decided)
        sets = dict(titled(whole))
        report = sets.get(asked.testset or "", whole)
        pair = find_pair(report, asked.a, asked.b, asked.metric, asked.test)
        higher = report.metrics[asked.metric].higher_is_better
        shown = rows_of(segments, wanted.chosen, higher, wanted.start, wanted.limit)
        testsets = tuple(sets)[:-1]
        return Behind(asked, pair, report, segments, shown, testsets)

    return await in_turn(made)


def answer(found: Behind, wanted: Wanted) -> Response:
    """The segments that are wanted, as JSON."""
    body = SegmentsBody.of(
        found.asked, len(found.segments.shares), found.pair.difference, found.shown, wanted.start
    )
    return Response(body.model_dump_json(), media_type="application/json")
