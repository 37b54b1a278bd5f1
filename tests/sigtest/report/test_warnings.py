"""Codes of warnings: each is known, each is used, and reports of older versions are read."""

from __future__ import annotations

import ast
import inspect
from collections.abc import Iterator
from pathlib import Path
from textwrap import dedent

import numpy as np
import pytest
from sentences import sentences
from written import report, reported_on_several

import sigtest
from sigtest.comparison.comparison import parse_comparison
from sigtest.data.health import KINDS as HEALTH
from sigtest.engine import compare
from sigtest.render.records import render_json
from sigtest.report import WARNINGS, Report, WarningReport
from sigtest.significance.base import SignificanceTest

ROOT = Path(__file__).parents[3]
MAKERS = ("WarningReport", "warned")  # what takes a code first


def emitted() -> Iterator[str]:
    """Codes that stand in calls which make warnings, and those of health checks."""
    for package in ("sigtest", "workers", "app"):
        for file in (ROOT / package).rglob("*.py"):
            tree = ast.parse(file.read_text(encoding="utf-8"))
            calls = [node for node in ast.walk(tree) if isinstance(node, ast.Call) and node.args]
            for call in calls:
                if ast.unparse(call.func).rpartition(".")[2] in MAKERS:
                    code = call.args[0]
                    yield from variable(tree) if ast.unparse(code) == "code" else constants(code)
    yield from (kind.replace("_", "-") for kind in HEALTH)
    rule = ast.parse(dedent(inspect.getsource(SignificanceTest.level_doubt)))
    for node in ast.walk(rule):  # which gates warn of
        if isinstance(node, ast.Return) and node.value is not None:
            yield from constants(node.value)


def variable(tree: ast.Module) -> Iterator[str]:
    """What a module assigns to variables that are called code."""
    for node in ast.walk(tree):
        if isinstance(node, ast.Assign) and ast.unparse(node.targets[0]) == "code":
            yield from constants(node.value)


def constants(code: ast.expr) -> Iterator[str]:
    """The words in an expression that is a code, such as `known or "other"`."""
    for node in ast.walk(code):
        if isinstance(node, ast.Constant) and isinstance(node.value, str) and len(node.value) > 1:
            yield node.value


def test_every_code_is_known_and_every_known_one_is_emitted():
    assert sorted({*emitted()}) == sorted(WARNINGS)
    assert all(words.endswith(".") for words in WARNINGS.values())
    assert all(code == code.lower() and "_" not in code for code in WARNINGS)


def skewed() -> Report:
    """Two systems of which rare items hold the difference, beside a copy of one of them."""
    rng = np.random.default_rng(3)
    a = rng.normal(size=120)
    b = a + rng.exponential(size=120) ** 3
    columns = {"a": a, "b": b, "c": b}
    systems = [{"name": name, "scores": {"s": own.tolist()}} for name, own in columns.items()]
    return compare(
        parse_comparison(
            {
                "systems": systems,
                "metrics": ["s"],
                "tests": ["bootstrap", "sign_test"],
                "documents": [f"d{i // 3}" for i in range(120)],
                "unit": "segment",
                "resamples": 999,
            }
        )
    )


def test_warnings_say_what_they_are_about():
    found = {warning.code: warning for warning in skewed().warnings}
    assert found["few-units"].tests == ("bootstrap",)
    assert found["test"].tests == ("sign_test",)
    assert found["skewed"].pairs == (("a", "b"), ("a", "c"))
    assert found["skewed"].metrics == ("s",)
    assert found["skewed"].tests == ("bootstrap",)  # the other has another null hypothesis
    assert found["identical-systems"].systems == ("b", "c")
    assert found["dependent-segments"].systems == ()
    body = skewed().as_json()
    written = next(own for own in body["warnings"] if own["code"] == "skewed")
    assert [*written] == ["code", "message", "pairs", "metrics", "tests"]
    assert written["pairs"] == [["a", "b"], ["a", "c"]]


def test_health_checks_name_systems_and_not_their_replicas():
    lines = [f"the cat number {i} sat on the mat" for i in range(40)]
    worse = [line.replace("cat", "dog") for line in lines]
    found = sigtest.compare(
        references=lines,
        systems={"x": [worse, lines], "y": [worse, worse[:20] + lines[:20]]},
        metrics=["chrf"],
        resamples=99,
    )
    said = [own for own in found.warnings if own.code == "equals-reference"]
    assert said
    assert {own.systems for own in said} <= {("x",), ("y",)}
    assert any("x, replica 2" in own.message for own in said)


@pytest.mark.parametrize("made", [report, reported_on_several])
def test_reports_of_older_versions_have_sentences(made):
    body = made().as_json()
    said = sentences(body)
    assert said
    read = Report.from_json({**body, "warnings": said})
    assert read.warnings == tuple(WarningReport("other", sentence) for sentence in said)
    assert Report.from_json(body).warnings == made().warnings
    assert render_json(Report.from_json(body)) == render_json(made())
