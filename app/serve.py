"""Everything in one process tree: `python -m app.serve` is what `make serve` runs.

Starts the embedded server and the workers, then answers on 127.0.0.1 at PORT (8000).
"""

from __future__ import annotations

import os
import signal
import socket
import sys
from types import FrameType

import uvicorn

from app.main import create_app
from app.settings import Settings
from sigtest.errors import SigtestError
from workers.errors import SettingError
from workers.machine.supervisor import running
from workers.settings import Settings as QueueSettings

HOST = "127.0.0.1"
PORT = 8000
GRACE_SECONDS = 5


class Server(uvicorn.Server):
    """Says where it listens as soon as it does."""

    async def startup(self, sockets: list[socket.socket] | None = None) -> None:
        await super().startup(sockets)
        if self.started and sockets:
            port = sockets[0].getsockname()[1]
            sys.stdout.write(f"sigtest is ready at http://{HOST}:{port}\n")
            sys.stdout.flush()


def serve(port: int, settings: Settings, queue: QueueSettings) -> None:
    """Run until SIGINT or SIGTERM, then stop everything that was started."""
    app = create_app(settings, queue)
    config = uvicorn.Config(
        app,
        log_level="warning",
        timeout_graceful_shutdown=GRACE_SECONDS,
    )
    # first of all, so that nothing starts in vain where the port is taken
    with listen(port) as listening, running(queue):
        Server(config).run(sockets=[listening])


def main() -> int:
    """Read the environment and serve; 2 where it makes no sense or the port is taken."""
    signal.signal(signal.SIGTERM, _stop)
    try:
        serve(_port(), Settings.of(), QueueSettings.of())
    except KeyboardInterrupt:
        return 0
    except SigtestError as error:
        sys.stderr.write(f"sigtest: {error.message}\n")
        return 2
    return 0


def listen(port: int) -> socket.socket:
    """A socket for Server.

    Raises:
        SettingError: The port is taken.
    """
    try:
        listening = socket.create_server((HOST, port), backlog=2048)
    except OSError as error:
        reason = os.strerror(error.errno or 0).lower()
        raise SettingError(f"PORT {port} cannot be used: {reason}.") from error
    # connections inherit it; asyncio sets it on its own sockets only, and answers took 40 ms more
    listening.setsockopt(socket.IPPROTO_TCP, socket.TCP_NODELAY, 1)
    return listening


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
