"""What every request passes: a limit on its body, HEAD, the end of the service."""

import asyncio
import errno
import logging
import time
from contextlib import suppress

import h11
from starlette.datastructures import MutableHeaders
from starlette.middleware.gzip import GZipMiddleware
from starlette.types import ASGIApp, Message, Receive, Scope, Send
from uvicorn.protocols.http.h11_impl import H11Protocol

from app.http.negotiation import ranges
from app.http.observing import Middleware, template_of
from app.http.problems import SlowError, StoppingError, UnreadyError, of_error
from sigtest.errors import LimitError, SigtestError

PATIENCE_SECONDS = 20.0  # for a body, besides what its size takes at the slowest pace
SLOWEST = 16 * 2**10  # bytes a second
DROP_SECONDS = 10
SHORTAGES = {errno.EMFILE, errno.ENFILE, errno.ENOMEM, errno.ENOBUFS, errno.ENOSPC, errno.EDQUOT}
DROP_TIMES = 3  # as large as the largest body that is kept

log = logging.getLogger(__name__)


class BodyLimit(Middleware):
    """Middleware that counts and times a body while it comes in; keeps none that is too large."""

    def __init__(self, app: ASGIApp, max_bytes: int) -> None:
        super().__init__(app)
        self.max_bytes = max_bytes

    async def serve(self, scope: Scope, receive: Receive, send: Send) -> None:
        """Refuse a body before it is read where its size is announced, else at the limit."""
        headers = dict(scope["headers"])
        announced = headers.get(b"content-length", b"0")
        if announced.isdigit() and int(announced) > self.max_bytes:
            if b"expect" not in headers:  # who expects 100 has not sent anything yet
                await self.drop_rest(receive)
            raise self.error()
        read, waited, whole = 0, 0.0, False

        async def counting() -> Message:
            nonlocal read, waited, whole
            if whole:  # what comes is no body, but that the client goes
                return await receive()
            since = time.monotonic()
            try:
                async with asyncio.timeout(PATIENCE_SECONDS + read / SLOWEST - waited):
                    message = await receive()
            except TimeoutError as error:
                raise SlowError(
                    f"{read:,} bytes of the body came in {waited + time.monotonic() - since:.0f} "
                    "seconds; send it faster, or in parts."
                ) from error
            waited += time.monotonic() - since
            whole = not message.get("more_body")
            read += len(message.get("body", b""))
            if read > self.max_bytes:
                await self.drop_rest(receive)
                raise self.error()
            return message

        await self.app(scope, counting, send)

    async def drop_rest(self, receive: Receive) -> None:
        """Read on for a while and keep nothing of it.

        Closing a connection while its client still sends would take the answer away with it.
        """
        dropped = 0
        with suppress(TimeoutError):
            async with asyncio.timeout(DROP_SECONDS):
                while dropped <= DROP_TIMES * self.max_bytes:
                    message = await receive()
                    dropped += len(message.get("body", b""))
                    if not message.get("more_body"):
                        return

    def error(self) -> SigtestError:
        """The error of a body that is too large."""
        return LimitError(
            f"What was sent is larger than {self.max_bytes:,} bytes, the most that this service "
            "takes (max_body_bytes).",
            limit="max_body_bytes",
        )


class CutShort(Middleware):
    """Middleware: a request that a stop or a shortage of this machine ends is told so."""

    async def serve(self, scope: Scope, receive: Receive, send: Send) -> None:
        """Answer what the server cancels, and what it has no thread, file, memory or disk for.

        Of an answer that has begun the connection is closed.
        """
        begun = False

        async def noting(message: Message) -> None:
            nonlocal begun
            begun = True
            await send(message)

        try:
            await self.app(scope, receive, noting)
        except asyncio.CancelledError:
            if not begun:
                error = StoppingError("The service stops; ask again when it has been started.")
                await of_error(error)(scope, receive, send)
        except (OSError, MemoryError, RuntimeError) as error:
            if begun or not is_shortage(error):
                raise
            log.error("%s %s: %s", scope["method"], template_of(scope), error)
            told = UnreadyError("The service is short of threads, files or memory; ask again.")
            await of_error(told)(scope, receive, send)


def is_shortage(error: object) -> bool:
    """Whether another try may go well, when others have given back what they took."""
    if isinstance(error, OSError):
        return error.errno in SHORTAGES
    return isinstance(error, MemoryError) or "can't start new thread" in str(error)


class Compression(GZipMiddleware):
    """The middleware that compresses, for who does not refuse: it takes `gzip;q=0` for a wish."""

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        """Let it see no `Accept-Encoding` that refuses gzip."""
        if scope["type"] == "http":
            headers = MutableHeaders(scope=scope)
            if dict(ranges(headers.getlist("accept-encoding"))).get("gzip") == 0:
                del headers["accept-encoding"]

        async def varying(message: Message) -> None:
            if message.get("status") == 304:  # says what the 200 would (RFC 9110 section 15.4.5)
                MutableHeaders(scope=message).add_vary_header("Accept-Encoding")
            await send(message)

        await super().__call__(scope, receive, varying)


class Head(Middleware):
    """Middleware: routes know GET alone; a HEAD is a GET whose answer ends with its headers."""

    async def serve(self, scope: Scope, receive: Receive, send: Send) -> None:
        """Let GET be answered; a stream is over, for its sender too, before it begins."""
        if scope["method"] != "HEAD":
            await self.app(scope, receive, send)
            return

        async def beginning(message: Message) -> None:
            if message["type"] == "http.response.start":
                await send(message)
                await send({"type": "http.response.body", "body": b""})

        # a copy: the server looks at the method in its own, and sends no body with HEAD
        asked = {**scope, "method": "GET"}
        await self.app(asked, receive, beginning)
        scope["route"] = asked.get("route")


HEADER_SECONDS = 15.0  # the same for the rest of a body that was answered early
STALLED_SECONDS = 60.0  # without taking anything of an answer


class Connection(H11Protocol):
    """Uvicorn's, which would wait for ever."""

    _due: asyncio.TimerHandle | None = None
    _reading_due: asyncio.TimerHandle | None = None

    def connection_made(self, transport: asyncio.Transport) -> None:  # type: ignore[override]
        super().connection_made(transport)
        self._due = self.loop.call_later(HEADER_SECONDS, self._give_up)

    def connection_lost(self, exc: Exception | None) -> None:
        super().connection_lost(exc)
        for timer in (self._due, self._reading_due):
            if timer is not None:
                timer.cancel()

    def data_received(self, data: bytes) -> None:
        super().data_received(data)
        begun = self.conn.their_state is h11.IDLE and bool(self.conn.trailing_data[0])
        answered = self.conn.their_state is h11.SEND_BODY and self.conn.our_state is h11.DONE
        if not begun and not answered:
            if self._due is not None:
                self._due.cancel()
                self._due = None
        elif self._due is None:
            self._due = self.loop.call_later(HEADER_SECONDS, self._give_up)

    def pause_writing(self) -> None:
        super().pause_writing()
        if self._reading_due is None:
            self._reading_due = self.loop.call_later(STALLED_SECONDS, self.transport.abort)

    def resume_writing(self) -> None:
        super().resume_writing()
        if self._reading_due is not None:
            self._reading_due.cancel()
            self._reading_due = None

    def _give_up(self) -> None:
        self._due = None
        self.transport.close()
