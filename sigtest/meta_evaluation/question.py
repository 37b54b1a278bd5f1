"""What is asked about metrics, validated: sets of scores, and how they are held together."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np

from sigtest.cached import cached_property
from sigtest.kinds.base import About
from sigtest.kinds.whole import WholeQuestion
from sigtest.meta_evaluation.scored import ScoredSet
from sigtest.report import digest, encode
from sigtest.requests.meta import Group, Level
from sigtest.significance import Alternative
from sigtest.significance.exact import MOST_UNITS
from sigtest.version import __version__

# Seconds of one core for a cell of a metric and a resample, fitted to measured times.
SECONDS = {"spearman": 2e-8, "kendall": 6e-9}
USUAL_SECONDS = 3e-9  # of other statistics
NEAR_DIGITS = 11  # of standardised scores: what is counted there is sure to be counted here
# The same for each pair of metrics: whatever there is, for a pair of systems, for a pair of systems
# on a segment, for one exchange of systems (and by the systems), for one at random by their pairs.
PAIR_SECONDS, ORDER_SECONDS, CELL_SECONDS = 1.5e-3, 4e-7, 5e-7
PATTERN_SECONDS, PATTERN_SYSTEM_SECONDS, DRAW_SECONDS = 4e-8, 5e-9, 1.4e-8


@dataclass(frozen=True)
class MetricChoices:
    """How metrics are held against people.

    Attributes:
        level: Whether scores of whole systems or of segments are held against each other.
        group: Segment level only: over all cells at once, or the mean over segments (`item`) or
            over systems (`system`).
        statistics: What is reported of every metric.
        tests: What compares the metrics.
        alternative: Two-sided, or one-sided: then both claims of every pair are tested.
        absolute: Whether correlations count without their sign, as Graham & Baldwin (2014) do.
        alpha: Level of decisions; intervals have level 1 - alpha.
        correction: For the pairs of one statistic and test, over all sets.
        resamples: R.
        seed: Every draw is a function of it.
        baseline: Label of the metric that others are asked to beat, or none.
    """

    level: Level
    group: Group
    statistics: tuple[str, ...]
    tests: tuple[str, ...]
    alternative: Alternative
    absolute: bool
    alpha: float
    correction: str
    resamples: int
    seed: int
    baseline: str | None

    @property
    def claims(self) -> tuple[Alternative, ...]:
        """What is decided about a pair of metrics."""
        return ("two-sided",) if self.alternative == "two-sided" else ("greater", "less")

    @property
    def signature(self) -> str:
        """The line that, with the scores, reproduces the report."""
        parts = [
            f"statistics:{'+'.join(self.statistics)}",
            f"level:{self.level}",
            f"group:{self.group}",
            f"tests:{'+'.join(self.tests) or 'none'}",
            f"alternative:{self.alternative}",
            f"absolute:{str(self.absolute).lower()}",
            f"resamples:{self.resamples}",
            f"seed:{self.seed}",
            f"alpha:{self.alpha}",
            f"correction:{self.correction}",
            *([f"baseline:{self.baseline}"] if self.baseline else []),
            f"sigtest:{__version__}",
        ]
        return "|".join(parts)


@dataclass(frozen=True)
class MetricQuestion(WholeQuestion):
    """A metric evaluation, validated when parsed.

    Attributes:
        sets: One for each pair of languages, say.
        several: Whether the request named its sets; the report then has figures over all of them.
        choices: How metrics are held against people.
    """

    sets: tuple[ScoredSet, ...]
    several: bool
    choices: MetricChoices

    @property
    def stated(self) -> dict[str, Any]:
        """What the report repeats of the question."""
        names = ("level", "group", "alternative", "absolute", "alpha", "correction", "resamples",
                 "baseline")  # fmt: skip
        chosen = {name: getattr(self.choices, name) for name in names}
        return {"signature": self.signature, "version": __version__, **chosen}

    @property
    def signature(self) -> str:
        """The line that, with the scores or judgements, reproduces the report."""
        judged = [own.judgements for own in self.sets if own.judgements]
        return "|".join([self.choices.signature, *(f"({own})" for own in judged)])

    @cached_property
    def key(self) -> str:
        """Hash of everything that the report is a function of."""
        return digest(["meta", __version__, encode(self)])

    @property
    def about(self) -> About:
        """Names of all sets."""
        return About(
            systems=tuple(dict.fromkeys(name for own in self.sets for name in own.systems)),
            metrics=tuple(dict.fromkeys(m.label for own in self.sets for m in own.metrics)),
            tests=self.choices.tests,
            testsets=tuple(own.name for own in self.sets) if self.several else (),
        )

    @cached_property
    def seconds(self) -> float:
        """About how long one core computes it."""
        choices = self.choices
        segments = choices.level == "segment"
        cells = sum(
            len(own.systems) * (own.segments if segments else 1) * len(own.metrics)
            for own in self.sets
        )
        each = sum(SECONDS.get(name, USUAL_SECONDS) for name in choices.statistics)
        comparing = sum(_comparing(own, segments, choices.resamples) for own in self.sets)
        return 0.3 + each * cells * choices.resamples + comparing


def _comparing(own: ScoredSet, segments: bool, resamples: int) -> float:
    """To compare every pair of metrics of a set.

    Exchanges of systems are counted one by one where few systems differ, after standardisation.
    """
    size, metrics = len(own.systems), len(own.metrics)
    of_systems = size * (size - 1) / 2
    each = PAIR_SECONDS + ORDER_SECONDS * of_systems
    if segments:
        each += CELL_SECONDS * of_systems * own.segments
        return metrics * (metrics - 1) / 2 * each
    scores = own.metric_scores("system")[:, :, 0]
    centred = scores - scores.mean(axis=1, keepdims=True)
    spread = centred.std(axis=1, keepdims=True)
    even = (centred / np.where(spread > 0, spread, 1.0)).round(NEAR_DIGITS)
    total = 0.0
    for m in range(1, metrics):
        differing = (even[:m] != even[m]).sum(axis=1)
        if np.isnan(even).any():  # pairs are compared on what both have, which may be little
            differing = np.minimum(differing, MOST_UNITS)
        few = differing <= MOST_UNITS
        patterns = np.exp2(np.minimum(differing, MOST_UNITS) - 1.0)
        counting = patterns * (PATTERN_SECONDS + PATTERN_SYSTEM_SECONDS * size)
        drawing = resamples * DRAW_SECONDS * of_systems
        total += m * each + float(np.where(few, counting, drawing).sum())
    return total
