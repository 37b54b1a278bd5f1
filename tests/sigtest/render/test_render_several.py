"""Reports on several test sets: everything side by side, in every format and picture."""

import re
import unicodedata
from dataclasses import replace
from xml.etree import ElementTree

import pytest
from written import HOSTILE, rendered, reported_on_several

from sigtest.comparison.comparison import parse_comparison
from sigtest.engine import compare, distribute
from sigtest.errors import RecipeError
from sigtest.render.pictures import PICTURES, view
from sigtest.render.words import printable, width
from sigtest.report import NamedReport, WarningReport

TEST = "approximate_randomization"
SVG = "{http://www.w3.org/2000/svg}"


def test_tables_of_many_test_sets_are_parted_within_a_hundred_columns():
    made = reported_on_several(testsets=tuple(f"testset-{t}" for t in range(5)))
    shown = rendered("text", made)
    tables = shown.partition("Warning")[0]
    assert max(map(width, tables.splitlines())) <= 100
    assert all(tables.count(f"testset-{t}") >= 4 for t in range(5))
    for block in tables.split("\n\n"):
        if "score and interval" in block:
            assert [line[0] for line in block.splitlines() if " [" in line] == ["C", "B", "A"]


def warned(*sentences: str) -> tuple[WarningReport, ...]:
    return tuple(WarningReport("other", sentence) for sentence in sentences)


def test_each_warning_is_told_once_with_what_it_is_about():
    made = reported_on_several()
    several = made.several
    assert several is not None
    told = (("here", "everywhere"), ("everywhere", "there"))
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


@pytest.mark.parametrize("form", ["text", "markdown", "latex", "html"])
def test_names_of_test_sets_are_made_harmless(form):
    shown = rendered(form, reported_on_several(testsets=HOSTILE[1:3]))
    assert {c for c in shown if unicodedata.category(c)[0] == "C"} == {"\n"}
    raw = {"markdown": "</script>", "latex": r"\input{", "html": "<script>"}.get(form, "\x00")
    assert raw not in re.sub(r"^%.*$", "", shown, flags=re.M)


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
