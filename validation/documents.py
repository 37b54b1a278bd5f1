"""Part 6, documents: segment-level and document-level tests where documents have effects."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from functools import partial

import numpy as np

from sigtest.arrays import Array
from sigtest.draws.product import fixed_point
from sigtest.metrics import METRICS
from sigtest.requests.recipe import UNITS
from validation.calibration import limit
from validation.nulls import cells, p_values, sample_of
from validation.parallel import runs, spread
from validation.populations import Population
from validation.results import Check, Part, Table, all_hold
from validation.settings import SEED, Settings

DOCUMENTS = 7
ALPHA = 0.05
RESAMPLES = 999
LENGTH = 15  # segments of a made-up document
TESTS = ("approximate_randomization", "bootstrap")
Draw = Callable[[Population, int, np.random.Generator], tuple[list[Array], list[int]]]


@dataclass(frozen=True)
class Setting:
    """One kind of simulated test set.

    Attributes:
        name: What tables call it.
        population: Where its segments come from.
        documents: How many are drawn.
        effect: Intraclass correlation of the differences of made-up documents; None for real ones.
    """

    name: str
    population: Population
    documents: int
    effect: float | None


@dataclass(frozen=True)
class Rate:
    """How often a two-sided test rejected at .05."""

    setting: Setting
    metric: str
    unit: str
    test: str
    rate: float
    simulations: int


def measured(settings_: list[Setting], settings: Settings) -> list[Rate]:
    """Simulate null comparisons of whole documents."""
    asked = cells()
    columns = [asked.index((test, "two-sided")) for test in TESTS]
    found = []
    for number, setting in enumerate(settings_):
        task = partial(_task, setting, number, columns)
        p = np.concatenate(spread(task, runs(settings.families, 50), settings.workers))
        for u, unit in enumerate(UNITS):
            for m, label in enumerate(setting.population.labels):
                for t, test in enumerate(TESTS):
                    rate = float(np.mean(p[:, u, m, t] <= ALPHA + 1e-12))
                    found.append(Rate(setting, label, unit, test, rate, len(p)))
    return found


def _task(setting: Setting, number: int, columns: list[int], run: tuple[int, int]) -> Array:
    """(simulations, units of resampling, M, tests) p-values."""
    found = []
    for i in range(*run):
        rng = np.random.default_rng((SEED, DOCUMENTS, number, i))
        if setting.effect is None:
            tables, lengths = real_documents(setting.population, setting.documents, rng)
        else:
            tables, lengths = made_documents(setting.documents, setting.effect, rng)
        names = tuple(f"d{d}" for d, length in enumerate(lengths) for _ in range(length))
        seed = int(rng.integers(2**63))
        by_unit = [
            p_values(sample_of(setting.population, tables, seed, RESAMPLES, names, unit=unit))
            for unit in UNITS
        ]
        found.append(np.array(by_unit)[:, :, columns])
    return np.array(found)


def real_documents(
    population: Population, documents: int, rng: np.random.Generator
) -> tuple[list[Array], list[int]]:
    """Whole documents with replacement; the systems are exchanged on whole documents.

    Then no system is better, but segments of one document have their sign in common.
    """
    drawn = [population.members[d] for d in rng.integers(len(population.members), size=documents)]
    lengths = [len(document) for document in drawn]
    first = np.repeat(rng.integers(2, size=documents), lengths)
    segments = np.concatenate(drawn)
    systems = np.stack([first, 1 - first])
    return [table[systems, segments] for table in population.tables], lengths


def made_documents(
    documents: int, effect: float, rng: np.random.Generator
) -> tuple[list[Array], list[int]]:
    """Normal differences of variance 1, of which `effect` is common to a document."""
    lengths = [LENGTH] * documents
    common = np.repeat(rng.normal(scale=np.sqrt(effect), size=documents), lengths)
    own = rng.normal(scale=np.sqrt(1 - effect), size=documents * LENGTH)
    scores = np.stack([common + own, np.zeros_like(own)])
    rows = [fixed_point(np.stack([row, np.ones_like(row)], axis=1)) for row in scores]
    return [np.stack(rows)], lengths


def documents_keep_their_level(rates: list[Rate]) -> Check:
    """Document-level approximate randomization is within the limit everywhere."""
    ours = [r for r in rates if (r.unit, r.test) == ("document", TESTS[0])]
    problems = [
        f"{r.setting.name} {r.metric}: {r.rate:.4f}"
        for r in ours
        if r.rate > limit(ALPHA, r.simulations)
    ]
    return all_hold(
        "document-level randomization keeps its level",
        "Under per-document effects, real and made up, its rate at .05 is at most the binomial "
        f"1 - 1e-6 quantile ({limit(ALPHA, ours[0].simulations):.4f}).",
        problems,
        len(ours),
    )


def segments_do_not(rates: list[Rate]) -> Check:
    """The warning that segment-level p-values are too small where documents have effects."""
    ours = [
        r
        for r in rates
        if (r.unit, r.test) == ("segment", TESTS[0]) and (r.setting.effect or 0) >= 0.1
    ]
    problems = [
        f"{r.setting.name}: {r.rate:.4f}" for r in ours if r.rate <= limit(ALPHA, r.simulations)
    ]
    return all_hold(
        "the warning about documents is true",
        "With a tenth of the variance common to a document, segment-level randomization is above "
        "that quantile: the report is right to warn.",
        problems,
        len(ours),
    )


def part(population: Population | None, settings: Settings) -> Part:
    """Checks and tables of document-level resampling.

    Args:
        population: Two real systems with documents, where there are any.
        settings: Of the run.
    """
    counts = (25,) if settings.quick else (20, 50, 99)
    scores = Population("made up", ("a", "b"), (METRICS["scores"](),), ("mean score",), (), None)
    looked_at = [
        Setting(f"made up, {effect:.0%} of the variance", scores, documents, effect)
        for effect in ((0.0, 0.1) if settings.quick else (0.0, 0.05, 0.1, 0.2))
        for documents in counts
    ]
    if population is not None:
        looked_at += [
            Setting(f"{population.name}, whole documents", population, documents, None)
            for documents in counts
        ]
    rates = measured(looked_at, settings)
    checks = (documents_keep_their_level(rates), segments_do_not(rates))
    worst = max(r.rate for r in rates if r.unit == "segment" and r.test == TESTS[0])
    best = max(r.rate for r in rates if r.unit == "document" and r.test == TESTS[0])
    return Part(
        6,
        "Documents: what depends on what",
        "Segments of a document are not independent: what does that do to p?",
        checks,
        text=(
            "No system is better, but the segments of a document lean to the same system: in real "
            "documents because the two systems are exchanged on whole documents, in made-up ones "
            f"({LENGTH} segments each) because a share of the difference's variance is common to "
            f"the document. {settings.families:,} simulations a cell, {RESAMPLES} resamples, "
            'two-sided at .05. "unit": "document" resamples and swaps whole documents, and is '
            "the default where documents are given.",
        ),
        tables=(_table(rates),),
        headline=(
            f"With per-document effects segment-level randomization rejects up to {worst:.1%} of "
            f"true nulls at .05, document-level at most {best:.1%}."
        ),
    )


def _table(rates: list[Rate]) -> Table:
    groups: dict[tuple[str, str, str], dict[tuple[str, str], Rate]] = {}
    for r in rates:
        key = (r.setting.name, str(r.setting.documents), r.metric)
        groups.setdefault(key, {})[r.unit, r.test] = r
    asked = [(unit, test) for test in TESTS for unit in UNITS]
    rows = tuple(
        (*key, *(f"{found[cell].rate:.4f}" for cell in asked)) for key, found in groups.items()
    )
    simulations = rates[0].simulations
    return Table(
        "Rejection rates at .05 by unit of resampling",
        ("test set", "documents", "metric", *(f"{test}, by {unit}" for unit, test in asked)),
        rows,
        f"Limit for a test that keeps its level: {limit(ALPHA, simulations):.4f}. On few documents "
        "the bootstrap has the same failing as on few segments.",
    )
