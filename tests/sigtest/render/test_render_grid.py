"""The grid of metrics and tests, and each metric's discriminative power, from request to page."""

import json
from xml.etree import ElementTree

import pytest
from studied import comparison

from sigtest.comparison.comparison import parse_comparison
from sigtest.engine import compare
from sigtest.errors import RecipeError
from sigtest.render.pictures import PICTURES
from sigtest.report import Report, select

SVG = "{http://www.w3.org/2000/svg}"
GRID = PICTURES["grid"]
TESTS = ("approximate_randomization", "bootstrap")


def compared(**choices: object) -> Report:
    return compare(parse_comparison(comparison(**choices)))


@pytest.fixture(scope="module")
def report() -> Report:
    return compared()


def several() -> dict:
    body = comparison()
    texts = {"references": body.pop("references"), "systems": body.pop("systems")}
    few = {
        "references": texts["references"][:5],
        "systems": {name: lines[:5] for name, lines in texts["systems"].items()},
    }
    return {**body, "testsets": {"one": few, "two": texts}}


def words(svg: str) -> list[str]:
    return [element.text or "" for element in ElementTree.fromstring(svg).iter(f"{SVG}text")]


def hints(svg: str) -> list[str]:
    found = ElementTree.fromstring(svg).iter(f"{SVG}title")
    return [hint.text for hint in found if "better than" in (hint.text or "")]


def test_power_is_the_share_of_separated_pairs(report):
    assert set(report.discriminative_power) == {"bleu", "chrf"}
    for metric, tests in report.discriminative_power.items():
        assert tuple(tests) == TESTS
        for test, share in tests.items():
            rows = [p for p in report.pairs if (p.metric, p.test) == (metric, test)]
            assert share == sum(p.p_adjusted <= report.alpha for p in rows) / 6
            assert 0 < share < 1


def test_power_is_after_correction():
    report = compared(correction="bonferroni", resamples=99)
    assert any(pair.p_value <= 0.05 for pair in report.pairs)
    assert all(share == 0 for own in report.discriminative_power.values() for share in own.values())


def test_power_is_said_of_several_metrics_only():
    assert compared(metrics=["chrf"]).discriminative_power is None
    assert "discriminative_power" not in compared(metrics=["chrf"]).as_json()
    one = comparison()
    one["systems"] = {"Aspen": one["systems"]["Aspen"], "Birch": one["systems"]["Birch"]}
    assert set(compare(parse_comparison(one)).discriminative_power["bleu"].values()) <= {0.0, 1.0}


def test_power_of_several_test_sets_is_of_each_and_of_all_together():
    report = compare(parse_comparison(several()))
    body = json.loads(json.dumps(report.as_json()))
    assert Report.from_json(body) == report
    told = body["overall"]["discriminative_power"]
    for metric, tests in told.items():
        for test, share in tests.items():
            rows = [
                p for p in body["overall"]["pairs"] if (p["metric"], p["test"]) == (metric, test)
            ]
            assert share == sum(row["significant"] for row in rows) / 6
    assert all("discriminative_power" in entry["report"] for entry in body["testsets"])


def test_a_part_of_a_report_does_not_speak_of_the_whole(report):
    assert select(report).discriminative_power == report.discriminative_power
    assert select(report, metric="bleu").discriminative_power is None
    assert select(report, system=["Aspen", "Birch"]).discriminative_power is None


def test_better_systems_have_the_small_p_values(report):
    (pair,) = (
        p for p in report.pairs
        if (p.a, p.b, p.metric, p.test) == ("Aspen", "Daisy", "bleu", TESTS[0])
    )  # fmt: skip
    assert pair.significant
    found = hints(GRID.draw(report, {}))
    assert "Daisy better than Aspen: p = 1" in found
    assert not any(hint == "Aspen better than Daisy: p = 1" for hint in found)


def test_the_grid_follows_its_reader(report):
    plain = GRID.draw(report, {})
    wished = {"width": "17cm", "title": "Mine", "omit": "legend,numbers"}
    svg = GRID.draw(report, wished)
    assert "Mine" in words(svg)
    assert not any("apart" in word or word.startswith("p ≤") for word in words(svg))
    assert any(word.startswith("p ≤") for word in words(plain))
    root = ElementTree.fromstring(svg)
    assert float(root.get("width").removesuffix("pt")) == pytest.approx(17 * 72 / 2.54, abs=0.01)


def test_the_grid_of_one_of_several_test_sets_says_which():
    report = compare(parse_comparison(several()))
    assert any("separate, two" in word for word in words(GRID.draw(report, {"testset": "two"})))


def test_a_grid_needs_several_metrics_and_all_pairs():
    assert not GRID.fits(compared(metrics=["chrf"]))
    against = compared(pairs={"baseline": "Aspen"})
    assert not GRID.fits(against)
    with pytest.raises(RecipeError, match="needs all pairs"):
        GRID.draw(against, {})
