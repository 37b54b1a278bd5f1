"""One connection: how long a client may take to send headers, and to take its answer away.

Bodies are timed by `middleware.BodyLimit`, which can answer; here the connection is closed.
"""

from __future__ import annotations

import asyncio

import h11
from uvicorn.protocols.http.h11_impl import H11Protocol

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
