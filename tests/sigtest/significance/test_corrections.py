"""Corrections against statsmodels, the expected values, and what a family is."""

import gc
import json

import numpy as np
import pytest
from statsmodels.stats.multitest import multipletests

from sigtest.errors import RecipeError
from sigtest.significance import ALONE, CORRECTIONS
from sigtest.significance.corrections import Correction, adjust, after

STATSMODELS = {
    "bonferroni": "bonferroni",
    "sidak": "sidak",
    "holm": "holm",
    "hochberg": "simes-hochberg",
    "benjamini_hochberg": "fdr_bh",
    "benjamini_yekutieli": "fdr_by",
}


@pytest.fixture(scope="module", autouse=True)
def frozen() -> None:
    """statsmodels looks for garbage at every step of Holm's: not among what was there before."""
    gc.freeze()


@pytest.mark.parametrize("correction", list(STATSMODELS))
@pytest.mark.parametrize("size", [1, 2, 10, 66, 1770])
def test_adjusted_p_values_equal_statsmodels(correction, size):
    rng = np.random.default_rng(size)
    for p in (
        rng.random(size),
        rng.random(size) ** 6,
        rng.integers(1, 5, size) / 1000,
        np.full(size, 1e-4),
        np.ones(size),
    ):
        with np.errstate(divide="ignore"):  # statsmodels takes log(0) for sidak and p = 1
            expected = multipletests(p, method=STATSMODELS[correction])[1]
        assert adjust(p, correction) == pytest.approx(expected, abs=1e-12)


def test_adjusted_p_values_equal_the_expected_ones(oracles):
    rows = json.loads((oracles / "intervals.json").read_text())["adjusted_p_values"]
    for row in rows:
        for correction in CORRECTIONS:
            if correction in row:
                found = adjust(np.array(row["p"]), correction)
                assert found == pytest.approx(row[correction], abs=1e-9)


def test_no_correction_changes_nothing():
    p = np.array([0.2, 0.01])
    assert adjust(p, "none").tolist() == [0.2, 0.01]


@pytest.mark.parametrize("comparisons", [1, 2, 1770])
@pytest.mark.parametrize("correction", list(CORRECTIONS))
def test_what_was_done_to_a_p_value_is_told_where_it_was_changed(correction, comparisons):
    words = after(correction, comparisons)
    done = correction != "none" and comparisons > 1
    assert words == (
        f" after {CORRECTIONS[correction].title} over {comparisons:,} comparisons" if done else ""
    )


def test_adjusting_leaves_the_given_p_values_as_they_are():
    for correction in CORRECTIONS:
        p = np.array([0.2, 0.01, 1.0])
        adjusted = adjust(p, correction)
        adjusted[:] = 7
        assert p.tolist() == [0.2, 0.01, 1.0]


def test_families_are_corrected_along_the_last_axis():
    p = np.random.default_rng(0).random((3, 7)) ** 3
    for correction in CORRECTIONS:
        for family in (None, 7, 11):
            rows = [adjust(row, correction, family) for row in p]
            assert (adjust(p, correction, family) == np.stack(rows)).all()


@pytest.mark.parametrize("correction", list(CORRECTIONS))
def test_a_larger_family_is_one_padded_with_ones(correction):
    rng = np.random.default_rng(10)
    for size, family in ((1, 2), (3, 3), (6, 28), (28, 2016)):
        p = rng.random(size) ** 6
        whole = CORRECTIONS[correction].adjust(np.append(p, np.ones(family - size)))
        assert adjust(p, correction, family).tolist() == whole[:size].tolist()


def test_holm_over_a_declared_family_counts_pairs_not_seen_yet():
    p = np.array([0.001, 0.02, 0.004])
    # 10 pairs: factors 10, 9, 8 from the smallest p-value on
    assert adjust(p, "holm", family=10) == pytest.approx([0.01, 0.16, 0.036])


def test_a_family_holds_at_least_the_pairs_at_hand():
    with pytest.raises(RecipeError, match="A family of 2 pairs cannot hold 3"):
        adjust(np.array([0.1, 0.2, 0.3]), "holm", family=2)


@pytest.mark.parametrize("correction", ALONE)
def test_claims_in_a_declared_family_only_grow(correction):
    p = np.random.default_rng(12).random(20) ** 8
    adjusted = np.ones(0)
    for seen in range(1, 21):
        later = adjust(p[:seen], correction, family=20)
        assert (later[:-1] <= adjusted).all()
        adjusted = later


def test_family_wise_control_is_proven_of_these_whatever_depends_on_what():
    """Holm (1979); Dunn (1961); Romano & Wolf (2005). The others need more, or promise less."""
    proven = {name for name, correction in CORRECTIONS.items() if correction.familywise}
    assert proven == {"holm", "bonferroni", "max_t"}
    assert not Correction("own", "own", lambda p: p).familywise
