"""What is asked about metrics, validated: sets of scores, and how they are held together."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

from sigtest.cached import cached_property
from sigtest.questions.meta.data.scored import ScoredSet
from sigtest.report import digest, encode
from sigtest.requests.meta import Group, Level
from sigtest.significance import Alternative
from sigtest.version import __version__


@dataclass(frozen=True)
class Choices:
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
class Asked:
    """A metric evaluation, validated when parsed.

    Attributes:
        sets: One for each pair of languages, say.
        several: Whether the request named its sets; the report then has figures over all of them.
        choices: How metrics are held against people.
    """

    sets: tuple[ScoredSet, ...]
    several: bool
    choices: Choices

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
