"""Approximate randomization: would exchanging labels at random separate two systems this far?"""

from __future__ import annotations

from typing import ClassVar, Literal

import numpy as np

from sigtest.arrays import Array, Counts
from sigtest.significance.base import Alternative, SignificanceTest, extremity
from sigtest.significance.counting import count_reaching


class ApproximateRandomization(SignificanceTest):
    """Riezler & Maxwell (2005), Figure 1; Graham, Mathur & Baldwin (2014), Figure 2."""

    name: ClassVar[str] = "approximate_randomization"
    draws: ClassVar[Literal["counts", "swaps"]] = "swaps"

    def count(
        self, observed: Array, draws: Array, tolerance: Array, alternative: Alternative
    ) -> Counts:
        least = extremity(observed, alternative) - tolerance
        return count_reaching(draws, np.zeros(len(draws)), least, alternative)
