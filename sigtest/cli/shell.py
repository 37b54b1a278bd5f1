"""From arguments to an exit status, and what a terminal shows on the way.

Status 0: done; 1 and 3: what `gate` or `verify` found; 2: bad usage or bad input, with one message
on standard error; 130: interrupted; 141: the reader of the output went away.
"""

import hashlib
import io
import os
import sys
from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager
from pathlib import Path

from sigtest.cli.options import COMMANDS, QUICK, UsageError, parse
from sigtest.errors import SigtestError, unreadable
from sigtest.late import late
from sigtest.processor import prepare_blas
from sigtest.progress import Progress

BAD = 2
INTERRUPTED = 130
NO_READER = 141


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
        sys.stdout.write(options)
        sys.stdout.flush()
        return 0
    # why a run takes long is said before anything that takes long is loaded
    here = options.command not in QUICK and options.server is None
    if here and (why := waiting()):
        sys.stderr.write(f"sigtest: compiling numeric kernels; {why}.\n")
        sys.stderr.flush()
    return late(COMMANDS[options.command].action)(options) or 0


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
    from sigtest.render.words import printable  # late: --help and --version must not wait for it

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
