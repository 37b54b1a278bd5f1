"""The finished answer of a metric evaluation: a function of scores, choices and version alone."""

from collections.abc import Mapping
from dataclasses import dataclass, field

from sigtest.kinds.renderable import Renderable
from sigtest.report import Methods, Warnings


@dataclass(frozen=True)
class StatisticReport:
    """One statistic of one metric, on all cells that it shares with people.

    Attributes:
        value: -1 to 1 for correlations, 0 to 1 for accuracies; null where it is not defined, as
            for a metric that gives every system the same score.
        ci: Expanded bootstrap percentile interval, level 1 - alpha: over systems at system level,
            over segments below it. Null where it is not defined, or not computed.
        n: What the value is over: systems or cells for one correlation, pairs of systems for
            accuracies, segments or systems for means of correlations.
        epsilon: Largest difference of the metric that counts as a tie, in its own units; for
            `accuracy_ties` only.
    """

    value: float | None
    ci: tuple[float, float] | None
    n: int
    epsilon: float | None = None


@dataclass(frozen=True)
class Place:
    """Where a metric stands among the metrics of its set.

    Attributes:
        cluster: 1-based cluster, 1 the best.
        range: 1 + number of metrics significantly better, and number of metrics - number
            significantly worse.
    """

    cluster: int
    range: tuple[int, int]


@dataclass(frozen=True)
class MetricEvaluation:
    """One metric compared with people.

    Attributes:
        label: Of the metric.
        higher_is_better: False for error metrics, which are turned round first.
        pearson: Pearson's r.
        spearman: Spearman's rho.
        kendall: Kendall's tau-b.
        accuracy: Share of pairs of systems that metric and people order alike.
        soft_accuracy: 1 - mean difference of one-sided p-values of the metric and of people.
        accuracy_ties: Accuracy with the ties that suit the metric best.
        cluster: By the first statistic and test that have decisions.
        range: Ranks that it may have, by the same.
        ranks: By statistic, then test.
    """

    label: str
    higher_is_better: bool
    pearson: StatisticReport | None = None
    spearman: StatisticReport | None = None
    kendall: StatisticReport | None = None
    accuracy: StatisticReport | None = None
    soft_accuracy: StatisticReport | None = None
    accuracy_ties: StatisticReport | None = None
    cluster: int | None = None
    range: tuple[int, int] | None = None
    ranks: Mapping[str, Mapping[str, Place]] = field(default_factory=dict)

    def statistic(self, name: str) -> StatisticReport | None:
        """A statistic by its name."""
        found: StatisticReport | None = getattr(self, name)
        return found


@dataclass(frozen=True)
class MetricPair:
    """Two metrics of a set, one statistic, one test, on the cells that both share with people.

    Attributes:
        a: Label of the first metric.
        b: Label of the second.
        statistic: Its name.
        test: `williams` or `perm_both`.
        unit: What `perm_both` exchanges: `system`, `cell` (a system on a segment), `segment`, or
            `pair` of systems on a segment; `none` for `williams`.
        alternative: Of p_value: the claim about a. One-sided, both claims are decided.
        n: Cells: systems at system level, systems on segments below it.
        value_a: The statistic of a on these cells.
        value_b: The statistic of b.
        delta: value_a - value_b.
        ci: Expanded bootstrap percentile interval of delta, level 1 - alpha, where there is one.
        r12: Correlation of the two metrics, where the statistic is `pearson` over all cells.
        t: Williams' statistic; null where the two metrics are the same up to a line.
        df: Its degrees of freedom, n - 3.
        count: Exchanges with a delta at least as extreme; null for `williams`.
        resamples: Exchanges counted or drawn; null likewise.
        p_value: For the alternative; null where the test is not defined.
        log10_p: Its decimal logarithm.
        p_interval: 95 % Clopper-Pearson interval of the p-value; the p-value twice where exact.
        p_greater: For the claim that a is better.
        p_less: For the claim that b is.
        p_adjusted: Corrected within all pairs of this statistic and test, over all sets; one-sided
            the smaller one of both claims, which are all corrected together.
        significant: Whether p_adjusted is at most alpha.
        conclusion: `a` or `b`, whichever is significantly better, or `tie`.
        undecided: Whether more resamples could turn that decision round.
        exact: Whether no resampling stands behind the p-value.
        set: Name of the set, where sets are named.
    """

    a: str
    b: str
    statistic: str
    test: str
    unit: str
    alternative: str
    n: int
    value_a: float | None
    value_b: float | None
    delta: float | None
    ci: tuple[float, float] | None
    r12: float | None
    t: float | None
    df: int | None
    count: int | None
    resamples: int | None
    p_value: float | None
    log10_p: float | None
    p_interval: tuple[float, float] | None
    p_greater: float | None
    p_less: float | None
    p_adjusted: float | None
    significant: bool
    conclusion: str
    undecided: bool
    exact: bool
    set: str = ""


@dataclass(frozen=True)
class ScoredSystem:
    """A system's scores, as they were given or as means of its segments.

    Attributes:
        name: Of the system.
        human: Score by people; null where there is none.
        scores: Score by each metric, in its own units, by label; null likewise.
    """

    name: str
    human: float | None
    scores: Mapping[str, float | None]


@dataclass(frozen=True)
class SetReport:
    """One set of systems: a pair of languages, say.

    Attributes:
        name: Of the set; empty where sets are not named.
        segments: Segments of the test set; 0 where only scores of systems are given.
        judged: Segments that people judged for any system.
        systems: In the order of the human scores.
        excluded: Systems left out as asked.
        ignored: Systems that metrics score and people did not judge.
        beats_baseline: Metrics significantly better than the baseline, by the first statistic and
            test that have decisions, corrected over all such comparisons of all sets.
        metrics: Of this set, where sets are named; else they stand in the report itself.
    """

    name: str
    segments: int
    judged: int
    systems: tuple[ScoredSystem, ...]
    excluded: tuple[str, ...] = ()
    ignored: tuple[str, ...] = ()
    beats_baseline: tuple[str, ...] = ()
    metrics: tuple[MetricEvaluation, ...] = ()


@dataclass(frozen=True, repr=False)
class MetaReport(Renderable):
    """Metrics compared with people.

    Attributes:
        signature: The line that, with the scores, reproduces it.
        version: Of sigtest.
        level: `system` or `segment`.
        group: `none`, `item` or `system`.
        alternative: `two-sided`, or one-sided with both claims of each pair.
        absolute: Whether correlations count without their sign.
        alpha: Level of the decisions.
        correction: For many comparisons, per statistic and test.
        resamples: Resamples behind p-values that are not exact.
        baseline: Label of the metric that others are asked to beat.
        metrics: In input order. Where sets are named: over all of them, accuracies of all pairs of
            systems pooled.
        sets: One where sets are not named.
        pairs: By statistic, test, set and pair, each in input order.
        warnings: What the reader must not overlook.
        methods: How the numbers came about, for a paper.
    """

    path = "metric-evaluations"

    signature: str
    version: str
    level: str
    group: str
    alternative: str
    absolute: bool
    alpha: float
    correction: str
    resamples: int
    baseline: str | None
    metrics: tuple[MetricEvaluation, ...]
    sets: tuple[SetReport, ...]
    pairs: tuple[MetricPair, ...]
    warnings: Warnings
    methods: Methods | None = None
