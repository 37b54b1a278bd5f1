"""Parts of a report, and the page that describes all of it."""

import re
from pathlib import Path

import pytest
from written import rendered, report, reported_on_several

from sigtest.errors import RecipeError
from sigtest.report import Report, select

TESTS = ("approximate_randomization", "bootstrap")


def made() -> Report:
    return report(("A", "B", "C", "D"), tests=TESTS)


def test_nothing_asked_for_is_everything():
    for whole in (made(), reported_on_several()):
        assert select(whole) == whole


def test_one_metric_and_test_keep_their_numbers_and_decisions():
    whole = made()
    part = select(whole, "ter", "bootstrap")
    asked = [p for p in whole.pairs if (p.metric, p.test) == ("ter", "bootstrap")]
    assert list(part.pairs) == asked
    assert len(asked) == 6
    for own, system in zip(part.systems, whole.systems, strict=True):
        assert own.scores == {"ter": system.scores["ter"]}
        assert own.ranks == {"ter": {"bootstrap": system.ranks["ter"]["bootstrap"]}}
    assert list(part.metrics) == ["ter"]
    same = ("signature", "testset", "alpha", "correction", "experimentwise_error", "warnings")
    assert all(getattr(part, name) == getattr(whole, name) for name in same)


def test_one_system_brings_its_pairs():
    whole = made()
    part = select(whole, system="C")
    assert [system.name for system in part.systems] == ["C"]
    assert list(part.pairs) == [pair for pair in whole.pairs if "C" in (pair.a, pair.b)]


def test_several_systems_bring_the_pairs_among_them():
    whole = made()
    part = select(whole, "bleu", system=["D", "A", "B"])
    assert [system.name for system in part.systems] == ["A", "B", "D"]
    among = [("A", "B"), ("A", "D"), ("B", "D")]
    assert [(pair.a, pair.b) for pair in part.pairs] == among * 2


def test_every_test_set_and_the_counts_of_wins_are_selected():
    part = select(reported_on_several(), "ter", TESTS[0], ["A", "C"])
    assert part.several is not None
    for own in (part, *(entry.report for entry in part.several.testsets)):
        assert [(pair.a, pair.b, pair.metric) for pair in own.pairs] == [("A", "C", "ter")]
        assert [system.name for system in own.systems] == ["A", "C"]
    assert [(row.a, row.b, row.metric) for row in part.several.wins] == [("A", "C", "ter")]


def test_a_part_says_how_many_pairs_were_corrected():
    part = select(made(), "bleu", system=["A", "B"])
    assert "holm over 6 pairs" in rendered("text", part)


@pytest.mark.parametrize("form", ["text", "csv", "markdown", "latex", "html", "json"])
@pytest.mark.parametrize("system", ["B", ["A", "B"]])
def test_parts_have_every_format(form, system):
    for whole in (made(), reported_on_several()):
        part = select(whole, "ter", TESTS[0], system)  # type: ignore[arg-type]
        shown = rendered(form, part)
        assert "ter" in shown
        assert "chrf" not in shown


@pytest.mark.parametrize(
    ("asked", "message"),
    [
        ({"metric": "blue"}, "Did you mean 'bleu'"),
        ({"test": "bootstarp"}, "Did you mean 'bootstrap'"),
        ({"system": ["A", "Z"]}, "Unknown system 'Z'"),
    ],
)
def test_what_is_unknown_is_named(asked, message):
    with pytest.raises(RecipeError, match=message):
        select(made(), **asked)


DOCS = Path(__file__).parents[3] / "docs"


@pytest.mark.parametrize("part", ["", "testset", "metrics", "systems", "pairs"])
def test_every_field_of_the_report_is_described(part):
    body = report().as_json()
    fields = {
        "": body,
        "testset": body["testset"],
        "metrics": body["metrics"]["bleu"],
        "systems": body["systems"][0]["scores"]["bleu"],
        "pairs": body["pairs"][0],
    }[part]
    described = (DOCS / "SERVICE.md").read_text(encoding="utf-8")
    for field in fields:
        assert re.search(rf"`(?:[\w.]+\.)?{field}`", described), field
