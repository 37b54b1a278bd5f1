"""Whose METEOR processes a caller uses: its own, or those that a long-lived worker shares.

A process that does its own work (command line, notebook) has a pool of its own. A worker that
forks a child for every job calls `share` once: the children then find one server, which the first
of them starts and which ends with the worker.
"""

from __future__ import annotations

import atexit
import os
import secrets
import tempfile
from collections.abc import Sequence
from pathlib import Path

from sigtest.metrics.meteor.client import SharedPool
from sigtest.metrics.meteor.pool import Pool
from sigtest.parallel import cores

MOST_PROCESSES = 4  # in one process's own pool; each takes 0.6 GB

_own: Pool | None = None
_shared: SharedPool | None = None
_inherited: list[Pool] = []  # of the process this one was forked from; not ours to touch


def share(ahead: tuple[str, ...] = (), processes: int = 1) -> SharedPool:
    """Let this process and its forks use one pool, which dies with this process.

    Nothing is started before the first request, or before `SharedPool.start`.

    Args:
        ahead: Options of METEOR whose JVM loads when the pool starts, and stays; none where JVMs
            are started when they are asked for, and go when that is long ago.
        processes: JVMs that may run at a time.
    """
    global _shared
    folder = Path(tempfile.gettempdir(), f"sigtest-meteor-{secrets.token_hex(8)}")
    _shared = SharedPool(folder, os.getpid(), processes, ahead)
    return _shared


def score(arguments: tuple[str, ...], requests: Sequence[str]) -> list[str]:
    """One answer a request of METEOR's -stdio protocol.

    Args:
        arguments: METEOR's options.
        requests: Lines, without line ends.

    Raises:
        UnavailableError: METEOR is not installed or does not start.
        UnansweredError: METEOR cannot answer a request.
    """
    return (_shared or own_pool()).score(arguments, requests)


def own_pool() -> Pool:
    """The pool of this process, as many JVMs as it has cores."""
    global _own
    if _own is None or _own.stopped:
        _own = Pool(min(cores(), MOST_PROCESSES))
        atexit.register(_own.stop)
    return _own


def _disown() -> None:
    global _own
    if _own is not None:
        _inherited.append(_own)
        atexit.unregister(_own.stop)
        _own = None


if hasattr(os, "register_at_fork"):
    os.register_at_fork(after_in_child=_disown)
