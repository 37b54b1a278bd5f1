"""From what is asked about metrics to the report: a function of scores and choices alone."""

import math
from collections import Counter
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from functools import partial
from itertools import product
from typing import Any

import numpy as np

from sigtest.arrays import Array
from sigtest.data.names import is_error
from sigtest.meta_evaluation.bootstrap import POOLED, Estimate, MetricTable, estimate, pooled
from sigtest.meta_evaluation.question import MetricChoices, MetricQuestion
from sigtest.meta_evaluation.report import (
    MetaReport,
    MetricEvaluation,
    MetricPair,
    Place,
    ScoredSystem,
    SetReport,
)
from sigtest.meta_evaluation.scored import MetricScores, ScoredSet
from sigtest.meta_evaluation.show import STATISTICS, sentences
from sigtest.meta_evaluation.significance import Compared, compare_metrics, finite
from sigtest.meta_evaluation.statistics import is_constant
from sigtest.progress import Progress, silent
from sigtest.report import WarningReport, listed, warned_of_names, with_methods
from sigtest.significance.corrections import adjust, smallest_attainable, undecided
from sigtest.significance.intervals import rank

FEW_SYSTEMS = 30
KEEPS_LEVEL = 60  # systems from which on exchanges of standardised scores do
FEW_SHARED = 3  # systems up to which exchanges of pairs of systems keep their level
CORRELATIONS = {"pearson", "spearman", "kendall"}
APART = 1e-6  # relative difference between a system's score and the mean of its segments

Family = Sequence[MetricPair]  # all pairs of one statistic and test, which are corrected together


@dataclass(frozen=True)
class MeasuredSet:
    """One set, measured and compared, before any correction.

    Attributes:
        scored: The set.
        estimates: For each metric its statistics by name.
        pairs: Pairs of its metrics, by statistic, test and pair.
    """

    scored: ScoredSet
    estimates: list[dict[str, Estimate]]
    pairs: list[Compared]


def compute(question: MetricQuestion, progress: Progress | None = None) -> MetaReport:
    """Evaluate metrics against people.

    Args:
        question: Scores and choices.
        progress: Called with phase (`statistics`, `resampling`, `report`), done and total.

    Returns:
        The report; the same bits for the same scores, choices and version.
    """
    say = progress or silent
    sets = []
    for number, scored in enumerate(question.sets):
        say("statistics", number, len(question.sets))
        table = MetricTable(scored, question.choices, number)
        estimates = estimate(scored, table)
        pairs = compare_metrics(table, lambda done, of: say("resampling", done, of))
        sets.append(MeasuredSet(scored, estimates, pairs))
    say("report", 0, 1)
    report = _report(question, sets)
    say("report", 1, 1)
    return with_methods(report, sentences)


def _report(question: MetricQuestion, sets: Sequence[MeasuredSet]) -> MetaReport:
    choices = question.choices
    families = [
        _decided([
            row
            for measured in sets
            for row in measured.pairs
            if (row[0].statistic, row[0].test) == family
        ], choices)
        for family in product(choices.statistics, choices.tests)
    ]  # fmt: skip
    leading = next((f for f in families if any(pair.p_value is not None for pair in f)), ())
    beating = _beating(leading, choices)
    metrics = [_metrics(measured, families, leading, choices) for measured in sets]
    pairs = tuple(pair for family in families for pair in family)
    return MetaReport(
        **question.stated,
        metrics=_overall(sets, choices) if question.several else metrics[0],
        sets=tuple(
            _set(
                measured.scored,
                beating.get(measured.scored.name, ()),
                of_set if question.several else (),
            )
            for measured, of_set in zip(sets, metrics, strict=True)
        ),
        pairs=pairs,
        warnings=tuple(dict.fromkeys(_cautions(question, sets, pairs))),
    )


# Decisions: corrections over all sets, ranks within each ------------------------


def _decided(rows: Sequence[Compared], choices: MetricChoices) -> Family:
    """Pairs of one statistic and test, corrected together; one-sided, both claims of each."""
    pairs = [pair for pair, _ in rows]
    at = [i for i, (_, by_claim) in enumerate(rows) if by_claim]
    if not at:
        return pairs
    chances = [rows[i][1][claim] for i in at for claim in choices.claims]
    p = np.array([chance.p_value for chance in chances])
    low, high = np.array([chance.p_interval for chance in chances]).T
    shape = len(at), len(choices.claims)
    adjusted = adjust(p, choices.correction).reshape(shape).min(axis=1).tolist()
    open_ = undecided(p, low, high, choices.correction, choices.alpha).reshape(shape)
    for i, corrected, unsure in zip(at, adjusted, np.any(open_, axis=1).tolist(), strict=True):
        # below alpha 1/2 only the claim of the side ahead is ever supported
        ahead = "a" if (pairs[i].delta or 0.0) > 0 else "b"
        significant = corrected <= choices.alpha
        pairs[i] = replace(
            pairs[i],
            p_adjusted=corrected,
            significant=significant,
            conclusion=ahead if significant else "tie",
            undecided=unsure,
        )
    return pairs


def _beating(leading: Family, choices: MetricChoices) -> dict[str, tuple[str, ...]]:
    """Labels of the metrics that beat the baseline, by set; these comparisons are a family."""
    claims: list[tuple[str, str, float]] = []  # set, metric, p-value of its being better
    for pair in leading:
        if pair.p_value is None or choices.baseline not in (pair.a, pair.b):
            continue
        label, p = (pair.a, pair.p_greater) if pair.b == choices.baseline else (pair.b, pair.p_less)
        if choices.alternative == "two-sided":  # and 1 for the metric that is behind
            p = pair.p_value if ((pair.delta or 0.0) > 0) == (label == pair.a) else 1.0
        claims.append((pair.set, label, 1.0 if p is None else p))
    won: dict[str, tuple[str, ...]] = {}
    if claims:
        adjusted = adjust(np.array([p for *_, p in claims]), choices.correction).tolist()
        for (name, label, _), p_adjusted in zip(claims, adjusted, strict=True):
            won[name] = (*won.get(name, ()), *([label] if p_adjusted <= choices.alpha else []))
    return won


def _places(measured: MeasuredSet, family: Family) -> dict[str, Place]:
    """Where the metrics of a set for which a statistic is defined stand, by label."""
    known = zip(measured.scored.metrics, measured.estimates, strict=True)
    values = {metric.label: own[family[0].statistic].value for metric, own in known}
    labels = [label for label, value in values.items() if math.isfinite(value)]
    beats = np.zeros((len(labels), len(labels)), bool)
    for pair in family:
        if pair.set == measured.scored.name and {pair.a, pair.b} <= {*labels}:
            a, b = labels.index(pair.a), labels.index(pair.b)
            beats[a, b], beats[b, a] = pair.conclusion == "a", pair.conclusion == "b"
    ranks = rank(np.array([values[label] for label in labels]), beats)
    return {
        label: Place(place.cluster, (place.lowest, place.highest))
        for label, place in zip(labels, ranks, strict=True)
    }


def _metrics(
    measured: MeasuredSet, families: Sequence[Family], leading: Family, choices: MetricChoices
) -> tuple[MetricEvaluation, ...]:
    """The metrics of one set."""
    places = {(own[0].statistic, own[0].test): _places(measured, own) for own in families if own}
    first = _places(measured, leading) if leading else {}
    metrics = []
    for metric, known in zip(measured.scored.metrics, measured.estimates, strict=True):
        ranks: dict[str, dict[str, Place]] = {}
        for (statistic, test), standing in places.items():
            if metric.label in standing:
                ranks.setdefault(statistic, {})[test] = standing[metric.label]
        place = vars(first[metric.label]) if metric.label in first else {}
        metrics.append(_metric(metric, known, choices.alpha, ranks=ranks, **place))
    return tuple(metrics)


def _metric(
    metric: MetricScores, known: Mapping[str, Estimate], alpha: float, **places: Any
) -> MetricEvaluation:
    places |= {name: value.report(alpha) for name, value in known.items()}
    return MetricEvaluation(metric.label, metric.higher, **places)


def _overall(sets: Sequence[MeasuredSet], choices: MetricChoices) -> tuple[MetricEvaluation, ...]:
    """Every metric over all sets that have it."""
    known: dict[str, list[tuple[MetricScores, dict[str, Estimate]]]] = {}
    for measured in sets:
        for metric, estimates in zip(measured.scored.metrics, measured.estimates, strict=True):
            known.setdefault(metric.label, []).append((metric, estimates))
    return tuple(
        _metric(
            rows[0][0],
            {n: pooled([row[n] for _, row in rows]) for n in POOLED if n in rows[0][1]},
            choices.alpha,
        )
        for rows in known.values()
    )


def _set(
    scored: ScoredSet, beating: tuple[str, ...], metrics: tuple[MetricEvaluation, ...]
) -> SetReport:
    human = scored.human_scores("system")[:, 0]
    scores = scored.metric_scores("system")[:, :, 0]
    judged = ~np.isnan(scored.human_scores("segment")).all(axis=0)
    return SetReport(
        name=scored.name,
        segments=scored.segments,
        judged=int(np.count_nonzero(judged)),
        systems=tuple(
            ScoredSystem(
                name=name,
                human=finite(human[s]),
                scores={
                    metric.label: finite(metric.sign * row[s])
                    for metric, row in zip(scored.metrics, scores, strict=True)
                },
            )
            for s, name in enumerate(scored.systems)
        ),
        excluded=scored.excluded,
        ignored=scored.ignored,
        beats_baseline=beating,
        metrics=metrics,
    )


# Warnings: how far the report can be trusted ------------------------


def _cautions(
    question: MetricQuestion, sets: Sequence[MeasuredSet], pairs: Family
) -> Iterator[WarningReport]:
    choices, level = question.choices, question.choices.level
    for measured in sets:
        yield from measured.scored.notes
        yield from warned_of_names(measured.scored.systems, alike=False)
        yield from _of_set(measured, choices)
    labels = {scored.name: {m.label for m in scored.metrics} for scored in question.sets}
    for label in dict.fromkeys(m.label for scored in question.sets for m in scored.metrics):
        if without := [name for name, known in labels.items() if label not in known]:
            yield WarningReport(
                "missing-metric",
                f"{label} is not among the metrics of {', '.join(without)}; its figures over all "
                "sets are over the others.",
                metrics=(label,),
            )
    if pairs and level == "segment" and "williams" in choices.tests:
        yield WarningReport(
            "dependent-scores",
            "The Williams test takes the scores of all systems on all segments to be independent; "
            "those of one segment, and those of one system, are not, which makes its p-values too "
            "small at segment level.",
            tests=("williams",),
        )
    fewest = min(
        int(np.count_nonzero(~np.isnan(scored.human_scores(level) + scores).all(axis=1)))
        for scored in question.sets
        for scores in scored.metric_scores(level)
    )
    if level == "system" and fewest < FEW_SYSTEMS:
        yield WarningReport(
            "few-systems",
            f"Intervals come from resampling systems, and {fewest} are few: below about "
            f"{FEW_SYSTEMS} they are rough.",
        )
    exchanged = pairs and level == "system" and "perm_both" in choices.tests
    if exchanged and "pearson" in choices.statistics and fewest < KEEPS_LEVEL:
        yield WarningReport(  # sizes were measured with normal scores, here and below
            "standardised",
            f"With {fewest} systems PERM-BOTH of Pearson's r rejects true null hypotheses somewhat "
            "too often, as scores are standardised before they are exchanged (.065 of them at a "
            f"nominal .05 with 8 to 12 systems, .05 from about {KEEPS_LEVEL} on); the Williams "
            "test keeps its level where scores are normal.",
            tests=("perm_both",),
        )
    many = {scored.name for scored in question.sets if len(scored.systems) > FEW_SHARED}
    shared = dict.fromkeys(p.statistic for p in pairs if p.unit == "pair" and p.set in many)
    if shared:
        which = listed([STATISTICS[name].words for name in shared])
        yield WarningReport(
            "dependent-pairs",
            f"PERM-BOTH of {which} takes pairs of systems to be independent; those that "
            "share a system are not, which makes its p-values too small (it rejects .11 of "
            "true null hypotheses at a nominal .05 with 8 systems on 100 segments, .15 with 12).",
            tests=("perm_both",),
        )
    tested = [pair for pair in pairs if pair.p_value is not None]
    families = Counter((pair.statistic, pair.test) for pair in tested)
    drawn = [families[pair.statistic, pair.test] for pair in tested if not pair.exact]
    largest = len(choices.claims) * max(drawn, default=0)
    if drawn and choices.alpha < smallest_attainable(
        choices.correction, largest, 1 / (choices.resamples + 1)
    ):
        yield WarningReport(
            "few-resamples",
            f"{choices.resamples:,} resamples are too few for {largest} comparisons at alpha "
            f"{choices.alpha} with {choices.correction}: no corrected p-value can reach it.",
        )


def _of_set(measured: MeasuredSet, choices: MetricChoices) -> Iterator[WarningReport]:
    scored = measured.scored
    where = f" in set {scored.name}" if scored.name else ""
    warned = partial(WarningReport, testset=scored.name or None)
    if left := scored.ignored:
        sentence = f"Left out{where}, as people's judgements give them no score: {', '.join(left)}."
        yield warned("left-out", sentence, left)
    if left := scored.unscored:
        sentence = f"Left out{where}, as no metric scores them: {', '.join(left)}."
        yield warned("left-out", sentence, left)
    human, metrics = scored.human_scores(choices.level), scored.metric_scores(choices.level)
    constant = [
        metric.label
        for metric, scores in zip(scored.metrics, metrics, strict=True)
        if is_constant(scores[~np.isnan(scores) & ~np.isnan(human)])
    ]
    if CORRELATIONS & set(choices.statistics):
        if is_constant(human[~np.isnan(human)]):
            sentence = f"All human scores{where} are equal, so that correlations are null."
            yield warned("constant", sentence)
        elif constant:
            yield warned(
                "constant",
                f"Correlations are null{where} for metrics whose scores are all equal: "
                f"{', '.join(constant)}.",
                metrics=tuple(constant),
            )
    by_label = {m.label: k for m, k in zip(scored.metrics, measured.estimates, strict=True)}
    empty = {
        name: [label for label, known in by_label.items() if not known[name].n]
        for name in choices.statistics
        if name not in CORRELATIONS
    }
    if lacking := [name for name, labels in empty.items() if labels]:
        what = listed([STATISTICS[name].words for name in lacking])
        labels = tuple(dict.fromkeys(label for name in lacking for label in empty[name]))
        yield warned(
            "no-pairs",
            f"{what[0].upper()}{what[1:]} {'is' if len(lacking) == 1 else 'are'} null{where} where "
            "no segment has judgements of two systems that the metric compares: "
            f"{', '.join(labels)}.",
            metrics=labels,
        )
    for metric, scores in zip(scored.metrics, metrics, strict=True):
        if metric.higher and is_error(metric.label) and not (scores < 0).any():
            yield warned(
                "direction",
                f"{metric.label} has the name of an error rate, and greater is read as better; "
                f"where lower is better, say so: --lower {metric.label} in the shell, "
                f"lower=[{metric.label!r}] in Python (in JSON, higher is false).",
                metrics=(metric.label,),
            )
    apart = [
        metric.label
        for metric in scored.metrics
        if metric.better is None and _is_no_mean(metric.system, metric.segment)
    ]
    if apart and "soft_accuracy" in choices.statistics:
        yield warned(
            "no-mean",
            f"Soft pairwise accuracy{where} looks at means of segment scores, and the system "
            f"scores of {', '.join(apart)} are something else (BLEU of a corpus, say); give "
            "these metrics' p-values as pairs, or a comparison.",
            metrics=tuple(apart),
        )


def _is_no_mean(system: Array | None, segment: Array | None) -> bool:
    """Whether system scores are not means of the segment scores."""
    if system is None or segment is None:
        return False
    whole = ~np.isnan(segment).any(axis=1) & ~np.isnan(system)
    means = segment[whole].mean(axis=1)
    size = float(np.abs(system[whole]).max(initial=0.0))
    return bool((np.abs(system[whole] - means) > APART * size).any())
