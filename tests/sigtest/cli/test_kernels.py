"""Whether kernels are compiled is told as numba sees it."""

import numba
import numpy as np
import pytest

from sigtest.cli import main, shell
from sigtest.compiled import COMPILED, compiled
from sigtest.metrics import bleu


@pytest.mark.parametrize("named", ["own", "file", None])
def test_kernels_are_looked_for_where_numba_keeps_them(monkeypatch, tmp_path, named):
    if not COMPILED:
        pytest.skip("numba compiles nothing here")
    (tmp_path / "file").touch()
    own = "" if named is None else str(tmp_path / named)
    monkeypatch.setattr(numba.config, "CACHE_DIR", own)
    monkeypatch.setenv("NUMBA_CACHE_DIR", own)
    penalise = compiled(bleu._penalise.py_func)  # type: ignore[attr-defined]
    if named == "own":
        assert shell.waiting() == shell.FIRST
    penalise(np.ones(2), np.ones(2), np.ones(2))
    assert shell.waiting() is None


def test_every_run_compiles_where_numba_may_write_nowhere(monkeypatch):
    monkeypatch.delenv("NUMBA_DISABLE_JIT", raising=False)
    monkeypatch.setattr("os.access", lambda *_: False)
    monkeypatch.setattr("os.path.expanduser", lambda _: "~")  # a user without a home
    told = shell.waiting()
    assert told is not None
    assert "NUMBA_CACHE_DIR names another folder" in told
    monkeypatch.setenv("NUMBA_DISABLE_JIT", "1")
    assert shell.waiting() is None


@pytest.mark.parametrize(
    ("command", "compiles"),
    [
        ("compare", True), ("suite", True), ("gate", True), ("verify", True), ("classify", True),
        ("plan", True), ("meta", True), ("accuracy", True), ("human", False), ("plot", False),
        ("leaderboard", False),
    ],
)  # fmt: skip
def test_commands_that_compile_say_so_first(monkeypatch, capsys, tmp_path, command, compiles):
    monkeypatch.delenv("NUMBA_DISABLE_JIT", raising=False)
    monkeypatch.setenv("NUMBA_CACHE_DIR", str(tmp_path))
    assert main([command]) == 2
    said = capsys.readouterr().err
    assert said.startswith(f"sigtest: compiling numeric kernels; {shell.FIRST}.\n") is compiles
