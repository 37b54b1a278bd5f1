"""chrF and chrF++ as sacreBLEU computes them (Popović 2015, 2017)."""

from __future__ import annotations

from dataclasses import dataclass
from functools import cached_property
from typing import ClassVar

import numpy as np
import sacrebleu
from sacrebleu.metrics.chrf import CHRF

from sigtest.arrays import Array
from sigtest.compiled import compiled
from sigtest.errors import RecipeError
from sigtest.metrics.base import Metric
from sigtest.metrics.extraction import sacrebleu_statistics
from sigtest.testset import System, TestSet


@dataclass(frozen=True)
class Chrf(Metric):
    """chrF, 0 to 100. Statistics per order: n-grams of hypothesis, of reference, matches.

    Attributes:
        char_order: Longest character n-gram.
        word_order: Longest word n-gram; 2 makes it chrF++.
        beta: Weight of recall against precision.
        lowercase: Ignore case.
        whitespace: Keep white space in character n-grams.
        eps_smoothing: Smooth with epsilon as chrF++.py, Moses and NLTK do.
    """

    name: ClassVar[str] = "chrf"

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

    @cached_property
    def reference_program(self) -> CHRF:
        """SacreBLEU's own metric with these options."""
        return CHRF(
            char_order=self.char_order,
            word_order=self.word_order,
            beta=self.beta,
            lowercase=self.lowercase,
            whitespace=self.whitespace,
            eps_smoothing=self.eps_smoothing,
        )

    @property
    def width(self) -> int:
        return 3 * (self.char_order + self.word_order)

    @property
    def implementation(self) -> str:
        return f"sacrebleu:{sacrebleu.__version__}"

    def statistics(self, testset: TestSet, system: System) -> Array:
        return sacrebleu_statistics(self.reference_program, testset, self.hypotheses(system))

    def formula(self, sums: Array) -> Array:
        return _chrf(sums, float(self.beta**2), self.eps_smoothing)


@dataclass(frozen=True)
class ChrfPlusPlus(Chrf):
    """chrF++: chrF with word n-grams up to order 2."""

    name: ClassVar[str] = "chrf++"

    word_order: int = 2


@compiled
def _chrf(sums: Array, factor: float, epsilon_smoothing: bool) -> Array:
    """ChrF of (3 * orders, N) sums, as `CHRF._compute_f_score` has it."""
    epsilon = 1e-16
    orders = sums.shape[0] // 3
    size = sums.shape[1]
    smoothed = np.zeros(size)
    precision = np.zeros(size)
    recall = np.zeros(size)
    used = np.zeros(size)
    for g in range(orders):
        given, wanted, matched = sums[3 * g], sums[3 * g + 1], sums[3 * g + 2]
        p = np.where(given > 0, matched / np.maximum(given, 1.0), epsilon)
        r = np.where(wanted > 0, matched / np.maximum(wanted, 1.0), epsilon)
        if epsilon_smoothing:
            below = factor * p + r
            f = (1.0 + factor) * p * r / np.where(below > 0, below, 1.0)
            smoothed = smoothed + np.where(below > 0, f, epsilon)
        counted = np.where((given > 0) & (wanted > 0), 1.0, 0.0)
        precision = precision + counted * p
        recall = recall + counted * r
        used = used + counted
    if epsilon_smoothing:
        return 100.0 * smoothed / orders
    precision = precision / np.maximum(used, 1.0)
    recall = recall / np.maximum(used, 1.0)
    below = factor * precision + recall
    f = (1.0 + factor) * precision * recall / np.where(below > 0, below, 1.0)
    return 100.0 * f
