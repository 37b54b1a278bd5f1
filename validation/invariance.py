"""Part 1 continued: what no p-value may depend on."""

from __future__ import annotations

import itertools
import json
from dataclasses import replace
from functools import partial
from unittest.mock import patch

import numpy as np

from sigtest.arrays import Array
from sigtest.comparison.comparison import Comparison, ComparisonEntry
from sigtest.decide import facts
from sigtest.draws import product, weights
from sigtest.draws import sample as sample_module
from sigtest.draws.sample import Block, Sample
from sigtest.engine import compare
from sigtest.report import PairReport, Report
from sigtest.requests.recipe import EXACT, Exact, parse_metric
from sigtest.significance import ALTERNATIVES, Alternative, resampling_tests
from sigtest.significance.exact import enumerate_swaps
from validation import fixtures
from validation.fixtures import reduced
from validation.parallel import spread
from validation.results import Check, all_hold
from validation.settings import SEED

RESAMPLES = 499
MIRROR: dict[Alternative, Alternative] = {
    "two-sided": "two-sided",
    "greater": "less",
    "less": "greater",
}
ONE_SIDED: tuple[Alternative, ...] = ("greater", "less")
ALL_TESTS = tuple(resampling_tests())


def identical_systems_have_p_one() -> Check:
    """A system against its copy: resampled p is 1 in every test, alternative and metric."""
    problems, cases = _copies("never", ALL_TESTS)
    return all_hold(
        "identical systems have p = 1",
        "Resampled p(X, X) is exactly 1 in every test, alternative and metric.",
        problems,
        cases,
    )


def identical_systems_have_exact_p_one() -> Check:
    """The same where every swap is counted."""
    problems, cases = _copies("auto", ("approximate_randomization",))
    return all_hold(
        "identical systems have exact p = 1",
        "Exact p(X, X) is exactly 1 in every alternative and metric.",
        problems,
        cases,
    )


def _copies(exact: Exact, tests: tuple[str, ...]) -> tuple[list[str], int]:
    problems = []
    cases = 0
    for n in (1, 30):
        for alternative in ALTERNATIVES:
            made = fixtures.comparison(
                SEED, n, tests=tests, resamples=99, alternative=alternative, exact=exact
            )
            for pair in compare(fixtures.with_copy(made)).pairs:
                cases += 1
                if pair.p_value != 1.0 or pair.significant or pair.exact != (exact == "auto"):
                    problems.append(f"{_name(pair)} n={n}: p = {pair.p_value}")
    return problems, cases


def p_is_never_zero() -> Check:
    """The most extreme pair there is: p = 1 / (R + 1), twice that for a doubled p."""
    problems = []
    cases = 0
    metric = parse_metric("scores:of=grid")
    made = fixtures.comparison(SEED, 60, chosen=[metric])
    better, worse = made.entries[0].systems
    systems = (
        replace(better, scores={"grid": np.full((60, 1), 9.0)}),
        replace(worse, scores={"grid": np.zeros((60, 1))}),
    )
    for alternative in ("two-sided", "greater"):
        recipe = made.recipe.but(tests=ALL_TESTS, resamples=99, alternative=alternative)
        for pair in compare(
            Comparison((ComparisonEntry(made.entries[0].testset, systems),), recipe)
        ).pairs:
            if pair.claimed not in (None, better.name):
                continue
            cases += 1
            wanted = resampling_tests()[pair.test].sides(recipe.alternative) / 100
            # a constant difference leaves centred bootstraps no spread: their count is 0, too
            if pair.p_value != wanted:
                problems.append(f"{_name(pair)}: p = {pair.p_value}")
    return all_hold(
        "p is never zero",
        "Where no resample reaches the observed difference, p = (0 + 1)/(R + 1), doubled for the "
        "two-sided paired bootstrap: never 0 (Phipson & Smyth 2010).",
        problems,
        cases,
    )


def order_of_segments_is_irrelevant(datasets: int = 3) -> Check:
    """Exact p-values do not depend on the order of the segments."""
    problems = []
    cases = 0
    for seed in range(datasets):
        made = fixtures.comparison(SEED + seed, 12)
        order = np.random.default_rng(seed).permutation(12)
        for metric, table in zip(made.recipe.metrics, fixtures.tables(made), strict=True):
            for alternative in ALTERNATIVES:
                cases += 1
                a, b = table
                straight = enumerate_swaps(metric, a, b, alternative)
                if straight != enumerate_swaps(metric, a[order], b[order], alternative):
                    problems.append(f"{metric.spelling} {alternative} seed={seed}")
    return all_hold(
        "order of segments is irrelevant",
        "Exact p-values are equal, bit for bit, after the segments were shuffled.",
        problems,
        cases,
    )


def order_of_systems_is_irrelevant() -> Check:
    """A pair's p does not depend on the other systems, nor on which of the two comes first."""
    problems = []
    cases = 0
    for alternative in ALTERNATIVES:
        made = fixtures.comparison(
            SEED, 40, systems=4, tests=ALL_TESTS, resamples=RESAMPLES, alternative=alternative
        )
        known = {_key(pair): pair.p_value for pair in compare(made).pairs}
        mirrored = replace(made, recipe=made.recipe.but(alternative=MIRROR[alternative]))
        for variant, turned in (
            (fixtures.with_systems(made, [0, 2]), False),
            (fixtures.with_systems(made, [0, 1, 3]), False),
            (fixtures.with_systems(mirrored, [3, 2, 1, 0]), True),
        ):
            for pair in compare(variant).pairs:
                a, b = (pair.b, pair.a) if turned else (pair.a, pair.b)
                cases += 1
                if known[a, b, pair.metric, pair.test] != pair.p_value:
                    problems.append(f"{_name(pair)}: {pair.p_value}")
    return all_hold(
        "order of systems is irrelevant",
        "p of a pair is the same with other systems around it; p(a, b) = p(b, a) two-sided, and "
        "greater of (a, b) is less of (b, a), bit for bit, in every test.",
        problems,
        cases,
    )


def opposite_claims_add_up() -> Check:
    """Of two opposite claims at least one is improbable: nothing picks the winner first."""
    problems = []
    cases = 0
    for exact in EXACT:
        found: dict[tuple[str, str, str, str], float] = {}
        for alternative in ONE_SIDED:
            made = fixtures.comparison(
                SEED,
                12,
                systems=3,
                tests=tuple(name for name, test in resampling_tests().items() if test.calibrated),
                resamples=RESAMPLES,
                alternative=alternative,
                exact=exact,
            )
            for pair in compare(made).pairs:
                found[_key(pair)] = found.get(_key(pair), 0.0) + pair.p_value
        cases += len(found)
        problems += [f"{' '.join(key)}: {p:.4f}" for key, p in found.items() if p < 1]
    return all_hold(
        "opposite claims add up",
        "p of greater plus p of less is at least 1 in every test, resampled and exact: each "
        "resample speaks against one of the two claims. A direction picked afterwards gives less.",
        problems,
        cases,
    )


def blocks_are_irrelevant(workers: int = 2) -> Check:
    """Blocks of any size, in any order, drawn twice, or by several processes: the same bytes."""
    made = fixtures.comparison(SEED, 40, systems=3, tests=ALL_TESTS, resamples=RESAMPLES)
    wanted = render(compare(made))
    tables = fixtures.tables(made)
    sample = Sample(made.plan.parts[0], tables)
    problems = []
    cuts = ([0, RESAMPLES], [0, 1, 7, 256, 300, RESAMPLES], [0, 255, 257, RESAMPLES])
    for cut in cuts:
        edges = list(itertools.pairwise(cut))
        blocks = [sample.block(*edge) for edge in reversed(edges)]
        if render(reduced(sample, blocks)) != wanted:
            problems.append(f"blocks at {cut}")
    task = partial(_block, made, tables)
    if render(reduced(sample, spread(task, [(0, 100), (100, RESAMPLES)], workers))) != wanted:
        problems.append(f"{workers} processes")
    chunks = (
        (product, "ROWS", 1),
        (product, "ROWS", 1024),
        (facts, "CHUNK", RESAMPLES),
        (sample_module, "TOGETHER_BYTES", 1),
    )
    for owner, name, size in chunks:
        with patch.object(owner, name, size):
            if render(compare(made)) != wanted:
                problems.append(f"{name} = {size}")
    return all_hold(
        "blocks are irrelevant",
        "The report's bytes do not depend on how resamples and pairs are cut into blocks, chunks "
        "and products, on the order of blocks, or on the process that draws them.",
        problems,
        len(cuts) + 1 + len(chunks),
    )


def _block(made: Comparison, tables: list[Array], edges: tuple[int, int]) -> Block:
    return Sample(made.plan.parts[0], tables).block(*edges)


def resamples_extend() -> Check:
    """More resamples keep the first ones; kinds, seeds and units are told apart."""
    problems = []
    for kind in (weights.bootstrap_counts, weights.swap_masks):
        whole = kind(SEED, 0, 40, 130)
        if not np.array_equal(
            whole, np.concatenate([kind(SEED, 0, 7, 130), kind(SEED, 7, 40, 130)])
        ):
            problems.append(f"{kind.__name__}: the first draws change")
        if len(np.unique(whole, axis=0)) != 40:
            problems.append(f"{kind.__name__}: two resamples are equal")
        if np.array_equal(whole, kind(SEED + 1, 0, 40, 130)):
            problems.append(f"{kind.__name__}: the seed does nothing")
    return all_hold(
        "resamples extend",
        "Resamples are functions of seed and number: raising R keeps the first ones, no two of "
        "40 resamples of 130 units are equal, another seed gives others.",
        problems,
        6,
    )


def draws_are_fair() -> Check:
    """Every unit is drawn as often as it should be, and units are drawn independently."""
    rows, units = 4_000, 50
    counts = weights.bootstrap_counts(SEED, 0, rows, units).astype(float)
    masks = weights.swap_masks(SEED, 0, rows, units).astype(float)
    # 5.5 standard errors: two-sided 4e-8 a number, 2,600 numbers, 1e-4 in all
    bound = 5.5 / np.sqrt(rows)
    spreads = {"counts": np.sqrt((1 - 1 / units) / 1.0), "swaps": 0.5}
    problems = []
    if not (counts.sum(axis=1) == units).all():
        problems.append("a bootstrap resample does not have as many units as the test set")
    if not np.isin(masks, (0.0, 1.0)).all():
        problems.append("a swap is neither kept nor exchanged")
    for name, drawn, mean in (("counts", counts, 1.0), ("swaps", masks, 0.5)):
        off = np.abs(drawn.mean(axis=0) - mean).max() / spreads[name]
        if off > bound:
            problems.append(f"{name}: a unit's mean is off by {off:.3f} standard deviations")
        related = np.corrcoef(drawn.T)[np.triu_indices(units, 1)]
        expected = -1 / (units - 1) if name == "counts" else 0.0
        if np.abs(related - expected).max() > bound:
            problems.append(f"{name}: two units are correlated by {np.abs(related).max():.3f}")
    return all_hold(
        "draws are fair",
        f"Over {rows:,} resamples each unit's mean weight, and each pair's correlation, is within "
        "5.5 standard errors of 1 and -1/(n-1) (counts) or 1/2 and 0 (swaps); the largest of 2,600 "
        "such numbers exceeds that once in 10,000 runs.",
        problems,
        2 * (units + units * (units - 1) // 2),
    )


def error_metrics_are_turned_round() -> Check:
    """The better system of a TER pair has the lower score, and `greater` claims it is better."""
    problems = []
    ter = parse_metric("ter")
    made = fixtures.comparison(SEED, 120, systems=4, chosen=[ter])
    # 15 % of the words of the first are wrong, 30 % of the last
    good_first = fixtures.with_systems(made, [0, 3])
    cases = 0
    for test in (name for name, kind in resampling_tests().items() if kind.calibrated):
        for alternative in ALTERNATIVES:
            recipe = made.recipe.but(tests=(test,), alternative=alternative, resamples=RESAMPLES)
            report = compare(replace(good_first, recipe=recipe))
            cases += 1
            if (
                report.pairs[0].significant == (alternative == "less")
                or report.pairs[0].difference >= 0
            ):
                problems.append(f"{_name(report.pairs[0])}: p = {report.pairs[0].p_value}")
            if alternative == "two-sided" and not _first_wins(report):
                problems.append(f"{test}: the system with more edits ranks first")
    return all_hold(
        "error metrics are turned round",
        "With TER, greater claims fewer edits: it is significant for the system with half the "
        "errors, less is not, and that system ranks first.",
        problems,
        cases,
    )


def _first_wins(report: Report) -> bool:
    ranks = [next(iter(system.ranks["ter"].values())) for system in report.systems]
    return ranks[0].cluster < ranks[1].cluster


def large_sums_are_exact() -> Check:
    """Sums beyond 2**24 stay whole: the product leaves float32 in time."""
    rng = np.random.default_rng(SEED)
    table = rng.integers(2**20, 2**21, size=(2, 300, 1)).astype(np.float64)
    columns = product.DistinctColumns([table])
    problems = []
    for draw in (weights.bootstrap_counts, weights.swap_masks):
        drawn = draw(SEED, 0, 50, 300)
        wanted = drawn.astype(np.int64) @ table[:, :, 0].astype(np.int64).T
        if not np.array_equal(columns.sums(drawn)[0][0].T, wanted):
            problems.append("a resampled sum is not the sum of its whole numbers")
    return all_hold(
        "large sums are exact",
        "Resampled sums of whole numbers around 2^29 equal 64-bit whole-number arithmetic.",
        problems,
        200,
    )


def render(report: Report) -> str:
    """Every number of a report, unrounded."""
    return json.dumps(report.as_json())


def _key(pair: PairReport) -> tuple[str, str, str, str]:
    return pair.a, pair.b, pair.metric, pair.test


def _name(pair: PairReport) -> str:
    return f"{pair.metric} {pair.test} {pair.alternative}"
