"""Part 2 continued: what whole reports say, derived again from their own numbers or from loops."""

from __future__ import annotations

import itertools
from typing import Any

import numpy as np
from scipy.stats import norm

from sigtest.arrays import Array
from sigtest.comparison.comparison import parse_comparison
from sigtest.draws.product import fixed_point
from sigtest.draws.weights import bootstrap_counts, swap_masks
from sigtest.engine import compare
from sigtest.metrics.scores import Scores
from sigtest.report import Report
from sigtest.significance.exact import enumerate_swaps
from validation.beside import sample_beside, swap_p_values
from validation.loops import LOOPS, as_lists
from validation.results import Check, all_hold
from validation.settings import SEED

DATA_SETS = 80_000
LENGTH = 100
UNITS = 20
WIDTHS = (["ter"], ["ter", "chrf"])  # recipes whose statistics have two columns, and more
BAND = 5.0  # standard errors; .055 is more than six away


def reported(rows: Array, **choices: Any) -> Report:
    """The report of rows of scores, a system each."""
    systems = [{"name": f"s{i}", "scores": {"x": row.tolist()}} for i, row in enumerate(rows)]
    return compare(parse_comparison({"systems": systems, "metrics": ["scores"], **choices}))


def the_centre_is_that_of_all_draws() -> Check:
    """The shifted bootstrap with more resamples than any block has."""
    rng = np.random.default_rng(SEED)
    resamples, problems = 9_999, []
    counts = bootstrap_counts(SEED, 0, resamples, 40).astype(float)
    for number in range(6):
        scores = np.stack([rng.lognormal(size=40) * 1.3, rng.lognormal(size=40)])
        weights = rng.integers(1, 5, size=40).astype(float)
        rows = np.stack([scores, np.stack([weights, weights])], axis=2)
        d = scores[0] - scores[1]
        moved = counts @ (weights * d) / (counts @ weights)
        observed = abs(d @ weights / weights.sum())
        wanted = int((np.abs(moved - moved.mean()) >= observed).sum())
        (pair,) = reported(rows, tests=["bootstrap"], resamples=resamples, seed=SEED).pairs
        if pair.count != wanted:
            problems.append(f"data set {number}: {pair.count}, not {wanted}")
    return all_hold(
        "the centre is that of all draws",
        f"Counts of the shifted bootstrap in {resamples:,} resamples of skewed weighted "
        "differences are those of arrays that are centred as a whole.",
        problems,
        6,
    )


def ranks_follow_from_adjusted_p_values() -> Check:
    """Rank ranges and the power of detectable differences, from the report's own numbers."""
    rng = np.random.default_rng(SEED)
    problems, cases, apart = [], 0, 0
    for number in range(4):
        rows = rng.normal(size=(7, 120)) + np.linspace(0, 0.6, 7)[:, None]
        report = reported(rows, tests=["bootstrap"], resamples=1_999, seed=number)
        better, worse = ({system.name: 0 for system in report.systems} for _ in range(2))
        for pair in report.pairs:
            apart += pair.p_value <= report.alpha < pair.p_adjusted
            if pair.p_adjusted <= report.alpha:
                ahead, behind = (pair.a, pair.b) if pair.difference > 0 else (pair.b, pair.a)
                better[behind] += 1
                worse[ahead] += 1
            for found, level in zip(pair.detectable, (0.05, 0.05 / 21), strict=True):
                cases += 1
                power = norm.cdf(found / pair.stderr - norm.ppf(1 - level / 2))
                if abs(power - 0.8) > 1e-9:
                    problems.append(f"a detectable difference has power {power:.3f}")
        for system in report.systems:
            cases += 1
            shown = system.ranks["scores"]["bootstrap"].range
            if shown != (1 + better[system.name], 7 - worse[system.name]):
                problems.append(f"{system.name} of data set {number}: range {shown}")
    if not apart:
        problems.append("no pair is significant before correction only")
    return all_hold(
        "ranks follow from adjusted p-values",
        "Rank ranges are those that adjusted p-values at most alpha give, and detectable "
        "differences are found with a power of 80 % (1e-9).",
        problems,
        cases,
    )


def every_swap_is_enumerated() -> Check:
    """Sizes that are powers of two: each labelling has a sum of its own, so counts are known."""
    problems, cases = [], 0
    for units in (9, 16, 17, 18, 19, 20):
        d = 2.0 ** -np.arange(units)
        for signs, wanted in ((np.ones(units), 1), (np.r_[np.ones(units - 1), -1.0], 2)):
            cases += 2
            rows = [np.stack([x, np.ones(units)], axis=1) for x in (signs * d, np.zeros(units))]
            for (a, b), count in ((rows, wanted), (rows[::-1], 2**units - wanted + 1)):
                found = enumerate_swaps(Scores(), a, b, "greater")
                if found is None or (found.count, found.patterns) != (count, 2**units):
                    problems.append(f"{units} units: {found and found.count}, not {count}")
    return all_hold(
        "every swap is enumerated",
        "With 9 to 20 units whose differences are powers of two the exact counts are 1 and 2, and "
        "of the opposite claim all but none and all but one.",
        problems,
        cases,
    )


def documents_and_replicas_equal_plain_loops() -> Check:
    """Counts where units are documents and systems bring replicas, from loops over segments."""
    problems, cases = [], 0
    rng = np.random.default_rng(SEED)
    sizes, replicas, resamples = (3, 1, 4, 2, 5, 3, 2, 4), 2, 150
    documents = [f"d{i}" for i, size in enumerate(sizes) for _ in range(size)]
    scores = rng.integers(0, 5, size=(2, replicas, len(documents))).astype(float)
    hypotheses = [
        [["x " * int(score) + "y " * int(4 - score) for score in run] for run in system]
        for system in scores
    ]
    reference = ["x x x x"] * len(documents)
    body: dict[str, Any] = {
        "references": [reference],
        "systems": [
            {"name": name, "replicas": runs} for name, runs in zip("ab", hypotheses, strict=True)
        ],
        "documents": documents,
        "unit": "document",
        "resamples": resamples,
        "seed": SEED,
        "exact": "never",
    }
    # TER here: every y is a word to change, of 4 words a segment
    rows = np.stack([4 - scores, np.full_like(scores, 4.0)], axis=3)
    names = list(dict.fromkeys(documents))
    inside = [[i for i, name in enumerate(documents) if name == own] for own in names]
    units = [[sum(run[i] for i in own) for run in system for own in inside] for system in rows]
    joined = [[sum(own[d :: len(names)]) for d in range(len(names))] for own in units]
    kept = (swap_masks(SEED, 0, resamples, replicas * len(names)) > 0).tolist()
    segments = as_lists(bootstrap_counts(SEED, 0, resamples, len(names)))
    for test, loop in LOOPS.items():
        swaps = test == "approximate_randomization"
        x, y = units if swaps else joined
        wanted = loop(
            lambda sums: -100 * float(sums[0] / sums[1]), x, y, kept if swaps else segments
        )
        # sums of two columns are added up while units are drawn, of more they are a product
        for metrics, (alternative, count) in itertools.product(WIDTHS, wanted.items()):
            cases += 1
            asked = {**body, "metrics": metrics, "tests": [test], "alternative": alternative}
            pair = compare(parse_comparison(asked)).pairs[0]
            if pair.count != count:
                problems.append(f"{test} {alternative} of {metrics}: {pair.count}, not {count}")
    return all_hold(
        "documents and replicas equal plain loops",
        "With documents of 1 to 5 segments as units and two replicas a system, every count is that "
        "of the papers' loops over sums of segments; replicas are exchanged on their own.",
        problems,
        cases,
    )


def max_t_steps_down() -> Check:
    """Romano and Wolf's step-down, pair after pair, from the report's own scores."""
    rng = np.random.default_rng(SEED)
    problems, cases, resamples = [], 0, 999
    for number in range(3):
        # pairs of very different spread, so that a later count can be the smaller one
        rows = (
            rng.normal(size=(5, 60)) * [[0.1], [0.1], [1], [1], [3]] + rng.normal(size=(5, 1)) / 5
        )
        report = reported(
            rows, tests=["bootstrap"], resamples=resamples, seed=number, correction="max_t"
        )
        pairs = list(itertools.combinations(range(5), 2))
        counts = bootstrap_counts(number, 0, resamples, 60).astype(float)
        d = np.stack([rows[a] - rows[b] for a, b in pairs])
        moved = counts @ d.T / 60
        far = np.abs(moved - d.mean(axis=1))
        observed = np.abs(d.mean(axis=1))
        adjusted, most = {}, 0.0
        left = sorted(range(len(pairs)), key=lambda i: -observed[i])
        while left:
            reach = int((far[:, left].max(axis=1) >= observed[left[0]] - 1e-11).sum())
            most = max(most, (reach + 1) / (resamples + 1))
            adjusted[left.pop(0)] = most
        for i, pair in enumerate(report.pairs):
            cases += 1
            if abs(pair.p_adjusted - adjusted[i]) > 1e-12:
                problems.append(f"{pair.a}, {pair.b}: {pair.p_adjusted}, not {adjusted[i]}")
    return all_hold(
        "max_t steps down",
        "Adjusted p-values of max_t are those of the published steps, and never fall.",
        problems,
        cases,
    )


def the_level_is_met() -> Check:
    """Many small data sets together tell .055 from .05."""
    rejected = np.zeros(2)
    tables = np.random.default_rng(SEED).normal(size=(DATA_SETS // LENGTH, LENGTH, UNITS))
    zeros = np.zeros((1, UNITS))
    chosen = tuple((i, LENGTH) for i in range(LENGTH))
    for number, rows in enumerate(tables):
        scored = np.concatenate([rows, zeros])
        table = np.stack([fixed_point(np.stack([r, np.ones(UNITS)], axis=1)) for r in scored])
        sample = sample_beside([Scores()], [table], chosen, resamples=499, seed=SEED + number)
        p = swap_p_values(sample)
        rejected += (p[:2] <= 0.05 + 1e-12).sum(axis=1)
    error = (0.05 * 0.95 / DATA_SETS) ** 0.5
    rates = rejected / DATA_SETS
    problems = [
        f"{claim}: {rate:.4f}"
        for claim, rate in zip(("two-sided", "greater"), rates.tolist(), strict=True)
        if abs(rate - 0.05) > BAND * error
    ]
    return all_hold(
        "the level is met",
        f"Randomization of {DATA_SETS:,} data sets of {UNITS} normal differences rejects .05 of "
        f"them, to {BAND * error:.4f}: a true rate of .055 would be noticed.",
        problems,
        2,
    )


def slack_is_that_of_rounding() -> Check:
    """An outlier that both systems share hides no difference."""
    problems, cases = [], 0
    rng = np.random.default_rng(SEED)
    d = rng.normal(0.4, 1.0, size=40)
    for outlier in (1e3, 1e6):
        rows = np.stack([d, np.zeros(40)])
        for test in ("approximate_randomization", "bootstrap", "paired_bootstrap"):
            cases += 1
            choices = {"tests": [test], "resamples": 999, "exact": "never"}
            (plain,) = reported(np.c_[rows, [0.0, 0.0]], **choices).pairs
            (beside,) = reported(np.c_[rows, [outlier, outlier]], **choices).pairs
            if plain.count != beside.count:
                problems.append(f"{test} beside {outlier:g}: {beside.count}, not {plain.count}")
    return all_hold(
        "slack is that of rounding",
        "Counts stay the same where both systems share an outlier of 1,000 or 1,000,000.",
        problems,
        cases,
    )
