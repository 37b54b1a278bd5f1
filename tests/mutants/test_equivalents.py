"""Mutants that are said to compute the same, and planted faults, are of what stands there."""

import ast
import csv
import re
import tomllib
from pathlib import Path

import pytest

HERE = Path(__file__).parent

with (HERE / "equivalents.tsv").open(newline="") as lines:
    ROWS = [*csv.DictReader(lines, delimiter="\t", quoting=csv.QUOTE_NONE)]


@pytest.mark.parametrize("module", sorted({row["module"] for row in ROWS}))
def test_each_stands_where_it_says(module):
    text = (HERE.parents[1] / module).read_text()
    named = {"": [text]}
    for node in ast.walk(ast.parse(text)):
        if isinstance(node, ast.FunctionDef | ast.ClassDef):
            named.setdefault(node.name, []).append(ast.get_source_segment(text, node) or "")
    for row in ROWS:
        if row["module"] == module:
            places = named.get(row["definition"], [])
            assert any(_dense(row["before"]) in _dense(place) for place in places), row


def test_each_planted_fault_has_a_place():
    for fault in tomllib.loads((HERE / "faults.toml").read_text())["fault"]:
        assert fault["before"] in (HERE.parents[1] / fault["path"]).read_text(), fault["name"]


def _dense(code: str) -> str:
    return re.sub(r"\s", "", code)
