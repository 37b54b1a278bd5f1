"""Compilation of numeric kernels, in one place.

Kernels are serial: parallelism comes from processes (numba's threads kill a forked worker).
They are cached on disk, so only the first run after an installation compiles. Where numba is
missing or switched off (NUMBA_DISABLE_JIT=1) the same functions run as plain Python: slower by
orders of magnitude, with the same bits.
"""

import hashlib
from collections.abc import Callable, Iterator
from functools import cache, partial
from pathlib import Path
from types import CodeType
from typing import Any, ParamSpec, TypeVar

import numpy as np

from sigtest.hooks import keep

try:
    import numba
except ImportError:  # no wheel for this platform: slower, same results
    COMPILED = False
else:
    COMPILED = not numba.config.DISABLE_JIT  # type: ignore[attr-defined]

P = ParamSpec("P")
T = TypeVar("T")
NUMBERS = (bool, int, float, complex, str, tuple, np.generic)


def compiled(kernel: Callable[P, T]) -> Callable[P, T]:
    """Compile `kernel` on first use, without the interpreter lock, cached on disk.

    Where neither the directory of its module nor one of the user's can be written, it is compiled
    in every process; NUMBA_CACHE_DIR names another directory.

    Sums, means and extremes of a small comparison's kernels are loops: methods of arrays bring the
    part of numba along that has them, and with it SciPy's linear algebra, in 0.15 s.

    Arithmetic stays as written: no reassociation and no fused operations, so that compiled and
    plain results are equal bit for bit. Division by zero gives infinity as in NumPy.
    """
    if not COMPILED:
        return kernel
    compile_: Callable[[Callable[P, T]], Callable[P, T]] = numba.njit(
        nogil=True, error_model="numpy", boundscheck=False
    )
    made = compile_(kernel)
    keep(made, kernel, partial(inlined, kernel))
    return made


def inlined(kernel: Callable[..., Any]) -> str:
    """Hash of the files of all kernels that one calls, and of the numbers that these name."""
    digest = hashlib.sha256()
    for part in sorted(set(_reached(kernel, set()))):
        digest.update(part.encode() + b"\0")
    return digest.hexdigest()


def _reached(kernel: Callable[..., Any], seen: set[object]) -> Iterator[str]:
    if kernel in seen:
        return
    seen.add(kernel)
    yield _hash_of(kernel.__code__.co_filename)
    for name in _names(kernel.__code__):
        value: Any = kernel.__globals__.get(name)
        if hasattr(value, "py_func"):
            yield from _reached(value.py_func, seen)
        elif isinstance(value, NUMBERS):
            yield f"{name}={value!r}"


def _names(code: CodeType) -> Iterator[str]:
    yield from code.co_names
    for constant in code.co_consts:
        if isinstance(constant, CodeType):
            yield from _names(constant)


@cache
def _hash_of(path: str) -> str:
    return hashlib.sha256(Path(path).read_bytes()).hexdigest()
