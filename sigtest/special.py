"""SciPy's special functions, without what their package loads besides.

`scipy.special` is a shelf of compiled functions and, around it, what lets them work on arrays of
other libraries, for which it loads half of NumPy and SciPy: several times what loading the
functions takes, and a fifth of the time of a small comparison.
"""

from __future__ import annotations

import sys
from importlib import import_module
from pathlib import Path
from types import ModuleType

PACKAGE = "scipy.special"


def _functions() -> ModuleType:
    """The module that has the functions, loaded as if its package were empty."""
    if PACKAGE in sys.modules:
        return import_module(PACKAGE)
    scipy = import_module("scipy")
    bare = ModuleType(PACKAGE)
    bare.__path__ = [str(Path(str(scipy.__file__)).parent / "special")]
    sys.modules[PACKAGE] = bare
    try:
        return import_module(f"{PACKAGE}._ufuncs")
    except ImportError:  # another SciPy keeps them elsewhere
        del sys.modules[PACKAGE]
        return import_module(PACKAGE)
    finally:
        if sys.modules.get(PACKAGE) is bare:
            del sys.modules[PACKAGE]  # who asks for the whole package gets it


_found = _functions()

bdtrc = _found.bdtrc
betainc = _found.betainc
betaincinv = _found.betaincinv
betaln = _found.betaln
gammaincc = _found.gammaincc
gammaln = _found.gammaln
hyp2f1 = _found.hyp2f1
log_ndtr = _found.log_ndtr
ndtr = _found.ndtr
ndtri = _found.ndtri
stdtrit = _found.stdtrit
