"""The front end, alone or in a tree with workers: how uvicorn is run, and who is let in."""

from __future__ import annotations

import logging
import socket
import sys
from collections.abc import Callable
from contextlib import closing

import uvicorn
from fastapi import FastAPI

from app.http.auth import Door, is_loopback
from app.http.middleware import Connection
from app.settings import Settings, misspelt
from workers.access import Access
from workers.errors import SettingError
from workers.questions import Questions
from workers.settings import Settings as QueueSettings

log = logging.getLogger(__name__)

GRACE_SECONDS = 5
# longer than clients and proxies keep them: a request that meets our end of one would be lost
IDLE_SECONDS = 75


class Server(uvicorn.Server):
    """Says where it listens as soon as it does, and that it stops before it waits for requests.

    Args:
        config: See `configuration`.
        stopping: Called when the stop begins.
    """

    def __init__(self, config: uvicorn.Config, stopping: Callable[[], None]) -> None:
        super().__init__(config)
        self._stopping = stopping
        self._app: FastAPI = config.app  # type: ignore[assignment]

    async def startup(self, sockets: list[socket.socket] | None = None) -> None:
        if wrong := misspelt():
            told = "; ".join(f"{name}: did you mean {meant}?" for name, meant in wrong.items())
            log.warning("No setting, and not read: %s", told)
        await super().startup(sockets)
        if self.started and sockets:
            host, port = sockets[0].getsockname()[:2]
            shown = f"[{host}]" if ":" in host else host
            sys.stdout.write(f"sigtest is ready at http://{shown}:{port}\n")
            sys.stdout.flush()
            self._app.state.reading.begin()  # before anybody waits for it

    async def shutdown(self, sockets: list[socket.socket] | None = None) -> None:
        self._stopping()
        await super().shutdown(sockets)


def configuration(app: FastAPI) -> uvicorn.Config:
    """How uvicorn runs the service."""
    return uvicorn.Config(
        app,
        http=Connection,
        log_config=None,
        access_log=False,  # of uvicorn, which would name paths
        timeout_graceful_shutdown=GRACE_SECONDS,
        timeout_keep_alive=IDLE_SECONDS,
    )


def refuse_strangers(host: str, settings: Settings, queue: QueueSettings) -> None:
    """Check that only holders of keys come in from other machines.

    Raises:
        SettingError: Everybody would.
    """
    if settings.open or is_loopback(host):
        return
    with closing(Questions.connect(queue)) as questions:
        door = Door(settings, Access(questions.context.redis, queue.marker))
        if not door.closed():
            raise SettingError(
                f"HOST {host} can be reached by other machines, and there are no keys. Make one "
                "with `sigtest-admin keys add NAME`, or set SIGTEST_OPEN=1 to let everybody in."
            )
