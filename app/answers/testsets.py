"""Test sets, systems and leaderboards: what is shown, waiting for it, answers with headers."""

from __future__ import annotations

import hashlib
import json
from dataclasses import dataclass, replace
from typing import Annotated, Any

from fastapi import Depends, Path
from starlette.responses import Response

from app.answers import questions as answers
from app.answers.options import Decided, MeasureNamed, MeasureOptions, PairOptions
from app.http.auth import Caller
from app.http.negotiation import Wait, Wish, choose_format
from app.http.problems import NotAcceptableError
from app.http.state import Boards, in_turn
from app.http.waiting import Watch, Watcher
from app.schema.models import TESTSETS, ClaimBody, SystemResource, TestSetResource, system_path
from sigtest.cached import cached_property
from sigtest.data.choices import choose
from sigtest.errors import InputError, RecipeError
from sigtest.render.comparison import present
from sigtest.render.formats import FORMATS, Layout
from sigtest.render.json import excerpt, with_pairs
from sigtest.render.json import render as render_json
from sigtest.report import LeaderboardReport, PairReport, Report
from sigtest.report.codec import decode
from sigtest.report.selection import select
from sigtest.significance import CORRECTIONS
from workers.errors import NotReadyError
from workers.questions import Record
from workers.store.boards import Choice, Standing, SystemRecord, TestSetRecord
from workers.testsets import Claim, Leaderboard, TestSets

ROWS, CLAIMED = b",\n", b'"significant": true'  # between pairs as they are stored, and in them
WAIT_SECONDS = 2.0  # for a newer one; until then there is one without the systems just submitted


@dataclass(frozen=True)
class Board:
    """A leaderboard with the report that it shows.

    Attributes:
        current: What it shows.
        record: The comparison; nothing before there is one.
        stored: Its report as it is stored.
        bare: The report without pairs.
        metric: Label of the metric to show.
        test: Name of the test to show.
        pairs: Their pairs, as they are stored.
        claims: Its significant differences, with the times when they were first shown; none where
            it is decided in another way than its test set says.
    """

    current: Leaderboard
    record: Record | None
    stored: bytes
    bare: Report
    metric: str
    test: str
    pairs: bytes
    claims: tuple[Claim, ...]

    @property
    def whole(self) -> Report:
        """The report of all metrics and tests."""
        return self.bare if self.record is None else answers.read(self.stored, self.record)

    @cached_property
    def report(self) -> Report:
        """The report of the metric and test."""
        told = self.bare
        if self.record is not None:
            bare, pairs = excerpt(self.stored, self.metric, self.test)
            told = answers.read(with_pairs(bare, pairs), self.record)
        return select(told, metric=self.metric, test=self.test)

    @property
    def heading(self) -> Report:
        """The same without its pairs."""
        return select(self.bare, metric=self.metric, test=self.test)

    def require_record(self, options: PairOptions) -> Record:
        """The comparison that is shown.

        Args:
            options: What of it is asked for.

        Raises:
            NotReadyError: There is none yet, or it lacks a system that waits to be measured.
        """
        lacking = self.current.lacking
        if lacking and (len(self.current.systems) < 2 or {options.a, options.b} & {*lacking}):
            raise NotReadyError(f"Not in it yet: {', '.join(lacking)}; ask again.")
        if self.record is None:
            raise NotReadyError("The leaderboard is still to be written; ask again.")
        return self.record


async def _board(
    testset_id: Annotated[str, Path(alias="id", description="Id of a test set.")],
    caller: Caller,
    boards: Boards,
    watch: Watch,
    options: MeasureNamed,
    choice: Decided,
    wait: Wait,
) -> Board:
    return await board_of(testset_id, caller.name, boards, watch, options, choice.choice, wait)


async def board_of(
    testset_id: str,
    caller: str,
    boards: TestSets,
    watch: Watcher,
    options: MeasureOptions,
    choice: Choice,
    wait: int | None,
) -> Board:
    """A leaderboard, waited for until it has every system that is measured.

    Args:
        testset_id: The test set.
        caller: Whose it is.
        boards: Where it is.
        watch: Waits; has the comparison that it shows.
        options: Which metric and test.
        choice: How it is decided.
        wait: Most seconds; WAIT_SECONDS where nothing is said.

    Raises:
        RecipeError: An impossible choice.
    """
    wanted = ""

    def look() -> Leaderboard:
        nonlocal wanted
        shown, wanted = boards.leaderboard(testset_id, caller, choice, wanted)
        return shown

    def read(shown: Leaderboard) -> Board:
        metric, test = _measure(shown.testset, options, choice)
        record, stored, parts = None, b"", None
        claims: tuple[Claim, ...] = ()
        if shown.comparison is not None:
            record = watch.questions.find(shown.comparison, caller)
            stored = watch.questions.report(record.id, caller)
            parts = _parts(stored, record, metric, test)
        if parts is None:
            empty = boards.empty(testset_id, caller, choice)
            shown = replace(shown, comparison=None, systems=())
            return Board(shown, None, b"", empty, metric, test, b"", claims)
        bare, pairs = parts
        if shown.binding:
            claims = boards.claims(testset_id, caller, (metric, test), _claimed(pairs))
        return Board(shown, record, stored, bare, metric, test, pairs, claims)

    seconds = WAIT_SECONDS if wait is None else wait
    of_testset = await watch.until(testset_id, look, lambda shown: shown.fresh, seconds)
    return await in_turn(read, of_testset)


def _measure(testset: TestSetRecord, options: MeasureOptions, choice: Choice) -> tuple[str, str]:
    """The metric and the test to show.

    Raises:
        RecipeError: One that the test set has not, or that does not go with the correction.
    """
    metric = options.metric or testset.metrics[0]
    choose(metric, testset.metrics, "metric", "metric of this test set")
    correction = choice.correction or str(testset.settings["correction"])
    joint = CORRECTIONS[correction].joint
    tests = (joint,) if joint in testset.tests else testset.tests
    test = options.test or tests[0]
    choose(test, testset.tests, "test", "test of this test set")
    if test not in tests:
        raise RecipeError(f"correction {correction} goes with the test {joint} only.", field="test")
    return metric, test


def _parts(stored: bytes, record: Record, metric: str, test: str) -> tuple[Report, bytes] | None:
    """A report without pairs, and those of one metric and test as they are stored.

    Nothing where another version wrote it, with other fields: it is made anew.
    """
    bare, pairs = excerpt(stored, metric, test)
    try:
        if pairs:
            decode(PairReport, json.loads(pairs.partition(ROWS)[0]))
        return answers.read(bare, record), pairs
    except (InputError, NotAcceptableError):
        return None


def _claimed(pairs: bytes) -> list[tuple[str, str]]:
    """The systems of each significant difference."""
    rows = [json.loads(row) for row in pairs.split(ROWS) if CLAIMED in row]
    return [(row["a"], row["b"]) for row in rows]


ShownBoard = Annotated[Board, Depends(_board)]


DONE = {"created": 201, "replaced": 200, "known": 200, "again": 200}


def of_testset(record: TestSetRecord) -> Response:
    """A test set as it stands."""
    headers = {"ETag": f'"{record.etag}"'}
    body = TestSetResource.of(record).model_dump_json(exclude_none=True)
    return Response(body, 200, headers, "application/json")


def made(record: TestSetRecord, created: bool) -> Response:
    """201 for a test set that is new, 200 otherwise."""
    answer = of_testset(record)
    answer.status_code = 201 if created else 200
    answer.headers["Location"] = f"{TESTSETS}/{record.id}"
    return answer


def system(
    testset_id: str, record: SystemRecord, status: int = 200, wait: int | None = None
) -> Response:
    """A system as it stands."""
    waited = answers.waited(record.standing is Standing.PENDING, wait)
    headers = {"ETag": f'"{record.etag}"', **waited}
    body = SystemResource.of(testset_id, record).model_dump_json()
    return Response(body, status, headers, "application/json")


def submitted(testset_id: str, record: SystemRecord, verdict: str, wait: int | None) -> Response:
    """202 for a system that is new here and still to be measured."""
    waits = record.standing is Standing.PENDING and verdict != "known"
    answer = system(testset_id, record, 202 if waits else DONE[verdict], wait)
    answer.headers["Location"] = system_path(testset_id, record.name)
    return answer


def leaderboard(board: Board, wish: Wish, wait: int | None = None) -> Response:
    """A leaderboard in one of the formats: one metric and test, and what is pending."""
    name = choose_format(wish)
    envelope = _envelope(board)
    if name == "json":
        told = render_json(LeaderboardReport(envelope, board.heading))
        content: bytes | str = with_pairs(told.encode(), board.pairs)
    else:
        content = FORMATS[name].render(present(_annotated(board), wish.layout))
    etag = hashlib.sha256(repr(envelope).encode("utf-8", "backslashreplace")).hexdigest()[:32]
    version = f"{etag}-{name}{answers.tagged(wish.layout, Layout())}"
    answer = answers.document(content, name, version, board.current.testset.id)
    answer.headers.update(answers.waited(not board.current.fresh, wait))
    return answer


def _envelope(board: Board) -> dict[str, Any]:
    shown = board.current
    return {
        "id": shown.testset.id,
        "name": shown.testset.name,
        "metric": board.metric,
        "test": board.test,
        "comparison": f"/v1/comparisons/{shown.comparison}" if shown.comparison else None,
        "capacity": shown.testset.capacity,
        "submissions": shown.testset.submissions,
        "claims": [ClaimBody.of(claim).model_dump(mode="json") for claim in board.claims],
        "pending": list(shown.pending),
        "failed": dict(shown.failed),
    }


def _annotated(board: Board) -> Report:
    """The report with a warning about every system that it lacks."""
    shown, report = board.current, board.report
    said = [f"System {name} cannot be measured: {why}" for name, why in shown.failed.items()]
    if shown.lacking:
        said.append(f"Not in it yet: {', '.join(shown.lacking)}.")
    if shown.renewed:
        said.append(f"Shown as before until they are measured: {', '.join(shown.renewed)}.")
    return replace(report, warnings=(*report.warnings, *said))
