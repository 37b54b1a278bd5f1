"""Other seeds: `python -m validation.seeds --keep FILE`.

Does the p-value of another seed lie in `p_interval`, where differences lie on a lattice? There an
atom lies at twice the observed difference, and where the null distribution is centred decides
whether it counts. Of items of one weight the centre is known, and so is the p-value that resamples
without number would give: all sums of draws are counted here. Of documents of unequal size the
centre is an estimate. 300 items are right or wrong for two systems, of which the first is better.
"""

from __future__ import annotations

import sys
from collections import defaultdict

import numpy as np

from sigtest.arrays import Counts, Flags
from sigtest.comparison.comparison import parse_comparison
from sigtest.engine import compare
from sigtest.significance import Alternative
from validation import kept
from validation.kept import Found, Task
from validation.settings import SEED

UNITS = 300
DISCORDANT = 24
BETTER = 0.6  # of these are right for the first system
RESAMPLES = 999
LENGTH = 50  # simulations a run
LEAST = 0.80  # of two independent estimates .83 lie in the 95 % interval of the other
LEAST_EXACT = 0.94
SEEDS = 24  # part of every seed
KINDS = ("items", "documents")
CLAIMS: tuple[Alternative, ...] = ("two-sided", "greater")


def exact(d: Counts, claim: Alternative) -> float:
    """The p-value of the shifted bootstrap over all resamples of differences that are -1, 0, 1."""
    n, seen = len(d), int(d.sum())
    one, whole = np.bincount(d + 1, minlength=3) / n, np.ones(1)
    for _ in range(n):
        whole = np.convolve(whole, one)
    moved = np.arange(-n, n + 1) - seen
    reached = np.abs(moved) >= abs(seen) if claim == "two-sided" else moved >= seen
    return min(1.0, float(whole[reached].sum()))


def simulated(task: Task) -> Found:
    """How many p-values of a second seed, and exact ones, lie in the interval of the first."""
    kind, claim, run = str(task[0]), CLAIMS[CLAIMS.index(task[1])], int(task[2])
    rng = np.random.default_rng((SEED, SEEDS, KINDS.index(kind), CLAIMS.index(claim), run))
    other = known = 0
    for _ in range(LENGTH):
        first = rng.random(UNITS) < 0.5
        second = first.copy()
        apart = rng.choice(UNITS, size=DISCORDANT, replace=False)
        first[apart] = rng.random(DISCORDANT) < BETTER
        second[apart] = ~first[apart]
        body = _body(first, second, claim)
        if kind == "documents":
            body["documents"] = np.sort(rng.integers(UNITS // 4, size=UNITS)).astype(str).tolist()
        one, two = (_p(body, int(seed)) for seed in rng.integers(2**63, size=2))
        other += one[1] <= two[0] <= one[2]
        if kind == "items":
            known += one[1] <= exact(first.astype(int) - second, claim) <= one[2]
    return {"other": [other], "known": [known]}


def _body(first: Flags, second: Flags, claim: Alternative) -> dict[str, object]:
    systems = [
        {"name": name, "scores": {"x": own.astype(float).tolist()}}
        for name, own in (("a", first), ("b", second))
    ]
    return {
        "systems": systems,
        "metrics": ["scores"],
        "tests": ["bootstrap"],
        "alternative": claim,
        "resamples": RESAMPLES,
    }


def _p(body: dict[str, object], seed: int) -> tuple[float, float, float]:
    """The p-value of the first pair and both ends of its interval."""
    pair = compare(parse_comparison({**body, "seed": seed})).pairs[0]
    assert pair.p_interval is not None
    return (pair.p_value, *pair.p_interval)


def shares(found: dict[Task, Found]) -> dict[tuple[str, str], tuple[int, float, float]]:
    """For each kind and claim simulations, and the shares of intervals that hold either."""
    together: dict[tuple[str, str], list[Found]] = defaultdict(list)
    for (kind, claim, _), run in found.items():
        together[str(kind), str(claim)].append(run)
    held: dict[tuple[str, str], tuple[int, float, float]] = {}
    for cell, runs in together.items():
        other, known = (float(np.mean([run[key] for run in runs])) for key in ("other", "known"))
        held[cell] = LENGTH * len(runs), other / LENGTH, known / LENGTH
    return held


def told(found: dict[Task, Found]) -> str:
    """The table of docs/VALIDITY.md; what is below its bound is bold."""
    rows = []
    for (kind, claim), (of, other, known) in shares(found).items():
        cells = [_shown(other, LEAST), _shown(known, LEAST_EXACT) if kind == "items" else ""]
        rows.append([UNIT[kind], claim, f"{of:,}", *cells])
    head = ("units", "claim", "simulations", "another seed's p", "exact p")
    return kept.table(head, rows)


UNIT = {"items": "items of one weight", "documents": "documents of unequal size"}


def _shown(share: float, least: float) -> str:
    return f"{share:.3f}" if share >= least else f"**{share:.3f}**"


def main() -> int:
    """Make the runs that are missing, and print what all of them say; 1 where a bound is missed."""
    options = kept.arguments("seeds", __doc__, 2_000)
    tasks: list[Task] = [
        (kind, claim, run)
        for kind in KINDS
        for claim in CLAIMS
        for run in range(-(-options.simulations // LENGTH))
    ]
    block = told(kept.resumed(options.keep, tasks, simulated))
    print(block)
    if options.write:
        kept.write("seeds", block)
    return int("**" in block)


if __name__ == "__main__":
    sys.exit(main())
