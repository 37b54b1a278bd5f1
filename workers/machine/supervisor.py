"""Keeps a machine computing: the embedded server, the workers, and the reconciler beside them.

Workers are forked from this process after it has loaded NumPy and the compiled kernels, so that a
worker that died is replaced within milliseconds. It must therefore stay free of threads, and load
nothing heavy before the environment is set.

A worker says nothing while it runs a task. The supervisor says that it is alive, kills it where
nobody needs the task or the task takes too long, and lets the task of one that died wait once more.

Most work is cut so that a task takes half a second; some cannot be cut. No task gives way to
another, but there is one worker more, which takes short tasks alone: tiny ones while no other
worker is free, and those of other callers while long ones hold all of these.
"""

import gc
import logging
import os
import select
import signal
import sys
import time
import traceback
import uuid
from contextlib import suppress
from dataclasses import dataclass

from redis.exceptions import RedisError

from sigtest.errors import SigtestError
from sigtest.processor import prepare_blas
from workers.machine.keeper import READY, STEADY_SECONDS, WATCH_STDIN, pause_after
from workers.process import configure, die_with_parent
from workers.settings import Settings, refuse_arguments
from workers.store.server import EmbeddedServer, connect, inspect

log = logging.getLogger(__name__)

TICK = 0.1
LOOK_SECONDS = 0.5  # between looks at what workers do
ROUND_SECONDS = 1.0
LONG_SECONDS = 1.0  # of a task that short ones do not wait for
LATE_SECONDS = 10.0  # beyond its time limit, until a task that does not end by itself is ended
UNKNOWN_SECONDS = 5.0  # after its start, in which a worker makes itself known to the store
GRACE_SECONDS = 5.0  # for the tasks that run when a stop is asked for
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
        short: Whether it is that of the worker that serves short tasks alone.
        name: The worker's name in Redis; a new one each time.
        pid: Its process, 0 while there is none.
        since: When it was started.
        failures: How many in a row did not last.
        due: When the next one may be started.
        task: Id of the task that it has, if any.
        begun: When it was first seen with this task.
        unwanted: Whether the task was not wanted when it was last looked at.
        killed: Whether the supervisor ended it.
    """

    short: bool = False
    name: str = ""
    pid: int = 0
    since: float = 0.0
    failures: int = 0
    due: float = 0.0
    task: str = ""
    begun: float = 0.0
    unwanted: bool = False
    killed: bool = False


class Supervisor:
    """Starts and restarts the server and the workers until it is told to stop.

    Args:
        settings: How many workers, and where Redis is.
        watch_stdin: Whether standard input ends when what started this, and asks the server, is
            gone or needs it no longer.
        meteor_ahead: Whether METEOR is loaded before it is asked for, where it is installed.
    """

    def __init__(
        self, settings: Settings, watch_stdin: bool = False, meteor_ahead: bool = False
    ) -> None:
        self._settings = settings
        self._meteor_ahead = meteor_ahead
        self._server = EmbeddedServer(settings)
        self._slots = [*(Slot() for _ in range(settings.workers)), Slot(short=True)]
        self._stopping = False
        self._left = not watch_stdin  # by what started this
        self._grace = GRACE_SECONDS
        self._prepared = self._announced = False

    def run(self) -> None:
        """Work until SIGTERM, SIGINT or the end of standard input.

        After a signal the running tasks may end if they are short, and the server stays until
        standard input ends. Where it ends without a signal, nothing is waited for: what started
        this was killed, and another one may wait for the directory.

        Raises:
            SigtestError: There is no server that could be used.
        """
        for number in (signal.SIGTERM, signal.SIGINT):
            signal.signal(number, self._stop_soon)
        self._server.ensure()
        try:
            inspect(self._settings)
            self._prepare()
            self._prepared = True
            failures = 0
            while not self._stopping:
                failures = 0 if self._tick() else failures + 1
                self._pause(pause_after(failures))
            self._stop_workers(self._grace)
            while not self._left:
                self._pause(pause_after(0))
        finally:
            self._stop_workers(0.0)
            self._server.stop()

    def _prepare(self) -> None:
        """Load everything that workers use, so that they share it."""
        # not at the top: NumPy reads the environment that `main` sets when it is loaded
        from sigtest.warm import meteor_options, warm
        from workers.machine import worker
        from workers.machine.reconciler import Eraser, Reconciler
        from workers.queue import NAME, SHORT, Context
        from workers.store.records import Task
        from workers.tasks import run

        gc.disable()
        warm()
        self._meteor = meteor_options() if self._meteor_ahead else ()
        gc.collect()
        gc.freeze()  # collections in workers would copy every page they look at
        gc.enable()
        self._worker, self._tasks, self._task = worker, run, Task
        self._queues = {False: NAME, True: SHORT}
        redis = connect(self._settings, retries=0, timeout=2.0)
        context = Context.on(redis, self._settings)
        self._context = context
        self._reconciler = Reconciler(context)
        self._eraser = Eraser(redis, self._settings)
        self._look_due = self._round_due = 0.0

    def _tick(self) -> bool:
        """Look after everything once; whether nothing was in the way."""
        try:
            self._server.ensure()
            self._server.mind_disk()
            self._slots = [self._tended(slot) for slot in self._slots]
            if time.monotonic() >= self._look_due:
                self._look_due = time.monotonic() + LOOK_SECONDS
                self._look()
            if time.monotonic() >= self._round_due:
                self._round_due = time.monotonic() + ROUND_SECONDS
                self._reconciler.round()
                if not self._settings.redis_url:
                    self._eraser.round()
            serves = self._context.feed.jobs.serves
            if not self._announced and all(serves(slot.name) for slot in self._slots):
                self._announced = True
                sys.stdout.write(READY + "\n")
                sys.stdout.flush()
        except (RedisError, SigtestError) as error:
            log.warning("a round of the supervisor failed, the next tries again: %s", error)
            return False
        except Exception:
            log.exception("something unforeseen")  # not worth the workers' lives
            return False
        return True

    def _tended(self, slot: Slot) -> Slot:
        """A place with its worker, or another one some time after that died."""
        now = time.monotonic()
        if slot.pid:
            pid, status = os.waitpid(slot.pid, os.WNOHANG)
            if not pid:
                return slot
            slot.pid = 0
            if slot.killed or not status:  # as it should
                slot.failures = 0
            else:
                slot.failures = 1 if now - slot.since > STEADY_SECONDS else slot.failures + 1
                slot.due = now + pause_after(slot.failures - 1)
                log.warning("worker %s ended with %d", slot.name, os.waitstatus_to_exitcode(status))
            full = os.waitstatus_to_exitcode(status) == self._worker.STORE_FULL
            self._reconciler.settle(slot.name, counted=not full)
        if now < slot.due:
            return slot
        slot = Slot(slot.short, uuid.uuid4().hex, since=now, failures=slot.failures)
        slot.pid = self._fork(slot)
        return slot

    def _fork(self, slot: Slot) -> int:
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
                meteor = () if slot.short else self._meteor
                self._worker.work(slot.name, self._queues[slot.short], self._settings, meteor)
            os._exit(0)
        except BaseException:
            traceback.print_exc()
            os._exit(1)

    def _look(self) -> None:
        """Say which workers are alive; end those whose task should not go on."""
        slots, now = [slot for slot in self._slots if slot.pid], time.monotonic()
        lives = self._context.feed.jobs.lives([slot.name for slot in slots], self._worker.ALIVE)
        for slot, (known, task) in zip(slots, lives, strict=True):
            if task != slot.task:
                slot.task, slot.begun, slot.unwanted = task, now, False
            late = now - slot.begun > self._settings.timeout + LATE_SECONDS
            # one that the store forgot, as where all was stopped, would never be known again
            unknown = not known and now - slot.since > UNKNOWN_SECONDS
            if unknown or (task and (late or self._unneeded(slot))):
                os.kill(slot.pid, signal.SIGKILL)
                slot.killed = True
        long = [slot.task and now - slot.begun > LONG_SECONDS for slot in slots if not slot.short]
        if long and all(long):
            self._context.feed.hold([slot.task for slot in slots if not slot.short])

    def _unneeded(self, slot: Slot) -> bool:
        """Whether to end a task.

        At once where nobody needs its work; where its question has an outcome, when that is seen
        twice: the task may be the one that wrote it, which has only to say so and ends by itself.
        """
        task = self._task.of_key(slot.task)
        if self._tasks.needed(self._context, task):
            return False
        twice, slot.unwanted = slot.unwanted, True
        return twice or not self._tasks.concluded(self._context, task)

    def _pause(self, seconds: float) -> None:
        if self._left:
            time.sleep(seconds)
        elif select.select([sys.stdin], [], [], seconds)[0] and not os.read(sys.stdin.fileno(), 1):
            if not self._stopping:
                self._grace = 0.0
            self._left = self._stopping = True

    def _stop_soon(self, number: int, frame: object) -> None:
        self._stopping = True
        if not self._prepared:
            raise SystemExit(0)  # nobody works yet, and to compile kernels takes a minute

    def _stop_workers(self, grace: float) -> None:
        """Let the running tasks end if they are short; the others start again next time."""
        deadline = time.monotonic() + grace
        running = {slot.pid: slot for slot in self._slots if slot.pid}
        for pid in running:
            os.kill(pid, signal.SIGTERM)
        while running and time.monotonic() < deadline:
            for pid in [pid for pid in running if os.waitpid(pid, os.WNOHANG)[0]]:
                running.pop(pid).pid = 0
            time.sleep(TICK / 10)
        for pid, slot in running.items():
            os.kill(pid, signal.SIGKILL)
            os.waitpid(pid, 0)
            slot.pid = 0
            with suppress(RedisError):  # the reconciler finds it later
                self._reconciler.settle(slot.name, counted=False)


def main() -> int:
    """Supervise until told to stop; 2 where the settings make no sense or nothing can start."""
    os.environ.update(ONE_THREAD)
    prepare_blas()
    try:
        watched = sys.argv[1:] == [WATCH_STDIN]
        refuse_arguments([] if watched else sys.argv[1:])
        settings = Settings()
        configure(settings.log)
        Supervisor(settings, watched, settings.meteor == "ahead").run()
    except SigtestError as error:
        sys.stderr.write(f"sigtest: {error.message}\n")
        return 2
    return 0


if __name__ == "__main__":
    raise SystemExit(main())
