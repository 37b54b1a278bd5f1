"""Pictures: what they show, accessible, with hostile names inert."""

import re
from pathlib import Path
from xml.etree import ElementTree

import numpy as np
import pytest

from sigtest.errors import RecipeError
from sigtest.people.compute import compute
from sigtest.people.pictures import (
    PICTURES,
    annotators_plot,
    boxes_plot,
    gain_plot,
    heatmap_plot,
    panels_plot,
)
from sigtest.people.question import parse
from sigtest.render.drawing import COLOURS, COLUMN
from sigtest.render.marks import P_LEVELS
from sigtest.render.words import printable

SVG = "{http://www.w3.org/2000/svg}"
FOUR = {"best_old": "elm", "best_new": "birch", "current_old": "aspen", "current_new": "cedar"}
PLOTS = (annotators_plot, boxes_plot, gain_plot, heatmap_plot, panels_plot)
CAMPAIGN = Path(__file__).parents[3] / "examples" / "campaign" / "judgements.tsv"


@pytest.fixture(scope="module")
def report():
    choices = {"longitudinal": {"de-en": FOUR, "en-de": FOUR}, "resamples": 199}
    return compute(parse(choices, [("campaign", CAMPAIGN.read_bytes())]))


@pytest.fixture(scope="module")
def rankings(data: Path):
    path = data / "wmt12.es-en" / "human" / "wmt12.RNK_results.es-en.csv"
    return compute(parse({}, [(path.name, path.read_bytes())]))


def words(svg: str) -> list[str]:
    return [element.text or "" for element in ElementTree.fromstring(svg).iter(f"{SVG}text")]


@pytest.mark.parametrize("plot", PLOTS)
def test_pictures_are_accessible_xml_with_text_as_text(plot, report):
    root = ElementTree.fromstring(plot(report))
    assert root.get("role") == "img"
    assert [root[0].get("id"), root[1].get("id")] == root.get("aria-labelledby").split()
    assert root[0].tag == f"{SVG}title"
    assert root[1].text
    assert float(root.get("width").removesuffix("pt")) >= COLUMN
    colours = set(re.findall(r'(?:fill|stroke)="(#\w+)"', plot(report)))
    assert colours <= set(COLOURS.values())


@pytest.mark.parametrize("plot", [annotators_plot, heatmap_plot, panels_plot])
def test_tests_are_named_in_words(plot, report):
    assert re.search("paired t|rank sum", plot(report))
    assert not re.search("paired_t|rank_sum", plot(report))


@pytest.mark.parametrize("plot", [boxes_plot, heatmap_plot, panels_plot])
def test_every_system_is_named(plot, report):
    assert {system.name for system in report.systems} <= set(words(plot(report)))


def test_cells_have_the_shade_of_their_p_value(report):
    root = ElementTree.fromstring(heatmap_plot(report, "fluency"))
    shades = {}
    for cell in root.iter(f"{SVG}rect"):
        hint = cell.find(f"{SVG}title")
        if hint is not None:
            better, worse = hint.text.split(": ")[0].split(" better than ")
            shades[better, worse] = cell.get("fill")
    assert len(shades) == 5 * 4
    for pair in report.pairs:
        if pair.criterion != "fluency":
            continue
        for names, p in (((pair.a, pair.b), pair.p_greater), ((pair.b, pair.a), pair.p_less)):
            shade = next((colour for limit, colour in P_LEVELS if p <= limit), "none")
            assert shades[names] == COLOURS[shade]


def test_corrected_cells_follow_the_corrected_conclusions():
    report = compute(parse({"correction": "bonferroni"}, [("c", CAMPAIGN.read_bytes())]))
    root = ElementTree.fromstring(heatmap_plot(report, "adequacy"))
    found = [hint for hint in root.iter(f"{SVG}title") if ": p = " in (hint.text or "")]
    dark = {COLOURS["one"], COLOURS["two"], COLOURS["three"]}
    shaded = {cell.find(f"{SVG}title").text.split(": ")[0] for cell in root.iter(f"{SVG}rect")
              if cell.get("fill") in dark and cell.find(f"{SVG}title") is not None}  # fmt: skip
    claimed = set()
    for pair in report.pairs:
        if pair.criterion == "adequacy" and pair.conclusion != "tie":
            names = (pair.a, pair.b) if pair.conclusion == "a" else (pair.b, pair.a)
            claimed.add(f"{names[0]} better than {names[1]}")
    assert shaded == claimed
    assert len(found) == 20


def test_panels_show_all_criteria_and_their_combination(report):
    shown = words(panels_plot(report))
    assert {"adequacy", "fluency", "combined"} <= set(shown)
    cells = [e for e in ElementTree.fromstring(panels_plot(report)).iter(f"{SVG}title")
             if ": p = " in (e.text or "")]  # fmt: skip
    assert len(cells) == 3 * 5 * 4


def test_systems_stand_in_the_order_of_their_means(report):
    shown = [w for w in words(boxes_plot(report, "fluency")) if w in
             {system.name for system in report.systems}]  # fmt: skip
    ordered = sorted(report.systems, key=lambda own: -own.criteria["fluency"].z)
    assert shown == [own.name for own in ordered]


def test_boxes_reach_from_whisker_to_whisker(report):
    root = ElementTree.fromstring(boxes_plot(report, "adequacy"))
    assert len([r for r in root.iter(f"{SVG}rect") if r.get("fill") == COLOURS["one"]]) == 5
    assert "median" in root[1].text


def test_annotators_who_fail_are_hollow(report):
    root = ElementTree.fromstring(annotators_plot(report))
    marks = [circle.get("fill") for circle in root.iter(f"{SVG}circle")]
    assert marks.count(COLOURS["paper"]) == 2 + 1  # and the legend's
    assert marks.count(COLOURS["strong"]) == 10 + 1
    assert "10 of 12 annotators pass paired t" in root[1].text
    assert not any("rater" in word for word in words(annotators_plot(report)))


def test_gains_name_language_pairs_and_their_mean(report):
    assert {"de-en adequacy", "en-de fluency", "mean adequacy"} <= set(words(gain_plot(report)))


def test_rankings_have_a_heatmap_and_no_boxes(rankings):
    assert "onlineA" in words(heatmap_plot(rankings))
    assert heatmap_plot(rankings) == panels_plot(rankings)
    for name, what in (("boxes", "scores"), ("gain", "gain"), ("annotators", "time")):
        with pytest.raises(RecipeError, match=f"has no .*{what}: no {name}"):
            PICTURES[name].draw(rankings, {})


def test_an_unknown_criterion_is_refused(report):
    for plot in (heatmap_plot, boxes_plot):
        with pytest.raises(RecipeError, match="Did you mean 'fluency'"):
            plot(report, "fluenc")


def test_hostile_names_are_text():
    rng = np.random.default_rng(1)
    names = ["a & b", "caf\u00e9 ]]", "}; drop", "w" * 150, "\u6771\u4eac"]
    rows = [{"annotator": "w", "system": n, "segment": i, "score": int(rng.integers(101)),
             "criterion": "<script>alert(1)</script>"}
            for n in names for i in range(9)]  # fmt: skip
    report = compute(parse({"judgements": rows}))
    for plot in (heatmap_plot, boxes_plot):
        root = ElementTree.fromstring(plot(report))
        assert not list(root.iter(f"{SVG}script"))
        said = "".join(root.itertext())
        assert all(printable(name)[:40] in said for name in names)


@pytest.mark.parametrize("systems", [2, 12, 60])
def test_any_number_of_systems_fits(systems):
    rng = np.random.default_rng(systems)
    rows = [{"annotator": "w", "system": f"system-{s}", "segment": i,
             "score": int(rng.integers(101))}
            for s in range(systems) for i in range(4)]  # fmt: skip
    report = compute(parse({"judgements": rows}))
    for plot in (heatmap_plot, boxes_plot):
        root = ElementTree.fromstring(plot(report))
        wide, high = (float(root.get(k).removesuffix("pt")) for k in ("width", "height"))
        for text in root.iter(f"{SVG}text"):
            assert 0 <= float(text.get("x")) <= wide
            assert 0 <= float(text.get("y")) <= high
