"""What is exchanged between two metrics under each statistic, and what such exchanges say."""

from __future__ import annotations

from collections.abc import Mapping, Sequence

import numpy as np

from sigtest.arrays import Array, Counts
from sigtest.draws.weights import swap_masks
from sigtest.meta_evaluation.significance.chance import ExchangeResults
from sigtest.meta_evaluation.significance.ordinal import ORDINAL, exchange_systems
from sigtest.meta_evaluation.significance.permutation import (
    ExchangeColumn,
    Exchanges,
    Pairs,
    Pearson,
    Say,
    exchange,
)
from sigtest.meta_evaluation.statistics.correlation import midranks, standardised
from sigtest.meta_evaluation.statistics.measured import Shared
from sigtest.meta_evaluation.statistics.values import Cells, Values
from sigtest.metrics.scores import Ratio
from sigtest.significance import ALTERNATIVES, Alternative

Held = Mapping[str, tuple[Values, Pairs]]


def permute(shared: Shared, held: Held, pairs: Pairs, say: Say) -> dict[str, ExchangeResults]:
    """Exchange what each statistic is made of between the metrics of each pair.

    - Pearson's r over cells: standardised scores of cells (PERM-BOTH), or of systems.
    - Spearman's rho over cells of segments: their ranks. Over systems rho, tau-b and accuracy:
      standardised scores, ranked anew. tau-b over cells of segments has no such test here.
    - Means over segments or systems: the correlations of these (PERM-INPUTS, PERM-SYSTEMS).
    - Accuracy on segments, and with ties: pairs of systems on a segment, right or wrong.

    Args:
        shared: Metrics on the cells that all of them have.
        held: Values of each statistic on what both metrics of a pair have, and the pairs' rows.
        pairs: Which of the metrics to compare.
        say: Told how many resamples are done, and of how many.

    Deutsch, Dror & Roth (2021), "A Statistical Analysis of Summarization Evaluation Metrics Using
    Resampling Methods", section 4.
    """
    choices = shared.choices
    ordinal = [n for n in shared.values if choices.level == "system" and n in ORDINAL]
    tested: dict[str, ExchangeResults] = {}
    for unit, columns in _batches(shared, held, ordinal).items():
        exchanged = exchange(
            columns,
            resamples=choices.resamples,
            seed=choices.seed,
            stream=shared.stream,
            say=say,
        )
        for name, own in exchanged.items():
            values, places = held[name]
            defined = tuple(bool(np.isfinite(values.values[list(pair)]).all()) for pair in places)
            tested[name] = ExchangeResults(unit, own, choices.resamples, defined)
    if ordinal:
        tested.update(_ordinal(shared, ordinal, pairs))
    return tested


def _batches(
    shared: Shared, held: Held, ordinal: Sequence[str]
) -> dict[str, dict[str, ExchangeColumn]]:
    """What is exchanged for the other statistics, by unit: those of one unit share their draws."""
    batches: dict[str, dict[str, ExchangeColumn]] = {}
    for name, (values, places) in held.items():
        if name in ordinal or not np.isfinite(values.values).any():
            continue
        if values.shares is not None:
            rows = np.stack([values.shares.parts, values.shares.weights], axis=2)
            batches.setdefault(values.shares.unit, {})[name] = ExchangeColumn(
                Ratio(of=name), rows, places
            )
        elif name in {"pearson", "spearman"}:
            unit = "system" if shared.choices.level == "system" else "cell"
            rows = _standardised(shared.cells, ranked=name == "spearman")
            batches.setdefault(unit, {})[name] = ExchangeColumn(Pearson(of=name), rows, places)
    return batches


def _standardised(cells: Cells, ranked: bool) -> Array:
    """(M, N, 2) what each metric and people say of a cell, both standardised."""
    human, metrics = cells.flat_human, cells.flat_metrics
    if ranked:
        human, metrics = midranks(human), np.array([midranks(row) for row in metrics])
    rows = np.zeros((*metrics.shape, 2))
    for m in np.flatnonzero(~cells.constant):
        rows[m] = np.stack([standardised(metrics[m]), standardised(human)], axis=1)
    return rows


def _ordinal(shared: Shared, names: Sequence[str], pairs: Pairs) -> dict[str, ExchangeResults]:
    """Exchanges of systems for statistics of their order."""
    cells, choices, metrics = shared.cells, shared.choices, shared.cells.flat_metrics
    masks = swap_masks(choices.seed, 0, choices.resamples, cells.size, shared.stream) > 0
    defined = tuple(not (cells.constant[a] or cells.constant[b]) for a, b in pairs)
    every = [
        exchange_systems(cells.flat_human, metrics[a], metrics[b], masks) if known else None
        for (a, b), known in zip(pairs, defined, strict=True)
    ]
    tested = {}
    for name in names:
        own = [found[ORDINAL.index(name)] if found else None for found in every]
        counts: dict[Alternative, Counts] = {
            claim: np.array([known.counts[claim] if known else 0 for known in own])
            for claim in ALTERNATIVES
        }
        exchanges = Exchanges(counts, tuple(known.tails if known else None for known in own))
        tested[name] = ExchangeResults("system", exchanges, choices.resamples, defined)
    return tested
