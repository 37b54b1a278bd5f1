"""Kernels that are kept on disk follow edits of what is compiled into them."""

import ast
import os
import subprocess
import sys
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

import sigtest
from sigtest.compiled import COMPILED, inlined

OUTER = """
from sigtest.compiled import compiled
from inner import moved
from numbers_of import TIMES

@compiled
def outer(x):
    return moved(x) * TIMES

print(outer(1), sum(outer.stats.cache_hits.values()))
"""
INNER = """
from sigtest.compiled import compiled

@compiled
def moved(x):
    return x + {step}
"""

keeps = pytest.mark.skipif(not COMPILED, reason="nothing is compiled, and nothing kept")


def ran(script: Path, **fields: str) -> str:
    """What a script prints in a process that keeps its kernels beside it, or where is said."""
    environment = {**os.environ, "PYTHONPATH": os.pathsep.join([str(script.parent), *sys.path])}
    environment.pop("NUMBA_CACHE_DIR", None)
    command = [sys.executable, "-B", str(script)]
    done = subprocess.run(
        command, env=environment | fields, capture_output=True, text=True, check=True
    )
    assert done.stderr == ""
    return done.stdout.strip()


@pytest.mark.slow
@keeps
def test_a_kernel_is_compiled_again_where_one_that_it_calls_was_edited(tmp_path):
    def outer(step: int, times: int) -> str:
        (tmp_path / "inner.py").write_text(INNER.format(step=step))
        (tmp_path / "numbers_of.py").write_text(f"TIMES = {times}\n")
        return ran(tmp_path / "outer.py")

    (tmp_path / "outer.py").write_text(OUTER)
    assert outer(step=1, times=3) == "6 0"
    assert outer(step=1, times=3) == "6 1"  # from disk
    assert outer(step=2, times=3) == "9 0"  # a kernel that it calls was edited
    assert outer(step=2, times=5) == "15 0"  # a number that it names was


@keeps
def test_a_kernel_that_can_be_kept_nowhere_is_compiled_all_the_same(tmp_path):
    (tmp_path / "inner.py").write_text(
        INNER.format(step=1) + "\nprint(moved(1), len(moved.signatures))\n"
    )
    (tmp_path / "__pycache__").touch()  # no directory, and the user's is none either
    assert ran(tmp_path / "inner.py", HOME="/dev/null", XDG_CACHE_HOME="/dev/null") == "2 1"


WITH_ARRAYS = """
import numpy as np
from sigtest.compiled import compiled

@compiled
def known(n):
    own = np.zeros(n)
    own[:] = 2.0
    return own.sum()
"""
AROUND = """
import sys
import numpy as np
from sigtest.compiled import compiled
from with_arrays import known

found = known(5)
arrays = "numba.np.arrayobj" in sys.modules

@compiled
def around(n):
    return known(n) + {times} * np.ones(n).copy().mean()

print(found, around(3), arrays, sum(known.stats.cache_hits.values()))
"""


@pytest.mark.slow
@keeps
def test_a_kernel_from_disk_loads_no_compiler_and_is_compiled_into_others(tmp_path):
    def around(times: int) -> str:
        (tmp_path / "around.py").write_text(AROUND.format(times=times))
        return ran(tmp_path / "around.py")

    (tmp_path / "with_arrays.py").write_text(WITH_ARRAYS)
    assert around(times=1) == "10.0 7.0 True 0"
    assert around(times=1) == "10.0 7.0 False 1"
    assert around(times=2) == "10.0 8.0 False 1"  # compiled with one that is there


def test_numbers_and_kernels_that_one_names_are_in_its_key():
    def kernel_of(step: int) -> Callable[[], int]:
        names: dict[str, Any] = {"STEP": step}
        exec("def kernel():\n    return STEP", names)  # a global of its own
        kernel: Callable[[], int] = names["kernel"]
        kernel.__code__ = kernel.__code__.replace(co_filename=__file__)
        return kernel

    assert inlined(kernel_of(1)) == inlined(kernel_of(1)) != inlined(kernel_of(2))


TWO_TYPES = """
import sys
from sigtest.compiled import compiled

def halved(x):
    return x / 2

late = []

def half(value, both=False):
    kernel = compiled(halved)
    if both:  # another process has read the index, too, and what was compiled comes late
        kept = kernel._cache._cache_file
        write = kept._save_data
        kept._load_index = lambda: {}
        kept._save_data = lambda *what: late.append(lambda: write(*what))
    return kernel(value), sum(kernel.stats.cache_hits.values())

def write_late():
    for write in reversed(late):
        write()
    return "written"
"""


@pytest.mark.slow
@keeps
@pytest.mark.parametrize("damage", ["*.nbi", "*.nbc", "none"])
def test_what_several_processes_left_of_a_kernel_is_never_taken_for_another(tmp_path, damage):
    def run(calls: str) -> str:
        (tmp_path / "run.py").write_text(f"from two import *\nprint({calls})\n")
        return ran(tmp_path / "run.py", NUMBA_CACHE_DIR=str(tmp_path / "kept"))

    (tmp_path / "two.py").write_text(TWO_TYPES)
    first = run("half(3, both=True), half(1j, both=True), write_late()")
    assert first == "(1.5, 0) (0.5j, 0) written"
    for path in tmp_path.rglob(damage):
        path.write_bytes(path.read_bytes()[:-20] if damage == "*.nbc" else b"half")
    assert run("half(1j)") == f"(0.5j, {int(damage == 'none')})"
    assert run("half(3)[0], half(1j)") == "1.5 (0.5j, 1)"


def test_kernels_name_types_of_arrays_as_numba_knows_them():
    """`int` as such a type is no error until a kernel is compiled, which an old cache puts off."""
    kernels, wrong = 0, []
    for path in Path(sigtest.__file__).parent.rglob("*.py"):
        for function in ast.walk(ast.parse(path.read_text())):
            if isinstance(function, ast.FunctionDef) and any(
                "compiled" in ast.dump(own) for own in function.decorator_list
            ):
                kernels += 1
                calls = [own for own in ast.walk(function) if isinstance(own, ast.Call)]
                given = [own for call in calls for own in (*call.args, *call.keywords)]
                values = [own.value if isinstance(own, ast.keyword) else own for own in given]
                names = [own.id for own in values if isinstance(own, ast.Name)]
                wrong += [f"{path.name} {function.name}" for name in names if name == "int"]
    assert kernels > 20
    assert wrong == []
