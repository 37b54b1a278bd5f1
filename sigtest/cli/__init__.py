"""The command line: `compare` from a shell, in this process or on a running service."""

import gc
from collections.abc import Sequence

GARBAGE = 200_000  # objects between two looks for garbage: loading makes many, and none of it

__all__ = ["main"]


def main(arguments: Sequence[str] | None = None) -> int:
    """Run one command.

    Args:
        arguments: Without the program's name; those of this process where none are given.

    Returns:
        The exit status.
    """
    gc.set_threshold(GARBAGE)
    from sigtest.cli.shell import run  # late: it loads much

    return run(arguments)
