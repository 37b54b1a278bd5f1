"""From what a command raises to its exit status; nothing else knows what an error looks like.

Status 2: bad usage or bad input, with one message on standard error; 130: interrupted; 141: the
reader of the output went away.
"""

from __future__ import annotations

import os
import sys
from collections.abc import Callable

from sigtest.cli.parser import UsageError
from sigtest.errors import SigtestError, unreadable

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
        return command()
    except (UsageError, SigtestError) as error:
        return _complain(program, str(error))
    except BrokenPipeError:
        _forget_output()
        return NO_READER
    except OSError as error:
        return _complain(program, unreadable(error))
    except KeyboardInterrupt:
        return INTERRUPTED


def _complain(program: str, message: str) -> int:
    from sigtest.render.names import printable  # late: --help and --version must not wait for it

    sys.stderr.write(f"{program}: {printable(message)}\n")
    return BAD


def _forget_output() -> None:
    """Keep the interpreter from flushing to the closed pipe once more when it ends."""
    sys.stdout = open(os.devnull, "w", encoding="utf-8")  # noqa: SIM115  (lives as long as we do)
