"""The list of seeded faults is about the code as it is."""

from __future__ import annotations

import importlib
import sys
import tomllib
from pathlib import Path

import pytest

ROOT = Path(__file__).parents[2]
sys.path.insert(0, str(ROOT / "tests" / "mutants"))
from faults import faults  # noqa: E402  # a folder of scripts

MUTANTS = ROOT / "tests" / "mutants"
FAULTS = faults()


def test_there_are_at_least_forty():
    assert len({fault.name for fault in FAULTS}) == len(FAULTS) >= 40


@pytest.mark.parametrize("fault", FAULTS, ids=[fault.name for fault in FAULTS])
def test_a_fault_has_its_place_and_what_sees_it(fault):
    source = (ROOT / fault.path).read_text(encoding="utf-8")

    compile(fault.planted(source), fault.path, "exec")

    assert fault.planted(source) != source
    assert fault.tests or fault.checks
    assert all((ROOT / "tests" / test).exists() for test in fault.tests)
    for check in fault.checks:
        module, name = check.split(".")
        assert callable(getattr(importlib.import_module(f"validation.{module}"), name))


def test_what_is_mutated_is_there():
    modules = tomllib.loads((MUTANTS / "modules.toml").read_text())["module"]
    for entry in modules:
        assert (ROOT / entry["path"]).exists()
        assert all((ROOT / "tests" / test).exists() for test in entry["tests"])
