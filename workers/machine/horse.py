"""The process that runs a worker's tasks, one after the other as long as all goes well.

A fork of a process with NumPy and the kernels costs several times what a small task does, most of
it in pages that are copied. So a horse stays when its task is done, and is handed the next one. It
goes, and takes with it whatever tasks left behind, when a task ended in any other way than well,
when it has done many, or when it has grown. It may die at any moment: its worker sees that the
line between them is cut.
"""

from __future__ import annotations

import json
import resource
import socket
import sys
from dataclasses import dataclass

from sigtest.metrics import meteor
from workers.process import call_oneself

DONE = b"."
IDLE_SECONDS = 60  # after which a horse goes, and what it holds with it
WORKING, WAITING = "sigtest task", "sigtest idle"  # what a horse is called in lists of processes
TASKS = 200  # that one horse runs at most
GROWTH = 64 << 20  # bytes that it may grow beyond its size after the fork
UNIT = 1 if sys.platform == "darwin" else 1024  # of `ru_maxrss`


@dataclass(frozen=True)
class Order:
    """Which task a horse is to run.

    Attributes:
        job: Id of RQ's job.
        execution: Id of this start of it.
    """

    job: str
    execution: str


class Line:
    """A line between a worker and its horse; both have it before the fork, and one end after it."""

    def __init__(self) -> None:
        self._worker, self._horse = socket.socketpair()

    # what the worker does

    def hold_worker_end(self, patience: float) -> None:
        """Let the horse's death cut the line; wait for it so many seconds at a time."""
        self._horse.close()
        self._worker.settimeout(patience)

    def hand_over(self, order: Order) -> bool:
        """Give another task to a horse that waits for it; whether there still is one."""
        try:
            self._worker.recv(len(DONE))  # which told that the one before is done
            self._worker.sendall(json.dumps(vars(order)).encode() + b"\n")
        except OSError:
            return False
        return True

    def done(self) -> bool:
        """Wait until the horse has done its task, and whether it has; False where it is gone.

        Only looks, so that an alarm that comes in between makes nothing unsaid.

        Raises:
            TimeoutError: It still works when the patience is over.
        """
        try:
            return self._worker.recv(len(DONE), socket.MSG_PEEK) == DONE
        except ConnectionError:
            return False

    def cut(self) -> None:
        """Forget the horse, which goes if it has not gone."""
        self._worker.close()

    # what the horse does

    def hold_horse_end(self) -> None:
        """Let the worker's death cut the line."""
        self._worker.close()
        call_oneself(WORKING)
        self._orders = self._horse.makefile("rb")

    def next_order(self) -> Order | None:
        """Tell that the task is done and wait for the next; nothing where none comes."""
        self._horse.sendall(DONE)
        self._horse.settimeout(meteor.IDLE_SECONDS if meteor.running() else IDLE_SECONDS)
        call_oneself(WAITING)
        try:
            told = self._orders.readline()
        except TimeoutError:
            return None
        call_oneself(WORKING)
        return Order(**json.loads(told)) if told else None


class Stamina:
    """How long a horse goes on; made right after the fork."""

    def __init__(self) -> None:
        self._left = TASKS
        self._most = _largest_size() + GROWTH

    def lasts(self) -> bool:
        """Whether to run another task after this one."""
        self._left -= 1
        return self._left > 0 and _largest_size() <= self._most


def _largest_size() -> int:
    """Bytes of memory that this process had at most."""
    return resource.getrusage(resource.RUSAGE_SELF).ru_maxrss * UNIT
