"""What a significance test is: which draws it looks at, and what it counts in them."""

from __future__ import annotations

from abc import ABC, abstractmethod
from typing import ClassVar, Literal

import numpy as np

from sigtest.arrays import Array, Counts

Alternative = Literal["two-sided", "greater", "less"]
ALTERNATIVES: tuple[Alternative, ...] = ("two-sided", "greater", "less")

SLACK = 1e-9


def slack(scores_a: Array, scores_b: Array) -> Array:
    """How far two scores may be apart and still be tied: rounding must not break a tie."""
    return SLACK * np.maximum(np.abs(scores_a), np.abs(scores_b))


class SignificanceTest(ABC):
    """Compares an observed difference with its pseudo-statistics.

    Differences are oriented before they come here: positive means that a is better.

    Attributes:
        name: Its name in recipes and reports.
        draws: Whether its pseudo-statistics come from bootstrap `counts` or from `swaps`.
        directed: Whether its pseudo-statistics are differences with a sign, not lengths.
        calibrated: Whether a true null hypothesis is rejected as often as alpha says.
        caution: What the report says where it is used, if anything.
    """

    name: ClassVar[str]
    draws: ClassVar[Literal["counts", "swaps"]]
    directed: ClassVar[bool] = True
    calibrated: ClassVar[bool] = True
    caution: ClassVar[str | None] = None

    @abstractmethod
    def count(
        self, observed: Array, draws: Array, tolerance: Array, alternative: Alternative
    ) -> Counts:
        """Count the pseudo-statistics at least as extreme as the observed difference.

        Args:
            observed: (P,) differences a - b.
            draws: (P, R) pseudo-statistics. For `swaps`, counts of parts of R may be added up;
                for `counts` all R are needed at once.
            tolerance: (P,) slack within which two numbers are tied.
            alternative: The claim; `greater` says that a is better.

        Returns:
            (P,) counts.
        """

    def null_draws(self, draws: Array, alternative: Alternative) -> Array:
        """The distribution that the observed difference is held against: (P, R) to (P, R)."""
        return draws

    def sides(self, alternative: Alternative) -> int:
        """How many one-sided tests the p-value adds up."""
        return 1

    def shown_alternative(self, alternative: Alternative) -> str:
        """The alternative as the report states it."""
        return alternative


def claim(values: Array, alternative: Alternative) -> Array:
    """Turn round what is claimed of a to be less, so that both claims read `greater`."""
    return -values if alternative == "less" else values


def extremity(differences: Array, alternative: Alternative) -> Array:
    """How far differences go in the direction that is claimed; in either, where none is."""
    return np.abs(differences) if alternative == "two-sided" else claim(differences, alternative)
