"""chrF and chrF++ as sacreBLEU computes them (Popović 2015, 2017)."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from sigtest.arrays import Array
from sigtest.compiled import compiled
from sigtest.data.testset import System, TestSet
from sigtest.errors import RecipeError
from sigtest.metrics.extraction.characters import Alphabet, chrf_statistics
from sigtest.metrics.program import SacreBleuMetric

TILE = 512  # scores worked on at a time


@dataclass(frozen=True)
class Chrf(SacreBleuMetric):
    """chrF, 0 to 100. Statistics per order: n-grams of hypothesis, of reference, matches.

    Attributes:
        char_order: Longest character n-gram.
        word_order: Longest word n-gram; 2 makes it chrF++.
        beta: Weight of recall against precision.
        lowercase: Ignore case.
        whitespace: Keep white space in character n-grams.
        eps_smoothing: Smooth with epsilon as chrF++.py, Moses and NLTK do.
    """

    name = "chrf"
    title = "chrF"
    papers = ("popovic-2015-chrf", "post-2018-call")
    program = "CHRF"

    char_order: int = 6
    word_order: int = 0
    beta: int = 2
    lowercase: bool = False
    whitespace: bool = False
    eps_smoothing: bool = False

    def __post_init__(self) -> None:
        """Check the options.

        Raises:
            RecipeError: An option outside its range.
        """
        for option, low, high in (("char_order", 1, 10), ("word_order", 0, 5), ("beta", 1, 100)):
            if not low <= getattr(self, option) <= high:
                raise RecipeError(
                    f"{self.name}'s {option} must be from {low} to {high}.", field="metrics"
                )

    @property
    def width(self) -> int:
        return 3 * (self.char_order + self.word_order)

    def statistics(self, testset: TestSet, system: System) -> Array:
        return chrf_statistics(
            testset.references,
            self.hypotheses(system),
            Alphabet(self.lowercase, self.whitespace),
            (self.char_order, self.word_order),
            self.beta,
            self.eps_smoothing,
        )

    def formula(self, sums: Array) -> Array:
        return _chrf(sums, float(self.beta**2), self.eps_smoothing)


@dataclass(frozen=True)
class ChrfPlusPlus(Chrf):
    """chrF++: chrF with word n-grams up to order 2."""

    name = "chrf++"
    title = "chrF++"
    papers = ("popovic-2017-chrf", "post-2018-call")

    word_order: int = 2


@compiled
def _chrf(sums: Array, factor: float, epsilon_smoothing: bool) -> Array:
    """Score (3 * orders, N) sums as `CHRF._compute_f_score` does.

    Plain loops over slices of rows that stay in the cache.
    """
    orders = sums.shape[0] // 3
    size = sums.shape[1]
    scores = np.empty(size)
    for first in range(0, size, TILE):
        last = min(first + TILE, size)
        here = scores[first:last]
        if epsilon_smoothing:
            _mean_of_scores(sums, first, last, orders, factor, here)
        else:
            _score_of_means(sums, first, last, orders, factor, here)
    return scores


@compiled
def _score_of_means(
    sums: Array, first: int, last: int, orders: int, factor: float, here: Array
) -> None:
    """F of the mean precision and recall over the orders that both sides have."""
    precision, recall, used = np.zeros(len(here)), np.zeros(len(here)), np.zeros(len(here))
    for g in range(orders):
        given, wanted, matched = (
            sums[3 * g, first:last],
            sums[3 * g + 1, first:last],
            sums[3 * g + 2, first:last],
        )
        for i in range(len(here)):
            counted = (given[i] > 0.0) & (wanted[i] > 0.0)
            precision[i] += matched[i] / given[i] if counted else 0.0
            recall[i] += matched[i] / wanted[i] if counted else 0.0
            used[i] += 1.0 if counted else 0.0
    for i in range(len(here)):
        orders_used = used[i] if used[i] > 0.0 else 1.0
        p = precision[i] / orders_used
        r = recall[i] / orders_used
        below = factor * p + r
        here[i] = 100.0 * ((1.0 + factor) * p * r / below if below > 0.0 else 0.0)


@compiled
def _mean_of_scores(
    sums: Array, first: int, last: int, orders: int, factor: float, here: Array
) -> None:
    """Mean of the orders' F, none of which is quite 0: chrF as its first program had it."""
    epsilon = 1e-16
    here[:] = 0.0
    for g in range(orders):
        given, wanted, matched = (
            sums[3 * g, first:last],
            sums[3 * g + 1, first:last],
            sums[3 * g + 2, first:last],
        )
        for i in range(len(here)):
            p = matched[i] / given[i] if given[i] > 0.0 else epsilon
            r = matched[i] / wanted[i] if wanted[i] > 0.0 else epsilon
            below = factor * p + r
            here[i] += (1.0 + factor) * p * r / below if below > 0.0 else epsilon
    for i in range(len(here)):
        here[i] = 100.0 * (here[i] / orders)
