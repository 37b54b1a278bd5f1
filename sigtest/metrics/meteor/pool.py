"""Several METEOR processes at work on one list of requests."""

from __future__ import annotations

import threading
import time
from collections.abc import Sequence
from concurrent.futures import ThreadPoolExecutor

from sigtest.errors import UnavailableError
from sigtest.metrics.meteor.installation import find
from sigtest.metrics.meteor.process import BATCH, DiedError, Jvm

START_SECONDS = 180.0  # tables of English load in 5 on an idle core
BATCH_SECONDS = 300.0  # a batch of ordinary segments takes 0.1
GRACE_SECONDS = 0.5  # for the segments in hand, once their answers are not wanted
ATTEMPTS = 3  # a process killed from outside is replaced; a line that kills it thrice is to blame

_HANDSHAKE = "SCORE ||| a ||| a"


class UnansweredError(Exception):
    """METEOR cannot answer one of the requests.

    Args:
        index: Which one, from 0.
        reason: What METEOR said of it.
    """

    def __init__(self, index: int, reason: str) -> None:
        super().__init__(index, reason)
        self.index = index
        self.reason = reason


class Pool:
    """At most `size` METEOR processes, started when they are needed and kept for the next time.

    Processes differ in METEOR's options; one that is idle makes way for another with the options
    asked for, so that the memory is bounded whatever is asked.
    """

    def __init__(self, size: int) -> None:
        self.size = size
        self.stopped = False
        # Its threads live as long as the pool: the kernel kills a JVM with the thread it is of.
        self._threads = ThreadPoolExecutor(size, thread_name_prefix="meteor")
        self._lock = threading.Lock()
        self._idle: list[Jvm] = []
        self._all: list[Jvm] = []
        self._working: dict[Jvm, threading.Event] = {}

    @property
    def pids(self) -> list[int]:
        """Process ids of the living."""
        with self._lock:
            return [jvm.pid for jvm in self._all if jvm.alive]

    def score(
        self,
        arguments: tuple[str, ...],
        requests: Sequence[str],
        gone: threading.Event | None = None,
    ) -> list[str]:
        """One answer a request, in order, whichever process gives it.

        Args:
            arguments: METEOR's options.
            requests: Lines of METEOR's -stdio protocol.
            gone: Set where the answers are no longer wanted; see `abandon`.

        Raises:
            UnavailableError: METEOR is not installed or does not start.
            UnansweredError: METEOR cannot answer a request.
        """
        command = find().command(arguments)
        starts = range(0, len(requests), BATCH)
        gone = gone or threading.Event()
        futures = [
            self._threads.submit(self._batch, command, requests[start : start + BATCH], gone)
            for start in starts
        ]
        answers: list[str] = []
        try:
            for future in futures:
                answers += future.result()
        except UnansweredError as error:
            raise UnansweredError(len(answers) + error.index, error.reason) from error
        except (KeyboardInterrupt, SystemExit):
            self.stop()
            raise
        finally:
            for future in futures:
                future.cancel()
        return answers

    def abandon(self, gone: threading.Event) -> None:
        """Do no more of what is no longer wanted; a process still at it after a moment ends."""
        gone.set()
        time.sleep(GRACE_SECONDS)
        with self._lock:
            doomed = [jvm for jvm, call in self._working.items() if call is gone]
        for jvm in doomed:
            jvm.kill()

    def release(self) -> None:
        """End the processes that have nothing to do."""
        with self._lock:
            idle, self._idle = self._idle, []
        for jvm in idle:
            self._drop(jvm)

    def stop(self) -> None:
        """End all processes; the pool takes no more requests."""
        self.stopped = True
        with self._lock:
            doomed = list(self._all)
        for jvm in doomed:
            jvm.kill()  # the thread that waits for its answer stops waiting
        self._threads.shutdown(wait=True, cancel_futures=True)
        self.release()

    def _batch(
        self, command: tuple[str, ...], requests: Sequence[str], gone: threading.Event
    ) -> list[str]:
        answers: list[str] = []
        for attempt in range(1, ATTEMPTS + 1):
            if gone.is_set():
                raise UnansweredError(len(answers), "it is no longer wanted")
            jvm = self._take(command)
            with self._lock:
                self._working[jvm] = gone
            if gone.is_set():  # while the process started, which takes seconds
                self._give_back(jvm)
                continue
            try:
                answers += jvm.ask(requests[len(answers) :], BATCH_SECONDS)
            except DiedError as death:
                self._drop(jvm)
                answers += death.answers
                if self.stopped or gone.is_set() or death.late or attempt == ATTEMPTS:
                    raise UnansweredError(len(answers), death.reason) from death
            else:
                self._give_back(jvm)
                break
        for i, answer in enumerate(answers):
            if answer.startswith("Error"):
                raise UnansweredError(i, answer)
        return answers

    def _take(self, command: tuple[str, ...]) -> Jvm:
        """An idle process with these options, or a new one in the place of an idle one."""
        with self._lock:
            fitting = [jvm for jvm in self._idle if jvm.command == command]
            if fitting:
                self._idle.remove(fitting[-1])
            surplus = self._idle.pop(0) if not fitting and len(self._all) >= self.size else None
        if surplus is not None:
            self._drop(surplus)
        if not fitting:
            return self._start(command)
        if fitting[-1].alive:
            return fitting[-1]
        self._drop(fitting[-1])
        return self._take(command)

    def _give_back(self, jvm: Jvm) -> None:
        with self._lock:
            del self._working[jvm]
            self._idle.append(jvm)

    def _start(self, command: tuple[str, ...]) -> Jvm:
        for attempt in range(1, ATTEMPTS + 1):
            if self.stopped:
                raise UnavailableError("meteor was stopped.", field="metrics")
            try:
                jvm = Jvm(command)
            except OSError as error:
                raise UnavailableError(
                    f"meteor cannot run Java: {error}", field="metrics"
                ) from error
            with self._lock:
                self._all.append(jvm)
            try:
                jvm.ask([_HANDSHAKE], START_SECONDS)
            except DiedError as death:
                self._drop(jvm)
                if death.late or attempt == ATTEMPTS:
                    raise UnavailableError(
                        f"meteor does not start: {death.reason}", field="metrics"
                    ) from death
            else:
                break
        return jvm

    def _drop(self, jvm: Jvm) -> None:
        jvm.close()
        with self._lock:
            self._all.remove(jvm)
            self._working.pop(jvm, None)
