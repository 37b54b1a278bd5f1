"""The pseudo-statistics of one pair: what an observed difference is held against.

Reports keep counts only; a pair's draws are functions of the seed and are made
again when asked for.
"""

from collections.abc import Sequence
from dataclasses import dataclass, replace

import numpy as np

from sigtest.arrays import Array, Counts
from sigtest.comparison.plan import Part
from sigtest.data.names import choose
from sigtest.draws.sample import Sample, known_means
from sigtest.errors import RecipeError
from sigtest.significance import resampling_tests
from sigtest.significance.intervals import drawn_in
from sigtest.significance.resampling import centres

BINS = 50
PAIR = slice(2, 3)  # of what is studentised: the scores of both systems come first


@dataclass(frozen=True)
class Distribution:
    """All pseudo-statistics of one pair, metric and test.

    Attributes:
        a: First system.
        b: Second system.
        metric: Label of the metric.
        test: Name of the significance test.
        observed: score_a - score_b, in units of the metric, not oriented; in standard errors of
            it where the test studentises.
        values: (R,) pseudo-statistics in the same units and direction, by resample; centred where
            the test centres them.
    """

    a: str
    b: str
    metric: str
    test: str
    observed: float
    values: Array

    def histogram(self) -> tuple[Array, Counts]:
        """Edges (51,) and counts (50,) of equal bins over values and observed difference."""
        low = min(float(self.values.min()), -abs(self.observed))
        high = max(float(self.values.max()), abs(self.observed))
        if low == high:
            low, high = low - 0.5, high + 0.5
        counts, edges = np.histogram(self.values, bins=BINS, range=(low, high))
        return edges, counts.astype(int)


def pair_of(part: Part, a: str, b: str, metric: str, test: str) -> tuple[Part, tuple[int, int]]:
    """The part of only these two systems, metric and test, with the same draws.

    Returns:
        The part, and the numbers of the two systems in the given one.

    Raises:
        RecipeError: A system, metric or test that is no part of the comparison, a test without
            draws, or a itself as b.
    """
    if a == b:
        raise RecipeError("a and b must be two different systems.", field="b")
    first = part.systems.index(choose(a, part.systems, "a", "system"))
    second = part.systems.index(choose(b, part.systems, "b", "system"))
    labels = part.recipe.labels
    label = labels.index(choose(metric, labels, "metric", "metric"))
    choose(test, part.recipe.tests, "test", "significance test")
    if not resampling_tests([test]):
        raise RecipeError(f"{test} has no pseudo-statistics to show.", field="test")
    recipe = part.recipe.but(
        metrics=(part.recipe.metrics[label],),
        tests=(test,),
        interval="percentile",
        pairs={
            "baseline": b if part.recipe.bar is None else part.recipe.bar
        },  # one claim of one-sided ones
        correction="none",
        resamples=part.resamples,
    )
    pair = replace(
        part,
        systems=(a, b),
        digests=(part.digests[first], part.digests[second]),
        recipe=recipe,
        notes=(),
        runs=(),
    )
    return pair, (first, second)


def distribution(pair: Part, tables: Sequence[Array], metric: str) -> Distribution:
    """The pseudo-statistics of a pair made by `pair_of`.

    Args:
        pair: Two systems, one metric, one test.
        tables: One (2, n, k) array of statistics.
        metric: What to call the metric.
    """
    sample = Sample(pair, tables)
    (test,) = resampling_tests(pair.recipe.tests).values()
    scored = pair.recipe.metrics[0]
    draws = np.empty(pair.resamples)
    for first, last in sample.swap_columns.row_blocks(0, pair.resamples):
        if test.draws == "studentised":
            values, _, _ = sample.studentised[0].resampled(PAIR, first, last)
            draws[first:last] = scored.sign * values[0]
            continue
        if test.draws == "swaps":
            ((_, drawn),) = sample.swap_differences(0, sample.swapped_sums(first, last)[0])
            draws[first:last] = drawn[0]
            continue
        scores = sample.bootstrap_scores(first, last)
        draws[first:last] = scored.sign * (scores[0, 0] - scores[0, 1])
    means = known_means(scored, sample.observed[0][0], *sample.evenness[0][:, None])
    if test.draws == "counts":
        test = test.around(centres(test, draws[None], means, np.zeros(1))[0])
    values = test.null_draws(draws[None], pair.recipe.alternative)[0]
    observed = float(sample.scores[0, 0] - sample.scores[0, 1])
    for own in sample.studentised:  # the difference in standard errors
        observed = float(drawn_in(own.t[PAIR], own.tails[PAIR], pair.recipe.alternative)[0])
    return Distribution(
        a=pair.systems[0],
        b=pair.systems[1],
        metric=metric,
        test=test.name,
        observed=observed,
        values=scored.sign * values if test.directed else values,
    )
