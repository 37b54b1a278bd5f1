"""Part 2 continued: SciPy and sacreBLEU, where they compute the same thing and where not."""

from __future__ import annotations

import math
import os
from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager
from typing import Any

import numpy as np
import sacrebleu
from sacrebleu.metrics.bleu import BLEU
from sacrebleu.metrics.chrf import CHRF
from sacrebleu.metrics.ter import TER
from sacrebleu.significance import PairedTest
from scipy import stats

from sigtest.arrays import Array
from sigtest.comparison.comparison import Comparison
from sigtest.draws.sample import Sample
from sigtest.draws.weights import bootstrap_counts
from sigtest.engine import compare
from sigtest.requests.recipe import parse_metric
from sigtest.significance import ALTERNATIVES, resampling_tests
from sigtest.significance.exact import enumerate_swaps
from sigtest.significance.intervals import p_value
from validation import fixtures
from validation.loops import as_lists
from validation.results import Check, Table, all_hold
from validation.settings import SEED

RESAMPLES = 300
SEGMENTS = 60
LEGACY = "riezler_maxwell_bootstrap"
SACREBLEU: dict[str, Callable[..., Any]] = {"bleu": BLEU, "chrf": CHRF, "ter": TER}


def scipy_permutations_agree(datasets: int = 4) -> Check:
    """`scipy.stats.permutation_test` over all pairings, on mean scores."""
    problems = []
    cases = 0
    for seed in range(datasets):
        for label in ("grid", "real"):
            a, b = _mean_scores(SEED + seed, 11, label)
            for alternative in ALTERNATIVES:
                cases += 1
                ours = enumerate_swaps(parse_metric(f"scores:of={label}"), a, b, alternative)
                theirs = stats.permutation_test(
                    (a[:, 0], b[:, 0]),
                    lambda x, y, axis: x.mean(axis) - y.mean(axis),
                    permutation_type="samples",
                    n_resamples=np.inf,
                    alternative=alternative,
                    vectorized=True,
                )
                if ours is None or not np.isclose(ours.p_value, _doubled(theirs, alternative)):
                    problems.append(f"{label} {alternative} seed={seed}")
    return all_hold(
        "SciPy's permutations agree",
        "The exact p of mean scores equals that of scipy.stats.permutation_test over all 2^n "
        "pairings, in every alternative (two-sided from the share of |D_r| >= |D| in its null "
        "distribution: its own p doubles the smaller tail).",
        problems,
        cases,
    )


def _doubled(found: Any, alternative: str) -> float:
    if alternative != "two-sided":
        return float(found.pvalue)
    reached = np.abs(found.null_distribution) >= abs(found.statistic) * (1 - 1e-9) - 1e-12
    return float(reached.mean())


class Replayed(np.random.Generator):
    """A generator whose next whole numbers are given: SciPy then uses sigtest's draws."""

    def __init__(self, drawn: Array) -> None:
        super().__init__(np.random.PCG64(0))
        self._drawn = drawn

    def integers(self, *args: Any, **kwargs: Any) -> Any:
        """The given draws, whatever is asked for."""
        return self._drawn


def scipy_bootstrap_agrees() -> Check:
    """`scipy.stats.bootstrap` of a mean difference, on the same draws."""
    problems = []
    cases = 0
    for label in ("grid", "real"):
        made = fixtures.comparison(
            SEED, SEGMENTS, chosen=[parse_metric(f"scores:of={label}")], resamples=RESAMPLES
        )
        (table,) = fixtures.tables(made)
        sample = Sample(made.plan.parts[0], [table])
        scores = sample.bootstrap_scores(0, RESAMPLES)[0]
        ours = scores[0] - scores[1]
        drawn = as_lists(bootstrap_counts(made.recipe.seed, 0, RESAMPLES, SEGMENTS))
        theirs = stats.bootstrap(
            (table[0, :, 0] - table[1, :, 0],),
            np.mean,
            n_resamples=RESAMPLES,
            method="percentile",
            confidence_level=0.95,
            rng=Replayed(np.array(drawn)),
        )
        report = compare(made).pairs[0]
        ordered = np.sort(ours)
        low = math.ceil(0.025 * RESAMPLES) - 1  # the smallest draw that 2.5 % do not exceed
        high = math.ceil(0.975 * RESAMPLES) - 1
        theirs_low, theirs_high = theirs.confidence_interval
        between = ordered[low] <= theirs_low <= ordered[low + 1]
        between &= ordered[high - 1] <= theirs_high <= ordered[high]
        cases += 4
        if not np.allclose(ours, theirs.bootstrap_distribution, rtol=0, atol=1e-12):
            problems.append(f"{label}: the distributions differ")
        if not np.isclose(report.stderr, theirs.standard_error, rtol=1e-12):
            problems.append(f"{label}: standard error {report.stderr}, {theirs.standard_error}")
        if report.ci != (ordered[low], ordered[high]) or not between:
            shown = f"{theirs_low:.4f} to {theirs_high:.4f}"
            problems.append(f"{label}: {report.ci[0]:.4f} to {report.ci[1]:.4f}, SciPy {shown}")
    return all_hold(
        "SciPy's bootstrap agrees",
        "On the same draws scipy.stats.bootstrap has the same distribution of a mean difference "
        "(to rounding) and standard error; its percentile interval interpolates, so each end lies "
        "at most one resample from the inverse-CDF end.",
        problems,
        cases,
    )


def _mean_scores(content: int, n: int, label: str) -> tuple[Array, Array]:
    made = fixtures.comparison(content, n, chosen=[parse_metric(f"scores:of={label}")])
    (table,) = fixtures.tables(made)
    return table[0], table[1]


@contextmanager
def _sacrebleu_seed(seed: int) -> Iterator[None]:
    kept = os.environ.get("SACREBLEU_SEED")
    os.environ["SACREBLEU_SEED"] = str(seed)
    try:
        yield
    finally:
        if kept is None:
            del os.environ["SACREBLEU_SEED"]
        else:
            os.environ["SACREBLEU_SEED"] = kept


def sacrebleu_p(made: Comparison, kind: str, seed: int, resamples: int) -> dict[str, float]:
    """p-values that sacreBLEU's PairedTest prints, by metric: first system the baseline."""
    named: list[tuple[str, Sequence[str]]] = [
        (system.name, system.hypotheses.complete)
        for system in made.entries[0].systems
        if system.hypotheses
    ]
    references = [text.complete for text in made.entries[0].testset.references]
    with _sacrebleu_seed(seed):
        metrics = {name: SACREBLEU[name](references=references) for name in _names(made)}
        test = PairedTest(named, metrics, None, test_type=kind, n_samples=resamples)
        _, found = test()
    by_key: dict[str, Any] = {"BLEU": "bleu", "chrF2": "chrf", "TER": "ter"}
    rows: dict[str, Any] = dict(found)
    return {name: float(rows[key][1].p_value) for key, name in by_key.items()}


def _names(made: Comparison) -> list[str]:
    return [metric.name for metric in made.recipe.metrics]


def on_sacrebleu_draws(made: Comparison, test: str, seed: int) -> dict[str, tuple[float, float]]:
    """(p as sigtest counts, p with a strict >) on sacreBLEU's draws, by metric."""
    resamples = made.plan.resamples
    rng = np.random.default_rng(seed)
    n = made.entries[0].testset.segments
    counting = resampling_tests()[test]
    swaps = counting.draws == "swaps"
    if swaps:
        weights = rng.integers(2, size=(resamples, n), dtype=bool).astype(np.float32)
    else:
        drawn = rng.choice(n, size=(resamples, n), replace=True)
        weights = np.stack([np.bincount(row, minlength=n) for row in drawn]).astype(np.float32)
    sample = Sample(made.plan.parts[0], fixtures.tables(made))
    found = {}
    for m, sums in enumerate(sample.columns.sums(weights)):
        observed, tolerance = sample.observed[m]
        if swaps:
            ((_, draws),) = sample.swap_differences(m, sums)
        else:
            scores = sample.metrics[m].score_columns(sums)
            draws = sample.metrics[m].sign * (scores[0] - scores[1])[None]
        # ties lie inside the slack: turned round, it leaves them all out
        p, strict = (
            p_value(counting.count(observed, draws, slack, "two-sided"), resamples)[0]
            for slack in (tolerance, -tolerance)
        )
        found[sample.metrics[m].name] = (float(p), float(strict))
    return found


def _text_comparison(seed: int) -> Comparison:
    chosen = [parse_metric(name) for name in SACREBLEU]
    return fixtures.comparison(seed, SEGMENTS, chosen=chosen, resamples=RESAMPLES)


def sacrebleu_agrees() -> Check:
    """On sacreBLEU's own draws the counts are its own, but for ties."""
    problems = []
    cases = 0
    for seed in (12345, 7):
        made = _text_comparison(SEED + seed)
        for kind, test in (("ar", "approximate_randomization"), ("bs", LEGACY)):
            theirs = sacrebleu_p(made, kind, seed, RESAMPLES)
            for name, (p, strict) in on_sacrebleu_draws(made, test, seed).items():
                cases += 1
                # rounding in sacreBLEU decides single ties either way: it lies between the two
                if not strict - 1e-12 <= theirs[name] <= p + 1e-12:
                    problems.append(f"{kind} {name}: {theirs[name]}, not {strict} to {p}")
    return all_hold(
        "sacreBLEU agrees but for ties",
        "On sacreBLEU's draws its approximate randomization (--paired-ar) and its bootstrap "
        "(--paired-bs, the formula of 2005) have sigtest's p for the same formula, up to resamples "
        "exactly tied with the observed difference, which its strict > leaves out.",
        problems,
        cases,
    )


def differences_table() -> Table:
    """Where and why sacreBLEU's p-values differ."""
    made = _text_comparison(SEED)
    rows = []
    for what, compared in (
        ("two made-up systems", made),
        ("a system and its identical copy", fixtures.with_copy(made)),
    ):
        for kind, test, why in (
            ("ar", "approximate_randomization", "counts >, not >=: ties count for the claim"),
            ("bs", "bootstrap", "absolute values before centring: one-sided in effect"),
        ):
            theirs = sacrebleu_p(compared, kind, 12345, RESAMPLES)
            for name, (p, _) in on_sacrebleu_draws(compared, test, 12345).items():
                cells = (what, f"--paired-{kind}", name, f"{theirs[name]:.4f}", f"{p:.4f}", why)
                rows.append(cells)
    return Table(
        "Where sacreBLEU's p-values differ from sigtest's, and why",
        ("systems", "sacreBLEU", "metric", "its p", "sigtest's p", "why"),
        tuple(rows),
        f"sacreBLEU {sacrebleu.__version__}; made-up text, {SEGMENTS} segments, {RESAMPLES} "
        "resamples. Both on sacreBLEU's own draws, so that nothing but the formula differs.",
    )
