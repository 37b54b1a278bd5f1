"""What a significance test is: a null hypothesis, and where its p-value comes from.

Most tests hold an observed difference against pseudo-statistics and count; some have a p-value of
their own, from the units themselves.
"""

from __future__ import annotations

import math
from abc import ABC, abstractmethod
from copy import copy
from dataclasses import dataclass
from typing import TYPE_CHECKING, ClassVar, Literal, Self

import numpy as np

from sigtest.arrays import Array, Counts, Flags
from sigtest.significance import Alternative, Design
from sigtest.special import log_ndtr

if TYPE_CHECKING:  # tests of judgements need no metrics
    from sigtest.metrics import Metric

Draws = Literal["counts", "swaps", "studentised", "none"]

SLACK = 1e-11  # many times what rounding of exact sums and their scores adds
SMALLEST_P = 1e-300
MANY = 600  # units: where large documents differ otherwise than small ones, one-sided .06 at .05


def slack(scores_a: Array, scores_b: Array) -> Array:
    """How far two scores may be apart and still be tied: rounding must not break a tie."""
    return SLACK * np.maximum(np.abs(scores_a), np.abs(scores_b))


def row_differences(metric: Metric, a: Array, b: Array) -> tuple[Array, Array]:
    """Oriented differences of the scores of each row, and the slack within which each is tied.

    Args:
        metric: Scores each row by itself.
        a: (n, k) statistics of the first system: of its units, or one row of their sums.
        b: (n, k) statistics of the second.

    Returns:
        (n,) differences a - b, positive where a is better, and (n,) slack.
    """
    scores_a, scores_b = metric.score(a), metric.score(b)
    return metric.sign * (scores_a - scores_b), slack(scores_a, scores_b)


class SignificanceTest(ABC):
    """What all tests have, wherever their p-values come from.

    A test states a null hypothesis, and how likely a difference at least as extreme as the observed
    one is where that holds: its p-value. A test that counts makes R pseudo-statistics under the
    null hypothesis; with c of them at least as extreme, p is (c + 1) / (R + 1) (Phipson & Smyth
    2010), so that a true null hypothesis is rejected at level alpha at most that often where the
    pseudo-statistics are exchangeable with the observed one.

    Differences are oriented before they come here: positive means that a is better.

    Attributes:
        name: Its name in recipes and reports.
        title: Its name in sentences, where it is not `name` with blanks.
        papers: Keys of the papers to cite (`papers.bib`).
        draws: Whether its pseudo-statistics come from bootstrap `counts`, from the same
            `studentised`, from `swaps`, or from nowhere, because it has a p-value of its own.
        null: The null hypothesis, in words that follow "the null hypothesis of".
        calibrated: Whether a true null hypothesis is rejected as often as alpha says, with units
            enough and differences that are not too skewed.
        least_units: How many units are enough.
        least_even: Evenness of their weights from which it does not matter; nor does it where as
            many as `MANY` units of equal weight say as much.
        most_skewed: Skewness of the bootstrap distribution up to which differences are not; for
            means that is the skewness of differences over the square root of the units.
        most_hidden: Share of the variance that resamples may lack, as they do in small strata.
        by_signs: Whether it counts exchanges of units, each of which has two sides: of n units no
            p-value is below .5**n.
        caution: What the report says where it is used, if anything.
        designs: Whether it compares systems on common items, on items of their own, or a system
            with a number.

    Examples:
        A difference of 1.0 held against R = 4 exchanges of labels, two of which reach it:

        >>> import numpy as np
        >>> from sigtest.significance import TESTS
        >>> from sigtest.significance.intervals import p_value
        >>> test = TESTS["approximate_randomization"]
        >>> test.null
        'exchangeable labels'
        >>> observed, draws = np.array([1.0]), np.array([[0.5, -2.0, 1.0, -0.5]])
        >>> count = test.count(observed, draws, np.array([1e-9]), "two-sided")
        >>> p_value(count, resamples=4).tolist()
        [0.6]
        >>> TESTS["bootstrap"].keeps_level(100, 0.0)  # too few units
        False
    """

    name: ClassVar[str]
    title: ClassVar[str] = ""
    papers: ClassVar[tuple[str, ...]] = ()
    draws: ClassVar[Draws]
    null: ClassVar[str]
    calibrated: ClassVar[bool] = True
    least_units: ClassVar[int] = 0
    least_even: ClassVar[float] = 0.0
    most_skewed: ClassVar[float] = math.inf
    most_hidden: ClassVar[float] = math.inf
    by_signs: ClassVar[bool] = False
    caution: ClassVar[str | None] = None
    designs: ClassVar[tuple[Design, ...]] = ("paired",)

    @property
    def words(self) -> str:
        """What sentences call it."""
        return self.title or self.name.replace("_", " ")

    def keeps_level(
        self, units: float, skewness: float, hidden: float = 0.0, evenness: float = 1.0
    ) -> bool:
        """Whether a true null hypothesis is rejected as often as alpha says, on such data."""
        return self.level_doubt(units, skewness, hidden, evenness) is None

    def level_doubt(
        self, units: float, skewness: float, hidden: float = 0.0, evenness: float = 1.0
    ) -> str | None:
        """Why a true null hypothesis is not rejected as often as alpha says, as a warning's code.

        Args:
            units: How many tell as much in one stratum.
            skewness: Of the bootstrap distribution of the difference.
            hidden: Share of the variance that resamples lack.
            evenness: Which share of the units, were they of equal weight, would say as much.
        """
        effective = units * evenness
        if not self.calibrated:
            return "test"
        if units < self.least_units:
            return "few-units"
        uneven = evenness < self.least_even and effective < MANY
        if uneven or effective < self.least_units:
            return "unequal-units"
        if hidden > self.most_hidden:
            return "small-strata"
        return None if abs(skewness) <= self.most_skewed else "skewed"

    def sides(self, alternative: Alternative) -> int:
        """How many one-sided tests the p-value adds up."""
        return 1

    def stated_alternative(self, alternative: Alternative) -> str:
        """The alternative as the report states it."""
        return alternative


class ResamplingTest(SignificanceTest):
    """Counts the pseudo-statistics that are at least as extreme as an observed difference.

    Attributes:
        directed: Whether what is held against the difference has a sign, or is a length.
        plural: What its pseudo-statistics are called in pictures.
        centred: Whether they are shifted by an estimate, where their mean is not known.
        middle: (P,) what is subtracted, where `around` said so.
    """

    directed: ClassVar[bool] = True
    plural: ClassVar[str] = "pseudo-statistics"
    centred: ClassVar[bool] = False
    middle: Array | None = None

    def around(self, centre: Array) -> Self:
        """The test with (P,) centres of its own, in the place of those of the draws."""
        moved = copy(self)
        moved.middle = centre
        return moved

    def null_draws(self, draws: Array, alternative: Alternative) -> Array:
        """The distribution that the observed difference is held against: (P, R) to (P, R)."""
        return draws

    @abstractmethod
    def extreme(
        self, observed: Array, null: Array, tolerance: Array, alternative: Alternative
    ) -> Flags:
        """Say which pseudo-statistics are at least as extreme as the observed difference.

        This is the definition of the test; reports and pictures both follow it.

        Args:
            observed: (P,) differences a - b.
            null: (P, R) what `null_draws` makes of the pseudo-statistics.
            tolerance: (P,) slack within which two numbers are tied.
            alternative: The claim; `greater` says that a is better.

        Returns:
            (P, R) flags.
        """

    def count(
        self, observed: Array, draws: Array, tolerance: Array, alternative: Alternative
    ) -> Counts:
        """Count the pseudo-statistics that `extreme` says are; a test may do it faster.

        Args:
            observed: (P,) differences a - b.
            draws: (P, R) pseudo-statistics. For `swaps`, counts of parts of R may be added up;
                for `counts` all R are needed at once.
            tolerance: (P,) slack within which two numbers are tied.
            alternative: The claim.

        Returns:
            (P,) counts.
        """
        null = self.null_draws(draws, alternative)
        return np.count_nonzero(self.extreme(observed, null, tolerance, alternative), axis=1)

    def limits(self, observed: float, alternative: Alternative) -> tuple[float, ...]:
        """Where counting begins on the axis of `null_draws`, as pictures mark it."""
        return (observed, -observed) if alternative == "two-sided" else (observed,)


@dataclass(frozen=True)
class UnitP:
    """A p-value that no draws are counted for.

    Attributes:
        p_value: Never below 1e-300.
        log10_p: Its decimal logarithm, which may be lower.
        exact: Whether it is a probability under the null hypothesis, and no approximation of one.
        statistic: What was held against its null distribution, where the test has such a number.
        df: Degrees of freedom, where there are any.
        ahead: Positive where the test finds a ahead, negative where b; scores may say otherwise.
        stretches: How many the test looked at, where it cuts texts into some.
        count: Always nothing; draws are counted by other tests.
        patterns: Always nothing, too.
    """

    p_value: float
    log10_p: float
    exact: bool
    statistic: float | None = None
    df: float | None = None
    ahead: float = 0.0
    stretches: int | None = None
    count: None = None
    patterns: None = None

    @classmethod
    def of_log10(
        cls,
        log10_p: float,
        *,
        exact: bool,
        statistic: float | None,
        df: float | None = None,
        ahead: float = 0.0,
        stretches: int | None = None,
    ) -> UnitP:
        """From the decimal logarithm of a p-value."""
        return cls(max(SMALLEST_P, 10.0**log10_p), log10_p, exact, statistic, df, ahead, stretches)


class UnitsTest(SignificanceTest):
    """Has a p-value of its own: a function of the units' statistics, without any draws.

    Attributes:
        fewest_units: How many units it needs to say anything.
        by_word: Whether it looks at a metric's `words` in the place of units' statistics.
        by_segment: Whether it looks at each segment, which documents cannot stand for.
    """

    draws = "none"
    fewest_units: ClassVar[int] = 1
    by_word: ClassVar[bool] = False
    by_segment: ClassVar[bool] = False

    def check(self, metric: Metric, rows: Array | None = None) -> None:
        """Check, before anything is computed, that the test can use this metric.

        Args:
            metric: What scores units.
            rows: (n, k) statistics of the segments of a system, where they are its units.

        Raises:
            RecipeError: It cannot.
            InputError: It cannot use these statistics.
        """
        return

    @abstractmethod
    def p(self, metric: Metric, a: Array, b: Array, alternative: Alternative) -> UnitP:
        """The p-value of one pair.

        Args:
            metric: Scores sums of units, and units.
            a: (n, k) statistics of the first system's units, or what `by_word` says.
            b: The same of the second's.
            alternative: The claim; `greater` says that a is better.

        Raises:
            InputError: Statistics that the test cannot use.
        """


def claim(values: Array, alternative: Alternative) -> Array:
    """Turn round what is claimed of a to be less, so that both claims read `greater`."""
    return -values if alternative == "less" else values


def extremity(differences: Array, alternative: Alternative) -> Array:
    """How far differences go in the direction that is claimed; in either, where none is."""
    return np.abs(differences) if alternative == "two-sided" else claim(differences, alternative)


def normal_log10_p(z: float, alternative: Alternative) -> float:
    """The decimal logarithm of the p-value of a standard normal deviate, large where a is ahead."""
    reach = float(extremity(np.array(z), alternative))
    sides = 2 if alternative == "two-sided" else 1
    return min(0.0, math.log(sides) + float(log_ndtr(-reach))) / math.log(10)


def reaching(observed: Array, null: Array, tolerance: Array, alternative: Alternative) -> Flags:
    """(P, R) which of the null draws go as far as the (P,) observed differences, or further."""
    least = extremity(observed, alternative) - tolerance
    return extremity(null, alternative) >= least[:, None]
