"""Compilation of numeric kernels, in one place.

Kernels are serial: parallelism comes from processes (numba's threads kill a forked worker).
They are cached on disk, so only the first run after an installation compiles. Where numba is
missing or switched off (NUMBA_DISABLE_JIT=1) the same functions run as plain Python: slower by
orders of magnitude, with the same bits.
"""

from collections.abc import Callable
from typing import ParamSpec, TypeVar

try:
    import numba
except ImportError:  # no wheel for this platform: slower, same results
    COMPILED = False
else:
    COMPILED = not numba.config.DISABLE_JIT  # type: ignore[attr-defined]

P = ParamSpec("P")
T = TypeVar("T")


def compiled(kernel: Callable[P, T]) -> Callable[P, T]:
    """Compile `kernel` on first use, without the interpreter lock, cached on disk.

    Arithmetic stays as written: no reassociation and no fused operations, so that compiled and
    plain results are equal bit for bit. Division by zero gives infinity as in NumPy.
    """
    if not COMPILED:
        return kernel
    compile_: Callable[[Callable[P, T]], Callable[P, T]] = numba.njit(
        cache=True, nogil=True, error_model="numpy", boundscheck=False
    )
    return compile_(kernel)
