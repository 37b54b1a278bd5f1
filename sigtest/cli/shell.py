"""From arguments to an exit status.

Status 0: done; 1 and 3: what `gate` or `verify` found; for the others see `sigtest.cli.terminal`.
"""

from __future__ import annotations

import argparse
import hashlib
import os
import sys
from collections.abc import Iterator, Sequence
from pathlib import Path

from sigtest.cli.arguments import BOARDS, parse
from sigtest.cli.terminal import status_of
from sigtest.late import late
from sigtest.processor import prepare_blas

# where the function of each command is; those of kinds of questions have one together
PLACES = {
    "compare": "sigtest.cli.compare:compare",
    "suite": "sigtest.cli.compare:suite",
    "plot": "sigtest.cli.plots:plot",
    "gate": "sigtest.cli.checks:gate",
    "verify": "sigtest.cli.checks:verify",
    "classify": "sigtest.cli.labels:classify",
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


METRICS = Path(__file__).parents[1] / "metrics"
FIRST = "the first run after an installation takes about a minute"
EVERY = (
    "this takes about a minute in every run, as numba may write neither beside the package nor in "
    "a folder of the user: NUMBA_CACHE_DIR names another folder"
)


def waiting() -> str | None:
    """Why a command takes long before it does anything; nothing where kernels are compiled."""
    if os.environ.get("NUMBA_DISABLE_JIT", "0") not in ("", "0"):
        return None
    kept = next(filter(_writable, _folders()), None)
    if kept is None:
        return EVERY
    kernels = f"*.py{sys.version_info.major}{sys.version_info.minor}*.nbi"
    return None if kept.is_dir() and any(kept.rglob(kernels)) else FIRST


def _folders() -> Iterator[Path]:
    """Where numba keeps the kernels of the metrics: the first of these that it may write."""
    # numba's own names: the hash tells packages of one name apart
    inside = f"{METRICS.name}_{hashlib.sha1(str(METRICS).encode()).hexdigest()}"
    if own := os.environ.get("NUMBA_CACHE_DIR"):
        yield Path(own) / inside
    yield METRICS / "__pycache__"
    home = Path(os.path.expanduser("~"))  # as it stands where the user has none
    if sys.platform == "darwin":
        yield home / "Library" / "Caches" / "numba" / inside
    else:
        yield Path(os.environ.get("XDG_CACHE_HOME") or home / ".cache") / "numba" / inside


def _writable(folder: Path) -> bool:
    """Whether a folder can be written, or made."""
    there = next(parent for parent in (folder, *folder.parents) if os.path.exists(parent))
    return there.is_dir() and os.access(there, os.W_OK | os.X_OK)
