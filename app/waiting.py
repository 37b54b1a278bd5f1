"""Following a comparison without holding a thread, until the service is told to stop.

`Jobs.wait` blocks its thread; forty requests that wait would leave none for anybody else.
"""

from __future__ import annotations

import asyncio
import signal
import threading
import time
from collections.abc import AsyncIterator, Iterator
from contextlib import contextmanager, suppress
from dataclasses import dataclass
from types import FrameType
from typing import Annotated

from fastapi import Depends, Request
from starlette.concurrency import run_in_threadpool

from workers.jobs import Jobs, Record
from workers.news import News

SHORTEST, LONGEST = 0.02, 0.5


@dataclass(frozen=True)
class Watcher:
    """Looks at comparisons again and again, and at once when one is finished.

    Attributes:
        jobs: Where they are.
        news: Says when to look.
        stopping: Set when the service is told to stop; nobody waits any longer then.
    """

    jobs: Jobs
    news: News
    stopping: threading.Event

    async def changes(self, record: Record, caller: str, seconds: float) -> AsyncIterator[Record]:
        """A comparison now and at every change, until it has finished or the time is over."""
        yield record
        deadline = time.monotonic() + seconds
        pause = SHORTEST
        heard, loop = asyncio.Event(), asyncio.get_running_loop()
        with self.news.about(record.id, lambda: loop.call_soon_threadsafe(heard.set)):
            while not record.status.finished and (left := deadline - time.monotonic()) > 0:
                with suppress(TimeoutError):
                    await asyncio.wait_for(heard.wait(), min(pause, left))
                heard.clear()
                pause = min(1.5 * pause, LONGEST)
                if self.stopping.is_set():
                    return
                found = await run_in_threadpool(self.jobs.find, record.id, caller)
                if found.etag != record.etag:
                    record = found
                    yield record

    async def settled(self, record: Record, caller: str, seconds: float | None) -> Record:
        """A comparison as it is when it has finished, or when the time is over."""
        async for current in self.changes(record, caller, seconds or 0):
            record = current
        return record


@contextmanager
def stopping() -> Iterator[threading.Event]:
    """An event that is set by SIGINT and SIGTERM, before the server's own handlers run.

    A server stops when its connections are closed, and would wait for streams that never end.
    """
    event = threading.Event()
    if threading.current_thread() is not threading.main_thread():
        yield event  # signals are none of this thread's business
        return
    previous = {number: signal.getsignal(number) for number in (signal.SIGINT, signal.SIGTERM)}

    def note(number: int, frame: FrameType | None) -> None:
        event.set()
        handler = previous[signal.Signals(number)]
        if callable(handler):
            handler(number, frame)
        else:
            signal.signal(number, handler)
            signal.raise_signal(number)

    for number in previous:
        signal.signal(number, note)
    try:
        yield event
    finally:
        for number, handler in previous.items():
            signal.signal(number, handler)


async def _watcher(request: Request) -> Watcher:
    watcher: Watcher = request.state.watcher
    return watcher


Watch = Annotated[Watcher, Depends(_watcher)]
