"""Tests on bootstrap resamples: shifted to the null, paired, and as printed in 2005."""

from __future__ import annotations

from typing import ClassVar, Literal

import numpy as np

from sigtest.arrays import Array, Counts
from sigtest.significance.base import Alternative, SignificanceTest, extremity
from sigtest.significance.counting import count_reaching


class Bootstrap(SignificanceTest):
    """Would resampled differences, centred on zero, reach the observed one?

    Graham, Mathur & Baldwin (2014), Figure 1 (two-sided) and Figure 3 (one-sided).
    """

    name: ClassVar[str] = "bootstrap"
    draws: ClassVar[Literal["counts", "swaps"]] = "counts"

    def count(
        self, observed: Array, draws: Array, tolerance: Array, alternative: Alternative
    ) -> Counts:
        least = extremity(observed, alternative) - tolerance
        return count_reaching(draws, self.centre(draws), least, alternative)

    def null_draws(self, draws: Array, alternative: Alternative) -> Array:
        return draws - self.centre(draws)[:, None]

    def centre(self, draws: Array) -> Array:
        """What is subtracted from (P, R) draws so that the null hypothesis holds: (P,)."""
        means: Array = draws.mean(axis=1)
        return means


class PairedBootstrap(SignificanceTest):
    """How often does the other system win on a resampled test set?

    Koehn (2004), section 3.3; Graham, Mathur & Baldwin (2014), Figure 4. The paper counts D_b < 0;
    here exact ties count against the claim, so that identical systems have p = 1.
    """

    name: ClassVar[str] = "paired_bootstrap"
    draws: ClassVar[Literal["counts", "swaps"]] = "counts"

    def count(
        self, observed: Array, draws: Array, tolerance: Array, alternative: Alternative
    ) -> Counts:
        # ties count against the claim, whichever it is
        against: dict[Alternative, tuple[Alternative, ...]]
        against = {"greater": ("less",), "less": ("greater",), "two-sided": ("less", "greater")}
        zero = np.zeros(len(draws))
        counts = [count_reaching(draws, zero, -tolerance, side) for side in against[alternative]]
        return np.min(counts, axis=0)

    def sides(self, alternative: Alternative) -> int:
        return 2 if alternative == "two-sided" else 1


class RiezlerMaxwellBootstrap(SignificanceTest):
    """The bootstrap of 2005 as printed, to reproduce the literature; not a valid test.

    Riezler & Maxwell (2005), Figure 2: abs(D_b) - mean(abs(D_b)) >= abs(D).
    """

    name: ClassVar[str] = "riezler_maxwell_bootstrap"
    draws: ClassVar[Literal["counts", "swaps"]] = "counts"
    directed: ClassVar[bool] = False
    calibrated: ClassVar[bool] = False
    caution: ClassVar[str | None] = (
        "riezler_maxwell_bootstrap takes absolute values before centring, which makes it one-sided "
        "in effect: it rejects about 11 % of true null hypotheses at a nominal 5 %. "
        "It is here to reproduce the literature; do not draw conclusions from it."
    )

    def count(
        self, observed: Array, draws: Array, tolerance: Array, alternative: Alternative
    ) -> Counts:
        reached = self.null_draws(draws, alternative) >= (np.abs(observed) - tolerance)[:, None]
        return np.count_nonzero(reached, axis=1)

    def null_draws(self, draws: Array, alternative: Alternative) -> Array:
        lengths = np.abs(draws)
        return lengths - lengths.mean(axis=1, keepdims=True)

    def shown_alternative(self, alternative: Alternative) -> str:
        return "as printed"
