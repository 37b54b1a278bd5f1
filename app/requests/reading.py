"""Bodies above a few kilobytes are read and checked in a process beside the front end.

A reader that takes long holds the interpreter's lock: nobody would be answered meanwhile. The
process is warm, has one body at a time, so many seconds of its core and so much memory; then it
ends, its sender is told, and another one is begun. What it gets and gives back is pickled.
"""

import math
import os
import resource
import signal
import subprocess
import sys
import time
import traceback
from collections.abc import Callable
from contextlib import suppress
from functools import partial
from multiprocessing import Pipe
from multiprocessing.connection import Connection
from pathlib import Path
from typing import Any

from starlette.concurrency import run_in_threadpool

from sigtest.errors import LimitError
from workers.machine.keeper import API_KEYS, ROOT
from workers.process import die_with_parent

PATIENCE = 10  # times the seconds of its core that a body may take where others keep that busy
LIMIT = "max_reading_seconds"
ROOM, ROOM_A_BYTE = 2**29, 64  # bytes of memory that a body may take, and more for each of its own


class ReadingProcess:
    """The process, begun when it is first needed; whoever uses it has to be the only one.

    Args:
        seconds: Of its core that a body may take; a MB of it may take one more.
    """

    def __init__(self, seconds: int) -> None:
        self._seconds = seconds
        self._process: subprocess.Popen[bytes] | None = None
        self._line: Connection

    def begin(self) -> None:
        """Begin the process unless there is one; in a thread that lives as long as it is to."""
        if self._process is not None and self._process.poll() is None:
            return
        self._line, its = Pipe()
        self._ready = False
        with its:
            self._process = subprocess.Popen(
                [sys.executable, "-m", "app.requests.reading", str(its.fileno())],
                cwd=ROOT,
                env={**os.environ, API_KEYS: ""},
                pass_fds=[its.fileno()],
                start_new_session=True,
                preexec_fn=partial(die_with_parent, signal.SIGKILL),
            )

    def close(self) -> None:
        """End it, whatever it does."""
        if self._process is not None:
            self._process.kill()
            self._process.wait()
            self._line.close()
            self._process = None

    async def run(self, size: int, read: Callable[..., Any], *args: Any) -> Any:
        """Do what takes so many bytes there.

        Raises:
            LimitError: It took too long.
        """
        self.begin()
        seconds = self._seconds + size // 2**20
        try:
            outcome = await run_in_threadpool(self._exchange, seconds, (size, read, args))
        except (EOFError, OSError):
            if self._process is not None:  # nor did the service end meanwhile
                self.close()
                self.begin()
            raise LimitError(
                f"Reading it took more than {seconds} seconds of a core, {LIMIT} and one a MB, or "
                f"more than {ROOM + ROOM_A_BYTE * size:,} bytes of memory: it is larger than it "
                "looks, or of no known format. Send less at a time, or files of another format.",
                limit=LIMIT,
            ) from None
        if isinstance(outcome, Exception):
            raise outcome
        return outcome

    def _exchange(self, seconds: int, work: tuple[Any, ...]) -> Any:
        self._ready = self._ready or self._line.recv()  # what it loads takes a while
        self._line.send((seconds, work))
        if not self._line.poll(PATIENCE * seconds):
            raise EOFError
        return self._line.recv()


def main() -> None:
    """Read what comes, until nothing comes any longer."""
    from app.requests.questions import rehearse

    line = Connection(int(sys.argv[1]))
    rehearse()
    line.send(True)
    _, most = resource.getrlimit(resource.RLIMIT_CPU)
    _, most_data = resource.getrlimit(resource.RLIMIT_DATA)
    while True:
        try:
            seconds, (size, read, args) = line.recv()
        except EOFError:
            return
        end = math.ceil(time.process_time() + seconds)
        resource.setrlimit(resource.RLIMIT_CPU, (end, most))
        with suppress(OSError, ValueError):  # another kernel, or one that has less for anybody
            held = int(Path("/proc/self/statm").read_text().split()[5]) * resource.getpagesize()
            room = held + ROOM + ROOM_A_BYTE * size
            resource.setrlimit(resource.RLIMIT_DATA, (room, most_data))
        try:
            outcome = read(*args)
        except MemoryError:
            raise
        except Exception as error:
            error.add_note(traceback.format_exc())
            outcome = error
        resource.setrlimit(resource.RLIMIT_CPU, (most, most))
        line.send(outcome)


if __name__ == "__main__":
    with suppress(MemoryError):  # its sender is told that it ended
        main()
