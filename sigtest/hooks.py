"""All that sigtest takes of private parts of numba and SciPy; without one it goes the public way.

It is for a cold start alone. numba makes its compiler ready before it looks on disk, which takes
longer than all that a small comparison computes, and is for nothing where the kernel is there. And
`scipy.special` is a shelf of compiled functions and, around it, what lets them work on arrays of
other libraries, for which it loads half of NumPy and SciPy.
"""

import hashlib
import sys
from collections.abc import Callable, Sequence
from contextlib import suppress
from importlib import import_module
from pathlib import Path
from types import ModuleType
from typing import Any

try:
    import numba
    from numba.core import environment
    from numba.core.caching import FunctionCache, IndexDataCacheFile
    from numba.core.runtime.nrt import rtsys
except ImportError:  # numba is not there, or keeps them elsewhere
    FunctionCache = IndexDataCacheFile = environment = rtsys = object  # type: ignore[assignment, misc]

PARTS = (  # of numba, which a kernel's cache needs all
    (FunctionCache, ("_guard_against_spurious_io_errors", "_load_overload", "_index_key")),
    (IndexDataCacheFile, ("_data_name", "_save_data", "_save_index", "_load_index")),
    (environment, ("_rebuild_env", "lookup_environment", "Environment")),
    (rtsys, ("initialize",)),
)
SPECIAL = "scipy.special"


def keep(dispatcher: Any, kernel: Callable[..., Any], stamp: Callable[[], str]) -> None:
    """Keep a compiled kernel on disk, where there is a directory for it.

    Args:
        dispatcher: What numba made of the kernel.
        kernel: The function.
        stamp: Names all that is compiled into it. numba itself looks at the kernel's own file
            alone: after an edit of another kernel that it calls it would take what it had before.
    """
    with suppress(RuntimeError):  # there is no directory
        if all(hasattr(owner, name) for owner, names in PARTS for name in names):
            with suppress(AttributeError, TypeError):  # a part that has changed
                dispatcher._cache = _KernelCache(kernel, stamp)
                return
        dispatcher.enable_caching()


class _KernelCache(FunctionCache):
    """numba's cache with a stamp in its key, which looks on disk before it loads a compiler."""

    def __init__(self, kernel: Callable[..., Any], stamp: Callable[[], str]) -> None:
        super().__init__(kernel)
        self._stamp = stamp
        base, source = self._impl.filename_base, self._impl.locator.get_source_stamp()
        self._cache_file = _KernelFile(self._cache_path, f"{base}.{numba.__version__}", source)

    def load_overload(self, sig: Any, target_context: Any) -> Any:
        """A kernel for these types; nothing where it is not there, and must be compiled.

        Kernels that are read may name the modules that they were made of, but not load them: one
        that has arrays of its own names numba's compiler of arrays, as the place where code that
        runs in the interpreter would look names up; kernels have no such code.
        """
        rebuild, environment._rebuild_env = environment._rebuild_env, _surroundings
        try:
            rtsys.initialize(target_context)  # the memory of kernels
            with self._guard_against_spurious_io_errors():
                return self._load_overload(sig, target_context)
        except Exception:  # half a file says anything: it is as if there were none
            with suppress(OSError):
                self.flush()
            return None
        finally:
            environment._rebuild_env = rebuild

    def save_overload(self, sig: Any, data: Any) -> None:
        """Keep a kernel where there is room for it, and the permission; else compile it again."""
        with suppress(OSError, AttributeError, TypeError):
            super().save_overload(sig, data)

    def _index_key(self, sig: object, codegen: object) -> tuple[object, ...]:
        return (*super()._index_key(sig, codegen), self._stamp())


class _KernelFile(IndexDataCacheFile):
    """Where numba keeps one kernel; files are named by what is in them.

    numba numbers them: of two processes that save at once, one would find under its number what
    the other compiled for other types.
    """

    def save(self, key: object, data: object) -> None:
        """Keep what was compiled; it is there before the index names it."""
        name = self._data_name(int(hashlib.sha256(repr(key).encode()).hexdigest()[:16], 16))
        self._save_data(name, data)
        self._save_index({**self._load_index(), key: name})


def _surroundings(module: str, constants: Sequence[Any], name: str) -> Any:
    """As numba's function in whose place it stands, for modules that need not be loaded."""
    found = environment.lookup_environment(name)
    if found is None:
        known = sys.modules.get(module)
        found = environment.Environment(vars(known) if known else {"__name__": module})
        found.consts[:] = constants
        found.env_name = name
        environment.Environment._memo[name] = found
    return found


def special(name: str) -> Any:
    """One of SciPy's functions, loaded as if its package were empty."""
    if SPECIAL not in sys.modules:
        scipy = import_module("scipy")
        bare = sys.modules[SPECIAL] = ModuleType(SPECIAL)
        bare.__path__ = [str(Path(str(scipy.__file__)).parent / "special")]
        try:
            with suppress(ImportError, AttributeError):  # another SciPy keeps it elsewhere
                return getattr(import_module(f"{SPECIAL}._ufuncs"), name)
        finally:
            del sys.modules[SPECIAL]  # who asks for the whole package gets it
    return getattr(import_module(SPECIAL), name)
