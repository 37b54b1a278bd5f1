"""The finished answer about the accuracy of tests, as Tables 1 and 2 of the 2014 study."""

from collections.abc import Mapping
from dataclasses import dataclass

from sigtest.kinds.renderable import Renderable
from sigtest.report import Methods, Warnings


@dataclass(frozen=True)
class AccuracyRow:
    """One metric, significance test and level: conclusions compared with those of people.

    A conclusion is that a is better, that b is, or neither (a tie).

    Attributes:
        metric: Label of the metric.
        test: Name of the significance test.
        alpha: Level of both one-sided tests.
        correct: Pairs with the conclusion of people.
        n: Pairs.
        share: correct / n.
        ci: 95 % Clopper-Pearson interval of the share, as if pairs were independent.
        reversed: Pairs where the test and people see different winners.
        claimed: Pairs where the test sees a winner and people none.
        missed: Pairs where people see a winner and the test none.
        separated: Pairs where the test sees a winner.
        power: separated / n: the metric's discriminative power under this test.
        p_half: Two-sided binomial p-value of the share being 1/2.
        p_half_greater: One-sided p-value of the share being no larger than 1/2.
    """

    metric: str
    test: str
    alpha: float
    correct: int
    n: int
    share: float
    ci: tuple[float, float]
    reversed: int
    claimed: int
    missed: int
    separated: int
    power: float
    p_half: float
    p_half_greater: float


@dataclass(frozen=True)
class ChiSquare:
    """Are the metrics equally accurate under one test at one level?

    Attributes:
        test: Name of the significance test.
        alpha: Its level.
        statistic: Pearson's chi-square over metrics and correct or not, without Yates' correction.
        df: Number of metrics - 1.
        p_value: Upper tail, as if pairs were independent; null where every metric is right, or
            wrong, on all pairs.
    """

    test: str
    alpha: float
    statistic: float
    df: int
    p_value: float | None


@dataclass(frozen=True)
class BetweenTests:
    """How far two significance tests draw the same conclusions from one metric.

    Attributes:
        metric: Label of the metric.
        alpha: Level of both.
        a: First test.
        b: Second test.
        same: Pairs with the same conclusion.
        n: Pairs.
        share: same / n.
    """

    metric: str
    alpha: float
    a: str
    b: str
    same: int
    n: int
    share: float


@dataclass(frozen=True)
class HumanConclusions:
    """What people conclude at one level of the tests.

    Attributes:
        alpha: Level of the tests.
        human_alpha: Level of the conclusions of people.
        ties: Pairs where people see no winner.
        conclusions: Winner of each pair, `a`, `b` or `tie`, in the order of the pairs.
    """

    alpha: float
    human_alpha: float
    ties: int
    conclusions: tuple[str, ...]


@dataclass(frozen=True)
class TestedPair:
    """Two systems under every metric and test.

    Attributes:
        a: First system.
        b: Second system.
        p_greater: One-sided p-values of a being better, by metric, then test.
        p_less: One-sided p-values of b being better, likewise.
    """

    __test__ = False  # pytest: not a test class

    a: str
    b: str
    p_greater: Mapping[str, Mapping[str, float]]
    p_less: Mapping[str, Mapping[str, float]]


@dataclass(frozen=True, repr=False)
class AccuracyReport(Renderable):
    """Significance tests compared with people.

    Attributes:
        signature: The line that, with the texts and judgements, reproduces it.
        version: Of sigtest.
        systems: Names, in the order of the comparison.
        criteria: Of the human evaluation; the first that separates a pair decides.
        alphas: Levels of the tests.
        rows: By level, then metric, then test.
        chi_square: By level, then test; none for a single metric.
        between_tests: By level, then metric, then pair of tests.
        human: By level.
        pairs: In the order of the comparison.
        warnings: What the reader must not overlook.
        methods: How the numbers came about, for a paper.
    """

    path = "test-accuracy"

    signature: str
    version: str
    systems: tuple[str, ...]
    criteria: tuple[str, ...]
    alphas: tuple[float, ...]
    rows: tuple[AccuracyRow, ...]
    chi_square: tuple[ChiSquare, ...]
    between_tests: tuple[BetweenTests, ...]
    human: tuple[HumanConclusions, ...]
    pairs: tuple[TestedPair, ...]
    warnings: Warnings
    methods: Methods | None = None
