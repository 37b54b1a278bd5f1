"""Looking at leaderboards: what a request wants to see, and waiting until it is there."""

from __future__ import annotations

import asyncio
import time
from dataclasses import dataclass
from typing import Annotated

from fastapi import Depends, Path, Query
from starlette.concurrency import run_in_threadpool

from app.auth import Caller
from app.dependencies import Boards, First, Second
from app.waiting import Watch, Watcher
from sigtest.draws.distribution import Distribution
from workers.errors import UnfinishedError
from workers.leaderboard_records import Choice, Leaderboard
from workers.leaderboards import Leaderboards

LOOK_SECONDS = 0.03
WAIT_SECONDS = 10  # for what nobody has asked for yet
STALE_SECONDS = 2  # for a newer one, where there is one without the systems of the last moments

Id = Annotated[str, Path(alias="id", description="Id of a test set.")]
Metric = Annotated[str | None, Query(description="The test set's first by default.")]
Test = Annotated[str | None, Query(description="The test set's first by default.")]


@dataclass(frozen=True)
class Drawn:
    """A leaderboard, and the pseudo-statistics of one of its pairs."""

    shown: Leaderboard
    distribution: Distribution


@dataclass(frozen=True)
class Viewer:
    """Who looks at the leaderboard of one test set.

    Attributes:
        boards: Where leaderboards are.
        watcher: Says when nobody may wait any longer.
        testset_id: The test set.
        caller: Whose it is.
    """

    boards: Leaderboards
    watcher: Watcher
    testset_id: str
    caller: str

    async def leaderboard(self, choice: Choice) -> Leaderboard:
        """A leaderboard that is fresh, or at least there when no more time is to be lost.

        Raises:
            UnfinishedError: There is none in time.
        """
        begun = time.monotonic()
        found, asked, waited = None, "", 0.0
        while True:
            found, asked = await run_in_threadpool(
                self.boards.leaderboard, self.testset_id, self.caller, choice, asked, waited
            )
            waited = time.monotonic() - begun
            if _good_enough(found, waited) or self._late(waited):
                break
            await asyncio.sleep(LOOK_SECONDS)
        if found is None:
            raise UnfinishedError("The leaderboard is being put together; ask again.")
        return found

    async def drawn(self, shown: Leaderboard, a: str, b: str) -> Drawn:
        """The pseudo-statistics of one pair of a leaderboard that was just read.

        Raises:
            UnfinishedError: They are not there in time.
        """
        begun, asked = time.monotonic(), False
        while True:
            found = await run_in_threadpool(
                self.boards.distribution, shown, self.caller, a, b, asked
            )
            if found is not None:
                return Drawn(shown, found)
            if self._late(time.monotonic() - begun):
                raise UnfinishedError("The distribution is being computed; ask again.")
            asked = True
            await asyncio.sleep(LOOK_SECONDS)

    def _late(self, waited: float) -> bool:
        return waited > WAIT_SECONDS or self.watcher.stopping.is_set()


async def _viewer(testset_id: Id, caller: Caller, boards: Boards, watch: Watch) -> Viewer:
    return Viewer(boards, watch, testset_id, caller.name)


View = Annotated[Viewer, Depends(_viewer)]


async def _leaderboard(
    view: View,
    metric: Metric = None,
    test: Test = None,
    alpha: Annotated[float | None, Query(description="Level of decisions and intervals.")] = None,
    correction: Annotated[str | None, Query(description="Any but tukey.")] = None,
) -> Leaderboard:
    choice = await run_in_threadpool(
        view.boards.choice, view.testset_id, view.caller, metric, test, alpha, correction
    )
    return await view.leaderboard(choice)


async def _drawn(
    view: View, a: First, b: Second, metric: Metric = None, test: Test = None
) -> Drawn:
    choice = await run_in_threadpool(view.boards.choice, view.testset_id, view.caller, metric, test)
    return await view.drawn(await view.leaderboard(choice), a, b)


def _good_enough(found: Leaderboard | None, waited: float) -> bool:
    return found is not None and (found.fresh or waited > STALE_SECONDS)


Shown = Annotated[Leaderboard, Depends(_leaderboard)]
ShownPair = Annotated[Drawn, Depends(_drawn)]
