"""Whose turn it is to keep the interpreter busy: to read a body, to lay out or draw a report.

All threads of a front end share one core, whoever they work for. So of what takes long one caller
has few at a time, and its others wait without a thread; what another caller asks shares the core
with those few, however many there are.
"""

from __future__ import annotations

import asyncio
from collections.abc import AsyncIterator, Callable
from contextlib import asynccontextmanager
from typing import ParamSpec, TypeVar
from weakref import WeakValueDictionary

from starlette.concurrency import run_in_threadpool

from app.http.observing import EXCHANGE

AT_ONCE = 2  # of one caller

P = ParamSpec("P")
T = TypeVar("T")


# by loop and caller, as long as somebody has a turn or waits for one
_turns: WeakValueDictionary[tuple[asyncio.AbstractEventLoop, str], asyncio.Semaphore]
_turns = WeakValueDictionary()


@asynccontextmanager
async def turn() -> AsyncIterator[None]:
    """Wait for a turn of who asks the request, which lasts as long as the block."""
    own = asyncio.get_running_loop(), EXCHANGE.get().caller
    async with _turns.setdefault(own, asyncio.Semaphore(AT_ONCE)):
        yield


async def in_turn(work: Callable[P, T], *args: P.args, **kwargs: P.kwargs) -> T:
    """Run in a thread what takes long, when it is its turn."""
    async with turn():
        return await run_in_threadpool(work, *args, **kwargs)
