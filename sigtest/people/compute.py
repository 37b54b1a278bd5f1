"""From a human evaluation to its report: of scores here, of comparisons in `preferences`."""

import math
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import replace
from itertools import chain, combinations

import numpy as np

from sigtest.arrays import Array
from sigtest.people import report, statistics
from sigtest.people.annotators import score_agreement
from sigtest.people.decisions import combine, decide, ranks, undecided
from sigtest.people.judgements import MOST_PAIRS, Comparisons
from sigtest.people.preferences import preference_report
from sigtest.people.question import HumanQuestion
from sigtest.people.scores import Prepared, Units, gains
from sigtest.people.show import TESTS, sentences
from sigtest.progress import Progress, silent
from sigtest.render.records import fields_of
from sigtest.report import WarningReport, warned_of_names, with_methods
from sigtest.requests.people import COMBINED, HumanRequest
from sigtest.special import stdtrit

WHISKER = 1.5  # interquartile ranges
FEW_UNITS = 15  # of the smaller sample: below, normal approximations are rough
NAMED_PAIRS = 5  # in one sentence


def compute(question: HumanQuestion, progress: Progress | None = None) -> report.HumanReport:
    """Compute a human evaluation in this process.

    Args:
        question: Judgements and choices.
        progress: Called with phase (`judgements`, `pairs`, `agreement`), done and total.
    """
    say = progress or silent
    if isinstance(question.judgements, Comparisons):
        report = preference_report(question, question.judgements)
    else:
        report = _score_report(question, say)
    return with_methods(report, sentences)


def _score_report(question: HumanQuestion, say: Progress) -> report.HumanReport:
    say("judgements", 0, 1)
    prepared = question.prepared
    say("judgements", 1, 1)
    choices = question.choices
    pairs = _pairs(prepared, choices, say)
    say("agreement", 0, 1)
    scales = {source.scale for source in question.sources}
    scale = scales.pop() if len(scales) == 1 else None
    agreed, left_out = score_agreement(prepared.judgements, choices, scale)
    gain = gains(prepared.segments, prepared.systems, choices)
    found = report.HumanReport(
        **question.stated(prepared.dropped),
        tested="z" if prepared.pooled.standardised else "raw",
        annotators=prepared.annotators,
        systems=_systems(prepared, pairs, choices),
        pairs=tuple(chain.from_iterable(pairs.values())),
        agreement=tuple(agreed),
        gain=gain,
        warnings=(),
    )
    return replace(found, warnings=tuple(_warnings(question, found, left_out)))


def _pairs(
    prepared: Prepared, choices: HumanRequest, say: Progress
) -> dict[str, Sequence[report.JudgedPair]]:
    """Decided pairs by criterion; the combined conclusions last, where there are several."""
    pairs: dict[str, Sequence[report.JudgedPair]] = {}
    draws = (choices.resamples, choices.seed)
    for done, (criterion, units) in enumerate(prepared.units.items()):
        say("pairs", done, len(prepared.units))
        sign = 1.0 if prepared.averaged.standardised else _sign([criterion], choices)
        by = criterion, str(choices.test), draws, sign
        rows = compare_pairs(units, prepared.tested[criterion], prepared.systems, *by)
        pairs[criterion] = decide(rows, choices.alpha, str(choices.correction))
    if len(pairs) > 1:
        pairs[COMBINED] = combine(pairs)
    return pairs


def _systems(
    prepared: Prepared, pairs: Mapping[str, Sequence[report.JudgedPair]], choices: HumanRequest
) -> tuple[report.JudgedSystem, ...]:
    names, by = prepared.systems, dict[str, list[report.CriterionReport]]()
    for criterion, rows in pairs.items():
        known = [criterion] if criterion in prepared.units else [*prepared.units]
        units = prepared.units.get(criterion, prepared.averaged)
        segments = prepared.segments.get(criterion, prepared.pooled)
        tested = prepared.tested.get(criterion, units.tested)
        places = [units.of(s) for s in range(len(names))]
        # several means order nothing
        means = [tested[place].mean() for place in places] if criterion in prepared.units else ()
        sign, judged = _sign(known, choices), np.bincount(segments.system, minlength=len(names))
        drawn = tested if units.standardised else sign * tested
        by[criterion] = [
            report.CriterionReport(
                n_judgements=int(units.judged[place].sum()),
                n_segments=int(judged[s]),
                raw=_mean(sign * units.raw[place]),
                z=_mean(units.z[place]),
                sd=float(tested[place].std(ddof=1)) if len(tested[place]) > 1 else None,
                ci=mean_interval(drawn[place], choices.alpha),
                box=box(drawn[place]),
                cluster=stands.cluster,
                range=(stands.lowest, stands.highest),
            )
            for s, (place, stands) in enumerate(zip(places, ranks(rows, names, means), strict=True))
        ]
    shared = [name for name in fields_of(report.CriterionReport) if name != "box"]
    return tuple(
        report.JudgedSystem(
            name=name,
            **{field: getattr([*by.values()][-1][s], field) for field in shared},
            criteria={criterion: by[criterion][s] for criterion in prepared.units},
        )
        for s, name in enumerate(names)
    )


def _sign(criteria: Sequence[str], choices: HumanRequest) -> float:
    """What turns scores back into those of the files; NaN where some are turned round."""
    signs = {1.0 if choices.higher_is_better[name] else -1.0 for name in criteria}
    return signs.pop() if len(signs) == 1 else math.nan


def _mean(scores: Array) -> float | None:
    return float(scores.mean()) + 0.0 if np.isfinite(scores).all() else None


def mean_interval(scores: Array, alpha: float) -> tuple[float, float] | None:
    """Student's interval of a mean at level 1 - alpha; nothing for a single or unknown score."""
    if len(scores) < 2 or np.isnan(scores).any():
        return None
    mean = float(scores.mean())
    half = float(stdtrit(len(scores) - 1, 1 - alpha / 2) * scores.std(ddof=1))
    half /= math.sqrt(len(scores))
    return mean - half, mean + half


def box(scores: Array) -> tuple[float, float, float, float, float]:
    """Whisker, quartile, median, quartile, whisker, as Tukey (1977) draws them."""
    low, middle, high = np.quantile(scores, [0.25, 0.5, 0.75]).tolist()
    reach = WHISKER * (high - low)
    inside = scores[~((scores < low - reach) | (scores > high + reach))]
    return float(inside.min()), low, middle, high, float(inside.max())


def _warnings(
    question: HumanQuestion, found: report.HumanReport, left_out: Sequence[str]
) -> Iterator[WarningReport]:
    """Warnings about judgements, annotators and conclusions."""
    annotators = found.annotators
    if annotators and not annotators.filtered and annotators.careless:
        yield WarningReport(
            "careless-annotators",
            f"{annotators.careless} of {annotators.n} annotators do not score degraded copies "
            f"lower than the outputs ({annotators.test}, p at least {annotators.threshold:g}); "
            "their judgements count all the same, as no quality control was asked for (quality).",
        )
    if annotators and annotators.untestable == annotators.n:
        yield WarningReport(
            "untestable-annotators",
            "No annotator could be tested: the judgements have no degraded copies (BAD_REF) or too "
            "few.",
        )
    yield from question.notes
    yield from warned_of_names(question.prepared.systems, alike=False)
    for criterion, rows in found.by_criterion.items():
        yield from _lower_wins(criterion, found, rows)
        least = min(min(row.n_a, row.n_b) for row in rows)
        if least < FEW_UNITS and rows[0].test != "approximate_randomization":
            yield WarningReport(
                "few-units",
                f"By {criterion}, some systems have only {least} score{'s' * (least != 1)} to "
                f"compare; p-values of {TESTS[rows[0].test][0]} are rough there.",
                metrics=(criterion,),
                tests=(rows[0].test,),
            )
    if question.choices.aggregate == "segment" and question.prepared.judgements.document.known:
        yield WarningReport(
            "dependent-segments",
            "Segments of one document are not independent, which makes p-values of segments too "
            'small; the documents are known and can be what counts instead (aggregate "document").',
        )
    for criterion in left_out:
        yield WarningReport(
            "agreement-left-out",
            f"Agreement of distinct annotators on {criterion} is left out: more than "
            f"{MOST_PAIRS:,} pairs of judgements.",
            metrics=(criterion,),
        )


def _lower_wins(
    criterion: str, found: report.HumanReport, rows: Sequence[report.JudgedPair]
) -> Iterator[WarningReport]:
    """WMT's published triangles hide these: only the better mean is tested against the worse."""
    wins = []
    for row in rows:
        ahead = found.sign(row.decided_by or criterion) * (row.difference or 0.0)
        if row.conclusion == "a" and ahead < 0:
            wins.append((row.a, row.b))
        if row.conclusion == "b" and ahead > 0:
            wins.append((row.b, row.a))
    if wins:
        more = f" and {len(wins) - NAMED_PAIRS} more" if len(wins) > NAMED_PAIRS else ""
        listed = "; ".join(f"{winner} over {loser}" for winner, loser in wins[:NAMED_PAIRS])
        yield WarningReport(
            "worse-mean",
            f"By {criterion}, the system with the worse mean wins: {listed}{more}. The test "
            "compares ranks, not means; where a few scores are very low, these can disagree.",
            pairs=tuple(wins),
            metrics=(criterion,),
        )


def compare_pairs(
    units: Units,
    scores: Array,
    names: Sequence[str],
    criterion: str,
    test: str,
    draws: tuple[int, int],
    sign: float,
) -> list[report.JudgedPair]:
    """Both one-sided p-values of every pair of systems, not decided yet.

    Args:
        units: What was judged.
        scores: (u,) their tested scores.
        names: Of the systems.
        criterion: Of the scores.
        test: `rank_sum` on all units, or a paired test on those that both systems have.
        draws: Resamples and seed of approximate randomization.
        sign: What turns differences into those of the files' scores.
    """
    pairs = list(combinations(range(len(names)), 2))
    if test == "rank_sum":
        by_system = [scores[units.of(s)] for s in range(len(names))]
        ordered, means = [np.sort(own) for own in by_system], [own.mean() for own in by_system]
        tails = [statistics.rank_sum(ordered[a], ordered[b]) for a, b in pairs]
        differences = [float(means[a] - means[b]) for a, b in pairs]
        sizes = [(len(ordered[a]), len(ordered[b])) for a, b in pairs]
    else:
        shared = [units.differences(scores, a, b) for a, b in pairs]
        if test == "signed_rank":
            tails = [statistics.signed_rank(values) for _, values in shared]
        else:
            tails = statistics.approximate_randomization(shared, len(units.unit.names), *draws)
        differences = [float(values.mean()) for _, values in shared]
        sizes = [(len(values), len(values)) for _, values in shared]
    return [
        undecided((names[a], names[b], criterion, test), size, sign * difference + 0.0, tail)
        for (a, b), size, difference, tail in zip(pairs, sizes, differences, tails, strict=True)
    ]
