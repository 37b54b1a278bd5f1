"""From arguments to an exit status; the only place that knows what an error looks like here.

Status 0: done; 1 and 3: what `gate` or `verify` found; 2: bad usage or bad input, with one message
on standard error; 130: interrupted; 141: the reader of the output went away.
"""

from __future__ import annotations

import argparse
import os
import sys
from collections.abc import Sequence

from sigtest.cli.arguments import parse
from sigtest.cli.board_arguments import COMMANDS as BOARDS
from sigtest.cli.kernels import compiled_before
from sigtest.cli.parser import UsageError
from sigtest.errors import SigtestError, unreadable
from sigtest.processor import prepare_blas

BAD = 2
INTERRUPTED = 130
NO_READER = 141


def run(arguments: Sequence[str] | None = None) -> int:
    """As `sigtest.cli.main`."""
    prepare_blas()  # NumPy is not loaded yet
    try:
        return _run(list(sys.argv[1:] if arguments is None else arguments))
    except (UsageError, SigtestError) as error:
        return _complain(str(error))
    except BrokenPipeError:
        _forget_output()
        return NO_READER
    except OSError as error:
        return _complain(unreadable(error))
    except KeyboardInterrupt:
        return INTERRUPTED


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


def _complain(message: str) -> int:
    from sigtest.render.names import printable  # late: see `_run`

    sys.stderr.write(f"sigtest: {printable(message)}\n")
    return BAD


def _forget_output() -> None:
    """Keep the interpreter from flushing to the closed pipe once more when it ends."""
    sys.stdout = open(os.devnull, "w", encoding="utf-8")  # noqa: SIM115  (lives as long as we do)
