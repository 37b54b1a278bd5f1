"""Keeps a supervisor, which keeps everything that questions need, in a child process."""

from __future__ import annotations

import os
import subprocess
import sys
import threading
import time
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

from workers.errors import StorageError
from workers.settings import Settings
from workers.store.server import find_binary

ROOT = Path(__file__).parents[2]
READY_SECONDS = 120.0
STOP_SECONDS = 20.0
SHORTEST_PAUSE, LONGEST_PAUSE = 0.1, 5.0
STEADY_SECONDS = 10.0
READY = "ready"
WATCH_STDIN = "--until-stdin-closes"
API_KEYS = "SIGTEST_API_KEYS"


def pause_after(failures: int) -> float:
    """Seconds to wait before the next attempt."""
    return min(SHORTEST_PAUSE * 2.0 ** min(failures, 10), LONGEST_PAUSE)


@contextmanager
def running(settings: Settings) -> Iterator[None]:
    """Everything that questions need, from when workers are ready until the block is left.

    Raises:
        UnavailableError: There is no Redis server to start.
        StorageError: Server or workers do not start.
    """
    with starting(settings) as keeper:
        keeper.wait_until_ready()
        yield


@contextmanager
def starting(settings: Settings) -> Iterator[Keeper]:
    """The same, without waiting: the block gets what waits, and what lets workers stop earlier.

    Runs in child processes, which end when this process does, however it ends.

    Raises:
        UnavailableError: There is no Redis server to start.
    """
    if not settings.redis_url:
        find_binary()
    keeper = Keeper(settings)
    keeper.start()
    try:
        yield keeper
    finally:
        keeper.stop()


class Keeper(threading.Thread):
    """Runs a supervisor in a child process, and another one if it dies once it was ready.

    The thread lives as long as the child: Linux tells a child that its parent died when the thread
    that started it ends.
    """

    def __init__(self, settings: Settings) -> None:
        super().__init__(name="sigtest-keeper", daemon=True)
        self._settings = settings
        self._stopping = threading.Event()
        self._lock = threading.Lock()  # so that no child is started that nobody stops
        self._known = threading.Event()  # whether it works or not
        self._ready = False
        self._process: subprocess.Popen[str] | None = None

    def run(self) -> None:
        failures = 0
        while process := self._start():
            started = time.monotonic()
            with process:
                assert process.stdout is not None
                self._ready |= process.stdout.readline().strip() == READY
                self._known.set()
                process.wait()
            if not self._ready:
                return  # it said why, and another one would say the same
            lasted = time.monotonic() - started > STEADY_SECONDS
            failures = 1 if lasted else failures + 1
            self._stopping.wait(pause_after(failures))

    def wait_until_ready(self) -> None:
        """Return when the first supervisor's workers wait for tasks.

        Raises:
            StorageError: They do not start.
        """
        self._known.wait(READY_SECONDS)
        if not self._ready:
            raise StorageError("The workers do not start; see above.")

    def stop_soon(self) -> None:
        """Let the workers end their tasks while this process does the same; the server stays."""
        with self._lock:
            self._stopping.set()
        if self._process is not None:
            self._process.terminate()

    def stop(self) -> None:
        """End the child and with it everything it started."""
        self.stop_soon()
        if self._process is not None and self._process.stdin is not None:
            self._process.stdin.close()
        self.join(STOP_SECONDS)
        if self.is_alive() and self._process is not None:
            self._process.kill()
            self.join()

    def _start(self) -> subprocess.Popen[str] | None:
        """Another child, unless there shall be none."""
        with self._lock:
            if self._stopping.is_set():
                return None
            self._process = subprocess.Popen(
                [sys.executable, "-m", "workers.machine.supervisor", WATCH_STDIN],
                cwd=ROOT,
                # workers run code that looks at strangers' texts, and need no key
                env={**os.environ, **self._settings.as_environment(), API_KEYS: ""},
                stdin=subprocess.PIPE,
                stdout=subprocess.PIPE,
                start_new_session=True,
                text=True,
            )
            return self._process
