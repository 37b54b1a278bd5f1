"""Part 5, multiplicity: errors and power of every correction, in families of six systems."""

from __future__ import annotations

import math
from dataclasses import dataclass
from functools import partial

import numpy as np

from sigtest.arrays import Array, Flags
from sigtest.report import Report
from sigtest.significance import CORRECTIONS
from sigtest.significance.corrections import adjust, experimentwise_error
from validation import families
from validation.calibration import limit
from validation.families import FIRST, Family
from validation.fixtures import reduced
from validation.nulls import sample_of
from validation.parallel import runs, spread
from validation.populations import Population
from validation.results import Check, Part, Table, all_hold
from validation.settings import FOUR_ERRORS, SEED, Settings

FAMILIES = 6
ALPHA = 0.05
SIZES = (50, 300)
RESAMPLES = 999
FALSE_DISCOVERY = ("benjamini_hochberg", "benjamini_yekutieli")
PROMISES_NOTHING = ("none",)
COMPLETE_NULL_ONLY = ("tukey",)
JOINT = {name: chosen.joint for name, chosen in CORRECTIONS.items() if chosen.joint}
ALONE = tuple(name for name in CORRECTIONS if name not in JOINT)
BY_SWAPS = "tukey"  # its report has the uncorrected p-values of approximate randomization, too
# corrections that can only reject more than another one does: a fact of arithmetic
ORDERED = (("holm", "bonferroni"), ("hochberg", "holm"), ("sidak", "bonferroni"))


@dataclass(frozen=True)
class Outcome:
    """What one correction did in one kind of family.

    Attributes:
        family: Kind of family.
        population: Where its segments come from.
        n: Units.
        metric: What was measured.
        correction: Its name.
        any_false: Share of families with a false rejection.
        false_share: Mean share of false rejections among all; 0 where there are none.
        false_error: Standard error of that mean.
        found: (P,) share of families in which each pair is significant.
        simulations: Families.
    """

    family: str
    population: str
    n: int
    metric: str
    correction: str
    any_false: float
    false_share: float
    false_error: float
    found: Array
    simulations: int


def corrections() -> tuple[str, ...]:
    """Every correction that exists; those that look at the draws come last."""
    return (*ALONE, *JOINT)


def measured(
    kind: Family, populations: list[Population], sizes: tuple[int, ...], settings: Settings
) -> list[Outcome]:
    """Simulate families and correct them in every way."""
    found = []
    for number, population in enumerate(populations):
        for n in sizes:
            task = partial(_task, kind, population, number, n)
            pieces = spread(task, runs(settings.families, 50), settings.workers)
            rejected = np.concatenate(pieces)  # (simulations, C, M, P)
            for c, correction in enumerate(corrections()):
                for m, label in enumerate(population.labels):
                    where = (kind.name, population.name, n, label, correction)
                    found.append(Outcome(*where, *_errors(rejected[:, c, m], kind.equal)))
    return found


def _errors(rejected: Flags, equal: Flags) -> tuple[float, float, float, Array, int]:
    wrong = rejected[:, equal].sum(axis=1)
    share = wrong / np.maximum(1, rejected.sum(axis=1))
    simulations = len(rejected)
    error = float(share.std() / math.sqrt(simulations))
    return float(np.mean(wrong > 0)), float(share.mean()), error, rejected.mean(axis=0), simulations


def _task(kind: Family, population: Population, number: int, n: int, run: tuple[int, int]) -> Flags:
    """(simulations, C, M, P) decisions at .05."""
    found = []
    code = sum(map(ord, kind.name))
    for i in range(*run):
        rng = np.random.default_rng((SEED, FAMILIES, code, number, n, i))
        tables = kind.draw(population, n, rng)
        found.append(_decisions(population, tables, int(rng.integers(2**63))))
    return np.array(found)


def _decisions(population: Population, tables: list[Array], seed: int) -> Flags:
    """(C, M, P) decisions of every correction, from two reports on the same data."""
    reports = {name: _report(population, tables, seed, name) for name in JOINT}
    shape = (len(population.metrics), len(FIRST))
    p = np.array([pair.p_value for pair in reports[BY_SWAPS].pairs]).reshape(shape)
    decided = [adjust(p, correction) <= ALPHA for correction in ALONE]
    for report in reports.values():
        adjusted = np.array([pair.p_adjusted for pair in report.pairs])
        decided.append((adjusted <= ALPHA).reshape(shape))
    return np.stack(decided)


def _report(population: Population, tables: list[Array], seed: int, correction: str) -> Report:
    sample = sample_of(
        population, tables, seed, RESAMPLES, tests=(JOINT[correction],), correction=correction
    )
    return reduced(sample, [sample.block(0, RESAMPLES)])


def errors_are_controlled(null: list[Outcome], partly: list[Outcome]) -> Check:
    """Family-wise corrections keep their promise; false-discovery ones keep theirs."""
    problems = []
    cases = 0
    for outcome in [*null, *partly]:
        exempt = PROMISES_NOTHING + (COMPLETE_NULL_ONLY if outcome in partly else ())
        if outcome.correction in exempt or _by_bootstrap_on_few(outcome):
            continue
        cases += 1
        where = f"{outcome.family} {outcome.population} n={outcome.n} {outcome.metric}"
        if outcome.correction in FALSE_DISCOVERY and outcome in partly:
            if outcome.false_share > ALPHA + FOUR_ERRORS * outcome.false_error:
                problems.append(f"{outcome.correction} {where}: FDR {outcome.false_share:.4f}")
        elif outcome.any_false > limit(ALPHA, outcome.simulations):
            problems.append(f"{outcome.correction} {where}: {outcome.any_false:.4f}")
    simulations = min(outcome.simulations for outcome in null)
    return all_hold(
        "corrections control their error",
        "Family-wise corrections make a false rejection in at most .05 of families (binomial "
        f"1 - 1e-6 quantile: {limit(ALPHA, simulations):.4f}), under the complete and the partial "
        "null; false-discovery corrections keep the mean share of false rejections at .05 (plus "
        "four standard errors). tukey promises the complete null only, none nothing; max_t on "
        "fewer than 300 units has the bootstrap's error and is published, not judged.",
        problems,
        cases,
    )


def _by_bootstrap_on_few(outcome: Outcome) -> bool:
    """max_t corrects the bootstrap, which itself is over its level on few units."""
    return JOINT.get(outcome.correction) == "bootstrap" and outcome.n < 300


def corrections_are_ordered(power: list[Outcome]) -> Check:
    """Holm rejects all that Bonferroni does, and so on: no simulation may contradict."""
    known = {(o.family, o.n, o.correction): o.found for o in power}
    problems = []
    cases = 0
    for family, n, correction in known:
        for stronger, weaker in ORDERED:
            if correction == stronger:
                cases += 1
                if (known[family, n, stronger] < known[family, n, weaker]).any():
                    problems.append(f"{stronger} below {weaker}: {family} n={n}")
    return all_hold(
        "corrections are ordered",
        "Holm finds at least what Bonferroni finds, Hochberg what Holm finds, Sidak what "
        "Bonferroni finds, in every pair: arithmetic, without tolerance.",
        problems,
        cases,
    )


def part(populations: list[Population], settings: Settings) -> Part:
    """Checks and tables of the corrections."""
    sizes = SIZES[:1] if settings.quick else SIZES
    null = measured(families.COMPLETE, populations, sizes, settings)
    partly = measured(families.PARTIAL, populations, sizes, settings)
    made = [families.synthetic()]
    unequal = measured(families.UNEQUAL, made, sizes, settings)
    equal_power = measured(families.EQUAL_POWER, made, sizes, settings)
    unequal_power = measured(families.UNEQUAL_POWER, made, sizes, settings)
    checks = (
        errors_are_controlled(null, partly),
        corrections_are_ordered([*equal_power, *unequal_power]),
    )
    worst = max((o for o in [*null, *partly] if o.correction == "holm"), key=lambda o: o.any_false)
    return Part(
        5,
        "Multiplicity: six systems, fifteen pairs",
        "How often is some pair called different when it is not, after correction?",
        checks,
        text=(
            "Families of six real systems on n segments drawn with replacement. Complete null: all "
            "six labels are shuffled on every segment. Partial null: the three best are shuffled "
            "among themselves and the other three among themselves, so that 6 pairs are equal and "
            f"9 differ. {settings.families:,} families a cell, {RESAMPLES} resamples, two-sided "
            "approximate randomization on shared draws; max_t uses the bootstrap and tukey "
            "permutations of all labels, as they do in reports.",
        ),
        tables=(
            _error_table("complete null", null),
            _error_table("partial null", partly),
            _error_table("equal means, very unequal spreads (normal scores)", unequal),
            _power_table(equal_power, unequal_power),
        ),
        headline=f"Holm's worst family-wise error at .05 is {worst.any_false:.4f}.",
    )


def _error_table(title: str, outcomes: list[Outcome]) -> Table:
    sizes = sorted({outcome.n for outcome in outcomes})
    places = list(dict.fromkeys((o.population, o.metric) for o in outcomes))
    rows = []
    for correction in corrections():
        row = [correction]
        for place in places:
            for n in sizes:
                (o,) = [
                    o
                    for o in outcomes
                    if (o.population, o.metric) == place and (o.n, o.correction) == (n, correction)
                ]
                row.append(f"{o.any_false:.4f} ({o.false_share:.4f})")
        rows.append(tuple(row))
    header = ("correction", *(f"{p}, {m}, n = {n}" for p, m in places for n in sizes))
    return Table(
        f"Family-wise error at .05, and false discovery rate in brackets: {title}",
        header,
        tuple(rows),
        f"Uncorrected, 15 independent tests would err in {experimentwise_error(ALPHA, 15):.3f} of "
        f"families. Limit of a family-wise error: {limit(ALPHA, outcomes[0].simulations):.4f}.",
    )


def _power_table(equal: list[Outcome], unequal: list[Outcome]) -> Table:
    rows = []
    for correction in corrections():
        row = [correction]
        for outcomes, pairs in ((equal, slice(None)), (unequal, slice(0, 1))):
            for o in outcomes:
                if o.correction == correction:
                    row.append(f"{o.found[pairs].mean():.3f}")
        rows.append(tuple(row))
    sizes = sorted({o.n for o in equal})
    return Table(
        "Power at .05",
        (
            "correction",
            *(f"equal variances, all pairs, n = {n}" for n in sizes),
            *(f"very unequal, the similar pair, n = {n}" for n in sizes),
        ),
        tuple(rows),
        "Normal scores. Equal: six systems a step of 3/sqrt(n) standard deviations apart, all "
        "15 pairs. Very unequal: two variants of one system, whose difference is five of its own "
        "standard errors, beside four that vary a hundredfold: max_t compares unstudentised "
        "differences and cannot see them, which is what its warning says.",
    )
