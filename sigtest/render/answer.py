"""What a comparison found, in at most three sentences: the first thing that a page says.

Decisions, numbers and verdicts are those of the report; nothing is decided here.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence

from sigtest.render.digits import fixed, probability, signed
from sigtest.render.standings import (
    Standing,
    baseline_of,
    better,
    leading_test,
    metric_decimals,
    standings,
    undecided,
)
from sigtest.report import PairReport, Report
from sigtest.significance.corrections import after

NAMES = 4  # that are listed before the others are counted


def answer(report: Report, metric: str | None = None) -> tuple[str, ...]:
    """Who is ahead, what cannot be told apart, and what else was found.

    Args:
        report: On one test set, or of all together.
        metric: The first where none is named.
    """
    metric = metric or next(iter(report.metrics))
    test = leading_test(report)
    pairs = [pair for pair in report.pairs if (pair.metric, pair.test) == (metric, test)]
    if not pairs:
        return (_alone(report, metric),)
    if len(pairs) == 1:
        return (f"{pairs[0].verdict}.",)
    ordered = standings(report, metric, test)
    if ordered[0].rank is None:
        return (_against(report, metric, pairs), _counted(pairs))
    leaders = [own for own in ordered if own.rank is not None and own.rank.range[0] == 1]
    said = [_ahead(report, metric, ordered, leaders)]
    if len(leaders) > 1:
        said.append(_tied(report, metric, pairs, leaders))
    return (*said, _counted(pairs))


def _alone(report: Report, metric: str) -> str:
    """Where nothing is compared."""
    if not report.systems:
        return "No system is measured yet."
    places = metric_decimals(report, metric)
    scores = (
        f"{system.name} scores {fixed(system.scores[metric].score, places)} {metric}"
        for system in report.systems
    )
    return f"{'; '.join(scores)}. There is nothing to compare it with."


def _ahead(
    report: Report, metric: str, ordered: Sequence[Standing], leaders: Sequence[Standing]
) -> str:
    """Which systems no other is better than."""
    first = leaders[0] if leaders else ordered[0]
    how = _how(report, metric)
    others = len(ordered) - 1
    if len(leaders) > 1:
        names = listed([standing.system.name for standing in leaders])
        every = f"{names} may each be the best by {how}"
        return f"{every}: no system is significantly better than any of them."
    score = fixed(first.score.score, metric_decimals(report, metric))
    if first.rank is not None and first.rank.range == (1, 1):
        best = f"{first.system.name} is the best by {how} ({score})"
        return f"{best}, significantly better than {_whom(others)}."
    return f"{first.system.name} leads by {how} ({score}): no system is significantly better."


def _how(report: Report, metric: str) -> str:
    return metric if report.several is None else f"{metric} on all test sets together"


def _whom(others: int) -> str:
    return {1: "the other", 2: "both others"}.get(others, f"all {others:,} others")


def _tied(
    report: Report, metric: str, pairs: Sequence[PairReport], leaders: Sequence[Standing]
) -> str:
    """What the first two differ by, and what would show."""
    places = metric_decimals(report, metric)
    first, second = (standing.system.name for standing in leaders[:2])
    of = [pair for pair in pairs if {pair.a, pair.b} == {first, second}]
    pair = next((own for own in of if own.claimed == first), of[0])
    if pair.undecided:
        return f"{pair.verdict}."
    difference = pair.difference if pair.a == first else -pair.difference
    done = after(report.correction, report.comparisons)
    p = "one-sided p" if pair.claimed else "p"
    shown = f"{p} = {probability(pair.p_adjusted, report.alpha)}{done}"
    told = f"{first} and {second} cannot be told apart"
    if pair.difference == 0 and not pair.varies:
        return f"{told}: their scores are the same on every resample."
    prospect = f"a difference of {fixed(pair.detectable[1], places)} would show with 80 % power"
    if not pair.varies:
        prospect = "it is the same on every resample"
    return f"{told} ({signed(difference, places)} {metric}, {shown}); {prospect}."


def _against(report: Report, metric: str, pairs: Sequence[PairReport]) -> str:
    """Who is better and who is worse than a baseline."""
    higher = report.metrics[metric].higher_is_better
    baseline = baseline_of(report)
    if baseline is None:
        return f"{pairs[0].verdict}."
    winners = [better(pair, higher) for pair in pairs]
    ahead = [name for name in winners if name not in (None, baseline)]
    behind = sum(name == baseline for name in winners)
    one = f"{len(ahead)} of {len(pairs)} systems {'is' if len(ahead) == 1 else 'are'}"
    names = f": {listed(ahead)}" if ahead else ""
    if pairs[0].alternative == "less":  # nobody claims that one is better
        one = f"{behind} of {len(pairs)} systems {'is' if behind == 1 else 'are'}"
        return f"{one} worse than {baseline} by {_how(report, metric)}."
    worse = f"; {behind} {'is' if behind == 1 else 'are'} worse" if behind else ""
    return f"{one} better than {baseline} by {_how(report, metric)}{names}{worse}."


def leaders(ranges: Mapping[str, tuple[int, int]], how: str, what: str) -> str:
    """Who may be the best.

    Args:
        ranges: Ranks that each may have.
        how: In what.
        what: What they are.
    """
    first = [name for name, (low, _) in ranges.items() if low == 1]
    others = len(ranges) - 1
    if len(first) > 1:
        every = f"{listed(first)} may each be the best {how}"
        return f"{every}: no {what} is significantly better than any of them."
    best = first[0] if first else min(ranges, key=lambda name: ranges[name])
    if ranges[best] == (1, 1) and others:
        return f"{best} is the best {how}, significantly better than {_whom(others)}."
    return f"{best} leads {how}: no {what} is significantly better."


def _counted(pairs: Sequence[PairReport]) -> str:
    """How many pairs were separated."""
    apart = sum(pair.significant for pair in pairs)
    unsure = [pair for pair in pairs if pair.undecided]
    all_of = "Both" if len(pairs) == 2 else f"All {len(pairs):,}"
    if pairs[0].claimed:
        side = "better" if pairs[0].alternative == "greater" else "worse"
        holds = "holds" if apart == 1 else "hold"
        said = f"{apart:,} of {len(pairs):,} claims that one system is {side} {holds}"
    elif apart == len(pairs):
        said = f"{all_of} pairs differ significantly"
    else:
        differ = "differs" if apart == 1 else "differ"
        said = f"{apart:,} of {len(pairs):,} pairs {differ} significantly"
    if unsure:
        are = "decision is" if len(unsure) == 1 else "decisions are"
        said += f"; {len(unsure):,} {are} {undecided(unsure)}"
    return f"{said}."


def listed(names: Sequence[str | None]) -> str:
    """`a`, `a and b`, `a, b, c and 7 others`."""
    shown = [str(name) for name in names[:NAMES]]
    rest = len(names) - len(shown)
    if rest:
        return f"{', '.join(shown)} and {rest} other{'' if rest == 1 else 's'}"
    return shown[0] if len(shown) == 1 else f"{', '.join(shown[:-1])} and {shown[-1]}"
