"""Corrections for many comparisons: p-values of one family in, adjusted p-values out.

A family is all pairs of one metric and one significance test. It may be larger than the pairs at
hand: pairs not seen yet have p = 1. Every correction looks at the p-values alone, but for those
with a `joint` test, which count in the draws of all pairs together (`joint.py`).
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass

import numpy as np

from sigtest.arrays import Array
from sigtest.errors import RecipeError
from sigtest.significance import CORRECTIONS
from sigtest.significance.stepwise import Direction, Scale, stepped


@dataclass(frozen=True)
class Correction:
    """One way of correcting a family, and all that a report has to know of it.

    A correction is complete with its first three fields. `scale` and `direction` make decisions
    about p-values that move alone fast; without them the family is adjusted anew for each.

    Attributes:
        name: Its name in recipes and reports.
        title: Its name in sentences.
        adjust: (m,) p-values of a whole family to (m,) adjusted ones. Its docstring says what it
            controls, and under which dependence.
        scale: What is held against alpha at each rank, where it goes by ranks.
        direction: Which way the ranks are passed, where it goes by ranks.
        familywise: Whether the chance of any false claim is at most alpha, whichever null
            hypotheses are true and however the comparisons depend on each other.
        joint: The only test it goes with, where it counts in the draws of all pairs together;
            `adjust` then gives the bound that holds whatever the draws are.
        papers: Keys of the papers to cite (`papers.bib`).
    """

    name: str
    title: str
    adjust: Callable[[Array], Array]
    scale: Scale | None = None
    direction: Direction | None = None
    joint: str | None = None
    familywise: bool = False
    papers: tuple[str, ...] = ()

    @property
    def doc(self) -> str:
        """What it controls, under which dependence, and its source."""
        return self.adjust.__doc__ or ""


def _plain(p: Array, ranks: Array, m: int) -> Array:
    return p


def _times_all(p: Array, ranks: Array, m: int) -> Array:
    return p * m


def _any_of_all(p: Array, ranks: Array, m: int) -> Array:
    # log(0) would be infinite; 1 - 1e-16 is the largest double below 1
    return -np.expm1(m * np.log1p(-np.minimum(p, 1 - 1e-16)))


def _times_left(p: Array, ranks: Array, m: int) -> Array:
    return p * (m - (ranks - 1.0))


def _discoveries(p: Array, ranks: Array, m: int) -> Array:
    return p * m / ranks


def _dependent_discoveries(p: Array, ranks: Array, m: int) -> Array:
    harmonic = float((1.0 / np.arange(1, m + 1, dtype=np.float64)).sum())
    return p * (m * harmonic) / ranks


def none(p: Array) -> Array:
    """No correction.

    Each comparison keeps its own error rate alpha; the chance of at least one false claim in the
    family grows with its size, to 1 - (1 - alpha)**m where the comparisons are independent.

    Args:
        p: (..., m) p-values, families along the last axis.

    Returns:
        (..., m) the same p-values.

    Examples:
        >>> none(np.array([0.01, 0.04])).tolist()
        [0.01, 0.04]
    """
    return stepped(p, _plain, "single")


def bonferroni(p: Array) -> Array:
    """The p-value times m (Dunn 1961); valid under any dependence.

    The chance of any false claim is at most the sum of the chances of each: m times alpha / m
    (Boole's inequality). That controls the family-wise error rate however the comparisons depend
    on each other, and whichever null hypotheses are true. Holm's correction does the same and
    never rejects less.

    Args:
        p: (..., m) p-values, families along the last axis.

    Returns:
        (..., m) adjusted p-values.

    Dunn (1961), "Multiple Comparisons Among Means".

    Examples:
        >>> bonferroni(np.array([0.01, 0.02, 0.5])).tolist()
        [0.03, 0.06, 1.0]
    """
    return stepped(p, _times_all, "single")


def sidak(p: Array) -> Array:
    """1 - (1 - p)**m (Šidák 1967); for independent or positively dependent tests.

    Of m independent comparisons without any difference none is claimed with chance
    (1 - alpha)**m; the level of each is chosen so that this is 1 - alpha. It controls the
    family-wise error rate of independent comparisons exactly, and that of two-sided tests of
    jointly normal statistics. Under other dependence it may not; it gains little over Bonferroni.

    Args:
        p: (..., m) p-values, families along the last axis.

    Returns:
        (..., m) adjusted p-values.

    Šidák (1967), "Rectangular Confidence Regions for the Means of Multivariate Normal
    Distributions".

    Examples:
        >>> sidak(np.array([0.01, 0.02])).round(6).tolist()
        [0.0199, 0.0396]
    """
    return stepped(p, _any_of_all, "single")


def holm(p: Array) -> Array:
    """Step-down Bonferroni (Holm 1979); valid under any dependence, never weaker than it.

    The smallest p-value is multiplied by m, the next by m - 1, and so on; the first that is not
    rejected ends the row. When the first true null hypothesis comes to be tested, at least as many
    hypotheses are left as are true, so that its factor serves Bonferroni's inequality over these:
    the family-wise error rate is controlled however the comparisons depend on each other.

    Args:
        p: (..., m) p-values, families along the last axis.

    Returns:
        (..., m) adjusted p-values.

    Holm (1979), "A Simple Sequentially Rejective Multiple Test Procedure".

    Examples:
        >>> holm(np.array([0.03, 0.01, 0.5])).tolist()
        [0.06, 0.03, 0.5]

        Of a family of six pairs these three have been seen:

        >>> adjust(np.array([0.03, 0.01, 0.5]), "holm", family=6).tolist()
        [0.15, 0.06, 1.0]
    """
    return stepped(p, _times_left, "down")


def hochberg(p: Array) -> Array:
    """Step-up Bonferroni (Hochberg 1988); for independent or positively dependent tests.

    Holm's factors, passed from the largest p-value downwards: the first that is rejected takes all
    smaller ones with it. It rejects whatever Holm's correction rejects. The family-wise error rate
    is controlled where Simes' inequality holds: for independent comparisons, and many with
    positive dependence. Pairs that share a system also depend on each other negatively, for which
    there is no proof.

    Args:
        p: (..., m) p-values, families along the last axis.

    Returns:
        (..., m) adjusted p-values.

    Hochberg (1988), "A Sharper Bonferroni Procedure for Multiple Tests of Significance".

    Examples:
        >>> hochberg(np.array([0.03, 0.04, 0.04])).tolist()
        [0.04, 0.04, 0.04]
    """
    return stepped(p, _times_left, "up")


def benjamini_hochberg(p: Array) -> Array:
    """False discovery rate (Benjamini & Hochberg 1995).

    The k-th smallest p-value is multiplied by m / k, from the largest downwards. Of all claims the
    expected share of false ones is at most alpha; any single claim is less sure than under a
    correction of the family-wise error rate. Proven for independent comparisons and for those with
    positive dependence on each true null hypothesis (Benjamini & Yekutieli 2001).

    Args:
        p: (..., m) p-values, families along the last axis.

    Returns:
        (..., m) adjusted p-values.

    Benjamini & Hochberg (1995), "Controlling the False Discovery Rate".

    Examples:
        >>> benjamini_hochberg(np.array([0.01, 0.02, 0.5])).tolist()
        [0.03, 0.03, 0.5]
    """
    return stepped(p, _discoveries, "up")


def benjamini_yekutieli(p: Array) -> Array:
    """False discovery rate under any dependence (Benjamini & Yekutieli 2001).

    As Benjamini and Hochberg's, times 1 + 1/2 + ... + 1/m, which pays for the worst dependence
    there can be; with many pairs it is often stricter than Holm's.

    Args:
        p: (..., m) p-values, families along the last axis.

    Returns:
        (..., m) adjusted p-values.

    Benjamini & Yekutieli (2001), "The Control of the False Discovery Rate in Multiple Testing
    under Dependency", theorem 1.3.

    Examples:
        >>> benjamini_yekutieli(np.array([0.01, 0.5])).tolist()
        [0.03, 0.75]
    """
    return stepped(p, _dependent_discoveries, "up")


def max_t(p: Array) -> Array:
    """Step-down maximum of the shared bootstrap draws (Romano & Wolf 2005).

    Each difference is held against the largest centred difference, resample by resample, of all
    pairs that are not yet rejected. As all pairs share their resamples, what they have in common
    is not paid for twice. The family-wise error rate is controlled as far as the bootstrap
    approximates the joint distribution: with 300 units or more. Reports count in the draws, with
    `joint.step_down_counts`; from p-values alone only Bonferroni's bound is known, given here.

    Args:
        p: (..., m) p-values, families along the last axis.

    Returns:
        (..., m) upper bounds of the adjusted p-values.

    Romano & Wolf (2005), "Exact and Approximate Stepdown Methods for Multiple Hypothesis Testing".

    Examples:
        The larger difference, 1.1, is held against the larger of both draws, five times; the
        smaller one can be no surer than it:

        >>> from sigtest.significance.joint import step_down_counts
        >>> draws = np.array([[0.1, 2.0, 0.3, 1.5, 0.2], [0.0, 0.1, 1.2, 0.3, 0.2]])
        >>> step_down_counts(np.array([1.1, 0.5]), lambda pair: draws[pair], 5).tolist()
        [3, 3]
    """
    return bonferroni(p)


def tukey(p: Array) -> Array:
    """Randomised honest significant difference: each difference against the range of all systems.

    The labels of all systems are permuted within each unit, and each difference is held against
    the best minus the worst score of each permutation. The family-wise error rate is controlled
    while all systems are exchangeable, and not where some of them differ. Reports count in the
    draws, with `joint.range_counts`; from p-values alone only Bonferroni's bound is known, given
    here.

    Args:
        p: (..., m) p-values, families along the last axis.

    Returns:
        (..., m) upper bounds of the adjusted p-values.

    Carterette (2012), "Multiple Testing in Statistical Analysis of Systems-Based Information
    Retrieval Experiments".

    Examples:
        >>> from sigtest.significance.joint import range_counts
        >>> range_counts(np.array([1.0, 2.0]), np.array([0.5, 1.0, 1.7])).tolist()
        [2, 0]
    """
    return bonferroni(p)


HOLM = Correction(
    "holm", "Holm", holm, _times_left, "down", familywise=True, papers=("holm-1979-simple",)
)
BONFERRONI = Correction(
    "bonferroni", "Bonferroni", bonferroni, _times_all, "single", familywise=True,
    papers=("dunn-1961-multiple",),
)  # fmt: skip
SIDAK = Correction(
    "sidak", "Šidák", sidak, _any_of_all, "single", papers=("sidak-1967-rectangular",)
)
HOCHBERG = Correction(
    "hochberg", "Hochberg", hochberg, _times_left, "up", papers=("hochberg-1988-sharper",)
)
BENJAMINI_HOCHBERG = Correction(
    "benjamini_hochberg", "Benjamini-Hochberg", benjamini_hochberg, _discoveries, "up",
    papers=("benjamini-hochberg-1995-controlling",),
)  # fmt: skip
BENJAMINI_YEKUTIELI = Correction(
    "benjamini_yekutieli", "Benjamini-Yekutieli", benjamini_yekutieli,
    _dependent_discoveries, "up", papers=("benjamini-yekutieli-2001-control",),
)  # fmt: skip
NONE = Correction("none", "no correction", none, _plain, "single")
MAX_T = Correction(
    "max_t", "max-T", max_t, joint="bootstrap", familywise=True, papers=("romano-wolf-2005-exact",)
)
TUKEY = Correction(
    "tukey", "Tukey", tukey, joint="approximate_randomization", papers=("carterette-2012-multiple",)
)


def after(correction: str, comparisons: int) -> str:
    """What was done to a p-value, in words that follow it; nothing where nothing was."""
    if correction == "none" or comparisons == 1:
        return ""
    return f" after {CORRECTIONS[correction].title} over {comparisons:,} comparisons"


def adjust(p: Array, correction: str, family: int | None = None) -> Array:
    """Adjusted p-values of families along the last axis: (..., k) to (..., k).

    Args:
        p: p-values of the pairs at hand.
        correction: In CORRECTIONS.
        family: Size m of the family, where it holds more pairs than are at hand; those not seen
            yet have p = 1. By default there are no others.

    Raises:
        RecipeError: A family too small for the pairs at hand.
    """
    return CORRECTIONS[correction].adjust(padded(p, family))[..., : p.shape[-1]]


def padded(p: Array, family: int | None) -> Array:
    """The p-values of a whole family, (..., k) to (..., m): 1 where a pair is not seen yet.

    Raises:
        RecipeError: A family too small for the pairs at hand.
    """
    seen = p.shape[-1]
    if family is None or family == seen:
        return p
    if family < seen:
        raise RecipeError(f"A family of {family} pairs cannot hold {seen}.", field="family")
    unseen = np.ones((*p.shape[:-1], family - seen))
    return np.concatenate([p, unseen], axis=-1)
