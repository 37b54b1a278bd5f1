"""Numbers computed elsewhere: per-segment scores, and tuples for ratios and F-scores."""

from dataclasses import dataclass
from functools import cache
from math import comb
from typing import ClassVar

import numpy as np

from sigtest.arrays import Array
from sigtest.data.testset import System, TestSet
from sigtest.errors import InputError
from sigtest.metrics.base import Fraction, Metric

MOST_RUNS = 1_000  # of an item; binomial coefficients of more take long
MOST_LOSS = 230  # of a token; third powers of its exponential, which skewness sums, are numbers


@dataclass(frozen=True)
class ScoreMetric(Metric):
    """Statistics that the user brings, under a label: the sum of the first over the second.

    Attributes:
        columns: What the numbers of a segment are, in their order.
        amounts: Those of them that must not be negative.
        of: Which of the systems' `scores` to take; may be left out where there is only one.
        higher: Whether greater is better.
    """

    implementation = "supplied"
    steps = 5000
    line_seconds = 1e-7
    character_seconds = 0.0
    score_seconds = 5e-9
    columns: ClassVar[tuple[str, ...]]
    amounts: ClassVar[tuple[str, ...]]

    of: str = ""
    higher: bool = True

    @property
    def higher_is_better(self) -> bool:
        return self.higher

    @property
    def label(self) -> str:
        return self.of or self.name

    @property
    def width(self) -> int:
        return len(self.columns)

    def formula(self, sums: Array) -> Array:
        return ratio(sums)

    def rows(self, system: System) -> Array:
        """(n, w) supplied numbers of one system.

        Raises:
            InputError: The system brings none, or several and none was chosen.
        """
        if not self.of and len(system.scores) == 1:
            return next(iter(system.scores.values()))
        if self.of not in system.scores:
            have = ", ".join(sorted(system.scores)) or "none"
            if self.of:
                why = f"has no scores named {self.of!r} (it has: {have})"
            else:
                why = f"has several scores; say which: {have}" if system.scores else "has no scores"
            raise InputError(
                f"System {system.name!r} {why}.",
                field="scores",
                system=system.name,
            )
        return system.scores[self.of]

    def check(self, testset: TestSet, system: System) -> None:
        self.statistics(testset, system)

    def statistics(self, testset: TestSet, system: System) -> Array:
        rows = self.rows(system)
        if rows.shape[1] != self.width:
            raise InputError(
                f"{self.name} needs {self.width} numbers a segment ({', '.join(self.columns)}); "
                f"system {system.name!r} has {rows.shape[1]}.",
                field="scores",
                system=system.name,
            )
        for amount in self.amounts:
            negative = rows[:, self.columns.index(amount)] < 0
            if negative.any():
                i = int(np.argmax(negative))
                wrong = f"but it is {rows[i, self.columns.index(amount)]:g}"
                raise _at(system, i, f"the {amount} of {self.name} must not be negative, {wrong}")
        return rows


def _at(system: System, i: int, why: str) -> InputError:
    """The error of one segment's numbers."""
    return InputError(
        f"System {system.name!r}, segment {i + 1}: {why}.",
        field="scores",
        system=system.name,
        line=i + 1,
    )


@dataclass(frozen=True)
class Scores(ScoreMetric):
    """Mean of per-segment scores (COMET, BLEURT, human, accuracy), weighted where weights come."""

    name = "scores"
    title = "mean of scores computed elsewhere"
    columns = ("score", "weight")
    amounts = ("weight",)
    fraction = Fraction(numerator=0, denominator=1)

    def statistics(self, testset: TestSet, system: System) -> Array:
        rows = self.rows(system)
        if rows.shape[1] == 1:
            return np.hstack([rows, np.ones_like(rows)])
        weighted = super().statistics(testset, system)
        return np.stack([weighted[:, 0] * weighted[:, 1], weighted[:, 1]], axis=1)


@dataclass(frozen=True)
class Ratio(ScoreMetric):
    """A ratio of two sums, such as an accuracy or an error rate per word."""

    name = "ratio"
    title = "ratio of sums computed elsewhere"
    columns = ("numerator", "denominator")
    amounts = ("denominator",)
    fraction = Fraction(numerator=0, denominator=1)


@dataclass(frozen=True)
class Fscore(ScoreMetric):
    """Balanced F of summed (match, system, reference) counts.

    Riezler & Maxwell (2005), section 3: dependency F of match, system and reference relations.
    """

    name = "fscore"
    title = "F-score of sums computed elsewhere"
    columns = ("match", "system", "reference")
    amounts = columns

    def formula(self, sums: Array) -> Array:
        return ratio(np.stack([2.0 * sums[0], sums[1] + sums[2]]))


@dataclass(frozen=True)
class Perplexity(ScoreMetric):
    """Exponential of the loss per token: the negative log-likelihood, natural logarithm, over both.

    Attributes:
        higher: Lower is better here.
    """

    name = "perplexity"
    title = "perplexity of losses computed elsewhere"
    columns = ("loss", "tokens")
    amounts = columns

    higher: bool = False

    def statistics(self, testset: TestSet, system: System) -> Array:
        rows = super().statistics(testset, system)
        beyond = np.flatnonzero(rows[:, 0] > MOST_LOSS * rows[:, 1])
        if len(beyond):
            i = int(beyond[0])
            what = f"a loss of {rows[i, 0]:g} for {rows[i, 1]:g} tokens"
            raise _at(system, i, f"{what} is more than {MOST_LOSS} a token")
        return rows

    def formula(self, sums: Array) -> Array:
        return np.exp(ratio(sums))


@dataclass(frozen=True)
class PassAtK(ScoreMetric):
    """Mean over items of how likely at least one of k runs of an item passes, 0 to 1.

    An item with n runs of which c passed has 1 - C(n - c, k) / C(n, k), which is unbiased, also
    where n differs between items: Chen et al. (2021), "Evaluating Large Language Models Trained on
    Code", equation 1. Items are the units; k = 1 is the mean of all runs.

    Attributes:
        k: How many runs; each item needs as many at least.
    """

    name = "pass@k"
    title = "mean over items of the chance that one of k runs passes"
    papers = ("chen-etal-2021-evaluating",)
    columns = ("passed", "runs")
    amounts = columns
    fraction = Fraction(numerator=0, denominator=1)
    ranges: ClassVar = {"k": (1, MOST_RUNS)}

    k: int = 1

    @property
    def label(self) -> str:
        return self.name.replace("k", str(self.k))

    def statistics(self, testset: TestSet, system: System) -> Array:
        rows = super().statistics(testset, system)
        passed, runs = rows.T
        whole = (rows % 1 == 0).all(axis=1) & (passed <= runs) & (runs <= MOST_RUNS)
        if not (fine := whole & (runs >= self.k)).all():
            i = int(np.argmin(fine))
            why = f"{self.name} needs how many passed and how many there are, from k = {self.k}"
            what = f"{passed[i]:g} of {runs[i]:g} runs"
            raise _at(system, i, f"{what}; {why} to {MOST_RUNS:,}")
        chance = cache(self.chance)  # of few pairs of counts
        return np.array([(chance(*pair), 1.0) for pair in rows.astype(int).tolist()])

    def chance(self, passed: int, runs: int) -> float:
        """Of one item, from whole numbers, so that it is rounded once."""
        every = comb(runs, self.k)
        return (every - comb(runs - passed, self.k)) / every


@dataclass(frozen=True)
class PassHatK(PassAtK):
    """Mean over items of how likely all of k runs of an item pass (pass^k), 0 to 1.

    An item with n runs of which c passed has C(c, k) / C(n, k): Yao et al. (2024), "tau-bench: A
    Benchmark for Tool-Agent-User Interaction in Real-World Domains". Otherwise as `pass@k`.
    """

    name = "pass^k"
    title = "mean over items of the chance that all of k runs pass"
    papers = ("yao-etal-2024-tau",)

    def chance(self, passed: int, runs: int) -> float:
        return comb(passed, self.k) / comb(runs, self.k)


def ratio(sums: Array) -> Array:
    """First row over second; 0 where there is nothing to divide by."""
    top, bottom = sums
    return np.divide(top, bottom, out=np.zeros(len(top)), where=bottom != 0.0)
