"""The board: what is said of each system and the first, in text and as columns to join."""

from __future__ import annotations

import csv
import io
from dataclasses import replace
from pathlib import Path

import numpy as np
import pytest

import sigtest
from sigtest.cli import main
from sigtest.render.standings import against_first

NAMES = ("fir", "oak", "elm", "ash")


def table(path: Path, values: np.ndarray, first: str) -> Path:
    """(S, n) scores as a table with a row for each unit and a column for each system."""
    rows = [",".join([first, *NAMES])]
    rows += [",".join([f"i{i}", *map(repr, own.tolist())]) for i, own in enumerate(values.T)]
    path.write_text("\n".join(rows) + "\n")
    return path


def shown(capsys: pytest.CaptureFixture[str], *arguments: str) -> str:
    assert main(["board", *arguments, "--resamples", "1999"]) == 0
    return capsys.readouterr().out


def test_the_first_those_tied_with_it_and_those_behind(tmp_path, capsys):
    rng = np.random.default_rng(7)
    values = rng.normal(size=(4, 80)) + np.array([[1.0], [0.95], [0.4], [-2.0]])
    path = table(tmp_path / "scores.csv", values, "id")
    rows = {
        row["system"]: row
        for row in csv.DictReader(io.StringIO(shown(capsys, str(path), "--format", "csv")))
    }
    order = sorted(NAMES, key=lambda name: -values[NAMES.index(name)].mean())
    assert [*rows] == order
    assert [rows[name]["to_the_first"] for name in order] == ["first", "tied", "behind", "behind"]
    assert [rows[name]["may_be_best"] for name in order] == ["true", "true", "false", "false"]
    text = shown(capsys, str(path))
    assert "who may be best by comparisons with the best" in " ".join(text.split())


def test_few_test_sets_are_untestable_and_not_tied(tmp_path, capsys):
    values = np.arange(5.0) + np.array([[30.0], [20.0], [10.0], [1.0]])
    text = shown(capsys, str(table(tmp_path / "tasks.csv", values, "task")), "--test", "sign_test")
    assert text.count("untestable") == 3
    assert "tied" not in text.partition("Warning")[0]
    # two-sided 2 * .5**n times 6 pairs is .05 at most from n = 8 on
    assert "8 segments could" in " ".join(text.split())
    assert "may be best" not in text  # fewer than 30 units


def test_eight_test_sets_can_show_a_difference(tmp_path, capsys):
    values = np.arange(8.0) + np.array([[30.0], [20.0], [10.0], [1.0]])
    text = shown(capsys, str(table(tmp_path / "tasks.csv", values, "task")), "--test", "sign_test")
    assert text.count("behind") >= 3
    assert "untestable" not in text


def test_outputs_and_several_files_are_compared_as_elsewhere(tmp_path, capsys):
    for name, lines in (("ref", "a b c\nd e f\n"), ("x", "a b c\nd e\n"), ("y", "b c\nd f\n")):
        (tmp_path / name).write_text(lines)
    text = shown(capsys, "-r", *(str(tmp_path / name) for name in ("ref", "x", "y")), "-m", "chrf")
    assert "untestable" in text
    both = [str(table(tmp_path / f"{n}.csv", np.ones((4, 5)), "task")) for n in "ab"]
    assert main(["board", *both]) == 2
    assert "both have 'scores' scores of" in capsys.readouterr().err


def test_a_decision_that_more_resamples_could_change_is_no_tie():
    scores = {name: {"x": [float(i) for i in range(9)]} for name in NAMES[:2]}
    report = sigtest.compare(scores=scores)
    open_ = replace(report, pairs=tuple(replace(own, undecided=True) for own in report.pairs))
    assert [word for _, word in against_first(report, "x")] == ["first", "tied"]
    assert [word for _, word in against_first(open_, "x")] == ["first", "undecided"]
