"""What reports say of how their numbers came about."""

import pytest
from written import report

from sigtest.comparison.comparison import parse_comparison
from sigtest.engine import compare
from sigtest.report import Report


def told(**choices: object) -> str:
    return report(**choices).methods.text


@pytest.mark.parametrize(
    ("choices", "words"),
    [
        ({"alternative": "greater"}, "one-sided with the claim that the first system of a pair is"),
        ({"pairs": {"baseline": "system-0"}}, "between every system and system-0"),
        ({"correction": "none"}, "not corrected for multiple comparisons"),
        (
            {"tests": ["paired_bootstrap"]},
            "the paired bootstrap (Koehn, 2004; Graham et al., 2014)",
        ),
        ({}, "Ranges of ranks follow from all decisions together (Mogstad et al., 2024)."),
        (
            {"alternative": "less", "tests": ["bootstrap_t"]},
            "the studentised difference is drawn in by the term of second order (Hall, 1988).",
        ),
        ({"names": ("A", "B")}, "One comparison per metric and test needs no correction"),
    ],
)
def test_choices_are_told(choices, words):
    assert words in told(**choices)


def test_units_of_runs_and_intervals_of_shares_are_told():
    right = [[1, 0, 1], [1, 1, 1]]
    both = [{"name": name, "scores": {"x": own}} for name, own in zip("ab", right, strict=True)]
    text = compare(parse_comparison({"systems": both, "metrics": ["scores"]})).methods.text
    said = (
        "95 % intervals of shares of segments (scores) are score intervals, and those of their "
        "differences "
    )
    assert "percentile intervals" not in text
    assert f"{said}adjusted Wald intervals (Wilson, 1927; Bonett and Price, 2012)." in text
    runs = [[f"{i} a" for i in range(4)], [f"{i} b" for i in range(4)]]
    systems = [{"name": name, "replicas": runs} for name in "ab"]
    body = {"references": [runs[0]], "systems": systems, "metrics": ["chrf"]}
    text = compare(parse_comparison(body)).methods.text
    assert "the unit of inference is the segment with all its training runs, that of " in text
    assert "exchange the segment of one training run." in text


@pytest.mark.parametrize(("alternative", "times"), [("two-sided", 2), ("greater", 1)])
def test_p_values_follow_from_counts_as_is_said(alternative, times):
    tests = ["approximate_randomization", "paired_bootstrap"]
    made = report(tests=tests, alternative=alternative, exact="never")
    doubled = ", twice that for the paired bootstrap."
    assert (doubled in made.methods.text) == (times == 2)
    for pair in made.pairs:
        factor = times if pair.test == "paired_bootstrap" else 1
        assert pair.p_value == min(1, factor * (pair.count + 1) / (pair.resamples + 1))


def test_exact_p_values_are_said_to_be_exact():
    assert "All p-values are exact" in told(metrics=["ter"])
    assert "(count + 1)" not in told(metrics=["ter"])
    beside = told(metrics=["ter"], tests=["approximate_randomization", "paired_t"])
    assert "Where the report says so, p-values are exact" in beside


def test_what_is_cited_is_listed_in_the_order_of_the_text():
    made = report().methods
    places = [made.text.index(own.cited) for own in made.references]
    assert places == sorted(places)
    assert len({own.key for own in made.references}) == len(made.references) > 8


def test_a_report_of_an_earlier_version_has_none():
    body = report().as_json()
    assert Report.from_json({k: v for k, v in body.items() if k != "methods"}).methods is None
