"""Reports on several test sets: everything side by side, in every format and picture."""

import csv
import io
import re
import unicodedata
from dataclasses import replace
from xml.etree import ElementTree

import pytest
from written import HOSTILE, rendered, reported_on_several

from sigtest.comparison.comparison import parse_comparison
from sigtest.engine import compare, distribute
from sigtest.errors import RecipeError
from sigtest.render.formats import FORMATS
from sigtest.render.pictures import PICTURES, view
from sigtest.render.words import printable, width
from sigtest.report import NamedReport, Report, WarningReport

TEST = "approximate_randomization"
SVG = "{http://www.w3.org/2000/svg}"


def test_text_has_systems_pairs_and_wins_of_each_metric():
    shown = rendered("text", reported_on_several())
    titles = [
        line for line in shown.splitlines() if re.match(r"(Systems by|Pairs:|Test sets)", line)
    ]
    ranks = "ranks by approximate randomization, cluster lines for all together"
    assert titles == [
        f"Systems by bleu; {ranks}",
        "Pairs: bleu, approximate randomization, adjusted p",
        "Test sets won by a: bleu, adjusted p over 3 pairs",
        f"Systems by ter (lower is better); {ranks}",
        "Pairs: ter (lower is better), approximate randomization, adjusted p",
        "Test sets won by a: ter, adjusted p over 3 pairs",
    ]
    first = shown.split("\n\n")[0].replace("\n  ", " ")
    assert first == (
        "news: 40 segments, 1 reference; talks: 35 segments, 1 reference; 95 % bootstrap "
        "intervals; two-sided, holm over 9 comparisons, alpha 0.05"
    )


def test_each_test_set_stands_under_its_name_and_all_together_last():
    made = reported_on_several()
    table = rendered("text", made).split("\n\n")[2]
    assert table.splitlines()[0].split() == ["news", "talks", "macro-average"]
    (row,) = [line for line in table.splitlines() if line.startswith("B ")]
    assert made.several is not None
    reports = [*(entry.report for entry in made.several.testsets), made]
    scores = [own.systems[1].scores["bleu"].score for own in reports]
    assert re.findall(r"(\d+\.\d\d) \[", row) == [f"{score:.2f}" for score in scores]


def test_tables_of_many_test_sets_are_parted_within_a_hundred_columns():
    made = reported_on_several(testsets=tuple(f"testset-{t}" for t in range(5)))
    shown = rendered("text", made)
    tables = shown.partition("Warning")[0]
    assert max(map(width, tables.splitlines())) <= 100
    assert all(tables.count(f"testset-{t}") >= 4 for t in range(5))
    for block in tables.split("\n\n"):
        if "score and interval" in block:
            assert [line[0] for line in block.splitlines() if " [" in line] == ["C", "B", "A"]


def test_cluster_lines_are_those_of_all_together():
    made = reported_on_several()
    several = made.several
    assert several is not None
    one = {"bleu": {TEST: replace(made.systems[0].ranks["bleu"][TEST], cluster=1)}}
    systems = tuple(replace(system, ranks={**system.ranks, **one}) for system in made.systems)
    same = replace(made, systems=systems)
    blocks = [rendered("text", report).split("\n\n")[2] for report in (made, same)]
    assert [block.count("\n╌") for block in blocks] == [2, 0]


def warned(*sentences: str) -> tuple[WarningReport, ...]:
    return tuple(WarningReport("other", sentence) for sentence in sentences)


def test_each_warning_is_told_once_with_what_it_is_about():
    made = reported_on_several()
    several = made.several
    assert several is not None
    told = (("everywhere", "here"), ("everywhere", "there"))
    testsets = tuple(
        NamedReport(entry.name, replace(entry.report, warnings=warned(*own)))
        for entry, own in zip(several.testsets, told, strict=True)
    )
    report = replace(made, warnings=warned("whole"), several=replace(several, testsets=testsets))
    warnings = re.findall(r"^Warning: (.*)", rendered("text", report), re.M)
    assert warnings == ["whole", "everywhere", "news: here", "talks: there"]
    page = rendered("html", report)
    assert page.count("everywhere") == 1
    assert "<li>news: here</li>" in page


def test_csv_names_the_test_set_first():
    made = reported_on_several()
    rows = list(csv.DictReader(io.StringIO(rendered("csv", made), newline="")))
    assert next(iter(rows[0])) == "testset"
    assert [row["testset"] for row in rows] == [
        name for name in ("news", "talks", "macro-average") for _ in range(6)
    ]
    assert [float(row["p_adjusted"]) for row in rows[12:]] == [p.p_adjusted for p in made.pairs]


def test_differences_and_wins_are_in_every_look():
    made = reported_on_several()
    for form in ("text", "markdown", "latex", "html"):
        shown = rendered(form, made)
        for pair in made.pairs:
            difference = f"{abs(pair.difference):.2f}"
            assert difference in shown
        assert "signed" in shown
        assert "talks" in shown


@pytest.mark.parametrize("form", ["text", "markdown", "latex", "html"])
def test_names_of_test_sets_are_made_harmless(form):
    shown = rendered(form, reported_on_several(testsets=HOSTILE[1:3]))
    assert {c for c in shown if unicodedata.category(c)[0] == "C"} == {"\n"}
    raw = {"markdown": "</script>", "latex": r"\input{", "html": "<script>"}.get(form, "\x00")
    assert raw not in re.sub(r"^%.*$", "", shown, flags=re.M)


@pytest.mark.parametrize("form", FORMATS)
def test_a_report_read_back_renders_to_the_same_bytes(form):
    made = reported_on_several()
    again = Report.from_json(made.as_json())
    assert rendered(form, again) == rendered(form, made)


@pytest.mark.parametrize("name", ["matrix", "intervals"])
def test_pictures_show_each_test_set_and_all_together(name):
    made = reported_on_several()
    drawn = {
        testset: PICTURES[name].draw(made, {"testset": testset})
        for testset in (None, "news", "talks")
    }
    assert len(set(drawn.values())) == 3
    for testset, svg in drawn.items():
        title = ElementTree.fromstring(svg).findtext(f"{SVG}title") or ""
        assert title.startswith(f"bleu, {testset or 'macro-average'}")


def test_pictures_say_which_test_sets_there_are():
    with pytest.raises(RecipeError, match="Did you mean 'talks'"):
        PICTURES["matrix"].draw(reported_on_several(), {"testset": "talk"})
    assert reported_on_several().several is not None
    one = reported_on_several().several.testsets[0].report  # type: ignore[union-attr]
    with pytest.raises(RecipeError, match="one test set"):
        PICTURES["matrix"].draw(one, {"testset": "news"})


def test_a_distribution_is_of_one_test_set():
    lines = [f"word{i % 7} and line {i}" for i in range(20)]
    systems = {"A": [line[:-1] for line in lines], "B": [line[2:] for line in lines]}
    body = {"references": lines, "systems": systems}
    request = {"testsets": {"news": body, "talks": body}, "metrics": ["chrf"], "resamples": 99}
    comparison = parse_comparison(request)
    made = compare(comparison)
    drawn = distribute(comparison, "A", "B", "chrf", TEST, "talks")
    svg = PICTURES["distribution"].draw(made, {"testset": "talks"}, drawn)
    assert "(talks)" in svg
    with pytest.raises(RecipeError, match="news, talks"):
        view(made, distribution=drawn)


def test_hostile_names_of_test_sets_are_text_in_pictures():
    made = reported_on_several(testsets=HOSTILE[1:3])
    for name in ("matrix", "intervals"):
        root = ElementTree.fromstring(PICTURES[name].draw(made, {"testset": HOSTILE[1]}))
        assert not list(root.iter(f"{SVG}script"))
        assert printable(HOSTILE[1])[:8] in (root.findtext(f"{SVG}title") or "")


def test_warnings_of_all_test_sets_come_before_those_of_one():
    made = reported_on_several()
    assert made.several is not None
    own = [("Only here.", "Everywhere."), ("Everywhere.", "Only there.")]
    sets = tuple(
        NamedReport(entry.name, replace(entry.report, warnings=warned(*said)))
        for entry, said in zip(made.several.testsets, own, strict=True)
    )
    several = replace(made.several, testsets=sets)
    shown = rendered("text", replace(made, several=several, warnings=warned("Together.")))
    assert re.findall(r"^Warning: (.*)", shown, re.MULTILINE) == [
        "Together.", "Everywhere.", "news: Only here.", "talks: Only there.",
    ]  # fmt: skip
