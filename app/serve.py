"""Everything in one process tree: `python -m app.serve` is what `make serve` runs.

Starts the embedded server and the workers, then answers at PORT (8000) of HOST (127.0.0.1). Another
HOST needs keys, or SIGTEST_OPEN=1 where really everybody may ask.

The front end is loaded while the workers start, which takes each about as long: so nothing of it
is imported at the top.
"""

from __future__ import annotations

import signal

if __name__ == "__main__":  # until all is loaded, SIGINT ends this process without a traceback
    signal.signal(signal.SIGINT, signal.SIG_DFL)

import gc
import resource
import socket
import sys
from collections.abc import Callable
from contextlib import suppress
from types import FrameType
from typing import TYPE_CHECKING, Annotated

from pydantic import Field

from sigtest.errors import SigtestError
from workers.errors import SettingError
from workers.machine.keeper import starting
from workers.process import configure
from workers.settings import Settings, Variables, refuse_arguments, within

if TYPE_CHECKING:
    from app.main import Server

_stopped = False


class Address(Variables):
    """Where the front end answers.

    Attributes:
        host: Of the front end; an address that other machines reach needs keys. 0.0.0.0 in the
            image.
        port: Of the front end; 0 takes a free one and prints it.
    """

    host: str = Field(default="127.0.0.1", validation_alias="HOST")
    port: Annotated[int, within(0, 65_535)] = Field(default=8000, validation_alias="PORT")


def serve(host: str, port: int, queue: Settings) -> None:
    """Run until SIGINT or SIGTERM, then stop everything that was started.

    Raises:
        SettingError: The address cannot be used, or would let strangers in.
    """
    # first of all, so that nothing starts in vain where the port is taken
    with listen(host, port) as listening, starting(queue) as keeper:
        gc.disable()  # what is loaded stays: to look through it again and again takes a fifth more
        from app.settings import Settings as Limits

        limits = Limits()  # before all the rest is loaded: they may make no sense
        from app.main import Server, create_app, refuse_strangers
        from sigtest.data.shape import shape_of

        shape_of(b"{}")  # its kernel is read from disk before anybody waits for it
        server = Server(create_app(limits, queue), keeper.stop_soon)
        gc.freeze()
        gc.enable()
        keeper.wait_until_ready()
        refuse_strangers(host, limits, queue)
        run(server, listening)


def main() -> int:
    """Read the environment and serve; 2 where it makes no sense or the port is taken."""
    return ended(lambda: serve(*address(), Settings()))


def ended(command: Callable[[], None]) -> int:
    """Run a front end to its end, from settings alone; its exit status."""
    for number in (signal.SIGINT, signal.SIGTERM):
        signal.signal(number, stop)
    try:
        refuse_arguments(sys.argv[1:])
        configure(Settings().log)
        command()
    except SigtestError as error:
        sys.stderr.write(f"sigtest: {error.message}\n")
        return 2
    return 0


def listen(host: str, port: int) -> socket.socket:
    """A socket for the front end.

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


def address() -> tuple[str, int]:
    """HOST and PORT.

    Raises:
        SettingError: PORT is no port.
    """
    found = Address()
    return found.host, found.port


def stop(number: int, frame: FrameType | None) -> None:
    """Without this, a signal would end the process before its workers are stopped.

    No KeyboardInterrupt: one that meets code made from text, as dataclasses are while modules are
    loaded, ends Python as if SIGINT had killed it, however well it is caught.
    """
    global _stopped
    _stopped = True
    raise SystemExit(0)


def run(server: Server, listening: socket.socket) -> None:
    """Answer until SIGINT or SIGTERM, unless one came meanwhile.

    Python ignores exceptions where an object is just being deleted, and so what `stop` raises.
    """
    if _stopped:
        raise SystemExit(0)
    # each connection is an open file, and 1,024 are few
    _, most = resource.getrlimit(resource.RLIMIT_NOFILE)
    with suppress(ValueError, OSError):  # a system that says more than it gives
        resource.setrlimit(resource.RLIMIT_NOFILE, (most, most))
    server.run(sockets=[listening])


if __name__ == "__main__":
    raise SystemExit(main())
