"""Bodies are read and checked here, off the event loop: small ones in threads, others elsewhere.

The process beside this one has one body at a time, each caller two that wait for it.
"""

from __future__ import annotations

import asyncio
from collections import Counter
from collections.abc import AsyncIterator, Callable, Coroutine
from contextlib import (
    AbstractAsyncContextManager,
    AsyncExitStack,
    asynccontextmanager,
    nullcontext,
)
from functools import partial
from typing import Annotated, Any, ParamSpec, Self, TypeVar

from fastapi import Request
from starlette.concurrency import run_in_threadpool
from starlette.types import Message

from app.http.errors import UnreadyError
from app.http.observing import EXCHANGE
from app.http.state import of_state
from app.http.turns import turn
from app.requests.reading import ReadingProcess

P = ParamSpec("P")
T = TypeVar("T")

SMALL = 2**13  # bytes of a body that is read in this process
BODIES = 4  # as large as the largest that is accepted, may be here at a time


class Parser:
    """Shared by all requests of one front end.

    Args:
        max_bytes: Size of the largest body that is accepted.
        process: Reads all but small ones.
    """

    def __init__(self, max_bytes: int, process: ReadingProcess) -> None:
        self._most = BODIES * max_bytes
        self._held: Counter[str] = Counter()  # bytes, by caller
        self._process = process
        self._reading = asyncio.Lock()

    @asynccontextmanager
    async def body(self, request: Request) -> AsyncIterator[bytes]:
        """The body of a request, which is kept no longer than the block lasts.

        Raises:
            UnreadyError: See `holding`.
        """
        async with self.holding(request) as held:
            chunks = [chunk async for chunk in held.stream()]
            data = b"".join(chunks)
            chunks.clear()
            yield data

    @asynccontextmanager
    async def holding(self, request: Request) -> AsyncIterator[Request]:
        """The same request, whose body is in memory or in a file as long as the block lasts.

        A caller may hold as much as is left for all others.

        Raises:
            UnreadyError: Too many large bodies are held, in the middle of one.
        """
        own, caller = 0, EXCHANGE.get().caller

        async def counted() -> Message:
            nonlocal own
            message = await request.receive()
            size = len(message.get("body", b""))
            own += size
            self._held[caller] += size
            if self._held[caller] > self._most - self._held.total():
                raise UnreadyError("Too many large bodies came at a time; send it again.")
            return message

        try:
            yield Request(request.scope, counted)
        finally:
            self._held[caller] -= own
            self._held += Counter()  # without those who hold nothing

    def work(self, size: int) -> Work:
        """The turn to read and check something of so many bytes.

        What was read waits for no second turn: all that came meanwhile would have the first, and be
        in memory, too.
        """
        there = partial(self._process.run, size)
        return Work(partial(self._turn, size), run_in_threadpool if size <= SMALL else there)

    @asynccontextmanager
    async def _turn(self, size: int) -> AsyncIterator[None]:
        async with turn(), nullcontext() if size <= SMALL else self._reading:
            yield

    async def run(self, size: int, parse: Callable[P, T], *args: P.args, **kwargs: P.kwargs) -> T:
        """Read and check what has so many bytes, when it is its turn; all of it can be pickled."""
        async with self.work(size) as work:
            found: T = await work.run(parse, *args, **kwargs)
            return found


class Work:
    """A turn that lasts as long as the block, and is left while its request waits for others.

    Args:
        turn: Waits for the turn.
        run: Reads something, while it is its turn.
    """

    def __init__(
        self,
        turn: Callable[[], AbstractAsyncContextManager[None]],
        run: Callable[..., Coroutine[Any, Any, Any]],
    ) -> None:
        self._turn = turn
        self.run = run
        self._taken = AsyncExitStack()

    async def __aenter__(self) -> Self:
        await self._taken.enter_async_context(self._turn())
        return self

    async def __aexit__(self, *error: object) -> None:
        await self._taken.aclose()

    @asynccontextmanager
    async def paused(self) -> AsyncIterator[None]:
        """Let others have the turn until the block is left."""
        await self._taken.aclose()
        yield
        await self._taken.enter_async_context(self._turn())


Parse = Annotated[Parser, of_state("parser")]
