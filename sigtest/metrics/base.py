"""What a metric is: rows of numbers that may be added, and the score of a sum of rows."""

from __future__ import annotations

import sys
from abc import ABC, abstractmethod
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, fields
from typing import ClassVar, Protocol

import numpy as np

from sigtest.arrays import Array
from sigtest.data.testset import System, TestSet
from sigtest.data.text import Text
from sigtest.errors import InputError, RecipeError


@dataclass(frozen=True)
class Fraction:
    """Says that a score is `scale * numerator / denominator`, both plain sums.

    Attributes:
        numerator: Column of the statistics.
        denominator: Column of the statistics.
    """

    numerator: int
    denominator: int


class Measurable(Protocol):
    """What is measured of an output, an array each: a metric's statistics, or words."""

    local: ClassVar[bool]

    def signature(self, references: int) -> str: ...

    def numbers(self, testset: TestSet) -> int: ...

    def statistics(self, testset: TestSet, system: System) -> Array: ...


@dataclass(frozen=True)
class Metric(ABC):
    """A segment becomes a row of k numbers that may be ADDED; a sum of rows becomes a score.

    A subclass is a frozen dataclass whose fields are its options, with the names and defaults of
    the reference program. It has a `name` and implements `width`, `implementation`, `statistics`
    and `formula`; everything else (resampling, tests, intervals, pictures) follows without naming
    the metric again.

    BLEU, chrF and TER of a test set are not means over segments: they are functions of counts that
    are summed over all segments first. So the score of a resample, in which segment i stands w_i
    times, is that of the weighted sums of the same rows, and no text is looked at twice.

    Attributes:
        name: In recipes and reports.
        title: In sentences; the label where there is none.
        papers: Keys of the papers to cite (`papers.bib`).
        fraction: Which statistics the score is a ratio of, where it is one.
        counted: Whether reports show, beside the score, what `beside` says.
        steps: How many steps of a ratio's grid two systems may differ by in a unit.
        line_seconds: Of one core, to measure a line.
        character_seconds: To measure each of its characters, and of those of its references.
        score_seconds: To score one row of sums.
        local: Whether the statistics of a segment follow from that segment alone, so that a large
            text can be measured in stretches.
        most_jobs: How many processes may measure at a time, where each takes much memory.
        prose: Whether outputs are running text, which health checks can judge.
        ranges: Least and greatest value of options that are numbers.

    Examples:
        Edits and words of two segments, the score of their sum, and that of a resample in which the
        first segment stands twice:

        >>> import numpy as np
        >>> from sigtest.data.testset import System, TestSet
        >>> from sigtest.metrics import METRICS
        >>> ter = METRICS["ter"]()
        >>> testset = TestSet.of([["the cat sat down", "it rains"]])
        >>> rows = ter.statistics(testset, System.of("A", ["the cat sat", "it rains"]))
        >>> rows.tolist()
        [[1.0, 4.0], [0.0, 2.0]]
        >>> weights = np.array([[1, 1], [2, 0]])
        >>> ter.score(weights @ rows).round(2).tolist()
        [16.67, 25.0]
    """

    name: ClassVar[str]
    title: ClassVar[str] = ""
    papers: ClassVar[tuple[str, ...]] = ()
    fraction: ClassVar[Fraction | None] = None
    counted: ClassVar[bool] = False
    steps: ClassVar[int] = 50
    line_seconds: ClassVar[float] = 3e-6
    character_seconds: ClassVar[float] = 1e-7
    score_seconds: ClassVar[float] = 6e-8
    local: ClassVar[bool] = False
    most_jobs: ClassVar[int] = sys.maxsize
    prose: ClassVar[bool] = True
    ranges: ClassVar[Mapping[str, tuple[int, int]]] = {}

    def __post_init__(self) -> None:
        """Check the options.

        Raises:
            RecipeError: There is no such option.
            UnavailableError: What the metric runs on is not installed.
        """
        for option, (low, high) in self.ranges.items():
            if not low <= getattr(self, option) <= high:
                raise RecipeError(
                    f"{self.name}'s {option} must be from {low:,} to {high:,}.", field="metrics"
                )

    @classmethod
    def require(cls) -> None:
        """Check that what this metric runs on is installed.

        Raises:
            UnavailableError: It is not; the message has the command that installs it.
        """
        return

    @classmethod
    def choices(cls) -> Mapping[str, Sequence[str]]:
        """What options may be, those whose values are a list of names."""
        return {}

    @property
    def higher_is_better(self) -> bool:
        """False for error rates, whose differences are turned round before they are tested."""
        return True

    @property
    def tokenization(self) -> str | None:
        """Name of the tokenizer that cuts words, where the metric has one."""
        return None

    @property
    def words(self) -> Measurable | None:
        """What tests of stretches look at, where the metric aligns words with a reference."""
        return None

    @property
    def sign(self) -> float:
        """1, or -1 for error rates: what turns a difference so that greater is better."""
        return 1.0 if self.higher_is_better else -1.0

    def fitted(self, testsets: Sequence[TestSet]) -> Metric:
        """The metric with options that were left out and that test sets decide."""
        return self

    @property
    @abstractmethod
    def width(self) -> int:
        """Number of sufficient statistics of a segment, k."""

    @property
    @abstractmethod
    def implementation(self) -> str:
        """Program and version whose numbers these are; part of every cache key."""

    @abstractmethod
    def statistics(self, testset: TestSet, system: System) -> Array:
        """Sufficient statistics of one system.

        Returns:
            (n, k) numbers; integers wherever the reference program counts integers.

        Raises:
            InputError: The system lacks what this metric measures.
        """

    def numbers(self, testset: TestSet) -> int:
        """How many numbers an output is measured as, at most."""
        return self.width * testset.segments

    def seconds(self, testset: TestSet, system: System) -> float:
        """About how long one core measures a system; no text takes more than twice as long."""
        texts = [*testset.references, *(text for text in (system.hypotheses,) if text)]
        lines = sum(map(len, texts))
        characters = sum(text.characters for text in texts)
        return self.line_seconds * lines + self.character_seconds * characters

    @abstractmethod
    def formula(self, sums: Array) -> Array:
        """Score summed statistics, one statistic a row.

        Args:
            sums: (k, N) summed statistics, C-contiguous.

        Returns:
            (N,) scores in the units of the reference program. A score must not depend on its
            neighbours, so that any grouping of resamples gives the same bits.
        """

    def beside(self, sums: Sequence[float], runs: int) -> Mapping[str, int | float]:
        """What reports show of a system beside its score, by name: means over its runs.

        Args:
            sums: Its statistics, summed over all runs.
            runs: How many there are.
        """
        return {}

    def score(self, sums: Array) -> Array:
        """Score summed statistics: (..., k) to (...)."""
        return self.score_columns(sums.transpose(-1, *range(sums.ndim - 1)))

    def score_columns(self, sums: Array) -> Array:
        """Score summed statistics with the statistics' axis first: (k, ...) to (...)."""
        flat = np.ascontiguousarray(sums, float).reshape(len(sums), -1)
        return self.formula(flat).reshape(sums.shape[1:])

    @property
    def options(self) -> dict[str, object]:
        """The options that differ from their defaults, in the order of the fields."""
        return {
            field.name: getattr(self, field.name)
            for field in fields(self)
            if getattr(self, field.name) != field.default
        }

    @property
    def spelling(self) -> str:
        """Full spelling, as the command line takes it: `bleu:tokenize=zh,lowercase=true`."""
        shown = ",".join(f"{name}={_spell(value)}" for name, value in self.options.items())
        return f"{self.name}:{shown}" if shown else self.name

    @property
    def label(self) -> str:
        """What reports call the metric where its options need not be told apart."""
        return self.name

    def signature(self, references: int) -> str:
        """One line that identifies the numbers: options, number of references, version."""
        shown = "|".join(
            f"{field.name}:{_spell(getattr(self, field.name))}" for field in fields(self)
        )
        return "|".join(
            part for part in (self.name, f"nrefs:{references}", shown, self.implementation) if part
        )

    def check(self, testset: TestSet, system: System) -> None:
        """Check, before anything is computed, that the system brings what this metric measures.

        Raises:
            InputError: No hypotheses, or no references to hold them against.
        """
        self.hypotheses(system)
        if not testset.references:
            raise InputError(f"{self.name} needs references; none are given.", field="references")

    def hypotheses(self, system: System) -> Text:
        """The system's hypotheses.

        Raises:
            InputError: It brings scores only.
        """
        if system.hypotheses is None:
            onward = "; the metric scores compares the scores it brings" if system.scores else ""
            raise InputError(
                f"{self.name} needs hypotheses, and system {system.name!r} has none{onward}.",
                field="hypotheses",
                system=system.name,
            )
        return system.hypotheses


def _spell(value: object) -> str:
    return str(value).lower() if isinstance(value, bool) else str(value)
