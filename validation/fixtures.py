"""Small made-up comparisons, full of ties, that need no data: every metric, any seed."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace
from functools import cache
from typing import Any

import numpy as np

from sigtest.arrays import Array
from sigtest.comparison.comparison import Comparison, ComparisonEntry
from sigtest.comparison.plan import Plan
from sigtest.data.testset import System, TestSet
from sigtest.decide.facts import gather
from sigtest.decide.summary import summarise
from sigtest.draws.sample import Block, Sample
from sigtest.engine import compare, measure
from sigtest.errors import UnavailableError
from sigtest.metrics import METRICS, Metric
from sigtest.metrics.labels import LabelMetric
from sigtest.report import PairReport, Report
from sigtest.requests.recipe import Recipe
from validation.populations import SLOW_METRICS

WORDS = ("the", "cat", "sat", "on", "a", "mat", "and", "it", "rained")
SUPPLIED: dict[str, tuple[str, ...]] = {
    "scores": ("grid", "real"),
    "ratio": ("pair",),
    "fscore": ("triple",),
    "perplexity": ("pair",),
    "pass@k": ("runs",),
    "pass^k": ("runs",),
}


@cache
def metrics(slow: bool = False) -> tuple[Metric, ...]:
    """Every metric that works here with made-up text or numbers.

    Args:
        slow: Also those that another program measures.
    """
    found: list[Metric] = []
    probe = System.of("probe", ["the cat"], {"grid": [1.0]})
    testset = TestSet.of([["the cat"]])
    for name, kind in METRICS.items():
        if name in SUPPLIED:
            options: Sequence[dict[str, Any]] = [{"of": label} for label in SUPPLIED[name]]
            found += [kind(**option) for option in options]
        elif issubclass(kind, LabelMetric):
            continue  # about labels, which made-up texts are not
        elif slow or name not in SLOW_METRICS:
            try:
                metric = kind()
                metric.statistics(testset, probe)
            except UnavailableError:
                continue
            found.append(metric)
    return tuple(found)


def comparison(
    content: int, n: int, systems: int = 2, chosen: Sequence[Metric] = (), **choices: Any
) -> Comparison:
    """A made-up comparison; system i+1 is a little worse than system i, with many ties.

    Args:
        content: Seed of texts and numbers.
        n: Segments.
        systems: How many.
        chosen: Metrics; all that are quick where none are given.
        choices: Of the recipe.
    """
    rng = np.random.default_rng((content, n, systems))
    reference = [_sentence(rng) for _ in range(n)]
    made = tuple(_system(f"s{s}", reference, 0.15 + 0.05 * s, rng) for s in range(systems))
    recipe = Recipe(
        metrics=tuple(chosen) or metrics(), **{"exact": "never", "unit": "segment", **choices}
    )
    documents = [f"d{i // 3}" for i in range(n)]
    return Comparison((ComparisonEntry(TestSet.of([reference], documents), made),), recipe)


def firsts(made: Comparison) -> list[PairReport]:
    """The pairs of a report, but not the opposite claims that one-sided ones come with."""
    places = {name: s for s, name in enumerate(made.plan.systems)}
    return [pair for pair in compare(made).pairs if places[pair.a] < places[pair.b]]


def tables(made: Comparison) -> list[Array]:
    """One (S, n, k) array of statistics a metric."""
    return [
        np.stack(
            [measure(made.entries[0].testset, system, metric) for system in made.entries[0].systems]
        )
        for metric in made.recipe.metrics
    ]


def with_systems(made: Comparison, order: Sequence[int]) -> Comparison:
    """The comparison with its systems in another order, or only some of them."""
    (entry,) = made.entries
    systems = tuple(entry.systems[s] for s in order)
    return replace(made, entries=(replace(entry, systems=systems),))


def with_copy(made: Comparison) -> Comparison:
    """The first system and an identical copy of it."""
    (entry,) = made.entries
    systems = (entry.systems[0], replace(entry.systems[0], name="copy"))
    return replace(made, entries=(replace(entry, systems=systems),))


def _sentence(rng: np.random.Generator) -> str:
    return " ".join(rng.choice(WORDS, size=rng.integers(4, 9)))


def _system(name: str, reference: list[str], noise: float, rng: np.random.Generator) -> System:
    lines = []
    for sentence in reference:
        words = sentence.split()
        for i in np.flatnonzero(rng.random(len(words)) < noise):
            words[i] = str(rng.choice(WORDS))
        lines.append(" ".join(words))
    n = len(reference)
    matched = rng.integers(0, 4, size=n) - (rng.random(n) < noise)
    system = matched + rng.integers(1, 3, size=n)
    scores: dict[str, Any] = {
        "grid": rng.integers(0, 3, size=n) - 1.0 * (rng.random(n) < noise),
        "real": rng.normal(-noise, 0.3, size=n),
        "pair": np.stack([matched.clip(0), np.full(n, 4.0)], axis=1),
        "runs": np.stack([matched.clip(0), np.full(n, 4.0)], axis=1),
        "triple": np.stack([matched.clip(0), system + 1.0, np.full(n, 5.0)], axis=1),
    }
    return System.of(name, lines, {label: rows.tolist() for label, rows in scores.items()})


def reduced(sample: Sample, blocks: Sequence[Block]) -> Report:
    """The report of one test set, from blocks that together hold every resample once."""
    return summarise(Plan((sample.part,)), [gather(sample, list(blocks))])
