"""Pictures of leaderboards from the shell."""

import json
import re
from argparse import Namespace
from pathlib import Path

import pytest
from service import EXAMPLE

from sigtest.cli import main
from sigtest.cli.compare import write_board_plots
from sigtest.comparison.comparison import parse_comparison
from sigtest.engine import compare
from sigtest.errors import InputError


def test_pictures_of_a_board_of_one_system_are_refused_in_the_singular():
    system = {"name": "alone", "scores": {"x": [1, 2, 3]}}
    report = compare(parse_comparison({"systems": [system], "metrics": ["scores"], "resamples": 9}))
    with pytest.raises(InputError, match=r"^1 system is measured; pictures need two"):
        write_board_plots(report, Namespace(), lambda *_: b"")


def badge(table: Path, name: str) -> list[str]:
    """The texts of a badge."""
    target = table.with_suffix(".svg")
    words = [str(table), "--badge", name, "--resamples", "999", "--output", str(target)]
    assert main(["board", *words]) == 0
    svg = target.read_text()
    assert f">{name}</title>" in svg
    return re.findall(r"<text[^>]*>([^<]*)</text>", svg)


def test_a_badge_says_the_place_of_a_system_and_with_how_many_it_is_tied(tmp_path):
    table = tmp_path / "match.tsv"
    noise = [[(7 * i * k) % 13 / 13 for i in range(80)] for k in (1, 2, 3, 5)]
    rows = [
        f"q{i}\t{noise[0][i]:.3f}\t{noise[1][i] + 0.01:.3f}\t{noise[2][i] - 1:.3f}\t"
        f"{noise[3][i] - 2:.3f}"
        for i in range(80)
    ]
    table.write_text("\n".join(["id\telm\toak\tash\tfir", *rows, ""]))
    report = tmp_path / "r.json"
    assert main(["board", str(table), "--resamples", "999", "--output", str(report)]) == 0
    body = json.loads(report.read_text())
    (label,) = body["metrics"]
    ranks = {own["name"]: own["ranks"][label] for own in body["systems"]}
    ranges = {name: tuple(next(iter(own.values()))["range"]) for name, own in ranks.items()}
    assert ranges == {"elm": (1, 2), "oak": (1, 2), "ash": (3, 3), "fir": (4, 4)}
    first, second = sorted(("elm", "oak"), key=lambda n: -score(body, n, label))
    assert badge(table, first) == [label, "first of 4, tied with 1 other"]
    assert badge(table, second) == [label, "rank 1\u20132 of 4, tied with 1 other"]
    assert badge(table, "fir") == [label, "rank 4 of 4"]


def score(body: dict[str, object], name: str, label: str) -> float:
    systems: object = body["systems"]
    assert isinstance(systems, list)
    return next(own["scores"][label]["score"] for own in systems if own["name"] == name)


def test_equal_systems_have_equal_badges_in_any_order_of_rows(tmp_path):
    table = tmp_path / "equal.csv"
    for names in ("elm,oak,ash", "oak,elm,ash"):
        rows = [f"q{i},{i % 7},{i % 7},{i % 7 - 2}" for i in range(60)]
        table.write_text("\n".join([f"id,{names}", *rows, ""]))
        for name in ("elm", "oak"):
            assert badge(table, name)[1] == "first of 3, tied with 1 other"


def test_a_badge_of_too_few_tasks_says_so(tmp_path):
    table = tmp_path / "few.tsv"
    table.write_text("task\telm\toak\na\t3\t1\nb\t4\t2\nc\t6\t3\n")
    assert badge(table, "elm") == ["scores", "first of 2, untestable"]


def test_a_badge_of_an_unknown_system_is_refused(tmp_path, capsys):
    files = [str(EXAMPLE / "systems" / f"{name}.en") for name in ("aspen", "birch")]
    given = ["board", "-r", str(EXAMPLE / "reference.en"), *files, "--resamples", "9"]
    assert main([*given, "--badge", "oak"]) == 2
    assert "Unknown system 'oak'; choose one of aspen, birch." in capsys.readouterr().err
    assert main([*given, "--badge", "aspen", "--baseline", "birch"]) == 2
