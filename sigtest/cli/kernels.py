"""Whether numeric kernels are compiled already; it knows no NumPy, and so can tell before it loads.

numba keeps compiled kernels beside their modules where it may write there, and in a folder of the
user where it may not. The first run after an installation compiles what it uses, and should say so.
"""

from __future__ import annotations

import os
import sys
from collections.abc import Iterator
from pathlib import Path

PACKAGE = Path(__file__).parents[1]


def compiled_before() -> bool:
    """Whether this Python has compiled kernels of this package, or is not to compile any."""
    if os.environ.get("NUMBA_DISABLE_JIT", "0") not in ("", "0"):
        return True
    version = f"py{sys.version_info.major}{sys.version_info.minor}"
    kernels = f"*.{version}*.nbi"
    return any(next(folder.rglob(kernels), None) for folder in _folders() if folder.is_dir())


def _folders() -> Iterator[Path]:
    """Where numba may keep what it compiled."""
    if own := os.environ.get("NUMBA_CACHE_DIR"):
        yield Path(own)
        return
    home = Path(os.path.expanduser("~"))  # as it stands where the user has none
    yield PACKAGE / "metrics"
    yield Path(os.environ.get("XDG_CACHE_HOME") or home / ".cache") / "numba"
    yield home / "Library" / "Caches" / "numba"
