"""Bodies are read and parsed here, off the event loop, the large ones a few at a time.

A parsed body takes several times its bytes, and Python parses one at a time anyway: more at once
would only take more memory.
"""

from __future__ import annotations

import asyncio
from collections import Counter
from collections.abc import AsyncIterator, Callable
from contextlib import (
    AbstractAsyncContextManager,
    AsyncExitStack,
    asynccontextmanager,
    nullcontext,
)
from functools import partial
from typing import Annotated, ParamSpec, Self, TypeVar

from fastapi import Request
from starlette.concurrency import run_in_threadpool
from starlette.types import Message

from app.http.errors import UnreadyError
from app.http.observing import EXCHANGE
from app.http.state import of_state
from app.http.turns import turn

P = ParamSpec("P")
T = TypeVar("T")

LARGE = 2**20  # bytes
LARGE_AT_A_TIME = 2
BODIES = 4  # as large as the largest that is accepted, may be here at a time


class Parser:
    """Shared by all requests of one front end.

    Args:
        max_bytes: Size of the largest body that is accepted.
    """

    def __init__(self, max_bytes: int) -> None:
        self._most = BODIES * max_bytes
        self._held: Counter[str] = Counter()  # bytes, by caller
        self._large = asyncio.Semaphore(LARGE_AT_A_TIME)

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
        return Work(partial(self._turn, size))

    @asynccontextmanager
    async def _turn(self, size: int) -> AsyncIterator[None]:
        async with turn(), self._large if size >= LARGE else nullcontext():
            yield

    async def run(self, size: int, parse: Callable[P, T], *args: P.args, **kwargs: P.kwargs) -> T:
        """Parse in a thread what has so many bytes."""
        async with self.work(size):
            return await run_in_threadpool(parse, *args, **kwargs)


class Work:
    """A turn that lasts as long as the block, and is left while its request waits for others.

    Args:
        turn: Waits for the turn.
    """

    def __init__(self, turn: Callable[[], AbstractAsyncContextManager[None]]) -> None:
        self._turn = turn
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
