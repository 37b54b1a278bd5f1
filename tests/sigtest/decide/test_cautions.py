"""What a report warns of, and what it does not."""

import pytest
from sentences import sentences
from written import report

FEW = "9 resamples are few for 3 comparisons at alpha 0.05 with"


def few(**choices: object) -> list[str]:
    """The warnings about resamples of a comparison with nine, which are too few to say anything."""
    made = report(**{"metrics": ["ter"], "resamples": 9} | choices)
    assert all(pair.exact for pair in made.pairs) == (choices.get("exact") != "never")
    return [warning for warning in sentences(made) if "resamples are few" in warning]


def test_exact_p_values_need_no_resamples():
    assert few() == []


@pytest.mark.parametrize(
    "choices",
    [
        {"exact": "never"},  # the same p-values, from nine resamples
        {"correction": "tukey"},  # whose corrected p-values come from draws
    ],
)
def test_few_resamples_are_told_where_a_p_value_comes_from_them(choices):
    (warning,) = few(**choices)
    assert warning.startswith(FEW)


def test_few_resamples_are_told_where_one_test_needs_them():
    tests = ["approximate_randomization", "bootstrap"]
    made = report(metrics=["ter"], resamples=9, tests=tests)
    assert {pair.test for pair in made.pairs if pair.exact} == {"approximate_randomization"}
    assert any(warning.startswith(FEW) for warning in sentences(made))


def test_few_resamples_are_told_where_one_metric_needs_them():
    made = report(resamples=9)
    assert {pair.exact for pair in made.pairs} == {False, True}
    assert any(warning.startswith(FEW) for warning in sentences(made))
