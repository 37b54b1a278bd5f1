"""From facts to the report: decisions of every family, ranks, verdicts, warnings."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import replace
from typing import Any

import numpy as np

from sigtest.arrays import Array
from sigtest.comparison.plan import Part, Plan, Telling
from sigtest.decide.decisions import NONE, Decisions, Limit, decide
from sigtest.decide.facts import Facts
from sigtest.decide.methods import methods_of
from sigtest.decide.ranks import power_of, rank_confidence, rank_doubt, ranked
from sigtest.decide.verdict import verdict
from sigtest.decide.warnings import warnings_of, warnings_of_several
from sigtest.decide.wins import count_wins
from sigtest.report import (
    FamilyReport,
    MetricReport,
    NamedReport,
    PairReport,
    Report,
    RunsReport,
    ScoreReport,
    Several,
    SystemReport,
    TestSetReport,
)
from sigtest.significance import TESTS, OwnP, SignificanceTest
from sigtest.significance.exact import ExactP
from sigtest.significance.intervals import wilson_interval
from sigtest.significance.levels import experimentwise_error
from sigtest.version import __version__

Gone = Mapping[tuple[str, str], Array]  # p-values by metric's label and test


def summarise(plan: Plan, facts: Sequence[Sequence[Facts]], gone: Gone | None = None) -> Report:
    """Build the report.

    All pairs of one metric and test are one family for the correction, those of several test sets
    and of their whole together.

    Args:
        plan: What is compared.
        facts: For each part, and of several for the whole, those of every metric.
        gone: Comparisons that stay in their family although a system of theirs has left.
    """
    recipe, parts = plan.recipe, plan.all_parts
    pairs: list[list[PairReport]] = [[] for _ in parts]
    for m, label in enumerate(recipe.labels if plan.seen else ()):
        for name in recipe.tests:
            left = (gone or {}).get((label, name), NONE)
            families = _families(plan, [own[m] for own in facts], m, TESTS[name], left)
            for own, family in zip(pairs, families, strict=True):
                own += family
    reports = [
        _report(part, telling, own, rows, plan.comparisons, gone or {})
        for part, telling, own, rows in zip(parts, plan.tellings, facts, pairs, strict=True)
    ]
    methods = methods_of(plan, [pair for own in pairs for pair in own])
    if not plan.names:
        return replace(reports[0], methods=methods)
    *named, whole = reports
    return replace(
        whole,
        methods=methods,
        signature=plan.signature,
        testset=replace(whole.testset, references=named[0].testset.references),
        warnings=warnings_of_several(len(plan.names), recipe.alternative, recipe.alpha),
        several=Several(
            average=plan.average,
            comparisons=plan.comparisons,
            testsets=tuple(map(NamedReport, plan.names, named)),
            wins=count_wins(
                plan.whole, [np.array([own.scores for own in part]) for part in facts[:-1]]
            ),
        ),
    )


def _families(
    plan: Plan, facts: Sequence[Facts], m: int, test: SignificanceTest, gone: Array
) -> list[list[PairReport]]:
    """The pairs of each part for one metric and test, decided as one family."""
    parts, first = plan.all_parts, plan.parts[0]
    unseen = np.zeros(len(first.pairs), dtype=np.int64)  # where a test has a p-value of its own
    decisions = decide(
        first.recipe,
        first.resamples,
        test,
        counts=np.concatenate([known.counts.get(test.name, unseen) for known in facts], axis=-1),
        known=[p for known in facts for p in known.own.get(test.name, known.exact)],
        joint_counts=facts[0].joint_counts.get(test.name),  # of one test set only
        family=plan.comparisons,
        gone=gone,
    )
    size, family = len(first.pairs), plan.comparisons
    return [
        _pairs(part, telling, m, known, test, decisions, slice(start, start + size), family)
        for part, telling, known, start in zip(
            parts, plan.tellings, facts, range(0, size * len(parts), size), strict=True
        )
    ]


def _columns(
    part: Part, facts: Facts, decisions: Decisions, rows: slice
) -> Iterator[tuple[Any, ...]]:
    """What is known of each pair, row by row.

    Columns become lists first: reading arrays number by number takes several times as long.
    """
    spread = facts.difference_spread
    return zip(
        range(rows.start, rows.stop),
        part.pairs.tolist(),
        spread.low.tolist(),
        spread.high.tolist(),
        spread.stderr.tolist(),
        spread.skewness.tolist(),
        decisions.known[rows],
        decisions.counts[rows].tolist(),
        decisions.p[rows].tolist(),
        decisions.log10_p[rows].tolist(),
        decisions.low[rows].tolist(),
        decisions.high[rows].tolist(),
        decisions.adjusted[rows].tolist(),
        decisions.significant[rows].tolist(),
        decisions.undecided[rows].tolist(),
        strict=True,
    )


def _pairs(
    part: Part,
    telling: Telling,
    m: int,
    facts: Facts,
    test: SignificanceTest,
    decisions: Decisions,
    rows: slice,
    comparisons: int,
) -> list[PairReport]:
    """The pairs of a comparison, which are some rows of a family of so many comparisons."""
    recipe = part.recipe
    higher = recipe.metrics[m].higher_is_better
    alternative = test.shown_alternative(recipe.alternative)
    scores, evenness = facts.scores.tolist(), facts.evenness.tolist()
    plain, corrected = decisions.detectable
    pairs: list[PairReport] = []
    for row, (a, b), low, high, stderr, skewness, known, *decided in _columns(
        part, facts, decisions, rows
    ):
        count, p, log10_p, p_low, p_high, adjusted, significant, undecided = decided
        pair = PairReport(
            a=part.systems[a],
            b=part.systems[b],
            metric=recipe.labels[m],
            test=test.name,
            alternative=alternative,
            score_a=scores[a],
            score_b=scores[b],
            difference=scores[a] - scores[b],
            ci=(low, high),
            stderr=stderr,
            count=known.count if known else count,
            resamples=known.patterns if known else part.resamples,
            p_value=p,
            log10_p=log10_p,
            p_interval=None if test.draws == "none" else (p_low, p_high),
            p_adjusted=adjusted,
            significant=significant,
            undecided=undecided,
            resamples_needed=decisions.needed.get(row),
            exact=known is not None and known.exact,
            calibrated=test.keeps_level(
                telling.units, skewness, telling.hidden, min(evenness[a], evenness[b])
            ),
            detectable=(stderr * plain, stderr * corrected),
            verdict="",
            ahead=_ahead(part, m, (a, b), facts, known),
        )
        shown = verdict(pair, higher, recipe.correction, comparisons)
        pairs.append(replace(pair, verdict=shown))
    return pairs


def _ahead(
    part: Part, m: int, pair: tuple[int, int], facts: Facts, known: ExactP | OwnP | None
) -> str | None:
    """The system that a test of units finds ahead, where their scores do not say so."""
    a, b = pair
    found = np.sign(known.ahead) if isinstance(known, OwnP) else 0
    better = np.sign(part.recipe.metrics[m].sign * (facts.scores[a] - facts.scores[b]))
    return None if found in (0, better) else part.systems[a if found > 0 else b]


def _report(
    part: Part,
    telling: Telling,
    facts: Sequence[Facts],
    pairs: Sequence[PairReport],
    comparisons: int,
    gone: Gone,
) -> Report:
    recipe = part.recipe
    limit = Limit(recipe.correction, recipe.alpha, comparisons)
    coming = None if recipe.family == "present" else FamilyReport(recipe.family, comparisons)
    metrics = {
        label: MetricReport(metric.higher_is_better, metric.signature(part.references))
        for label, metric in zip(recipe.labels, recipe.metrics, strict=True)
    }
    systems = tuple(
        SystemReport(name, _score_reports(part, facts, s)) for s, name in enumerate(part.systems)
    )
    ranks = bool(pairs) and recipe.baseline is None
    if ranks:
        systems = ranked(systems, metrics, recipe.tests, pairs)
        skewness = max(float(abs(known.difference_spread.skewness).max()) for known in facts)
    doubt = rank_doubt(recipe.tests, telling, skewness) if ranks else None
    left = max(map(len, gone.values()), default=0)  # of the metrics and tests there are
    return Report(
        signature=part.signature,
        version=__version__,
        testset=TestSetReport(
            segments=part.segments,
            references=part.references,
            documents=part.document_count or None,
            sha256=part.testset,
        ),
        alpha=recipe.alpha,
        correction=recipe.correction,
        experimentwise_error=experimentwise_error(recipe.alpha, comparisons),
        comparisons=comparisons,
        metrics=metrics,
        systems=systems,
        pairs=tuple(pairs),
        warnings=warnings_of(part, facts, comparisons, left) if pairs else part.notes,
        family=coming,
        rank_confidence=rank_confidence(limit, pairs, doubt) if ranks else None,
        rank_doubt=doubt,
        interval=recipe.interval,
        discriminative_power=power_of(pairs) if len(recipe.metrics) > 1 and pairs else None,
        nulls={test: TESTS[test].null for test in recipe.tests},
    )


def _score_reports(part: Part, facts: Sequence[Facts], s: int) -> dict[str, ScoreReport]:
    found = {
        label: score_report(
            float(known.scores[s]),
            float(known.score_spread.low[s]),
            float(known.score_spread.high[s]),
            float(known.score_spread.stderr[s]),
            known.replica_scores[s].tolist(),
        )
        for label, known in zip(part.recipe.labels, facts, strict=True)
    }
    for label in part.proportions:
        right = round(found[label].score * part.segments)
        interval = wilson_interval(right, part.segments, part.recipe.alpha)
        found[label] = replace(found[label], proportion_ci=interval)
    for own in part.runs:
        if own.system == part.systems[s] and own.metric in found:
            varies = RunsReport(own.count, own.item_variance, own.run_variance)
            found[own.metric] = replace(found[own.metric], runs=varies)
    for error in part.clustered:
        if error.system == part.systems[s]:
            found[error.metric] = replace(found[error.metric], clustered_stderr=error.stderr)
    return found


def score_report(
    score: float, low: float, high: float, stderr: float, replicas: Sequence[float]
) -> ScoreReport:
    """What is said of a system in one metric.

    Args:
        score: Observed.
        low: Lower end of its interval.
        high: Upper end.
        stderr: Standard error of the score.
        replicas: Scores of the training replicas; one alone is the system itself.
    """
    trained = len(replicas) > 1
    return ScoreReport(
        score=score,
        ci=(low, high),
        stderr=stderr,
        training_stderr=float(np.std(replicas, ddof=1)) if trained else None,
        replicas=tuple(replicas) if trained else (),
    )
