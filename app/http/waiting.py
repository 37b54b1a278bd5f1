"""Following a question without holding a thread, until the service is told to stop.

Forty requests that waited in threads would leave none for anybody else.
"""

import asyncio
import threading
import time
from collections import Counter
from collections.abc import AsyncIterator, Awaitable, Callable, Iterator
from contextlib import contextmanager, suppress
from dataclasses import dataclass, field
from functools import partial
from itertools import chain, repeat
from typing import Annotated, TypeVar

from fastapi import Depends
from starlette.concurrency import run_in_threadpool

from app.http.observing import EXCHANGE
from app.http.problems import RETRY_SECONDS
from app.http.state import Limits, of_state
from workers.errors import BusyError, NotReadyError
from workers.observing import News
from workers.questions import Questions, Record

T = TypeVar("T")

SHORTEST, LONGEST = 0.02, 0.5  # seconds between looks
MAKING_SECONDS = 10  # for what a worker makes when it is asked for


@dataclass(frozen=True)
class Watcher:
    """Looks at questions again and again, and at once when one is finished.

    Attributes:
        questions: Where they are.
        news: Says when to look.
        stopping: Set when the service is told to stop; every wait ends then.
        streams: How many streams of events are open, by caller.
    """

    questions: Questions
    news: News
    stopping: threading.Event
    streams: Counter[str] = field(default_factory=Counter)

    async def changes(self, record: Record, seconds: float) -> AsyncIterator[Record]:
        """A question now and at every change, until it has finished or the time is over."""
        yield record
        deadline = time.monotonic() + seconds
        pause = SHORTEST
        with self._hearing(record.id) as rest:
            while not record.status.finished and (left := deadline - time.monotonic()) > 0:
                await rest(min(pause, left))
                pause = min(2 * pause, LONGEST)
                if self.stopping.is_set():
                    return
                found = await run_in_threadpool(self.questions.find, record.id, record.caller)
                if found.etag != record.etag:
                    record = found
                    yield record

    async def settled(self, record: Record, seconds: float | None) -> Record:
        """A question as it is when it has finished, or when the time is over."""
        if record.status.finished or not seconds:
            return record
        look = partial(self.questions.find, record.id, record.caller, how_far=False)
        found = await self.until(record.id, look, lambda own: own.status.finished, seconds)
        if found.status.finished:
            return found
        return await run_in_threadpool(self.questions.find, record.id, record.caller)

    async def made(
        self,
        record: Record,
        look: Callable[[bool], T | None],
        what: str,
        seconds: float = MAKING_SECONDS,
    ) -> T:
        """What a worker makes when it is first asked for.

        Args:
            record: The comparison that it is about.
            look: Whether there is one; gets whether a worker has been asked before.
            what: It is, in words.
            seconds: To wait at most.

        Raises:
            NotReadyError: The comparison has no report, or the worker needs longer; ask again.
        """
        asked = chain([False], repeat(True))  # the first look asks a worker
        made = await self.until(
            record.id, lambda: look(next(asked)), lambda found: found is not None, seconds
        )
        if made is None:
            raise NotReadyError(f"The {what} being computed; ask again.", record=record)
        return made

    async def until(
        self, about: str, look: Callable[[], T], enough: Callable[[T], bool], seconds: float
    ) -> T:
        """What `look` finds when it is enough, or when the time is over.

        Args:
            about: Id of the question or test set whose news say when to look again.
            look: Runs in a thread.
            enough: Whether to stop waiting.
            seconds: At most.
        """
        deadline = time.monotonic() + seconds
        with self._hearing(about) as rest:
            found = await run_in_threadpool(look)
            while not enough(found) and (left := deadline - time.monotonic()) > 0:
                if self.stopping.is_set():
                    break
                await rest(min(left, LONGEST))
                found = await run_in_threadpool(look)
        return found

    @contextmanager
    def _hearing(self, about: str) -> Iterator[Callable[[float], Awaitable[None]]]:
        """Listen to what becomes of a question or test set.

        Yields:
            A function that returns when something about it was finished, or after so many seconds.
        """
        heard, loop = asyncio.Event(), asyncio.get_running_loop()

        async def rest(seconds: float) -> None:
            with suppress(TimeoutError):
                await asyncio.wait_for(heard.wait(), seconds)
            heard.clear()

        with self.news.about(about, lambda: loop.call_soon_threadsafe(heard.set)):
            yield rest


Watch = Annotated[Watcher, of_state("watcher")]


async def _one_more(watch: Watch, settings: Limits) -> AsyncIterator[None]:
    """Dependency of a stream of events, behind who asks: each is looked after while it is open.

    Raises:
        BusyError: The caller has as many as may be open.
    """
    caller = EXCHANGE.get().caller
    if watch.streams[caller] >= settings.max_streams:
        raise BusyError(
            f"{settings.max_streams:,} streams of events of yours are open, as many as a caller "
            "may have (SIGTEST_MAX_STREAMS); close one, or ask for the question now and then.",
            limit="max_streams",
            predicted={},
            seconds=RETRY_SECONDS,
        )
    watch.streams[caller] += 1
    try:
        yield
    finally:
        watch.streams[caller] -= 1


Stream = Annotated[None, Depends(_one_more)]
