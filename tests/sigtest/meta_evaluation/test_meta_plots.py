"""Pictures of metric evaluations."""

from dataclasses import replace
from xml.etree import ElementTree

import pytest
from scored import SYSTEMS, request

from sigtest.errors import InputError, RecipeError
from sigtest.meta_evaluation.compute import compute
from sigtest.meta_evaluation.question import parse
from sigtest.meta_evaluation.report import MetaReport
from sigtest.meta_evaluation.show import PICTURES, correlations_plot, scatter_plot
from sigtest.render.drawing import COLOURS

SVG = "{http://www.w3.org/2000/svg}"


@pytest.fixture(scope="module")
def report() -> MetaReport:
    return compute(parse(request()))


def words(svg: str) -> list[str]:
    return [element.text or "" for element in ElementTree.fromstring(svg).iter(f"{SVG}text")]


def circles(svg: str) -> list[tuple[float, float]]:
    found = ElementTree.fromstring(svg).iter(f"{SVG}circle")
    return [(float(circle.get("cx")), float(circle.get("cy"))) for circle in found]


@pytest.mark.parametrize("name", PICTURES)
def test_pictures_are_accessible_and_stay_inside(report, name):
    picture = PICTURES[name]
    assert picture.fits(report)
    assert picture.needs == "report"
    root = ElementTree.fromstring(picture.draw(report, {}))
    assert root.find(f"{SVG}title").text
    assert root.find(f"{SVG}desc").text.endswith(".")
    wide, high = (float(root.get(side).removesuffix("pt")) for side in ("width", "height"))
    for element in root.iter():
        for x in ("x", "cx", "x1", "x2"):
            assert 0 <= float(element.get(x) or 0) <= wide
        for y in ("y", "cy", "y1", "y2"):
            assert 0 <= float(element.get(y) or 0) <= high
        assert element.get("fill") in {None, "none", *COLOURS.values()}
    assert picture.draw(report, {}) == picture.draw(report, {})


def test_numbers_of_systems_that_lie_together_are_apart(report):
    (own,) = report.sets
    close = [
        replace(system, human=i // 3 + 1e-3 * (i % 3),
                scores={"COMET": i // 3 + 1e-3 * (i % 2)})
        for i, system in enumerate(own.systems)
    ]  # fmt: skip
    svg = scatter_plot(replace(report, sets=(replace(own, systems=tuple(close)),)), "COMET")
    boxes = []
    for element in ElementTree.fromstring(svg).iter(f"{SVG}text"):
        left, base = float(element.get("x")), float(element.get("y"))
        if (
            (element.text or "").isdecimal()
            and element.get("fill") == COLOURS["muted"]
            and base < 224
        ):
            boxes.append((left, base - 4, left + 3, base))
    assert len(boxes) == 6
    for i, a in enumerate(boxes):
        for b in boxes[:i]:
            assert a[2] <= b[0] or b[2] <= a[0] or a[3] <= b[1] or b[3] <= a[1]


def test_what_a_report_lacks_is_refused(report):
    with pytest.raises(RecipeError, match="Did you mean 'TER'"):
        scatter_plot(report, "TERR")
    with pytest.raises(RecipeError, match="Unknown set"):
        scatter_plot(report, testset="x")
    without = replace(report, pairs=())
    assert not PICTURES["correlations"].fits(without)
    with pytest.raises(InputError, match="compared by Pearson's r"):
        correlations_plot(without)
    flat = request()
    flat["metrics"]["BLEU"]["system"] = dict.fromkeys(SYSTEMS, 1.0)
    with pytest.raises(InputError, match="not all equal"):
        scatter_plot(compute(parse(flat)), "BLEU")


def test_sets_are_drawn_by_name():
    own = {k: request()[k] for k in ("human", "metrics")}
    report = compute(parse({"sets": {"de-en": own}, "statistics": ["pearson"]}))
    assert any(word.startswith("de-en: ") for word in words(correlations_plot(report, "de-en")))
    assert len(circles(scatter_plot(report, "BLEU", "de-en"))) == 6
