"""Rank ranges: `python -m validation.ranks --simulations 5000 --keep FILE`.

How often do the rank ranges of all systems together hold the true ranks? Systems are compared by
the product's shifted bootstrap with Holm's correction on 300 units; scores are normal and share
half of their variance, as outputs for one test set do. They are whole hundredths, as people give
scores, so that products are those of whole numbers.

And how often do ranges whose confidence is stated hold them under randomization, whose null is
exchangeable labels, where systems of equal expected scores have differences of another shape?
"""

from __future__ import annotations

import sys
from collections import defaultdict
from itertools import combinations

import numpy as np

from sigtest.arrays import Array, Counts
from sigtest.comparison.comparison import parse_comparison
from sigtest.engine import compare
from sigtest.metrics.scores import Scores
from sigtest.significance.corrections import adjust
from sigtest.significance.intervals import rank
from validation import kept
from validation.beside import bootstrap_p_values, sample_beside
from validation.kept import Found, Task
from validation.settings import SEED

UNITS = 300
LEVEL = 0.05
RESAMPLES = {6: 1_999, 20: 9_999}  # as many as corrected p-values need
RANKS = 18  # part of every seed
SIZES = (6, 20)
NULLS = ("complete", "partial", "none")
LENGTH = {6: 50, 20: 20}  # simulations a run, beside one another
SHAPES = ("rare failures", "lognormal")
SHAPE_UNITS = (50, 300, 3_000)
SHAPED = 20  # simulations a run
SHAPED_SIMULATIONS = 2_000
LEAST = 0.94  # of simulations whose ranges hold all true ranks, where .95 is stated


def truths(systems: int, null: str) -> Array:
    """(S,) expected scores: all equal, half of them equal, or all different."""
    steps = 8.0 * np.arange(systems)
    if null == "complete":
        return np.zeros(systems)
    least = steps[systems // 2] if null == "partial" else 0.0
    expected: Array = np.maximum(steps, least)
    return expected


def simulated(task: Task) -> Found:
    """How many simulated test sets have ranges that hold all true ranks."""
    if task[1] in SHAPES:
        return shaped(int(task[0]), str(task[1]), int(task[2]))
    systems, null, run = int(task[0]), str(task[1]), int(task[2])
    rng = np.random.default_rng((SEED, RANKS, systems, NULLS.index(null), run))
    length, truth = LENGTH[systems], truths(systems, null)
    shared = rng.normal(size=(length, 1, UNITS))
    scores = 100 * (shared + rng.normal(size=(length, systems, UNITS))) + truth[:, None]
    rows = np.rint(scores).reshape(-1, UNITS) + 1_000
    pairs = list(combinations(range(systems), 2))
    chosen = tuple((i * systems + a, i * systems + b) for i in range(length) for a, b in pairs)
    sample = sample_beside(
        [Scores()],
        [np.stack([rows, np.ones_like(rows)], axis=2)],
        chosen,
        tests=("bootstrap",),
        resamples=RESAMPLES[systems],
        seed=int(rng.integers(2**63)),
    )
    p = bootstrap_p_values(sample).reshape(length, len(pairs))
    ahead = sample.observed[0][0].reshape(length, len(pairs)) > 0
    found = adjust(p, "holm") <= LEVEL
    held = [_held(truth, np.array(pairs), *one) for one in zip(found, ahead, strict=True)]
    return {"held": [sum(held)], "of": [length]}


def shaped(units: int, shape: str, run: int) -> Found:
    """Three systems of equal expected scores, two with rare low scores, by the product itself."""
    rng = np.random.default_rng((SEED, RANKS, SHAPES.index(shape), units, run))
    held = stated = 0
    for _ in range(SHAPED):
        low = 10.0 * (rng.random((2, units)) < 0.03) if shape == "rare failures" else None
        lost = rng.lognormal(size=(2, units)) if low is None else low
        mean = np.exp(0.5) if low is None else 0.3
        rows = rng.normal(size=(3, units)) * 0.1
        rows[:2] += mean - lost
        systems = [{"name": f"s{i}", "scores": {"x": own.tolist()}} for i, own in enumerate(rows)]
        report = compare(parse_comparison({"systems": systems, "metrics": ["scores"]}))
        apart = any(pair.significant for pair in report.pairs)
        stated += report.rank_confidence is not None
        held += report.rank_confidence is not None and not apart
    return {"held": [held], "of": [SHAPED], "stated": [stated]}


def told_of_shapes(found: dict[Task, Found]) -> str:
    """How often a confidence is stated, and how often the ranges then hold."""
    rows = []
    for shape in SHAPES:
        for units in SHAPE_UNITS:
            runs = [run for task, run in found.items() if task[:2] == (units, shape)]
            held, of, stated = (
                sum(run[key][0] for run in runs) for key in ("held", "of", "stated")
            )
            share = _shown(held / stated) if stated else "none is stated"
            rows.append([f"{shape}, {units:,}", f"{of:,}", f"{stated / max(of, 1):.2f}", share])
    head = ["differences, units", "simulations", "confidence stated", "all true ranks then held"]
    return kept.table(head, rows)


def _held(truth: Array, pairs: Counts, found: Array, ahead: Array) -> bool:
    """Whether all ranges of one test set hold the true ranks."""
    systems = len(truth)
    beats = np.zeros((systems, systems), dtype=np.bool_)
    for (a, b), better in zip(pairs[found].tolist(), ahead[found].tolist(), strict=True):
        beats[(a, b) if better else (b, a)] = True
    for own, expected in zip(rank(truth, beats), truth, strict=True):
        best = 1 + int(np.count_nonzero(truth > expected))
        worst = systems - int(np.count_nonzero(truth < expected))
        if own.lowest > best or own.highest < worst:  # tied systems share the ranks between
            return False
    return True


def told(found: dict[Task, Found]) -> str:
    """The table of docs/VALIDITY.md."""
    together: dict[tuple[int, str], list[Found]] = defaultdict(list)
    for (systems, null, _), run in found.items():
        if null in SHAPES:
            continue
        together[int(systems), str(null)].append(run)
    rows = []
    for (systems, null), runs in together.items():
        held, of = (sum(run[key][0] for run in runs) for key in ("held", "of"))
        rows.append([f"{systems}, {null}", f"{of:,}", _shown(held / of)])
    return kept.table(["systems, null", "simulations", "all true ranks held"], rows)


def _shown(share: float) -> str:
    """Bold below the bound."""
    return f"{share:.3f}" if share >= LEAST else f"**{share:.3f}**"


def main() -> int:
    """Make the runs that are missing, and print what all of them say; 1 where a bound is missed."""
    options = kept.arguments("ranks", __doc__, 5_000)
    tasks: list[Task] = [
        (systems, null, run)
        for systems in SIZES
        for null in NULLS
        for run in range(-(-options.simulations // LENGTH[systems]))
    ]
    runs = -(-min(options.simulations, SHAPED_SIMULATIONS) // SHAPED)
    tasks += [(n, shape, run) for n in SHAPE_UNITS for shape in SHAPES for run in range(runs)]
    found = kept.resumed(options.keep, tasks, simulated)
    blocks = {"ranks": told(found), "rank-shapes": told_of_shapes(found)}
    for name, block in blocks.items():
        print(block)
        if options.write:
            kept.write(name, block)
    return int("**" in "".join(blocks.values()))


if __name__ == "__main__":
    sys.exit(main())
