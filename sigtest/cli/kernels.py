"""Whether numeric kernels are compiled already; it knows no NumPy, and so can tell before it loads.

numba keeps compiled kernels beside their modules where it may write there, and in a folder of the
user where it may not. The first run after an installation compiles what it uses, and should say so.
"""

from __future__ import annotations

import hashlib
import os
import sys
from collections.abc import Iterator
from pathlib import Path

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
