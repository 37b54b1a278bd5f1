"""Student's t over paired differences of units: plain, and corrected for overlapping folds."""

from __future__ import annotations

import math
from typing import TYPE_CHECKING, ClassVar

import numpy as np

from sigtest.arrays import Array
from sigtest.significance import Alternative
from sigtest.significance.base import OwnP, OwnTest, extremity, row_differences
from sigtest.special import betainc, betaln, hyp2f1

if TYPE_CHECKING:
    from sigtest.metrics import Metric


class PairedT(OwnTest):
    """Is the mean difference far from zero, against how much the differences of units vary?

    Each unit, often a fold of a cross-validation, gives one difference of scores. Their mean over
    its standard error has Student's t distribution with n - 1 degrees of freedom if differences
    are independent and normal with mean zero; with many units it is enough that they are
    independent; few and skewed ones make it reject equal expected scores too often. Folds that
    share training data are not independent: then `corrected_t` is the better choice.
    Differences that are all alike leave no variance to hold them against: p is 1.

    Student (1908), "The Probable Error of a Mean"; Demšar (2006), section 3.1.2.

    Examples:
        >>> from sigtest.metrics.scores import Scores
        >>> a = np.array([[0.82, 1.0], [0.85, 1.0], [0.81, 1.0], [0.86, 1.0]])
        >>> b = np.array([[0.80, 1.0], [0.81, 1.0], [0.82, 1.0], [0.83, 1.0]])
        >>> found = PairedT().p(Scores(), a, b, "two-sided")
        >>> round(found.statistic, 6), found.df, round(found.p_value, 6)
        (1.85164, 3.0, 0.161162)
    """

    name = "paired_t"
    title = "the paired t-test"
    papers = ("student-1908-probable",)
    null = "normal differences with mean zero"
    fewest_units = 2  # of one there is no variance
    caution: ClassVar[str | None] = (
        "The paired t-test takes units as independent. Over the folds of one cross-validation, "
        "whose training data overlap, it rejects too many true null hypotheses; the corrected "
        "resampled t-test (corrected_t) is the test for folds."
    )

    def p(self, metric: Metric, a: Array, b: Array, alternative: Alternative) -> OwnP:
        differences, tolerance = row_differences(metric, a, b)
        units = len(differences)
        if np.ptp(differences) <= 2 * tolerance.max():
            return OwnP(1.0, 0.0, exact=False)
        variance = float(differences.var(ddof=1)) * self.share(units)
        t = float(differences.mean()) / math.sqrt(variance)
        log10_p = log10_t_tail(float(extremity(np.array(t), alternative)), units - 1)
        sides = 2 if alternative == "two-sided" else 1
        log10_p = min(0.0, math.log10(sides) + log10_p)
        return OwnP.of_log10(log10_p, exact=False, statistic=t, df=float(units - 1), ahead=t)

    def share(self, units: int) -> float:
        """How much of the variance of one difference is left in the mean of so many."""
        return 1 / units


class CorrectedT(PairedT):
    """The paired t-test with the variance that Nadeau and Bengio give means over folds.

    The folds of a cross-validation share most of their training data, so that their differences
    vary less than those of independent repetitions. The variance of the mean of J differences is
    taken as (1/J + n_test / n_train) times that of one, instead of 1/J. The units are taken for the
    folds of one cross-validation, where n_test / n_train is 1 / (J - 1).

    Nadeau & Bengio (2003), "Inference for the Generalization Error".

    Examples:
        >>> from sigtest.metrics.scores import Scores
        >>> a = np.array([[0.82, 1.0], [0.85, 1.0], [0.81, 1.0], [0.86, 1.0]])
        >>> b = np.array([[0.80, 1.0], [0.81, 1.0], [0.82, 1.0], [0.83, 1.0]])
        >>> found = CorrectedT().p(Scores(), a, b, "two-sided")
        >>> round(found.statistic, 6), found.df, round(found.p_value, 6)
        (1.212183, 3.0, 0.3122)
    """

    name = "corrected_t"
    title = "the corrected resampled t-test"
    papers = ("nadeau-bengio-2003-inference",)
    caution = None

    def share(self, units: int) -> float:
        return 1 / units + 1 / (units - 1)


def log10_t_tail(t: float, df: int) -> float:
    """Decimal logarithm of P(T >= t) for Student's t, however small."""
    if t < 0:
        return math.log10(1 - 10 ** log10_t_tail(-t, df))
    x = df / (df + t * t)
    both = float(betainc(df / 2, 0.5, x))
    if both > 1e-290:
        return math.log10(both / 2)
    # the same function as a series (DLMF 8.17.8), without underflow
    series = float(hyp2f1(df / 2 + 0.5, 1.0, df / 2 + 1.0, x))
    log_beta = math.log(df / 2) + float(betaln(df / 2, 0.5))
    log_both = df / 2 * math.log(x) + 0.5 * math.log1p(-x) - log_beta + math.log(series)
    return (log_both - math.log(2)) / math.log(10)
