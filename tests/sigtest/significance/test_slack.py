"""What counts as a tie: rounding does, and a difference beside a huge outlier does not."""

import numpy as np
import pytest
from computed import report_of
from scipy import stats


@pytest.mark.parametrize("outlier", [0.0, 1e6, 3e11])
@pytest.mark.parametrize("test", ["approximate_randomization", "bootstrap", "bootstrap_t"])
def test_an_outlier_that_both_systems_share_hides_no_difference(test: str, outlier: float) -> None:
    rng = np.random.default_rng(4)
    d = np.round(rng.normal(0.3, 1.0, 300), 1)
    shared = np.zeros(300)
    shared[7] = outlier
    systems = [
        {"name": name, "scores": {"x": row.tolist()}}
        for name, row in (("a", shared + d), ("b", shared))
    ]
    body = {"systems": systems, "metrics": ["scores"], "tests": [test], "resamples": 1_999}
    (pair,) = report_of({**body, "exact": "never"})["pairs"]
    assert stats.ttest_1samp(d, 0.0).pvalue < 1e-4
    assert pair["p_value"] < 0.01


def test_sums_that_are_equal_but_for_rounding_are_tied() -> None:
    """0.1 + 0.2 is not 0.3 to a computer: all four labellings reach the observed difference."""
    a, b = [0.1, 0.2, 0.0], [0.0, 0.0, 0.3]
    systems = [{"name": n, "scores": {"x": row}} for n, row in (("a", a), ("b", b))]
    for exact in ("auto", "never"):
        body = {"systems": systems, "metrics": ["scores"], "resamples": 99, "exact": exact}
        (pair,) = report_of(body)["pairs"]
        assert pair["p_value"] == 1.0
