"""Everything in one process tree: `python -m app.serve` is what `make serve` runs.

Starts the embedded server and the workers, then answers at PORT (8000) of HOST (127.0.0.1). Another
HOST needs keys, or SIGTEST_OPEN=1 where really everybody may ask.
"""

from __future__ import annotations

import os
import signal
import socket
import sys
from contextlib import closing
from types import FrameType

import uvicorn
from fastapi import FastAPI

from app.http.auth import Door, is_loopback
from app.http.connection import Connection
from app.main import create_app
from app.settings import Settings
from sigtest.errors import SigtestError
from workers.access import Access
from workers.errors import SettingError
from workers.logs import configure
from workers.machine.supervisor import running
from workers.questions import Questions
from workers.settings import Settings as QueueSettings
from workers.settings import log_format

HOST = "127.0.0.1"
PORT = 8000
GRACE_SECONDS = 5


class Server(uvicorn.Server):
    """Says where it listens as soon as it does."""

    async def startup(self, sockets: list[socket.socket] | None = None) -> None:
        await super().startup(sockets)
        if self.started and sockets:
            host, port = sockets[0].getsockname()[:2]
            shown = f"[{host}]" if ":" in host else host
            sys.stdout.write(f"sigtest is ready at http://{shown}:{port}\n")
            sys.stdout.flush()


def serve(host: str, port: int, settings: Settings, queue: QueueSettings) -> None:
    """Run until SIGINT or SIGTERM, then stop everything that was started.

    Raises:
        SettingError: The address cannot be used, or would let strangers in.
    """
    app = create_app(settings, queue)
    config = configuration(app)
    # first of all, so that nothing starts in vain where the port is taken
    with listen(host, port) as listening, running(queue):
        refuse_strangers(host, settings, queue)
        Server(config).run(sockets=[listening])


def configuration(app: FastAPI) -> uvicorn.Config:
    """How uvicorn runs the service."""
    return uvicorn.Config(
        app,
        http=Connection,
        log_config=None,
        access_log=False,  # of uvicorn, which would name paths
        timeout_graceful_shutdown=GRACE_SECONDS,
    )


def main() -> int:
    """Read the environment and serve; 2 where it makes no sense or the port is taken."""
    signal.signal(signal.SIGTERM, _stop)
    try:
        configure(log_format())
        serve(os.environ.get("HOST") or HOST, _port(), Settings.of(), QueueSettings.of())
    except KeyboardInterrupt:
        return 0
    except SigtestError as error:
        sys.stderr.write(f"sigtest: {error.message}\n")
        return 2
    return 0


def logged() -> FastAPI:
    """The front end alone, which logs as it does here; `uvicorn --factory` runs it."""
    configure(log_format())
    return create_app()


def listen(host: str, port: int) -> socket.socket:
    """A socket for Server.

    Raises:
        SettingError: The port is taken, or the host is not this machine's.
    """
    family = socket.AF_INET6 if ":" in host else socket.AF_INET
    try:
        listening = socket.create_server((host, port), family=family, backlog=2048)
    except OSError as error:
        reason = (error.strerror or str(error)).lower()
        raise SettingError(f"HOST {host}, PORT {port} cannot be used: {reason}.") from error
    # connections inherit it; asyncio sets it on its own sockets only, and answers took 40 ms more
    listening.setsockopt(socket.IPPROTO_TCP, socket.TCP_NODELAY, 1)
    return listening


def refuse_strangers(host: str, settings: Settings, queue: QueueSettings) -> None:
    """Check that only holders of keys come in from other machines.

    Raises:
        SettingError: Everybody would.
    """
    if settings.open or is_loopback(host):
        return
    with closing(Questions.connect(queue)) as questions:
        door = Door(settings, Access(questions.context.questions.redis))
        if not door.closed():
            raise SettingError(
                f"HOST {host} can be reached by other machines, and there are no keys. Make one "
                "with `sigtest-admin keys add NAME`, or set SIGTEST_OPEN=1 to let everybody in."
            )


def _port() -> int:
    text = os.environ.get("PORT") or str(PORT)
    if not text.isdigit() or int(text) > 65535:
        raise SettingError(f"PORT must be a port number, not {text!r}.")
    return int(text)


def _stop(number: int, frame: FrameType | None) -> None:
    """Without this, SIGTERM would end the process before its workers are stopped."""
    raise KeyboardInterrupt


if __name__ == "__main__":
    raise SystemExit(main())
