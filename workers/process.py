"""What a child process does so that it never outlives its parent."""

from __future__ import annotations

import ctypes
import signal
import sys

PR_SET_PDEATHSIG, PR_SET_NAME = 1, 15
# loaded before any fork: loading a library between fork and exec may deadlock
_LIBC = ctypes.CDLL(None, use_errno=True) if sys.platform == "linux" else None


def die_with_parent(number: int = signal.SIGTERM) -> None:
    """Ask the kernel to send this process a signal when its parent's thread ends; Linux only.

    An orphaned worker would compute on beside its replacement, an orphaned server would block
    its successor.
    """
    if _LIBC is not None:
        _LIBC.prctl(PR_SET_PDEATHSIG, int(number), 0, 0, 0)


def call_oneself(name: str) -> None:
    """What `ps` and `top` call this process, in 15 letters; Linux only."""
    if _LIBC is not None:
        _LIBC.prctl(PR_SET_NAME, name.encode(), 0, 0, 0)
