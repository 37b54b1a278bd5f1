"""Every format for no, one, two, a dozen and sixty systems, and how exact p-values are told."""

import csv
import io
import re
from dataclasses import replace

import pytest
from written import rendered, report, with_pair

from sigtest.errors import InputError
from sigtest.render.comparison import document
from sigtest.render.formats import FORMATS
from sigtest.render.model import Figure
from sigtest.render.pictures import PICTURES
from sigtest.render.words import width
from sigtest.report import Report


def of_size(size: int) -> Report:
    """A report of so many systems; fewer than two are what a leaderboard has at its beginning."""
    if size >= 2:
        names = tuple(f"system number {i}" for i in range(size))
        return report(names, metrics=["bleu"], exact="never")
    made = report(("system number 0", "other"), metrics=["bleu"])
    systems = tuple(replace(system, ranks={}) for system in made.systems[:size])
    return replace(made, systems=systems, pairs=(), warnings=(), methods=None)


@pytest.mark.parametrize("form", [name for name in FORMATS if name != "bibtex"])
@pytest.mark.parametrize("size", [0, 1, 2, 12, 60])
def test_every_format_shows_every_system(form, size):
    shown = rendered(form, of_size(size))
    if form == "csv" and size < 2:  # a line for each pair
        assert [len(list(csv.reader(io.StringIO(shown))))] == [1]
        return
    for i in range(size):
        assert re.search(rf"system number {i}\b", shown)


@pytest.mark.parametrize("size", [1, 2, 12, 60])
def test_text_lists_all_pairs_but_settled_ones_of_many(size):
    made = of_size(size)
    listed = rendered("text", made).partition("Pairs: ")[2].partition("\n\n*")[0]
    rows = [line for line in listed.splitlines() if line.startswith("system number")]
    settled = [pair for pair in made.pairs if pair.significant and not pair.undecided]
    assert len(rows) == len(made.pairs) - (len(settled) if size > 8 else 0)


def test_sixty_systems_stay_within_a_hundred_columns():
    table = rendered("text", of_size(60)).partition("Pairs")[0]
    assert max(map(width, table.splitlines())) <= 100


def test_one_system_has_a_score_and_no_pictures():
    made = of_size(1)
    shown = rendered("text", made)
    assert "score and interval" in shown
    assert "rank" not in shown
    assert not [block for block in document(made).flat() if isinstance(block, Figure)]
    for name in ("matrix", "intervals"):
        with pytest.raises(InputError, match="two systems; the report has 1"):
            PICTURES[name].draw(made, {})


def test_html_folds_many_pairs_unless_all_are_asked_for():
    made = of_size(12)
    assert "<summary>All 66 pairs: bleu</summary>" in rendered("html", made)
    assert "<summary>All" not in rendered("html", made, every_pair=True)
    assert "<summary>All" not in rendered("html", of_size(2))


SAID = "p is exact: every exchange"


@pytest.mark.parametrize(
    ("form", "mark"),
    [
        ("text", r"1\.9e-06=  "),
        ("markdown", r"\| 1\.9e-06= \|"),
        ("latex", r"\$1\.9\\times10\^\{-6\}\$\$\^\{=\}\$ &"),
        ("html", r">1\.9e−06<sup>=</sup></td>"),
    ],
)
def test_exact_p_values_are_marked_and_explained(form, mark):
    made = report(("A", "B"), metrics=["ter"])
    assert made.pairs[0].exact
    shown = rendered(form, made)
    assert re.search(mark, shown)
    assert SAID in shown.replace("\\", "")
    sampled = rendered(form, report(("A", "B"), metrics=["ter"], exact="never"))
    assert SAID not in sampled.replace("\\", "")


def test_a_p_value_that_decides_alone_has_both_marks():
    shown = rendered("text", report(("A", "B"), metrics=["ter"], correction="none"))
    assert "1.9e-06*=" in shown


def test_stars_never_stand_above_alpha():
    for alpha, p, stars in [
        (0.05, 0.04, "*"),
        (0.05, 0.004, "**"),
        (0.05, 0.0004, "***"),
        (0.1, 0.07, "*"),
        (0.1, 0.004, "***"),
        (0.005, 0.004, "*"),
        (0.005, 0.0004, "**"),
    ]:
        one = replace(report(("A", "B"), metrics=["ter"]), alpha=alpha)
        made = with_pair(one, p_adjusted=p, significant=True)
        marks = re.findall(r"\$\^\{(\*+)\}\$ \\\\", rendered("latex", made))
        assert marks == [stars], (alpha, p)
        not_found = with_pair(one, p_adjusted=p, significant=False)
        assert "{*}" not in rendered("latex", not_found).partition("Pairs")[0].partition("sd")[2]
        assert "significant at" not in rendered("latex", not_found)


def test_legends_explain_only_what_is_shown():
    made = report(("A", "B"), metrics=["ter"])
    plain = with_pair(made, significant=False, exact=False, p_adjusted=0.2)
    assert "* p adjusted" not in rendered("text", plain)
    told = "detects: this test set would show a true difference of that size with 80 % power"
    shown = " ".join(rendered("text", plain).split())
    assert f"{told} after correction Warning" in shown
    uncorrected = replace(plain, correction="none")
    assert f"{told} Warning" in " ".join(rendered("text", uncorrected).split())
    assert "detects" not in rendered("text", made)
