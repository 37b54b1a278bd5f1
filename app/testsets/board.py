"""What of a leaderboard is to be shown, and waiting until it is there."""

from __future__ import annotations

from dataclasses import dataclass
from functools import cached_property
from typing import Annotated

from fastapi import Depends, Path
from starlette.concurrency import run_in_threadpool

from app.http.auth import Caller
from app.http.negotiation import Wait
from app.http.state import Asked, Boards
from app.http.waiting import Watch, Watcher
from app.questions import answers
from app.questions.deciding import Decided
from app.questions.drawing import Chosen, Options
from sigtest.data.choices import choose
from sigtest.errors import InputError, RecipeError
from sigtest.render.json import of_metric
from sigtest.report import Report
from sigtest.report.selection import select
from sigtest.significance.corrections import CORRECTIONS
from workers.errors import NotReadyError
from workers.questions import Questions, Record
from workers.store.boards import Choice
from workers.testsets import Claim, Leaderboard, TestSets

WAIT_SECONDS = 2.0  # for a newer one; until then there is one without the systems just submitted


@dataclass(frozen=True)
class Board:
    """A leaderboard with the report that it shows.

    Attributes:
        shown: What it shows.
        record: The comparison; nothing before there is one.
        stored: Its report as it is stored; of no meaning before there is one.
        told: The report with the pairs of one metric alone.
        metric: Label of the metric to show.
        test: Name of the test to show.
        claims: Its significant differences, with the times when they were first shown; none where
            it is decided in another way than its test set says.
    """

    shown: Leaderboard
    record: Record | None
    stored: bytes
    told: Report
    metric: str
    test: str
    claims: tuple[Claim, ...]

    @property
    def whole(self) -> Report:
        """The report of all metrics and tests."""
        return self.told if self.record is None else answers.read(self.stored, self.record)

    @cached_property
    def report(self) -> Report:
        """The report of the metric and test."""
        return select(self.told, metric=self.metric, test=self.test)

    def require_record(self, options: Chosen) -> Record:
        """The comparison that is shown.

        Args:
            options: What of it is asked for.

        Raises:
            NotReadyError: There is none yet, or it lacks a system that waits to be measured.
        """
        held = {system.name for system in self.told.systems}
        waiting = [name for name in self.shown.pending if name not in held]
        if waiting and (len(held) < 2 or {options.a, options.b}.intersection(waiting)):
            raise NotReadyError(f"Not in it yet: {', '.join(waiting)}; ask again.")
        if self.record is None:
            raise NotReadyError("The leaderboard is still to be written; ask again.")
        return self.record


async def _board(
    testset_id: Annotated[str, Path(alias="id", description="Id of a test set.")],
    caller: Caller,
    boards: Boards,
    asked: Asked,
    watch: Watch,
    options: Options,
    choice: Decided,
    wait: Wait,
) -> Board:
    return await board_of(testset_id, caller.name, boards, asked, watch, options, choice, wait)


async def board_of(
    testset_id: str,
    caller: str,
    boards: TestSets,
    asked: Questions,
    watch: Watcher,
    options: Chosen,
    choice: Choice,
    wait: int | None = None,
) -> Board:
    """A leaderboard, waited for until it has every system that is measured.

    Args:
        testset_id: The test set.
        caller: Whose it is.
        boards: Where it is.
        asked: Where the comparison is that it shows.
        watch: Waits.
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
        settings = shown.testset
        metric = options.metric or settings.metrics[0]
        choose(metric, settings.metrics, "metric", "metric of this test set")
        record, stored, told = None, b"", None
        if shown.comparison is not None:
            record = asked.find(shown.comparison, caller)
            stored = asked.report(record.id, caller)
            try:
                told = answers.read(of_metric(stored, metric), record)
            except InputError:
                record = None  # another version wrote it, with other fields; it is made anew
        told = told or boards.empty(testset_id, caller, choice)
        joint = CORRECTIONS[told.correction].joint
        tests = (joint,) if joint in settings.tests else settings.tests
        test = options.test or tests[0]
        choose(test, settings.tests, "test", "test of this test set")
        if test not in tests:
            raise RecipeError(
                f"correction {told.correction} goes with the test {joint} only.", field="test"
            )
        if options.testset is not None:
            raise RecipeError("A leaderboard has one test set; leave testset out.", field="testset")
        pairs = [pair for pair in told.pairs if pair.test == test]
        claims = boards.claims(testset_id, caller, pairs) if shown.binding else ()
        return Board(shown, record, stored, told, metric, test, tuple(claims))

    seconds = WAIT_SECONDS if wait is None else wait
    found = await watch.until(testset_id, look, lambda shown: shown.fresh, seconds)
    return await run_in_threadpool(read, found)


Shown = Annotated[Board, Depends(_board)]
