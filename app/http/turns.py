"""Whose turn it is to keep the interpreter busy: to read a body, to lay out or draw a report.

All threads of a front end share one core, whoever they work for. So of what takes long one caller
has few at a time, and its others wait without a thread; what another caller asks shares the core
with those few, however many there are.
"""

from __future__ import annotations

import asyncio
from collections import Counter
from collections.abc import AsyncIterator, Callable
from contextlib import asynccontextmanager
from typing import ParamSpec, TypeVar
from weakref import WeakKeyDictionary

from starlette.concurrency import run_in_threadpool

from app.http.observing import EXCHANGE

AT_ONCE = 2  # of one caller

P = ParamSpec("P")
T = TypeVar("T")


class Turns:
    """Those of all callers of one front end."""

    def __init__(self) -> None:
        self._open: dict[str, asyncio.Semaphore] = {}
        self._asking: Counter[str] = Counter()

    @asynccontextmanager
    async def of(self, caller: str) -> AsyncIterator[None]:
        """Wait for a turn of this caller, which lasts as long as the block."""
        self._asking[caller] += 1
        try:
            async with self._open.setdefault(caller, asyncio.Semaphore(AT_ONCE)):
                yield
        finally:
            self._asking[caller] -= 1
            if not self._asking[caller]:
                del self._asking[caller], self._open[caller]


_turns: WeakKeyDictionary[asyncio.AbstractEventLoop, Turns] = WeakKeyDictionary()


@asynccontextmanager
async def turn() -> AsyncIterator[None]:
    """Wait until it is the turn of who asks the request."""
    turns = _turns.setdefault(asyncio.get_running_loop(), Turns())
    async with turns.of(EXCHANGE.get().caller):
        yield


async def in_turn(work: Callable[P, T], *args: P.args, **kwargs: P.kwargs) -> T:
    """Run in a thread what takes long, when it is its turn."""
    async with turn():
        return await run_in_threadpool(work, *args, **kwargs)
