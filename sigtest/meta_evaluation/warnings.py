"""The sentences a metric evaluation says about how far it can be trusted."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator, Sequence

import numpy as np

from sigtest.arrays import Array
from sigtest.data.names import is_error, summaries
from sigtest.meta_evaluation.methods import STATISTICS
from sigtest.meta_evaluation.question import MetricChoices, MetricQuestion
from sigtest.meta_evaluation.scored import ScoredSet
from sigtest.meta_evaluation.significance.chance import Compared
from sigtest.meta_evaluation.statistics.correlation import is_constant
from sigtest.report.methods import listed
from sigtest.significance.levels import smallest_attainable

FEW_SYSTEMS = 30
KEEPS_LEVEL = 60  # systems from which on exchanges of standardised scores do
FEW_SHARED = 3  # systems up to which exchanges of pairs of systems keep their level
CORRELATIONS = {"pearson", "spearman", "kendall"}
APART = 1e-6  # relative difference between a system's score and the mean of its segments


def cautions(asked: MetricQuestion, compared: Sequence[Sequence[Compared]]) -> tuple[str, ...]:
    """Warnings for what was asked and found; `compared` has the pairs of each set."""
    said: list[str] = []
    for own in asked.sets:
        said += [*own.notes, *summaries(own.systems)]
        said += _of_set(own, asked.choices)
    said += _missing(asked)
    tested = any(compared)  # one metric alone is compared with none
    said += _dependence(asked.choices) if tested else ()
    level = asked.choices.level
    fewest = min(
        int(np.count_nonzero(~np.isnan(own.human_scores(level) + scores).all(axis=1)))
        for own in asked.sets
        for scores in own.metric_scores(level)
    )
    if level == "system" and fewest < FEW_SYSTEMS:
        said.append(
            f"Intervals come from resampling systems, and {fewest} are few: below about "
            f"{FEW_SYSTEMS} they are rough."
        )
    said += _exchanged_systems(asked.choices, fewest) if tested else ()
    said += _exchanged_pairs(asked, compared)
    said += _too_few_resamples(asked.choices, compared)
    return tuple(dict.fromkeys(said))


def _missing(asked: MetricQuestion) -> Iterator[str]:
    """Metrics that some sets do not have."""
    labels = dict.fromkeys(metric.label for own in asked.sets for metric in own.metrics)
    for label in labels:
        without = [
            own.name for own in asked.sets if label not in {metric.label for metric in own.metrics}
        ]
        if without:
            yield (
                f"{label} is not among the metrics of {', '.join(without)}; its figures over all "
                "sets are over the others."
            )


def _of_set(own: ScoredSet, choices: MetricChoices) -> Iterator[str]:
    where = f" in set {own.name}" if own.name else ""
    if own.ignored:
        yield (f"Left out{where}, as people did not judge them: {', '.join(own.ignored)}.")
    if own.unscored:
        yield f"Left out{where}, as no metric scores them: {', '.join(own.unscored)}."
    human = own.human_scores(choices.level)
    constant = [
        metric.label
        for metric, scores in zip(own.metrics, own.metric_scores(choices.level), strict=True)
        if is_constant(scores[~np.isnan(scores) & ~np.isnan(human)])
    ]
    if CORRELATIONS & set(choices.statistics):
        if is_constant(human[~np.isnan(human)]):
            yield f"All human scores{where} are equal, so that correlations are null."
        elif constant:
            yield (
                f"Correlations are null{where} for metrics whose scores are all equal: "
                f"{', '.join(constant)}."
            )
    yield from _directions(own, choices)
    if "soft_accuracy" in choices.statistics:
        apart = [
            metric.label
            for metric in own.metrics
            if metric.better is None and _is_no_mean(metric.system, metric.segment)
        ]
        if apart:
            yield (
                f"Soft pairwise accuracy{where} looks at means of segment scores, and the system "
                f"scores of {', '.join(apart)} are something else (BLEU of a corpus, say); give "
                "these metrics' p-values as pairs, or a comparison."
            )


def _directions(own: ScoredSet, choices: MetricChoices) -> Iterator[str]:
    """Metrics that are called as error rates and taken for qualities."""
    for metric, scores in zip(own.metrics, own.metric_scores(choices.level), strict=True):
        if metric.higher and is_error(metric.label) and not (scores < 0).any():
            yield (
                f"{metric.label} has the name of an error rate, and greater is read as better; "
                f"where lower is better, say so: --lower {metric.label} in the shell, "
                f"lower=[{metric.label!r}] in Python (in JSON, higher is false)."
            )


def _is_no_mean(system: Array | None, segment: Array | None) -> bool:
    """Whether system scores are not means of the segment scores."""
    if system is None or segment is None:
        return False
    whole = ~np.isnan(segment).any(axis=1) & ~np.isnan(system)
    means = segment[whole].mean(axis=1)
    size = float(np.abs(system[whole]).max(initial=0.0))
    return bool((np.abs(system[whole] - means) > APART * size).any())


def _dependence(choices: MetricChoices) -> Iterator[str]:
    if choices.level == "segment" and "williams" in choices.tests:
        yield (
            "The Williams test takes the scores of all systems on all segments to be independent; "
            "those of one segment, and those of one system, are not, which makes its p-values too "
            "small at segment level."
        )


def _exchanged_systems(choices: MetricChoices, fewest: int) -> Iterator[str]:
    """PERM-BOTH over few systems; the sizes were measured with normal scores."""
    asked = choices.level == "system" and "perm_both" in choices.tests
    if asked and "pearson" in choices.statistics and fewest < KEEPS_LEVEL:
        yield (
            f"With {fewest} systems PERM-BOTH of Pearson's r rejects true null hypotheses somewhat "
            "too often, as scores are standardised before they are exchanged (.065 of them at a "
            f"nominal .05 with 8 to 12 systems, .05 from about {KEEPS_LEVEL} on); the Williams "
            "test keeps its level where scores are normal."
        )


def _exchanged_pairs(
    asked: MetricQuestion, compared: Sequence[Sequence[Compared]]
) -> Iterator[str]:
    """PERM-BOTH over pairs of systems; sizes were measured where all scores are normal."""
    shared = dict.fromkeys(
        row.statistic
        for own, rows in zip(asked.sets, compared, strict=True)
        for row in rows
        if row.unit == "pair" and len(own.systems) > FEW_SHARED
    )
    if shared:
        which = listed([STATISTICS[name][0] for name in shared])
        yield (
            f"PERM-BOTH of {which} takes pairs of systems to be independent; those that "
            "share a system are not, which makes its p-values too small (it rejects .11 of "
            "true null hypotheses at a nominal .05 with 8 systems on 100 segments, .15 with 12)."
        )


def _too_few_resamples(
    choices: MetricChoices, compared: Sequence[Sequence[Compared]]
) -> Iterator[str]:
    """Whether even the smallest p-value could not be significant once corrected."""
    tested = [row for rows in compared for row in rows if row.chances]
    families = Counter((row.statistic, row.test) for row in tested)
    claims = len(choices.claims)
    drawn = [claims * families[row.statistic, row.test] for row in tested if not row.exact]
    if not drawn:
        return
    largest = max(drawn)
    least = smallest_attainable(choices.correction, largest, 1 / (choices.resamples + 1))
    if least > choices.alpha:
        yield (
            f"{choices.resamples:,} resamples are too few for {largest} comparisons at alpha "
            f"{choices.alpha} with {choices.correction}: no corrected p-value can reach it."
        )
