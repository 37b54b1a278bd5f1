"""What follows from the decisions of whole families: ranks, their confidence, metrics' power."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import replace
from itertools import product

import numpy as np

from sigtest.arrays import Array
from sigtest.comparison.plan import Telling
from sigtest.decide.decisions import Limit
from sigtest.report import MetricReport, PairReport, RankReport, SystemReport
from sigtest.report.methods import listed
from sigtest.significance import CORRECTIONS, TESTS
from sigtest.significance.ranking import rank

EXPECTED = ("equal expected scores", "equal expected accuracies")  # nulls that ranks are about


def ranked(
    systems: Sequence[SystemReport],
    metrics: Mapping[str, MetricReport],
    tests: Sequence[str],
    pairs: Sequence[PairReport],
) -> tuple[SystemReport, ...]:
    """The systems with their ranks for every metric and test.

    Args:
        systems: With their scores.
        metrics: By label.
        tests: Names.
        pairs: All of them, by metric, then test.
    """
    names = [system.name for system in systems]
    ranks: list[dict[str, dict[str, RankReport]]] = [{} for _ in names]
    size = len(pairs) // (len(metrics) * len(tests))
    for i, (label, test) in enumerate(product(metrics, tests)):
        sign = 1 if metrics[label].higher_is_better else -1
        scores = sign * np.array([system.scores[label].score for system in systems])
        placed = ranks_of(names, scores, pairs[i * size : (i + 1) * size])
        for own, place in zip(ranks, placed, strict=True):
            own.setdefault(label, {})[test] = place
    return tuple(replace(system, ranks=own) for system, own in zip(systems, ranks, strict=True))


def ranks_of(
    systems: Sequence[str], scores: Array, family: Sequence[PairReport]
) -> list[RankReport]:
    """Ranks from the decisions of a family over all pairs; one-sided, in both orders.

    Args:
        systems: Names.
        scores: (S,) their scores, greater being better.
        family: All pairs of one metric and test.
    """
    places = {name: place for place, name in enumerate(systems)}
    beats = np.zeros((len(systems), len(systems)), dtype=np.bool_)
    for pair in family:
        if pair.significant:
            a, b = places[pair.a], places[pair.b]
            better = pair.a if scores[a] > scores[b] else pair.b
            ahead = pair.claimed or pair.ahead or better
            beats[(a, b) if ahead == pair.a else (b, a)] = True
    beats &= ~beats.T  # both claims of a pair hold where alpha is above one half
    return [
        RankReport(own.cluster, (own.lowest, own.highest), own.lowest == 1)
        for own in rank(scores, beats)
    ]


def rank_doubt(tests: Sequence[str], telling: Telling, skewness: float) -> str | None:
    """Why ranges may miss true ranks, which are of expected scores.

    Systems of equal expected scores may fall short of what a test takes for granted, such as
    exchangeable labels; with units enough and hardly skewed differences it rejects them as rarely.

    Args:
        tests: Names.
        telling: How much the units tell.
        skewness: Of the bootstrap distribution of a difference, the largest of all pairs.
    """
    rule = TESTS["bootstrap"]
    of = [TESTS[name] for name in tests if TESTS[name].null not in EXPECTED]
    if not of or rule.keeps_level(telling.units, skewness, telling.hidden):
        return None
    named = listed([f"{test.words} ({test.null})" for test in of])
    return (
        f"true ranks are of expected scores, another hypothesis than that of {named}; the two "
        f"agree from {rule.least_units} units on and where differences are hardly skewed"
    )


def rank_confidence(limit: Limit, pairs: Sequence[PairReport], doubt: str | None) -> float | None:
    """Level of the rank ranges as simultaneous confidence sets for the true ranks.

    A range misses a true rank only where a pair is decided falsely; so ranges hold all true ranks
    together as often as no pair is (Mogstad, Romano, Shaikh & Wilhelm 2024).
    """
    proven = CORRECTIONS[limit.correction].familywise and all(pair.calibrated for pair in pairs)
    return 1 - limit.alpha if proven and doubt is None else None


def power_of(pairs: Sequence[PairReport]) -> dict[str, dict[str, float]]:
    """Which share of the pairs each metric separates under each test.

    Riezler & Maxwell (2005), Table 1: a metric that separates more systems is more sensitive.
    """
    found: dict[str, dict[str, dict[frozenset[str], bool]]] = {}
    for pair in pairs:
        apart = found.setdefault(pair.metric, {}).setdefault(pair.test, {})
        both = frozenset((pair.a, pair.b))  # one-sided, either claim separates them
        apart[both] = apart.get(both, False) or pair.significant
    return {
        metric: {test: sum(apart.values()) / len(apart) for test, apart in tests.items()}
        for metric, tests in found.items()
    }
