"""How much units tell of the variance of scores: strata, and means over test sets."""

import numpy as np
import pytest
from scipy import stats

from sigtest.comparison.comparison import parse_comparison
from sigtest.comparison.plan import Plan
from sigtest.engine import compare

TESTS = ["bootstrap", "paired_bootstrap", "bootstrap_t", "approximate_randomization"]


def scores_of(units: int, seed: int) -> list[dict[str, object]]:
    """Two systems whose differences are symmetric about zero, so that none is skewed."""
    half = np.random.default_rng(seed).normal(size=units // 2)
    rows = {"A": [*half, *-half], "B": [0.0] * units}
    return [{"name": name, "scores": {"x": row}} for name, row in rows.items()]


def body_of(sizes: list[int], **fields: object) -> dict[str, object]:
    sets = [{"name": f"t{i}", "systems": scores_of(n, i)} for i, n in enumerate(sizes)]
    return {"testsets": sets, "metrics": ["scores"], "tests": TESTS, "resamples": 1999, **fields}


def stratified(strata: int, units: int) -> dict[str, object]:
    labels = [str(i % strata) for i in range(strata * units)]
    return {
        "systems": scores_of(strata * units, 3),
        "metrics": ["scores"],
        "tests": TESTS[:3],
        "resamples": 1999,
        "labels": labels,
        "stratified": True,
    }


def plan_of(body: dict[str, object]) -> Plan:
    return parse_comparison(body).plan


@pytest.mark.parametrize(("small", "large"), [(20, 1000), (40, 60), (300, 300)])
def test_a_mean_over_test_sets_has_the_degrees_of_freedom_of_welch(small, large):
    """Of units with equal variances, a mean of two means is as sure as their difference."""
    x, y = (stats.zscore(np.arange(n), ddof=1) for n in (small, large))
    df = stats.ttest_ind(x, y, equal_var=False).df
    *alone, whole = plan_of(body_of([small, large])).tellings
    assert whole.units == pytest.approx(1 + df, abs=1e-6)
    assert [own.units for own in alone] == [small, large]
    shares = np.array([1 / small, 1 / large]) / (1 / small + 1 / large)
    assert whole.hidden == pytest.approx((shares / [small, large]).sum(), abs=1e-6)


def test_strata_show_less_of_the_variance_than_as_many_units():
    (own,) = plan_of(stratified(150, 2)).tellings
    assert (own.units, own.hidden) == (151.0, 0.5)
    (single,) = plan_of(stratified(300, 1)).tellings
    assert (single.units, single.hidden) == (1.0, 1.0)
    pooled = plan_of(body_of([20, 1000], pooled=True)).tellings[-1]
    assert pooled.units == pytest.approx(1 + 1020**2 / (400 / 19 + 1e6 / 999), abs=1e-6)


@pytest.mark.parametrize(
    ("body", "calibrated"),
    [
        (body_of([20, 1000]), (False, False, False, True)),  # .08 of true nulls at .05
        (body_of([400, 600]), (True, True, True, True)),
        (body_of([20, 1000], pooled=True), (True, True, True, True)),
        (stratified(200, 2), (False, False, True)),  # .17 of true nulls at .05
        (stratified(20, 20), (True, True, True)),
        (stratified(20, 19), (False, False, True)),
    ],
)
def test_a_report_calls_tests_calibrated_where_enough_units_tell_of_the_variance(body, calibrated):
    report = compare(parse_comparison(body))
    assert tuple(pair.calibrated for pair in report.pairs) == calibrated
