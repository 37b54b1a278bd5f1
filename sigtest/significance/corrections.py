"""Corrections for many comparisons: p-values of one family in, adjusted p-values out.

A family is all pairs of one metric and one significance test. It may be larger than the pairs at
hand: pairs not seen yet have p = 1. Every correction looks at the p-values alone, but for those
with a `joint` test, which count in the draws of all pairs together (at the end).

Each sorted p-value is multiplied by a factor, and then passed along the ranks. A single-step
correction looks at no rank; a step-down one begins with the smallest p-value and stops at the first
that is not rejected; a step-up one begins with the largest and stops at the first that is.
"""

import math
from collections.abc import Callable
from dataclasses import dataclass
from functools import lru_cache
from typing import Literal

import numpy as np

from sigtest.arrays import Array, Counts, Flags
from sigtest.errors import RecipeError
from sigtest.significance import CORRECTIONS

# What p-values at some ranks of a family of m are held against alpha with: (p, ranks, m). A larger
# p-value at the same rank must not give less.
Scale = Callable[[Array, Array, int], Array]
Direction = Literal["single", "down", "up"]


def stepped(p: Array, scale: Scale, direction: Direction) -> Array:
    """Adjusted p-values of families along the last axis: (..., m) to (..., m).

    Args:
        p: p-values.
        scale: What is held against alpha at each rank.
        direction: Which way the ranks are passed.
    """
    m = p.shape[-1]
    ranks = np.arange(1, m + 1, dtype=float)
    if direction == "single":
        return np.minimum(1.0, scale(p, np.ones(m), m))
    order = np.argsort(p, axis=-1, kind="stable")
    scaled = scale(np.take_along_axis(p, order, axis=-1), ranks, m)
    if direction == "down":
        passed = np.maximum.accumulate(scaled, axis=-1)
    else:
        passed = np.minimum.accumulate(scaled[..., ::-1], axis=-1)[..., ::-1]
    adjusted = np.empty_like(p)
    np.put_along_axis(adjusted, order, np.minimum(1.0, passed), axis=-1)
    return adjusted


def rejected_alone(
    p: Array, moved: Array, scale: Scale, direction: Direction, alpha: float
) -> Flags:
    """Whether each hypothesis is rejected with its own p-value moved and all others staying put.

    The same products are compared as in adjusting the family once for each of them, so that the
    decisions are the same to the last bit.

    Args:
        p: (m,) p-values of one family.
        moved: (m,) what each p-value becomes.
        scale: What is held against alpha at each rank.
        direction: Which way the ranks are passed.
        alpha: Level.

    Returns:
        (m,) flags.
    """
    m = len(p)
    if direction == "single":
        return scale(moved, np.ones(m), m) <= alpha
    order = np.argsort(p, kind="stable")
    ordered = p[order]
    place = np.empty(m, int)
    place[order] = np.arange(1, m + 1)
    others_up_to = np.searchsorted(ordered, moved, side="right") - (p <= moved)
    rejected = _rejected_down if direction == "down" else _rejected_up
    return rejected(ordered, place, moved, others_up_to, scale, alpha)


def _rejected_down(
    ordered: Array, place: Counts, moved: Array, others_up_to: Counts, scale: Scale, alpha: float
) -> Flags:
    m = len(ordered)
    ranks = np.arange(1, m + 1, dtype=float)
    passed = scale(ordered, ranks, m) <= alpha
    # where one before it is out, each but the first passes one rank lower
    passed_before = scale(ordered[1:], ranks[:-1], m) <= alpha
    first_failure = int(np.argmin(passed)) if not passed.all() else m
    # the first after each place that fails one rank lower
    failures = np.where(passed_before, m, np.arange(1, m))
    after = np.append(np.minimum.accumulate(failures[::-1])[::-1], m)
    # how many of the others are rejected in a row where the one at each rank is left out
    others = np.where(np.arange(m) <= first_failure, after - 1, first_failure)
    # behind one that is not rejected it is held to that one's rank, with a larger p-value
    rank: Array = np.minimum(others_up_to, others[place - 1]).astype(float) + 1.0
    return scale(moved, rank, m) <= alpha


def _rejected_up(
    ordered: Array, place: Counts, moved: Array, others_up_to: Counts, scale: Scale, alpha: float
) -> Flags:
    m = len(ordered)
    ranks = np.arange(1, m + 1, dtype=float)
    stays = scale(ordered, ranks, m) <= alpha
    shifted = scale(ordered[:-1], ranks[1:], m) <= alpha
    best_after = int(ranks[stays].max(initial=0.0))
    best_before = np.maximum.accumulate(np.where(shifted, ranks[1:], 0.0))
    before = np.concatenate([[0.0], best_before])[place - 1]
    best = np.where(best_after > place, best_after, before)
    own: Array = others_up_to.astype(float) + 1.0
    return (own < best) | (scale(moved, own, m) <= alpha)


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


def by_rank(
    title: str,
    direction: Direction,
    papers: tuple[str, ...] = (),
    *,
    familywise: bool = False,
    joint: str | None = None,
) -> Callable[[Scale], Correction]:
    """Make a correction of its scale, whose name and docstring it has."""

    def made(scale: Scale) -> Correction:
        def adjust(p: Array) -> Array:
            return stepped(p, scale, direction)

        adjust.__doc__ = scale.__doc__
        return Correction(
            scale.__name__, title, adjust, scale, direction, joint, familywise, papers
        )

    return made


@by_rank("no correction", "single")
def none(p: Array, ranks: Array, m: int) -> Array:
    """No correction.

    Each comparison keeps its own error rate alpha; the chance of at least one false claim in the
    family grows with its size, to 1 - (1 - alpha)**m where the comparisons are independent.

    Examples:
        >>> adjust(np.array([0.01, 0.04]), "none").tolist()
        [0.01, 0.04]
    """
    return p


@by_rank("Bonferroni", "single", ("dunn-1961-multiple",), familywise=True)
def bonferroni(p: Array, ranks: Array, m: int) -> Array:
    """The p-value times m (Dunn 1961); valid under any dependence.

    The chance of any false claim is at most the sum of the chances of each: m times alpha / m
    (Boole's inequality). That controls the family-wise error rate however the comparisons depend
    on each other, and whichever null hypotheses are true. Holm's correction does the same and
    never rejects less.

    Dunn (1961), "Multiple Comparisons Among Means".

    Examples:
        >>> adjust(np.array([0.01, 0.02, 0.5]), "bonferroni").tolist()
        [0.03, 0.06, 1.0]
    """
    return p * m


@by_rank("Šidák", "single", ("sidak-1967-rectangular",))
def sidak(p: Array, ranks: Array, m: int) -> Array:
    """1 - (1 - p)**m (Šidák 1967); for independent or positively dependent tests.

    Of m independent comparisons without any difference none is claimed with chance
    (1 - alpha)**m; the level of each is chosen so that this is 1 - alpha. It controls the
    family-wise error rate of independent comparisons exactly, and that of two-sided tests of
    jointly normal statistics. Under other dependence it may not; it gains little over Bonferroni.

    Šidák (1967), "Rectangular Confidence Regions for the Means of Multivariate Normal
    Distributions".

    Examples:
        >>> adjust(np.array([0.01, 0.02]), "sidak").round(6).tolist()
        [0.0199, 0.0396]
    """
    # log(0) would be infinite; 1 - 1e-16 is the largest double below 1
    return -np.expm1(m * np.log1p(-np.minimum(p, 1 - 1e-16)))


@by_rank("Holm", "down", ("holm-1979-simple",), familywise=True)
def holm(p: Array, ranks: Array, m: int) -> Array:
    """Step-down Bonferroni (Holm 1979); valid under any dependence, never weaker than it.

    The smallest p-value is multiplied by m, the next by m - 1, and so on; the first that is not
    rejected ends the row. When the first true null hypothesis comes to be tested, at least as many
    hypotheses are left as are true, so that its factor serves Bonferroni's inequality over these:
    the family-wise error rate is controlled however the comparisons depend on each other.

    Holm (1979), "A Simple Sequentially Rejective Multiple Test Procedure".

    Examples:
        >>> adjust(np.array([0.03, 0.01, 0.5]), "holm").tolist()
        [0.06, 0.03, 0.5]

        Of a family of six pairs these three have been seen:

        >>> adjust(np.array([0.03, 0.01, 0.5]), "holm", family=6).tolist()
        [0.15, 0.06, 1.0]
    """
    return p * (m - (ranks - 1.0))


@by_rank("Hochberg", "up", ("hochberg-1988-sharper",))
def hochberg(p: Array, ranks: Array, m: int) -> Array:
    """Step-up Bonferroni (Hochberg 1988); for independent or positively dependent tests.

    Holm's factors, passed from the largest p-value downwards: the first that is rejected takes all
    smaller ones with it. It rejects whatever Holm's correction rejects. The family-wise error rate
    is controlled where Simes' inequality holds: for independent comparisons, and many with
    positive dependence. Pairs that share a system also depend on each other negatively, for which
    there is no proof.

    Hochberg (1988), "A Sharper Bonferroni Procedure for Multiple Tests of Significance".

    Examples:
        >>> adjust(np.array([0.03, 0.04, 0.04]), "hochberg").tolist()
        [0.04, 0.04, 0.04]
    """
    return p * (m - (ranks - 1.0))


@by_rank("Benjamini-Hochberg", "up", ("benjamini-hochberg-1995-controlling",))
def benjamini_hochberg(p: Array, ranks: Array, m: int) -> Array:
    """False discovery rate (Benjamini & Hochberg 1995).

    The k-th smallest p-value is multiplied by m / k, from the largest downwards. Of all claims the
    expected share of false ones is at most alpha; any single claim is less sure than under a
    correction of the family-wise error rate. Proven for independent comparisons and for those with
    positive dependence on each true null hypothesis (Benjamini & Yekutieli 2001).

    Benjamini & Hochberg (1995), "Controlling the False Discovery Rate".

    Examples:
        >>> adjust(np.array([0.01, 0.02, 0.5]), "benjamini_hochberg").tolist()
        [0.03, 0.03, 0.5]
    """
    return p * m / ranks


@by_rank("Benjamini-Yekutieli", "up", ("benjamini-yekutieli-2001-control",))
def benjamini_yekutieli(p: Array, ranks: Array, m: int) -> Array:
    """False discovery rate under any dependence (Benjamini & Yekutieli 2001).

    As Benjamini and Hochberg's, times 1 + 1/2 + ... + 1/m, which pays for the worst dependence
    there can be; with many pairs it is often stricter than Holm's.

    Benjamini & Yekutieli (2001), "The Control of the False Discovery Rate in Multiple Testing
    under Dependency", theorem 1.3.

    Examples:
        >>> adjust(np.array([0.01, 0.5]), "benjamini_yekutieli").tolist()
        [0.03, 0.75]
    """
    harmonic = float((1.0 / np.arange(1, m + 1, dtype=float)).sum())
    return p * (m * harmonic) / ranks


@by_rank("max-T", "single", ("romano-wolf-2005-exact",), familywise=True, joint="bootstrap")
def max_t(p: Array, ranks: Array, m: int) -> Array:
    """Step-down maximum of the shared bootstrap draws (Romano & Wolf 2005).

    Each difference is held against the largest centred difference, resample by resample, of all
    pairs that are not yet rejected. As all pairs share their resamples, what they have in common
    is not paid for twice. The family-wise error rate is controlled as far as the bootstrap
    approximates the joint distribution: with 300 units or more. Reports count in the draws, with
    `step_down_counts`; from p-values alone only Bonferroni's bound is known, given here.

    Romano & Wolf (2005), "Exact and Approximate Stepdown Methods for Multiple Hypothesis Testing".

    Examples:
        The larger difference, 1.1, is held against the larger of both draws, five times; the
        smaller one can be no surer than it:

        >>> draws = np.array([[0.1, 2.0, 0.3, 1.5, 0.2], [0.0, 0.1, 1.2, 0.3, 0.2]])
        >>> step_down_counts(np.array([1.1, 0.5]), lambda pair: draws[pair], 5).tolist()
        [3, 3]
    """
    return p * m


@by_rank("Tukey", "single", ("carterette-2012-multiple",), joint="approximate_randomization")
def tukey(p: Array, ranks: Array, m: int) -> Array:
    """Randomised honest significant difference: each difference against the range of all systems.

    The labels of all systems are permuted within each unit, and each difference is held against
    the best minus the worst score of each permutation. The family-wise error rate is controlled
    while all systems are exchangeable, and not where some of them differ. Reports count in the
    draws, with `range_counts`; from p-values alone only Bonferroni's bound is known, given
    here.

    Carterette (2012), "Multiple Testing in Statistical Analysis of Systems-Based Information
    Retrieval Experiments".

    Examples:
        >>> range_counts(np.array([1.0, 2.0]), np.array([0.5, 1.0, 1.7])).tolist()
        [2, 0]
    """
    return p * m


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


HALVINGS = 60  # of an interval of exponents: as near as a double can tell
LEAST = 1e-300


def undecided(
    p: Array,
    low: Array,
    high: Array,
    correction: str,
    alpha: float,
    family: int | None = None,
) -> Flags:
    """Which corrected decisions differ between the ends of their p-values' intervals.

    Each p is moved to its ends alone, the others staying where they are.

    Args:
        p: (k,) p-values of the pairs at hand.
        low: (k,) lower ends.
        high: (k,) upper ends.
        correction: Name of the correction.
        alpha: Level.
        family: Size of the family, where it holds more pairs than are at hand.

    Returns:
        (k,) flags.
    """
    at_low, at_high = (_rejected(p, end, correction, alpha, family) for end in (low, high))
    return at_low != at_high


def _rejected(p: Array, moved: Array, correction: str, alpha: float, family: int | None) -> Flags:
    """Whether each of (k,) hypotheses is rejected with its own p-value moved alone."""
    scale, direction = CORRECTIONS[correction].scale, CORRECTIONS[correction].direction
    if scale is not None and direction is not None:
        whole, ends = padded(p, family), padded(moved, family)
        return rejected_alone(whole, ends, scale, direction, alpha)[: len(p)]
    rejected = np.empty(len(p), bool)
    for i in range(len(p)):
        one_moved = p.copy()
        one_moved[i] = moved[i]
        rejected[i] = adjust(one_moved, correction, family)[i] <= alpha
    return rejected


def critical_value(
    p: Array, i: int, correction: str, alpha: float, family: int | None = None
) -> float:
    """Largest value of p[i] at which comparison i is significant, the others staying put.

    Args:
        p: (k,) p-values of the pairs at hand.
        i: The comparison.
        correction: Name of the correction.
        alpha: Level.
        family: Size of the family, where it holds more pairs than are at hand.
    """
    low, high = 0.0, 1.0
    moved = p.copy()
    for _ in range(HALVINGS):
        # halves the exponent first, so that tiny values are found as precisely as large ones
        moved[i] = math.sqrt(max(low, LEAST) * high)
        if adjust(moved, correction, family)[i] <= alpha:
            low = moved[i]
        else:
            high = moved[i]
    return low


def smallest_attainable(
    correction: str, comparisons: int, smallest: float, family: int | None = None
) -> float:
    """Adjusted p-value of a family in which every p is the smallest that resampling can give.

    Args:
        correction: Name of the correction.
        comparisons: Pairs at hand.
        smallest: The smallest p-value.
        family: Size of the family, where it holds more pairs than are at hand.
    """
    if CORRECTIONS[correction].joint:
        return smallest
    return float(adjust(np.full(comparisons, smallest), correction, family)[0])


def strictest_level(correction: str, comparisons: int, alpha: float) -> float:
    """Level at which a lone small p-value is significant after correction."""
    return _strictest_level(CORRECTIONS[correction], comparisons, alpha)


@lru_cache(maxsize=256)
def _strictest_level(correction: Correction, comparisons: int, alpha: float) -> float:
    return critical_value(np.ones(comparisons), 0, correction.name, alpha)


def experimentwise_error(alpha: float, comparisons: int) -> float:
    """1 - (1 - alpha)**m: Riezler & Maxwell (2005), section 4.4."""
    return 1.0 - (1.0 - alpha) ** comparisons


def step_down_counts(least: Array, draws: Callable[[int], Array], resamples: int) -> Counts:
    """Counts of the step-down maximum test, from the least extreme hypothesis to the most.

    Args:
        least: (m,) how extreme a draw must be to reach each observed statistic.
        draws: Gives the (R,) extremity of one hypothesis' null draws.
        resamples: R.

    Returns:
        (m,) counts; a hypothesis' count is at least that of every more extreme one.

    Romano & Wolf (2005), "Exact and Approximate Stepdown Methods for Multiple Hypothesis Testing",
    algorithm 1, on unstudentised statistics.
    """
    order = np.argsort(least, kind="stable")
    highest = np.full(resamples, -np.inf)
    counts = np.empty(len(least), int)
    for i in order:
        highest = np.maximum(highest, draws(int(i)))
        counts[i] = np.count_nonzero(highest >= least[i])
    counts[order] = np.maximum.accumulate(counts[order][::-1])[::-1]
    return counts


def range_counts(least: Array, ranges: Array) -> Counts:
    """How many ranges of permuted systems reach each observed difference.

    Args:
        least: (m,) how far is far enough.
        ranges: (R,) best minus worst score of each permutation.

    Returns:
        (m,) counts.
    """
    return len(ranges) - np.searchsorted(np.sort(ranges), least)
