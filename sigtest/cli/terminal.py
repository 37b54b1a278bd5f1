"""What a terminal shows: progress on standard error, messages, and the exit status.

Status 2: bad usage or bad input, with one message on standard error; 130: interrupted; 141: the
reader of the output went away.
"""

from __future__ import annotations

import io
import os
import sys
from collections.abc import Callable, Iterator
from contextlib import contextmanager

from sigtest.cli.parser import UsageError
from sigtest.errors import SigtestError, unreadable
from sigtest.progress import Progress

BAD = 2
INTERRUPTED = 130
NO_READER = 141


def status_of(program: str, command: Callable[[], int]) -> int:
    """Run a command to its end.

    Args:
        program: Stands before its messages.
        command: Its own exit status, where nothing goes wrong.
    """
    try:
        _prepare_streams()
        return command()
    except (UsageError, SigtestError) as error:
        return _complain(program, str(error))
    except BrokenPipeError:
        _forget_output()
        return NO_READER
    except OSError as error:
        try:
            sys.stdout.flush()
        except OSError:
            _forget_output()
        return _complain(program, unreadable(error))
    except KeyboardInterrupt:
        return INTERRUPTED


def _prepare_streams() -> None:
    """Output is UTF-8 whatever the locale, as reports are; streams may be closed (`>&-`).

    What reads a closed one finds nothing, messages to one are lost, and results are an error.
    """
    if sys.stdin is None:
        sys.stdin = open(os.devnull, encoding="utf-8")  # noqa: SIM115  (lives as long as we do)
    if sys.stderr is None:
        sys.stderr = open(os.devnull, "w", encoding="utf-8")  # noqa: SIM115
    if sys.stdout is None:
        sys.stdout = os.fdopen(os.open(os.devnull, os.O_RDONLY), "w", encoding="utf-8")
    elif isinstance(sys.stdout, io.TextIOWrapper):
        sys.stdout.reconfigure(encoding="utf-8")


def _complain(program: str, message: str) -> int:
    from sigtest.render.names import printable  # late: --help and --version must not wait for it

    sys.stderr.write(f"{program}: {printable(message)}\n")
    return BAD


def _forget_output() -> None:
    """What nobody takes goes nowhere when the interpreter flushes it once more at its end."""
    nowhere = os.open(os.devnull, os.O_WRONLY)
    os.dup2(nowhere, sys.stdout.fileno())
    os.close(nowhere)


CELLS = 30


@contextmanager
def bar() -> Iterator[Progress | None]:
    """Draws on standard error while the block runs and leaves the line empty behind it."""
    if not sys.stderr.isatty():
        yield None
        return
    try:
        yield _draw
    finally:
        sys.stderr.write("\r\x1b[K")
        sys.stderr.flush()


def _draw(phase: str, done: int, total: int) -> None:
    share = done / total if total else 0.0
    full = round(CELLS * share)
    drawn = "━" * full + "╌" * (CELLS - full)
    sys.stderr.write(f"\r\x1b[K{phase:10} {drawn} {share:4.0%}")
    sys.stderr.flush()
