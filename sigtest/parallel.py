"""The same work on several cores; what comes out is the same, in the same order."""

import io
import os
import signal
import sys
from collections.abc import Callable, Iterator
from typing import Any, TextIO, TypeVar

T = TypeVar("T")

_work: Callable[[int], Any]
_parent: int  # the process that waits for what is worked here
_errors: TextIO  # standard error


def cores() -> int:
    """Cores that this process may use, as far as it can share work with processes it forks."""
    if not hasattr(os, "fork"):
        return 1
    return len(os.sched_getaffinity(0)) if hasattr(os, "sched_getaffinity") else os.cpu_count() or 1


def in_order(work: Callable[[int], T], count: int, jobs: int) -> Iterator[T]:
    """Yield `work(0)`, `work(1)`, ... `work(count - 1)`.

    Args:
        work: A function of its argument and of what exists when this is called: forked processes
            see that without a copy. Its results and errors must pickle.
        count: How many.
        jobs: Processes; 1 for this one alone.
    """
    global _work, _parent, _errors
    if min(jobs, count) <= 1:
        yield from map(work, range(count))
        return
    import multiprocessing  # late: one process needs none of it

    _work, _parent, _errors = work, os.getpid(), sys.stderr
    # a Ctrl-C is for the process that waits, and it ends these: one that died of it might hold a
    # lock that all wait for
    signal.pthread_sigmask(signal.SIG_BLOCK, {signal.SIGINT})
    try:
        with multiprocessing.get_context("fork").Pool(min(jobs, count)) as pool:
            signal.pthread_sigmask(signal.SIG_UNBLOCK, {signal.SIGINT})
            yield from pool.imap(_one, range(count))
    finally:
        signal.pthread_sigmask(signal.SIG_UNBLOCK, {signal.SIGINT})


def _one(number: int) -> Any:
    sys.stderr = _errors
    result = _work(number)
    if os.getppid() != _parent:
        os._exit(1)  # it was killed, and nobody takes the result
    sys.stderr = io.StringIO()  # what is said where it is killed while the result is sent
    return result
