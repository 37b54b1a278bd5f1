"""All pairs of metrics of one set, under every statistic and test, before any correction."""

from __future__ import annotations

import math
from collections.abc import Iterator
from dataclasses import replace

from sigtest.meta_evaluation.significance.chance import Chance, Compared, ExchangeResults
from sigtest.meta_evaluation.significance.exchanges import permute
from sigtest.meta_evaluation.significance.permutation import Pairs, Say
from sigtest.meta_evaluation.significance.williams import FEWEST, williams
from sigtest.meta_evaluation.statistics.correlation import pearson
from sigtest.meta_evaluation.statistics.measured import Measured, Shared
from sigtest.meta_evaluation.statistics.spread import interval
from sigtest.significance import ALTERNATIVES
from sigtest.significance.base import SMALLEST_P


def compare_metrics(measured: Measured, say: Say) -> list[Compared]:
    """Every pair of metrics, under every statistic and test that applies.

    Args:
        measured: The metrics of a set.
        say: Told how many resamples are done, and of how many.

    Returns:
        By statistic, test and pair.
    """
    found: list[Compared] = []
    for pairs in measured.table.shared():
        shared = measured.on(sorted({m for pair in pairs for m in pair}))
        found += _compare_on(shared, pairs, say)
    statistics, tests = measured.choices.statistics.index, measured.choices.tests.index
    return sorted(found, key=lambda r: (statistics(r.statistic), tests(r.test), r.a, r.b))


def _compare_on(shared: Shared, pairs: Pairs, say: Say) -> Iterator[Compared]:
    """Pairs of metrics that have the same cells."""
    choices, place = shared.choices, {m: i for i, m in enumerate(shared.numbers)}
    local = [(place[a], place[b]) for a, b in pairs]
    held = {name: values.together(local) for name, values in shared.values.items()}
    exchanged: dict[str, ExchangeResults] = {}
    if "perm_both" in choices.tests:
        exchanged = permute(shared, held, local, say)
    for name, (values, places) in held.items():
        drawn = shared.draws[name] if places is local else shared.drawn(name, values)
        for i, ((a, b), (first, second)) in enumerate(zip(pairs, places, strict=True)):
            ci = None
            if drawn is not None:
                ci = interval(drawn[first] - drawn[second], choices.alpha, shared.units(values))
            row = Compared(
                a=a,
                b=b,
                statistic=name,
                test="",
                unit="none",
                n=shared.cells.size,
                value_a=float(values.values[first]),
                value_b=float(values.values[second]),
                ci=ci,
            )
            if name == "pearson" and choices.group == "none":
                row = replace(row, r12=_between(shared, first, second))
                if "williams" in choices.tests:
                    yield _by_williams(row, choices.absolute)
            if name in exchanged:
                yield exchanged[name].row(row, i)


def _between(shared: Shared, a: int, b: int) -> float | None:
    """Correlation of two metrics."""
    r = pearson(shared.cells.flat_metrics[a], shared.cells.flat_metrics[b])
    return None if math.isnan(r) else r


def _by_williams(row: Compared, absolute: bool) -> Compared:
    row = replace(row, test="williams")
    if row.n < FEWEST or row.r12 is None or math.isnan(row.value_a + row.value_b):
        return row
    r12 = abs(row.r12) if absolute else row.r12
    found = williams(r12, row.value_a, row.value_b, row.n)
    chances = {claim: _certain(found.p_value(claim)) for claim in ALTERNATIVES}
    return replace(row, chances=chances, t=found.t, df=found.df)


def _certain(p: float) -> Chance:
    """A p-value that rests on no draws."""
    p = max(p, SMALLEST_P)
    return Chance(p, math.log10(p), (p, p))
