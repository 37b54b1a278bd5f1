"""From facts to the report, and from a report to one that is decided in another way.

A report is first what the draws say (`_measured`); `conclude` then decides every family of pairs,
and so ranks, verdicts and all that follows. Deciding anew concludes a finished report again, from
its p-values. Its intervals stay at the level that they were drawn for, which it then names; all
else is what a comparison with this alpha and correction and as many resamples reports.
"""

import re
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field, replace
from itertools import product, zip_longest
from typing import Any

import numpy as np

from sigtest.arrays import Array, Counts
from sigtest.comparison.plan import DIGITS, Part, Plan, Telling
from sigtest.data.names import choose
from sigtest.decide import decisions, words
from sigtest.decide.facts import Facts, facts_of_rows
from sigtest.errors import RecipeError
from sigtest.report import (
    CalibrationReport,
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
    decode,
)
from sigtest.requests.recipe import check_alpha
from sigtest.significance import ALTERNATIVES, CORRECTIONS, TESTS, Alternative, intervals
from sigtest.significance.base import UnitP
from sigtest.significance.best import keeps_best
from sigtest.significance.corrections import experimentwise_error
from sigtest.version import __version__

Gone = Mapping[str, Mapping[str, tuple[float, ...]]]  # p-values by metric's label and test
NO_P = UnitP(1.0, 0.0, exact=False)  # of tests that count
DRAWN = re.compile(r"\|alternative:([a-z-]+)\|resamples:(\d+)\|seed:")


@dataclass(frozen=True)
class Conclusion:
    """How the pairs of a report are decided.

    Attributes:
        limit: Correction, level and size of a family.
        alternative: The claim.
        resamples: R.
        ranks: Whether systems are ranked.
        joint: Counts of a correction that looks at all pairs' draws together, by metric and test.
    """

    limit: decisions.Limit
    alternative: Alternative
    resamples: int
    ranks: bool
    joint: Mapping[tuple[str, str], Counts] = field(default_factory=dict)


def summarise(plan: Plan, facts: Sequence[Sequence[Facts]], gone: Gone | None = None) -> Report:
    """Build the report.

    All pairs of one metric and test are one family for the correction, those of several test sets
    and of their whole together.

    Args:
        plan: What is compared.
        facts: For each part, and of several for the whole, those of every metric.
        gone: Comparisons that stay in their family although a system of theirs has left.
    """
    recipe = plan.recipe
    limit = decisions.Limit(recipe.correction, recipe.alpha, plan.comparisons)
    reports = [
        _measured(part, telling, known, limit, gone or {})
        for part, telling, known in zip(plan.all_parts, plan.tellings, facts, strict=True)
    ]
    report = reports[-1]
    if plan.names:
        scores = [np.array([own.scores for own in part]) for part in facts[:-1]]
        report = replace(
            report,
            signature=plan.signature,
            testset=replace(report.testset, references=reports[0].testset.references),
            several=Several(
                average=plan.average,
                comparisons=plan.comparisons,
                testsets=tuple(map(NamedReport, plan.names, reports[:-1])),
                wins=tuple(decisions.count_wins(plan.whole, scores)),
            ),
        )
    joint = {
        (label, test): counts  # of one test set only
        for label, known in zip(recipe.labels, facts[0], strict=True)
        for test, counts in known.joint_counts.items()
    }
    ranks = not recipe.baselines and bool(plan.pair_count)
    how = Conclusion(limit, recipe.alternative, plan.resamples, ranks, joint)
    pairs = [pair for own in reports for pair in own.pairs]
    best = any(
        score.p_best is not None
        for own in reports
        for system in own.systems
        for score in system.scores.values()
    )
    return replace(conclude(report, how), methods=words.methods_of(plan, pairs, best))


def report_of_rows(
    part: Part,
    systems: Sequence[Array],
    pairs: Sequence[Array],
    draws: Sequence[Array] = (),
    ranges: Sequence[Array] = (),
    gone: Gone | None = None,
) -> Report:
    """The report, as a comparison of these systems alone would give it.

    Args:
        part: What is compared.
        systems: For each metric (S, 5 + m + sums) rows, from `facts.system_row`.
        pairs: For each metric (P, 10 + 3 tests) rows of `part.pairs`, from `facts.pair_rows`.
        draws: For each metric (S, R) bootstrap scores, where the correction is a joint one.
        ranges: For each metric (R,) ranges of permuted systems, where the correction is `tukey`.
        gone: Comparisons that stay in their family although a system of theirs has left.
    """
    rows = zip_longest(systems, pairs, draws, ranges)
    facts = [facts_of_rows(part, m, *own) for m, own in enumerate(rows)]
    return summarise(Plan((part,)), [facts], gone)


def decided(report: Report, alpha: float | None = None, correction: str | None = None) -> Report:
    """The report with another alpha or correction; the same where neither is another.

    Args:
        report: On one test set or on several.
        alpha: Level of decisions; as it was where there is none.
        correction: Name of the correction; as it was where there is none.

    Raises:
        RecipeError: No such level or correction; or a correction that counts in draws, which a
            report does not hold.
    """
    alpha = report.alpha if alpha is None else alpha
    correction = report.correction if correction is None else correction
    check_alpha(alpha)
    choose(correction, CORRECTIONS, "correction", "correction")
    if not report.pairs or (alpha, correction) == (report.alpha, report.correction):
        return report
    how = _conclusion(report, alpha, correction)
    several = report.several
    if several is not None:
        own = tuple(
            replace(entry, report=_restated(entry.report, how)) for entry in several.testsets
        )
        several = replace(several, testsets=own)
    return conclude(replace(_restated(report, how), several=several), how)


def with_gone(report: Report, family: object) -> Report:
    """A report, decided with the p-values that stay in a family as another report has it, in JSON.

    Raises:
        InputError: It is no such family.
    """
    if report.family is None or not report.pairs or not family:
        return report
    gone = decode(FamilyReport, family).gone
    report = replace(report, family=replace(report.family, gone=gone))
    how = _conclusion(report, report.alpha, report.correction)
    return conclude(report, how)


def _conclusion(report: Report, alpha: float, correction: str) -> Conclusion:
    if CORRECTIONS[correction].joint:
        raise RecipeError(
            f"correction {correction} counts in the draws of all pairs together, which a report "
            "does not hold; ask for a comparison with it.",
            field="correction",
        )
    drawn = DRAWN.search(report.signature)
    if drawn is None:
        raise RecipeError("The signature of this report cannot be read.", field="correction")
    claim = next(own for own in ALTERNATIVES if own == drawn[1])
    ranks = any(system.ranks for system in report.systems)
    limit = decisions.Limit(correction, alpha, report.comparisons)
    return Conclusion(limit, claim, int(drawn[2]), ranks)


def _restated(report: Report, how: Conclusion) -> Report:
    """What a report says besides of how it was decided: signature, methods, warnings."""
    limit, methods = how.limit, report.methods
    drawn_for = report.alpha if report.interval_alpha is None else report.interval_alpha
    if methods is not None:
        coming = report.family.systems if report.family else None
        old = decisions.Limit(report.correction, report.alpha, limit.family)
        methods = words.decided_anew(methods, old, limit, coming)
    drawn = report.signature.partition("|decided:")[0]
    return replace(
        report,
        signature=f"{drawn}|decided:alpha={limit.alpha},correction={limit.correction}",
        interval_alpha=None if drawn_for == limit.alpha else drawn_for,
        methods=methods,
    )


def conclude(report: Report, how: Conclusion) -> Report:
    """A report with decisions, ranks, verdicts and all that follows from these.

    Args:
        report: With p-values; on several test sets each of their pairs belongs to the families.
        how: What decides.
    """
    several, limit = report.several, how.limit
    if several is None:
        (pairs,) = _decided([report], how)
        return _concluded(report, pairs, how)
    reports = [own.report for own in several.testsets]
    *each, whole = _decided([*reports, report], how)
    testsets = tuple(
        replace(own, report=_concluded(own.report, pairs, how))
        for own, pairs in zip(several.testsets, each, strict=True)
    )
    size = limit.family // (len(testsets) + 1)
    wins = decisions.decided_wins(several.wins, replace(limit, family=size))
    return replace(
        _concluded(report, whole, how),
        several=replace(several, testsets=testsets, wins=wins),
        warnings=words.warnings_of_several(len(testsets), how.alternative, limit.alpha),
    )


def _concluded(report: Report, pairs: Sequence[PairReport], how: Conclusion) -> Report:
    systems, limit = report.systems, how.limit
    if how.ranks:
        systems = decisions.ranked(systems, report.metrics, report.tests, pairs)
    return replace(
        report,
        alpha=limit.alpha,
        correction=limit.correction,
        experimentwise_error=experimentwise_error(limit.alpha, limit.family),
        systems=systems,
        pairs=tuple(pairs),
        rank_confidence=decisions.rank_confidence(limit, pairs, report.rank_doubt)
        if how.ranks
        else None,
        discriminative_power=None
        if report.discriminative_power is None
        else decisions.power_of(pairs),
        untestable=words.untestable(report, limit, how.alternative),
        warnings=words.decided_warnings(report, limit, how.alternative, how.resamples)
        if pairs
        else report.warnings,
    )


def _decided(reports: Sequence[Report], how: Conclusion) -> list[list[PairReport]]:
    """The pairs of each report; those of one metric and test are one family."""
    made: list[list[PairReport]] = [[] for _ in reports]
    first, limit = reports[0], how.limit
    left = first.family.gone if first.family else {}
    for number, (metric, test) in enumerate(product(first.metrics, first.tests)):
        size = len(first.pairs) // (len(first.metrics) * len(first.tests))
        rows = slice(number * size, (number + 1) * size)
        family = [pair for own in reports for pair in own.pairs[rows]]
        higher, both = first.metrics[metric].higher_is_better, (metric, test)
        p = np.array([pair.p_value for pair in family])
        low, high = np.array([pair.p_interval or (pair.p_value,) * 2 for pair in family]).T
        sides = TESTS[test].sides(how.alternative)
        plain, corrected = decisions.detectable_in_errors(limit, how.alternative)
        gone = np.array(left.get(metric, {}).get(test, ()), dtype=float)
        joint = how.joint.get(both)
        found = decisions.decide(limit, p, (low, high), how.resamples, sides, gone, joint)
        # lists first: reading arrays number by number takes several times as long
        columns = zip(family, found.adjusted.tolist(), found.undecided.tolist(), strict=True)
        for row, (pair, adjusted, unsure) in enumerate(columns):
            own = replace(
                pair,
                interval_agrees=decisions.interval_agrees(pair, higher, adjusted <= limit.alpha),
                p_adjusted=adjusted,
                significant=adjusted <= limit.alpha,
                undecided=unsure,
                resamples_needed=found.needed.get(row),
                detectable=(pair.stderr * plain, pair.stderr * corrected),
            )
            shown = words.verdict(own, higher, limit.correction, limit.family)
            made[row // size].append(replace(own, verdict=shown))
    return made


# What the draws say ------------------------


def _measured(
    part: Part, telling: Telling, facts: Sequence[Facts], limit: decisions.Limit, gone: Gone
) -> Report:
    """The report of one test set, or of all together, whose pairs are not decided yet.

    Args:
        part: What is compared.
        telling: How much its units tell.
        facts: Of every metric.
        limit: What will decide.
        gone: Comparisons of systems that have left.
    """
    recipe = part.recipe
    facts = [
        _of_proportions(part, known) if label in part.shares else known
        for label, known in zip(recipe.labels, facts, strict=True)
    ]
    facts = [
        known
        if keeps_best(telling.units, telling.hidden, known.evenness.min(initial=1.0))
        else replace(known, best=None)
        for known in facts
    ]
    coming = None if recipe.family == "present" else FamilyReport(recipe.family, limit.family, gone)
    left = max((len(p) for tests in gone.values() for p in tests.values()), default=0)
    pairs = [
        pair for m in range(len(facts)) for pair in _measured_pairs(part, telling, m, facts[m])
    ]
    doubt = None
    if pairs and not recipe.baselines:
        skewness = max(float(abs(known.difference_spread.skewness).max()) for known in facts)
        doubt = decisions.rank_doubt(recipe.tests, telling, skewness)
    return Report(
        signature=part.signature,
        version=__version__,
        testset=TestSetReport(
            segments=part.segments,
            references=part.references,
            documents=part.document_count or None,
            sha256=part.testset,
        ),
        alpha=limit.alpha,
        correction=limit.correction,
        experimentwise_error=0.0,
        comparisons=limit.family,
        metrics={
            label: MetricReport(
                metric.higher_is_better, metric.signature(part.references), label in part.shares
            )
            for label, metric in zip(recipe.labels, recipe.metrics, strict=True)
        },
        systems=tuple(
            SystemReport(name, _scores(part, facts, s)) for s, name in enumerate(part.systems)
        ),
        pairs=tuple(pairs),
        warnings=words.warnings_of(part, facts, left) if pairs else part.notes,
        family=coming,
        rank_doubt=doubt,
        interval=recipe.interval,
        discriminative_power={} if len(recipe.metrics) > 1 and pairs else None,
        nulls={test: TESTS[test].null for test in recipe.tests},
    )


def _of_proportions(part: Part, facts: Facts) -> Facts:
    """The same with intervals that hold for few units, too, which those of the bootstrap do not."""
    units, alpha = part.units, part.recipe.alpha
    a, b = part.pairs.T
    # labels say whose items are, and are known here only where systems have their own
    each = np.array([(part.labels or ()).count(name) or units for name in part.systems])
    right = np.rint(facts.scores * each)
    ends = np.stack([facts.scores, *intervals.wilson_interval(right, each, alpha)])
    bar = [name == str(part.recipe.bar) for name in part.systems]
    ends[:, bar] = facts.scores[bar]
    if part.recipe.design == "paired":
        lower, upper = intervals.bonett_price_interval(
            right[a] - right[b], facts.unlike, units, alpha
        )
    else:
        lower, upper = intervals.newcombe_interval(ends[:, a], ends[:, b])
    return replace(
        facts,
        score_spread=replace(facts.score_spread, low=ends[1], high=ends[2]),
        difference_spread=replace(facts.difference_spread, low=lower, high=upper),
    )


def _measured_pairs(part: Part, telling: Telling, m: int, facts: Facts) -> Iterator[PairReport]:
    """All pairs of one metric, by test."""
    recipe, spread = part.recipe, facts.difference_spread
    sign = recipe.metrics[m].sign
    scores, evenness = facts.scores.tolist(), facts.evenness.tolist()
    unseen = np.zeros(len(part.pairs), int)  # where a test has a p-value of its own
    for name in recipe.tests if len(part.pairs) else ():
        test = TESTS[name]
        counts = facts.counts.get(name, unseen)
        own = facts.unit_p.get(name, facts.exact)
        found, *of_p = decisions.p_values(test, recipe.alternative, part.resamples, counts, own)
        alternative = test.stated_alternative(recipe.alternative)
        columns = (
            part.pairs,
            spread.low,
            spread.high,
            spread.stderr,
            spread.skewness,
            np.atleast_2d(counts)[0],
            *of_p,
        )
        # lists first: reading arrays number by number takes several times as long
        rows = zip(found, *(column.tolist() for column in columns), strict=True)
        for known, (a, b), low, high, stderr, skewness, count, p, log10_p, p_low, p_high in rows:
            own_p = known if isinstance(known, UnitP) else NO_P
            # the system that a test of units finds ahead, where their scores do not say so
            agrees = np.sign(own_p.ahead) in (0, np.sign(sign * (scores[a] - scores[b])))
            stretches = own_p.stretches
            even, units = min(evenness[a], evenness[b]), telling.units
            if stretches is not None:
                even, units = 1.0, stretches
            hidden = max(telling.hidden, 1 / telling.smallest)
            doubt = test.level_doubt(units, skewness, hidden, even)
            # stretches of one speaker, whom documents tell, are not independent
            if telling.dependent or (stretches is not None and recipe.unit == "document"):
                doubt = "dependent-segments"
            yield PairReport(
                a=part.systems[a],
                b=part.systems[b],
                metric=recipe.labels[m],
                test=name,
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
                p_adjusted=1.0,
                significant=False,
                undecided=False,
                exact=known is not None and known.exact,
                calibrated=doubt is None,
                calibration=CalibrationReport(
                    round(units * even, DIGITS), skewness, round(even, DIGITS), doubt
                ),
                detectable=(0.0, 0.0),
                verdict="",
                ahead=None if agrees else part.systems[a if own_p.ahead > 0 else b],
                stretches=stretches,
                z=None if stretches is None else own_p.statistic,
            )


def _scores(part: Part, facts: Sequence[Facts], s: int) -> dict[str, ScoreReport]:
    """What is said of one system in every metric."""
    found, name = {}, part.systems[s]
    runs = {
        own.metric: RunsReport(own.count, own.item_variance, own.run_variance)
        for own in part.runs
        if own.system == name
    }
    clustered = {own.metric: own.stderr for own in part.clustered if own.system == name}
    for label, metric, known in zip(part.recipe.labels, part.recipe.metrics, facts, strict=True):
        spread, counts = known.score_spread, None
        if metric.counted and known.sums is not None:
            counts = metric.beside(known.sums[s, : metric.width].tolist(), part.replicas)
        ends = float(spread.low[s]), float(spread.high[s])
        p_best, *interval = (None,) if known.best is None else known.best[:, s].tolist()
        found[label] = score_report(
            float(known.scores[s]),
            ends,
            float(spread.stderr[s]),
            known.replica_scores[s].tolist(),
            p_best=p_best,
            p_best_interval=tuple(interval) or None,
            runs=runs.get(label),
            counts=counts or {},
            clustered_stderr=clustered.get(label),
        )
    return found


def score_report(
    score: float,
    ci: tuple[float, float],
    stderr: float,
    replicas: Sequence[float],
    **beside: Any,
) -> ScoreReport:
    """What is said of a system in one metric.

    Args:
        score: Observed.
        ci: Both ends of its interval.
        stderr: Standard error of the score.
        replicas: Scores of the training replicas; one alone is the system itself.
        beside: What else the report has of it, by the names of its fields.
    """
    trained = len(replicas) > 1
    return ScoreReport(
        score=score,
        ci=ci,
        stderr=stderr,
        training_stderr=float(np.std(replicas, ddof=1)) if trained else None,
        replicas=tuple(replicas) if trained else (),
        **beside,
    )
