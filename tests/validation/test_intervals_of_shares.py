"""Coverage of intervals of shares: enumerated, against draws, and as the page has it."""

from pathlib import Path

import numpy as np
import pytest
from scipy.stats import binom, binomtest

from validation import shares

PAGE = Path(__file__).parents[2] / "docs" / "VALIDITY.md"


def test_the_page_has_what_is_enumerated_and_no_bound_is_broken():
    block, below = shares.told()
    assert below == []
    assert block in PAGE.read_text(encoding="utf-8")


def test_coverage_of_a_share_is_that_of_scipy_s_wilson_intervals():
    ends = [binomtest(k, 12).proportion_ci(0.95, method="wilson") for k in range(13)]
    for share, found in zip(shares.SHARES, shares.of_shares(12), strict=True):
        inside = [k for k, own in enumerate(ends) if own.low <= share <= own.high]
        assert found == pytest.approx(binom.pmf(inside, 12, share).sum())


@pytest.mark.parametrize("phi", [0.0, 0.6])
def test_coverage_of_paired_differences_is_that_of_draws(phi):
    rng, n, drawn = np.random.default_rng(1), 12, 20_000
    exact = shares.of_paired(n, shares.pairs(phi))
    for (p, q, _, chances), found in [*zip(shares.pairs(phi), exact, strict=True)][::7]:
        won, lost, _ = rng.multinomial(n, chances, size=drawn).T
        low, high = shares.bonett_price_interval((won - lost).astype(float), won + lost, n, 0.05)
        inside = (low <= p - q + 1e-12) & (p - q - 1e-12 <= high)
        assert inside.mean() == pytest.approx(found, abs=4 * (0.25 / drawn) ** 0.5)


def test_the_cell_that_is_told_misses_when_nothing_tells_the_systems_apart():
    (found,) = shares.of_paired(12, iter([shares._cell(0.9, 0.7, 0.5)]))
    assert found == pytest.approx(0.932, abs=5e-4)
    low, high = shares.bonett_price(np.zeros(1), np.zeros(1), 12)
    assert (float(low[0]), float(high[0])) == pytest.approx((-0.198, 0.198), abs=5e-4)


def test_tango_s_interval_is_that_of_fagerland_lydersen_and_laake():
    low, high = shares.tango(np.array([1.0]), np.array([7.0]), 21)  # 2014, airway reactivity
    assert (float(low[0]), float(high[0])) == pytest.approx((-0.517, -0.026), abs=5e-4)
