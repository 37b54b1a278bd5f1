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
from sigtest.cli.kernels import compiled_before
from sigtest.processor import prepare_blas


def run(arguments: Sequence[str] | None = None) -> int:
    """As `sigtest.cli.main`."""
    prepare_blas()  # NumPy is not loaded yet
    return status_of(
        "sigtest", lambda: _run(list(sys.argv[1:] if arguments is None else arguments))
    )


def _run(arguments: list[str]) -> int:
    """Dispatch; commands are imported here, as --help and --version must not wait for NumPy."""
    options = parse(arguments)
    if isinstance(options, str):
        _print(options)
    elif options.command == "metrics":
        from sigtest.cli.listing import listing  # late: see above

        _print(listing())
    elif options.command == "plot":
        from sigtest.cli.plots import plot  # late: see above

        plot(options)
    elif options.command in BOARDS:
        from sigtest.cli import boards  # late: see above

        getattr(boards, options.command)(options)
    elif options.command in ("compare", "suite"):
        _announce_compilation(options)
        from sigtest.cli import compare  # late: see above

        getattr(compare, options.command)(options)
    elif options.command == "gate":
        from sigtest.cli.gate import gate  # late: see above

        return gate(options)
    elif options.command == "verify":
        from sigtest.cli.verify import verify  # late: see above

        return verify(options)
    elif options.command == "classify":
        from sigtest.cli.classify import classify  # late: see above

        classify(options)
    else:
        from sigtest.cli import kinds  # late: see above

        kinds.ask(options)
    return 0


def _announce_compilation(options: argparse.Namespace) -> None:
    """Say why the first run takes long, before anything that takes long is loaded."""
    if options.server is None and not compiled_before():
        sys.stderr.write(
            "sigtest: compiling numeric kernels; the first run after an installation takes about "
            "a minute.\n"
        )
        sys.stderr.flush()


def _print(text: str) -> None:
    sys.stdout.write(text)
    sys.stdout.flush()
