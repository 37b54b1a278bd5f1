"""Keeps a machine computing: the embedded server, the workers, and the reconciler beside them.

Workers are forked from this process after it has loaded NumPy and the compiled kernels, so that a
worker that died is replaced within milliseconds. It must therefore stay free of threads, and load
nothing heavy before the environment is set.
"""

from __future__ import annotations

import gc
import logging
import os
import select
import signal
import subprocess
import sys
import threading
import time
import traceback
import uuid
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path

from redis.exceptions import RedisError

from sigtest.errors import SigtestError
from sigtest.processor import prepare_blas
from workers.errors import StorageError
from workers.logs import configure
from workers.process import die_with_parent
from workers.settings import Settings, log_format
from workers.store.server import EmbeddedServer, connect, find_binary, inspect

log = logging.getLogger(__name__)

ROOT = Path(__file__).parents[2]
TICK = 0.1
ROUND_SECONDS = 1.0
READY_SECONDS = 120.0
GRACE_SECONDS = 5.0  # for the tasks that run when a stop is asked for
STOP_SECONDS = 20.0
LONGEST_PAUSE = 5.0
STEADY_SECONDS = 10.0
READY = "ready"
WATCH_STDIN = "--until-stdin-closes"
API_KEYS = "SIGTEST_API_KEYS"
ONE_THREAD = {
    "OPENBLAS_NUM_THREADS": "1",
    "OMP_NUM_THREADS": "1",
    "MKL_NUM_THREADS": "1",
    "NUMBA_NUM_THREADS": "1",
}


@dataclass
class Slot:
    """One worker's place.

    Attributes:
        name: The worker's name in Redis; a new one each time.
        pid: Its process, 0 while there is none.
        since: When it was started.
        failures: How many in a row did not last.
        due: When the next one may be started.
    """

    name: str = ""
    pid: int = 0
    since: float = 0.0
    failures: int = 0
    due: float = 0.0


class Supervisor:
    """Starts and restarts the server and the workers until it is told to stop.

    Args:
        settings: How many workers, and where Redis is.
        watch_stdin: Whether the end of standard input means that what started this is gone.
    """

    def __init__(self, settings: Settings, watch_stdin: bool = False) -> None:
        self._settings = settings
        self._watch_stdin = watch_stdin
        self._server = EmbeddedServer(settings)
        self._slots = [Slot() for _ in range(settings.workers)]
        self._stopping = False
        self._announced = False

    def run(self) -> None:
        """Work until SIGTERM, SIGINT or the end of standard input.

        Raises:
            SigtestError: There is no server that could be used.
        """
        for number in (signal.SIGTERM, signal.SIGINT):
            signal.signal(number, self._stop_soon)
        self._server.ensure()
        try:
            inspect(self._settings)
            self._prepare()
            failures = 0
            while not self._stopping:
                failures = 0 if self._tick() else failures + 1
                self._pause(_pause_after(failures))
        finally:
            self._stop_workers()
            self._server.stop()

    def _prepare(self) -> None:
        """Load everything that workers use, so that they share it."""
        # not at the top: NumPy reads the environment that `main` sets when it is loaded
        from sigtest.metrics import meteor
        from sigtest.warm import warm
        from workers.machine import worker
        from workers.machine.eraser import Eraser
        from workers.machine.reconciler import Reconciler
        from workers.tasks.context import Context

        warm()
        meteor.share()  # one JVM for all workers, which ends with this process
        gc.collect()
        gc.freeze()  # collections in workers would copy every page they look at
        self._work = worker.work
        redis = connect(self._settings, retries=0, timeout=2.0)
        context = Context.on(redis, self._settings)
        self._jobs = context.feed.jobs
        self._reconciler = Reconciler(context)
        self._eraser = Eraser(redis)
        self._round_due = 0.0

    def _tick(self) -> bool:
        """Look after everything once; whether nothing was in the way."""
        try:
            self._server.ensure()
            for slot in self._slots:
                self._tend(slot)
            if time.monotonic() >= self._round_due:
                self._round_due = time.monotonic() + ROUND_SECONDS
                self._reconciler.round()
                if not self._settings.redis_url:
                    self._eraser.round()
            if not self._announced and all(self._jobs.serves(slot.name) for slot in self._slots):
                self._announced = True
                sys.stdout.write(READY + "\n")
                sys.stdout.flush()
        except (RedisError, SigtestError) as error:
            log.warning("%s", error)  # the next tick tries again
            return False
        except Exception:
            log.exception("something unforeseen")  # not worth the workers' lives
            return False
        return True

    def _tend(self, slot: Slot) -> None:
        """Start the slot's worker, or another one some time after it died."""
        now = time.monotonic()
        if slot.pid:
            pid, status = os.waitpid(slot.pid, os.WNOHANG)
            if not pid:
                return
            slot.pid = 0
            slot.failures = 0 if now - slot.since > STEADY_SECONDS else slot.failures + 1
            slot.due = now + _pause_after(slot.failures)
            log.warning("worker %s ended with %d", slot.name, os.waitstatus_to_exitcode(status))
        elif now >= slot.due:
            slot.since = now
            slot.name = uuid.uuid4().hex
            slot.pid = self._fork(slot.name)

    def _fork(self, name: str) -> int:
        parent = os.getpid()
        pid = os.fork()
        if pid:
            return pid
        try:
            os.setsid()  # a Ctrl-C in the terminal is for the supervisor alone
            die_with_parent(signal.SIGKILL)
            for number in (signal.SIGTERM, signal.SIGINT):
                signal.signal(number, signal.SIG_DFL)
            if os.getppid() == parent:
                self._work(name, self._settings)
            os._exit(0)
        except BaseException:
            traceback.print_exc()
            os._exit(1)

    def _pause(self, seconds: float) -> None:
        if not self._watch_stdin:
            time.sleep(seconds)
        elif select.select([sys.stdin], [], [], seconds)[0] and not os.read(sys.stdin.fileno(), 1):
            self._stopping = True

    def _stop_soon(self, number: int, frame: object) -> None:
        self._stopping = True

    def _stop_workers(self) -> None:
        """Let the running tasks end if they are short; the others start again next time."""
        deadline = time.monotonic() + GRACE_SECONDS
        running = [slot.pid for slot in self._slots if slot.pid]
        for pid in running:
            os.kill(pid, signal.SIGTERM)
        while running and time.monotonic() < deadline:
            running = [pid for pid in running if os.waitpid(pid, os.WNOHANG)[0] == 0]
            time.sleep(TICK / 10)
        for pid in running:
            os.kill(pid, signal.SIGKILL)
            os.waitpid(pid, 0)


def _pause_after(failures: int) -> float:
    """Seconds to wait before the next attempt."""
    return min(TICK * 2.0 ** min(failures, 10), LONGEST_PAUSE)


@contextmanager
def running(settings: Settings) -> Iterator[None]:
    """Everything that comparisons need, from when workers are ready until the block is left.

    Raises:
        UnavailableError: There is no Redis server to start.
        StorageError: Server or workers do not start.
    """
    with starting(settings) as wait_until_ready:
        wait_until_ready()
        yield


@contextmanager
def starting(settings: Settings) -> Iterator[Callable[[], None]]:
    """The same, without waiting: the block gets the function that waits.

    Runs in child processes, which end when this process does, however it ends.

    Raises:
        UnavailableError: There is no Redis server to start.
    """
    if not settings.redis_url:
        find_binary()
    keeper = _Keeper(settings)
    keeper.start()
    try:
        yield keeper.wait_until_ready
    finally:
        keeper.stop()


class _Keeper(threading.Thread):
    """Runs a supervisor in a child process, and another one if it dies.

    The thread lives as long as the child: Linux tells a child that its parent died when the thread
    that started it ends.
    """

    def __init__(self, settings: Settings) -> None:
        super().__init__(name="sigtest-keeper", daemon=True)
        self._settings = settings
        self._stopping = threading.Event()
        self._known = threading.Event()  # whether it works or not
        self._ready = False
        self._process: subprocess.Popen[str] | None = None

    def run(self) -> None:
        failures = 0
        while not self._stopping.wait(_pause_after(failures) if failures else 0):
            started = time.monotonic()
            with self._start() as self._process:
                assert self._process.stdout is not None
                if self._stopping.is_set():
                    self._process.terminate()
                self._ready |= self._process.stdout.readline().strip() == READY
                self._known.set()
                self._process.wait()
            lasted = time.monotonic() - started > STEADY_SECONDS
            failures = 1 if lasted else failures + 1

    def wait_until_ready(self) -> None:
        """Return when the first supervisor's workers wait for tasks.

        Raises:
            StorageError: They do not start.
        """
        self._known.wait(READY_SECONDS)
        if not self._ready:
            raise StorageError("The workers do not start; see above.")

    def stop(self) -> None:
        """End the child and with it everything it started."""
        self._stopping.set()
        if self._process is not None:
            self._process.terminate()
        self.join(STOP_SECONDS)
        if self.is_alive() and self._process is not None:
            self._process.kill()
            self.join()

    def _start(self) -> subprocess.Popen[str]:
        return subprocess.Popen(
            [sys.executable, "-m", "workers.machine.supervisor", WATCH_STDIN],
            cwd=ROOT,
            env=_without_keys({**os.environ, **self._settings.as_environment()}),
            stdin=subprocess.PIPE,
            stdout=subprocess.PIPE,
            start_new_session=True,
            text=True,
        )


def _without_keys(environment: dict[str, str]) -> dict[str, str]:
    """What workers inherit: they run code that looks at strangers' texts, and need no key."""
    return {name: value for name, value in environment.items() if name != API_KEYS}


def main() -> int:
    """Supervise until told to stop; 2 where the settings make no sense or nothing can start."""
    os.environ.update(ONE_THREAD)
    prepare_blas()
    try:
        configure(log_format())
        Supervisor(Settings.of(), WATCH_STDIN in sys.argv[1:]).run()
    except SigtestError as error:
        sys.stderr.write(f"sigtest: {error.message}\n")
        return 2
    return 0


if __name__ == "__main__":
    raise SystemExit(main())
