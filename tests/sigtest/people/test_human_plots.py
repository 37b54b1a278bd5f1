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
