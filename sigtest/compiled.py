"""Compilation of numeric kernels, in one place.

Kernels are serial: parallelism comes from processes (numba's threads kill a forked worker).
They are cached on disk, so only the first run after an installation compiles. Where numba is
missing or switched off (NUMBA_DISABLE_JIT=1) the same functions run as plain Python: slower by
orders of magnitude, with the same bits.
"""

from __future__ import annotations

import hashlib
import sys
from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager, suppress
from functools import cache
from pathlib import Path
from types import CodeType
from typing import Any, ParamSpec, TypeVar

import numpy as np

try:
    import numba
    from numba.core import environment
    from numba.core.caching import FunctionCache, IndexDataCacheFile
    from numba.core.runtime.nrt import rtsys
except ImportError:  # no wheel for this platform: slower, same results
    COMPILED = False
    FunctionCache = IndexDataCacheFile = object  # type: ignore[assignment, misc]
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
    with suppress(RuntimeError):  # there is no directory to keep it in
        # as cache=True does, with another key
        made._cache = _KernelCache(kernel)  # type: ignore[attr-defined]
    return made


class _KernelCache(FunctionCache):
    """numba's cache, whose key covers what is compiled into a kernel, too.

    numba looks at the kernel's own file alone: after an edit of another kernel that it calls, or
    of a number that it imports, it would take what it compiled before. And it makes its compiler
    ready before it looks on disk, which takes longer than all that a small comparison computes, and
    is for nothing where the kernel is there.
    """

    def __init__(self, kernel: Callable[..., Any]) -> None:
        super().__init__(kernel)  # type: ignore[no-untyped-call]
        base = f"{self._impl.filename_base}.{numba.__version__}"
        stamp = self._impl.locator.get_source_stamp()
        self._cache_file = _KernelFile(self._cache_path, base, stamp)  # type: ignore[no-untyped-call]

    def load_overload(self, sig: Any, target_context: Any) -> Any:
        """A kernel for these types; nothing where it is not there, and must be compiled."""
        rtsys.initialize(target_context)  # the memory of kernels
        try:
            with self._guard_against_spurious_io_errors(), _without_compiler():
                kernel = self._load_overload(sig, target_context)  # type: ignore[no-untyped-call]
            if kernel is not None:
                return kernel
        except Exception:  # half a file says anything: it is as if there were none
            try:
                self.flush()  # type: ignore[no-untyped-call]
            except OSError:
                self.disable()  # type: ignore[no-untyped-call]
        return super().load_overload(sig, target_context)  # type: ignore[no-untyped-call]

    def save_overload(self, sig: Any, data: Any) -> None:
        """Keep a kernel where there is room for it, and the permission."""
        with suppress(OSError):
            super().save_overload(sig, data)  # type: ignore[no-untyped-call]

    def _index_key(self, sig: object, codegen: object) -> tuple[object, ...]:
        own = super()._index_key(sig, codegen)  # type: ignore[no-untyped-call]
        return (*own, inlined(self._py_func))


class _KernelFile(IndexDataCacheFile):
    """Where numba keeps one kernel; files are named by what is in them.

    numba numbers them: of two processes that save at once, one would find under its number what
    the other compiled for other types.
    """

    def save(self, key: object, data: object) -> None:
        """Keep what was compiled; it is there before the index names it."""
        number = int(hashlib.sha256(repr(key).encode()).hexdigest()[:16], 16)
        name = self._data_name(number)  # type: ignore[no-untyped-call]
        self._save_data(name, data)  # type: ignore[no-untyped-call]
        self._save_index({**self._load_index(), key: name})  # type: ignore[no-untyped-call]


@contextmanager
def _without_compiler() -> Iterator[None]:
    """Let kernels that are read name the modules that they were made of, but not load them.

    A kernel that has arrays of its own names numba's compiler of arrays, as the place where code
    that runs in the interpreter would look names up; kernels have no such code.
    """
    rebuild = environment._rebuild_env
    environment._rebuild_env = _surroundings
    try:
        yield
    finally:
        environment._rebuild_env = rebuild


def _surroundings(module: str, constants: Sequence[Any], name: str) -> Any:
    """As numba's function in whose place it stands, for modules that need not be loaded."""
    found = environment.lookup_environment(name)  # type: ignore[no-untyped-call]
    if found is None:
        names = vars(sys.modules[module]) if module in sys.modules else {"__name__": module}
        found = environment.Environment(names)
        found.consts[:] = constants
        found.env_name = name
        environment.Environment._memo[name] = found
    return found


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
