"""Private parts of numba and SciPy: each may be missing, and all goes on without it."""

import subprocess
import sys
from collections.abc import Callable
from importlib import import_module
from pathlib import Path

import numba
import pytest

from sigtest import hooks
from sigtest.compiled import COMPILED, compiled

PARTS = [name for _, names in hooks.PARTS for name in names]
KERNEL = "def {name}(x):\n    return x + 1\n"

pytestmark = pytest.mark.skipif(not COMPILED, reason="nothing is compiled, and nothing kept")


@pytest.fixture
def kernel(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Callable[[int], int]:
    """A function in a file of its own, beside which compiled ones are kept."""
    (tmp_path / "kernel_of_hooks.py").write_text(KERNEL.format(name="kernel"))
    monkeypatch.syspath_prepend(tmp_path)
    monkeypatch.delitem(sys.modules, "kernel_of_hooks", raising=False)
    monkeypatch.setattr(numba.config, "CACHE_DIR", "")
    found: Callable[[int], int] = import_module("kernel_of_hooks").kernel
    return found


def from_disk(kernel: Callable[[int], int]) -> int:
    """How often a kernel compiled before is found again."""
    again = compiled(kernel)
    assert again(1) == 2
    return sum(again.stats.cache_hits.values())  # type: ignore[attr-defined]


def test_with_all_parts_kernels_are_kept_our_way(kernel):
    made = compiled(kernel)
    assert made(1) == 2
    assert isinstance(made._cache, hooks._KernelCache)  # type: ignore[attr-defined]
    assert from_disk(kernel) == 1


@pytest.mark.parametrize("part", PARTS)
def test_without_a_part_kernels_are_kept_as_numba_keeps_them(kernel, part, monkeypatch):
    monkeypatch.setattr(
        hooks, "hasattr", lambda own, name: name != part and hasattr(own, name), raising=False
    )
    made = compiled(kernel)
    assert made(1) == 2
    assert not isinstance(made._cache, hooks._KernelCache)  # type: ignore[attr-defined]
    assert from_disk(kernel) == 1


@pytest.mark.parametrize("part", PARTS[:7])  # numba itself needs the others
def test_where_a_part_has_changed_kernels_are_compiled(kernel, part, monkeypatch):
    def changed(*arguments: object) -> None:
        raise TypeError("it takes other arguments")

    owner = next(own for own, names in hooks.PARTS if part in names)
    monkeypatch.setattr(owner, part, changed)
    made = compiled(kernel)
    assert made(1) == made(1) == 2


@pytest.mark.parametrize(
    "lacking",
    ["raise ImportError", "return types.ModuleType(name)", "del found.hyp2f1", "del found.betaln"],
)
def test_without_the_bare_functions_the_whole_package_has_them(lacking):
    script = f"""
import types
from sigtest import hooks

real = hooks.import_module

def without(name):
    found = real(name)
    if name == "scipy.special._ufuncs":
        found = types.SimpleNamespace(**vars(found))
        {lacking}
    return found

hooks.import_module = without
from sigtest import special
assert special.ndtri(0.5) == 0
assert special.hyp2f1(0, 1, 1, 0.5) == 1
assert abs(special.betaln(1, 5) + 1.6094379) < 1e-6
"""
    subprocess.run([sys.executable, "-c", script], check=True)
