"""Tests with a p-value of their own, from the units one by one, and over several test sets.

McNemar's and the sign test, Wilcoxon's signed ranks (exchanges of labels, counted completely: of
signs alone, or of ranks), and Student's t over paired differences.
"""

from __future__ import annotations

import math
from typing import TYPE_CHECKING, ClassVar

import numpy as np

from sigtest.arrays import Array, Counts, Flags
from sigtest.errors import InputError, RecipeError
from sigtest.significance import Alternative, Design
from sigtest.significance.base import UnitP, UnitsTest, extremity, normal_log10_p, row_differences
from sigtest.significance.exact import exact_signs
from sigtest.special import betainc, betaln, hyp2f1

if TYPE_CHECKING:
    from sigtest.metrics import Metric


class McNemar(UnitsTest):
    """Of the units on which only one system is right, does one have more than its half?

    Units on which both systems are right, or both wrong, say nothing of the difference. If the
    systems have equal expected accuracies, each of the others is as likely to be right for one as
    for the other, so that their number is binomial with probability 1/2. The p-value is exact, and
    the one that approximate randomization on accuracy has when every exchange is counted. The test
    never rejects too often, and with few such units too seldom; the mid-p variant makes up for it.

    McNemar (1947), "Note on the Sampling Error of the Difference between Correlated Proportions or
    Percentages"; Fagerland, Lydersen & Laake (2013), "The McNemar Test for Binary Matched-Pairs
    Data: Mid-p and Asymptotic Are Better Than Exact Conditional".

    Examples:
        Six units are right for the first system only, one for the second only: twice 8 / 2**7.

        >>> from sigtest.metrics.scores import Scores
        >>> a = np.array([[1.0, 1.0]] * 6 + [[0.0, 1.0]] + [[1.0, 1.0]] * 3)
        >>> b = np.array([[0.0, 1.0]] * 6 + [[1.0, 1.0]] + [[1.0, 1.0]] * 3)
        >>> McNemar().p(Scores(), a, b, "two-sided").p_value
        0.125
    """

    name = "mcnemar"
    title = "McNemar's exact test"
    by_signs = True
    by_segment = True
    papers: ClassVar[tuple[str, ...]] = ("mcnemar-1947-note", "fagerland-etal-2013-mcnemar")
    null = "equal expected accuracies"

    def check(self, metric: Metric, rows: Array | None = None) -> None:
        if metric.fraction is None:
            raise RecipeError(
                f"{self.name} needs a metric that calls each unit right or wrong, such as the mean "
                f"of scores 0 and 1; {metric.name} does not.",
                field="tests",
            )
        if rows is not None:
            self._right(metric, rows[rows[:, 1] > 0])

    def p(self, metric: Metric, a: Array, b: Array, alternative: Alternative) -> UnitP:
        only_a, only_b = self.discordant(metric, a, b)
        ones = np.ones(only_a + only_b, int)
        found = exact_signs(ones, only_a - only_b, alternative)
        ahead = float(only_a - only_b)
        return UnitP(found.p_value, found.log10_p, exact=True, statistic=float(only_a), ahead=ahead)

    def discordant(self, metric: Metric, a: Array, b: Array) -> tuple[int, int]:
        """How many units are right for a only, and for b only.

        Raises:
            InputError: Units that are not right or wrong.
        """
        right_a, right_b = (self._right(metric, rows) for rows in (a, b))
        return int(np.count_nonzero(right_a & ~right_b)), int(np.count_nonzero(right_b & ~right_a))

    def _right(self, metric: Metric, rows: Array) -> Flags:
        self.check(metric)
        scores, weights = metric.score(rows), rows[:, 1]
        other = np.flatnonzero(((scores != 0) & (scores != 1)) | (weights != weights[0]))
        if len(other):
            unit = int(other[0])
            raise InputError(
                f"{self.name} needs units of one weight that are right (1) or wrong (0); unit "
                f"{unit + 1} has {metric.label} {scores[unit]:g} and weight {weights[unit]:g}.",
                field="tests",
                line=unit + 1,
            )
        right = scores == 1
        return right if metric.higher_is_better else ~right


class McNemarMidP(McNemar):
    """McNemar's test that counts the observed table by half.

    The exact test's p-value takes few values, so that its level stays below alpha, with few units
    far below. Counting half the probability of what was observed corrects that; the level is then
    near alpha, and seldom above it. Where each system alone is right equally often, two-sided p is
    1 - f / 2 with f the probability of that (supplement of the paper). Where both systems are right
    on the same units p is 1.

    Fagerland, Lydersen & Laake (2013), as above; Lancaster (1961), "Significance Tests in
    Discrete Distributions".

    Examples:
        >>> from sigtest.metrics.scores import Scores
        >>> a = np.array([[1.0, 1.0]] * 6 + [[0.0, 1.0]])
        >>> b = np.array([[0.0, 1.0]] * 6 + [[1.0, 1.0]])
        >>> found = McNemarMidP().p(Scores(), a, b, "two-sided")
        >>> round(128 * found.p_value, 9)  # 2 (1 + 7) - 7 patterns
        9.0
    """

    name = "mcnemar_mid_p"
    title = "McNemar's test with mid-p"
    by_signs = False
    papers = ("mcnemar-1947-note", "fagerland-etal-2013-mcnemar")

    def p(self, metric: Metric, a: Array, b: Array, alternative: Alternative) -> UnitP:
        only_a, only_b = self.discordant(metric, a, b)
        units = only_a + only_b
        if units == 0:
            return UnitP(1.0, 0.0, exact=False, statistic=0.0)
        sides = 2 if alternative == "two-sided" else 1
        reached = {"greater": only_a, "less": only_b, "two-sided": max(only_a, only_b)}[alternative]
        ones = np.ones(units, int)
        tail = exact_signs(ones, 2 * reached - units, "greater").log10_p
        observed = float(_log_choose(units, reached)) / math.log(10) - units * math.log10(2)
        log10_p = math.log10(sides) + tail + math.log10(1 - 0.5 * 10 ** (observed - tail))
        if sides == 2 and only_a == only_b:  # both tails hold what was observed: 1 - f / 2
            log10_p = math.log10(1 - 0.5 * 10**observed)
        ahead = float(only_a - only_b)
        return UnitP.of_log10(min(0.0, log10_p), exact=False, statistic=float(only_a), ahead=ahead)


class Fisher(McNemar):
    """Of two systems on items of their own, is one right more often than the other?

    If both have equal expected accuracies, how many of all right answers are the first one's is
    hypergeometric. Two-sided, p adds up all numbers that are as unlikely as the observed one or
    more, as R and SciPy do.

    Fisher (1934), "Statistical Methods for Research Workers", 5th edition, section 21.02.

    Examples:
        Nine of ten against six of ten:

        >>> from sigtest.metrics.scores import Scores
        >>> a, b = (np.array([[1.0, 1.0]] * k + [[0.0, 1.0]] * (10 - k)) for k in (9, 6))
        >>> round(Fisher().p(Scores(), a, b, "two-sided").p_value, 4)
        0.3034
    """

    name = "fisher"
    title = "Fisher's exact test"
    by_signs = False
    papers = ("fisher-1934-statistical",)
    designs: ClassVar[tuple[Design, ...]] = ("unpaired",)

    def p(self, metric: Metric, a: Array, b: Array, alternative: Alternative) -> UnitP:
        (right, n), (other, m) = (self.counts(metric, rows) for rows in (a, b))
        won, log_p = hypergeometric(n, m, right + other)
        return _as_unlikely(log_p, won, right, alternative, right * m - other * n)

    def counts(self, metric: Metric, rows: Array) -> tuple[int, int]:
        """How many items of a system are right, and how many it has."""
        right = self._right(metric, rows[rows[:, 1] > 0])
        return int(np.count_nonzero(right)), len(right)


class Binomial(Fisher):
    """Is a system right more often, or less, than a number says?

    If that number is its expected accuracy, how many items are right is binomial. Two-sided, p adds
    up all numbers that are as unlikely as the observed one or more, as R and SciPy do.

    Clopper & Pearson (1934), "The Use of Confidence or Fiducial Limits Illustrated in the Case of
    the Binomial".

    Examples:
        Five right ones of five against one half: twice .5**5.

        >>> from sigtest.metrics.scores import Scores
        >>> a, b = np.array([[1.0, 1.0]] * 5), np.array([[0.5, 1.0]] * 5)
        >>> round(Binomial().p(Scores(), a, b, "two-sided").p_value, 4)
        0.0625
    """

    name = "binomial"
    title = "the exact binomial test"
    papers = ("clopper-pearson-1934-use",)
    null = "an expected accuracy of that number"
    designs = ("number",)

    def p(self, metric: Metric, a: Array, b: Array, alternative: Alternative) -> UnitP:
        right, n = self.counts(metric, a)
        share = float(metric.score(b[:1])[0])
        share = share if metric.higher_is_better else 1 - share
        won = np.arange(n + 1)
        log_p = _log_choose(n, won) + won * math.log(share) + (n - won) * math.log1p(-share)
        return _as_unlikely(log_p, won, right, alternative, right - n * share)


def _as_unlikely(
    log_p: Array, won: Counts, seen: int, alternative: Alternative, ahead: float
) -> UnitP:
    """The sum of the probabilities of what may be won and is as extreme as what was seen."""
    reached = {
        "two-sided": log_p <= log_p[won == seen] + 1e-7,  # ties, as R and SciPy know them
        "greater": won >= seen,
        "less": won <= seen,
    }[alternative]
    log10_p = float(np.logaddexp.reduce(log_p[reached])) / math.log(10)
    return UnitP.of_log10(min(0.0, log10_p), exact=True, statistic=float(seen), ahead=ahead)


def hypergeometric(n: int, m: int, both: int) -> tuple[Counts, Array]:
    """How many of n may be among so many of n + m items, and the logarithms of how likely it is."""
    won = np.arange(max(0, both - m), min(n, both) + 1)
    return won, _log_choose(n, won) + _log_choose(m, both - won) - _log_choose(n + m, both)


def _log_choose(n: int, k: Counts | int) -> Array:
    chosen: Array = -np.log1p(n) - betaln(np.subtract(n, k) + 1.0, np.add(k, 1.0))
    return chosen


MOST_RANKED = 500  # a hundredth of a second; the distribution takes n**3 steps


class SignTest(UnitsTest):
    """Is one system ahead on more units than the other?

    Units on which the two are tied are left out. If either system is as likely to be ahead on a
    unit, the number of units won is binomial with probability 1/2. How far a system is ahead does
    not matter, so that no unit can decide alone; for the same reason the system that wins more
    units may have the lower score.

    Dixon & Mood (1946), "The Statistical Sign Test"; Demšar (2006), section 3.1.4.

    Examples:
        Of nine units the first system wins eight: (1 + 9) / 2**9, twice.

        >>> from sigtest.metrics.scores import Scores
        >>> a = np.array([[5.0, 1.0]] * 8 + [[1.0, 1.0]])
        >>> b = np.array([[4.0, 1.0]] * 9)
        >>> SignTest().p(Scores(), a, b, "two-sided").p_value
        0.0390625
    """

    name = "sign_test"
    title = "the sign test"
    by_signs = True
    designs = ("paired", "number")
    papers = ("dixon-mood-1946-sign", "demsar-2006-statistical")
    null = "units won as often as lost"
    caution = (
        "The sign test counts the units on which a system is ahead, however far: the system that "
        "wins more of them may have the lower score."
    )

    def p(self, metric: Metric, a: Array, b: Array, alternative: Alternative) -> UnitP:
        return sign_p(rank_differences(*row_differences(metric, a, b)), alternative)


class SignedRank(UnitsTest):
    """Are the larger differences on one system's side?

    Units are ranked by the size of their difference, ties left out and equal sizes sharing the
    middle rank; the ranks of the units that a wins are summed (Wilcoxon 1945). If differences are
    symmetric about zero, every rank has either sign with probability 1/2. With up to 500 units
    the distribution of the sum is counted; above it is taken to be normal.

    Wilcoxon (1945), "Individual Comparisons by Ranking Methods"; Demšar (2006), section 3.1.3.

    Examples:
        >>> from sigtest.metrics.scores import Scores
        >>> a = np.array([[5.0, 1.0], [7.0, 1.0], [9.0, 1.0], [3.5, 1.0]])
        >>> b = np.array([[4.0, 1.0]] * 4)
        >>> found = SignedRank().p(Scores(), a, b, "greater")
        >>> found.statistic, found.p_value
        (9.0, 0.125)
    """

    name = "signed_rank"
    title = "Wilcoxon's signed-rank test"
    by_signs = True
    designs = ("paired", "number")
    papers = ("wilcoxon-1945-individual", "demsar-2006-statistical")
    null = "differences that are symmetric about zero"
    caution = (
        "Wilcoxon's signed-rank test ranks the differences of units, so that large ones count for "
        "less than in the score: the system that it finds better may have the lower score."
    )

    def p(self, metric: Metric, a: Array, b: Array, alternative: Alternative) -> UnitP:
        return signed_rank_p(rank_differences(*row_differences(metric, a, b)), alternative)


def rank_differences(differences: Array, tolerance: Array) -> Counts:
    """Twice the rank of each size, with the sign of the difference; 0 where it is tied.

    Args:
        differences: (n,) oriented differences.
        tolerance: (n,) slack within which each is tied.
    """
    decided = np.abs(differences) > tolerance
    ranks = np.zeros(len(differences), int)
    sizes = np.abs(differences[decided])
    ranks[decided] = doubled_ranks(sizes, float(tolerance.max(initial=0.0)))
    return np.where(differences < 0, -ranks, ranks)


def doubled_ranks(sizes: Array, tolerance: float) -> Counts:
    """Twice the rank of each size, 1 the smallest; sizes no further apart share the middle one."""
    if len(sizes) == 0:
        return np.zeros(0, int)
    order = np.argsort(sizes, kind="stable")
    ordered, ranks = sizes[order], np.empty(len(sizes), int)
    ends = np.append(np.flatnonzero(ordered[1:] - ordered[:-1] > tolerance) + 1, len(sizes))
    copies = np.diff(ends, prepend=0)
    ranks[order] = np.repeat(2 * ends - copies + 1, copies)
    return ranks


def sign_p(ranks: Counts, alternative: Alternative) -> UnitP:
    """The sign test of signed ranks, of which only the signs matter."""
    decided = np.sign(ranks[ranks != 0])
    ahead = int(decided.sum())
    found = exact_signs(np.abs(decided), ahead, alternative)
    won = float(np.count_nonzero(ranks > 0))
    return UnitP(found.p_value, found.log10_p, exact=True, statistic=won, ahead=ahead)


def signed_rank_p(ranks: Counts, alternative: Alternative) -> UnitP:
    """Wilcoxon's test of doubled, signed ranks."""
    decided = ranks[ranks != 0]
    total, rank_sum = int(decided.sum()), int(decided[decided > 0].sum()) / 2
    if len(decided) <= MOST_RANKED:
        found = exact_signs(np.abs(decided), total, alternative)
        return UnitP(found.p_value, found.log10_p, exact=True, statistic=rank_sum, ahead=total)
    # middle ranks are in the variance as they are, so that no correction for ties is needed
    deviation = math.sqrt(float(np.square(decided, dtype=float).sum()))
    log10_p = normal_log10_p(total / deviation, alternative)
    return UnitP.of_log10(log10_p, exact=False, statistic=rank_sum, ahead=total)


class PairedT(UnitsTest):
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
    designs = ("paired", "number")
    papers = ("student-1908-probable",)
    null = "normal differences with mean zero"
    fewest_units = 2  # of one there is no variance
    caution: ClassVar[str | None] = (
        "The paired t-test takes units as independent. Over the folds of one cross-validation, "
        "whose training data overlap, it rejects too many true null hypotheses; the corrected "
        "resampled t-test (corrected_t) is the test for folds."
    )

    def p(self, metric: Metric, a: Array, b: Array, alternative: Alternative) -> UnitP:
        differences, tolerance = row_differences(metric, a, b)
        units = len(differences)
        if np.ptp(differences) <= 2 * tolerance.max():
            return UnitP(1.0, 0.0, exact=False)
        variance = float(differences.var(ddof=1)) * self.share(units)
        t = float(differences.mean()) / math.sqrt(variance)
        log10_p = log10_t_tail(float(extremity(np.array(t), alternative)), units - 1)
        sides = 2 if alternative == "two-sided" else 1
        log10_p = min(0.0, math.log10(sides) + log10_p)
        return UnitP.of_log10(log10_p, exact=False, statistic=t, df=float(units - 1), ahead=t)

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
