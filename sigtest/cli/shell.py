"""From arguments to an exit status.

Status 0: done; 1 and 3: what `gate` or `verify` found; for the others see `sigtest.cli.ending`.
"""

from __future__ import annotations

import argparse
import sys
from collections.abc import Sequence

from sigtest.cli.arguments import parse
from sigtest.cli.board_arguments import COMMANDS as BOARDS
from sigtest.cli.ending import status_of
from sigtest.cli.kernels import waiting
from sigtest.late import late
from sigtest.processor import prepare_blas

# where the function of each command is; those of kinds of questions have one together
PLACES = {
    "compare": "sigtest.cli.compare:compare",
    "suite": "sigtest.cli.compare:suite",
    "plot": "sigtest.cli.plots:plot",
    "gate": "sigtest.cli.gate:gate",
    "verify": "sigtest.cli.verify:verify",
    "classify": "sigtest.cli.classify:classify",
    **{command: f"sigtest.cli.boards:{command}" for command in BOARDS},
}
ASK = "sigtest.cli.kinds:ask"
WITHOUT_KERNELS = {"plot", "human", *BOARDS}


def run(arguments: Sequence[str] | None = None) -> int:
    """As `sigtest.cli.main`."""
    prepare_blas()  # NumPy is not loaded yet
    return status_of(
        "sigtest", lambda: _run(list(sys.argv[1:] if arguments is None else arguments))
    )


def _run(arguments: list[str]) -> int:
    """Dispatch; commands are loaded here, as --help and --version must not wait for NumPy."""
    options = parse(arguments)
    if isinstance(options, str):
        _print(options)
        return 0
    if options.command == "metrics":
        _print(late("sigtest.cli.listing:listing")())
        return 0
    if options.command not in WITHOUT_KERNELS:
        _announce_compilation(options)
    command = late(PLACES.get(options.command, ASK))
    return command(options) or 0


def _announce_compilation(options: argparse.Namespace) -> None:
    """Say why a run takes long, before anything that takes long is loaded."""
    if getattr(options, "server", None) is None and (told := waiting()):
        sys.stderr.write(f"sigtest: compiling numeric kernels; {told}.\n")
        sys.stderr.flush()


def _print(text: str) -> None:
    sys.stdout.write(text)
    sys.stdout.flush()
