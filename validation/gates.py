"""Gates: `python -m validation.gates --keep FILE`.

How often does a system pass that is worse by exactly the margin (size), and how often one that is
as good as the baseline (power), beside the power that the gate states? And how often does a gate
fail or pass any of five candidates that are all exactly at the margin, with Holm's correction? The
margin is three standard errors. Differences are drawn from populations of mean zero, where rare
ones are gains or losses; a hundred systems, one a simulation, stand at the product's own gate.
"""

from __future__ import annotations

import sys
from collections import defaultdict

import numpy as np

from sigtest.comparison.comparison import parse_comparison
from sigtest.gates import gate
from validation import kept
from validation.asymmetric import POPULATIONS, TOLD
from validation.kept import Found, Task
from validation.settings import SEED

SIZES = (50, 300)
LOSS_SIZES = (20, 50, 100, 300)
LOSSES = "lognormal, rare losses"
ERRORS = 3.0  # of the difference: the margin
CLAIMS = ("not_worse", "equivalent")
LEVEL = 0.05
RESAMPLES = 999
LENGTH = 100
CANDIDATES = 5
GATES = 19  # part of every seed
# The most that gates answer for, at .05: passes of one system at the margin, and that five systems
# at the margin fail or pass any. Where rare units rule, warnings say so, up to these rates.
MOST = {
    ("normal", 50): (0.058, 0.07),
    ("normal", 300): (0.058, 0.07),
    ("exponential", 50): (0.058, 0.10),
    ("exponential", 300): (0.058, 0.07),
    ("lognormal", 50): (0.058, 0.15),
    ("lognormal", 300): (0.058, 0.09),
    **{(LOSSES, n): (0.11, 0.20) for n in LOSS_SIZES},
}


def simulated(task: Task) -> Found:
    """Passes at the margin, passes without a difference, and the mean of the stated powers."""
    name, n, run = str(task[0]), int(task[1]), int(task[2])
    losses = name == LOSSES
    name = name.partition(",")[0]
    rng = np.random.default_rng((SEED, GATES + losses, list(POPULATIONS).index(name), n, run))
    d = np.stack([POPULATIONS[name](rng, n) for _ in range(LENGTH)]) * (-1 if losses else 1)
    spread = float(POPULATIONS[name](np.random.default_rng(GATES), 100_000).std())
    seed = int(rng.integers(2**63))
    found: Found = {}
    margin = ERRORS * spread / n**0.5
    asked = parse_comparison(_body(np.concatenate([d - margin, d]), seed))
    for claim in CLAIMS:
        stood = gate(asked, margin, claim).systems
        passed = [float(one.outcome == "pass") for one in stood]
        powers = [one.power for one in stood]
        found[claim] = [sum(passed[:LENGTH]), sum(passed[LENGTH:]), sum(powers[LENGTH:])]
    together = [
        gate(parse_comparison(_body(some - margin, seed, "holm")), margin).systems
        for some in d.reshape(-1, CANDIDATES, n)
    ]
    outcomes = [{one.outcome for one in stood} for stood in together]
    found["together"] = [float(sum(what in own for own in outcomes)) for what in ("fail", "pass")]
    return found


def _body(rows: np.ndarray, seed: int, correction: str = "none") -> dict[str, object]:
    named = {f"s{i}": row.tolist() for i, row in enumerate(rows)}
    named["baseline"] = [0.0] * rows.shape[1]
    return {
        "systems": [{"name": name, "scores": {"x": own}} for name, own in named.items()],
        "metrics": ["scores"],
        "pairs": {"baseline": "baseline"},
        "correction": correction,
        "alpha": LEVEL,
        "resamples": RESAMPLES,
        "seed": seed,
    }


def told(found: dict[Task, Found]) -> str:
    """Size, power and stated power of every cell."""
    together: dict[tuple[str, int], list[Found]] = defaultdict(list)
    for (name, n, _), run in found.items():
        together[str(name), int(n)].append(run)
    rows = []
    places = [*POPULATIONS, LOSSES]
    for (name, n), runs in sorted(together.items(), key=lambda own: places.index(own[0][0])):
        for key in CLAIMS:
            size, power, stated = np.sum([run[key] for run in runs], axis=0) / (LENGTH * len(runs))
            rows.append([
                f"{TOLD.get(name, name)}, {n}", key, f"{LENGTH * len(runs):,}",
                _shown(size, MOST[name, n][0]), f"{power:.3f}", f"{stated:.3f}",
            ])  # fmt: skip
    head = ("differences, n", "claim", "simulations", "size", "power", "stated power")
    return kept.table(head, rows)


def told_together(found: dict[Task, Found]) -> str:
    """How often gates of five candidates at the margin fail or pass any."""
    counts: dict[tuple[str, int], list[Found]] = defaultdict(list)
    for (name, n, _), run in found.items():
        counts[str(name), int(n)].append(run)
    rows = []
    for (name, n), runs in counts.items():
        gates = len(runs) * LENGTH // CANDIDATES
        shares = (np.sum([run["together"] for run in runs], axis=0) / gates).tolist()
        shown = [_shown(share, MOST[name, n][1]) for share in shares]
        rows.append([f"{TOLD.get(name, name)}, {n}", f"{gates:,}", *shown])
    return kept.table(("differences, n", "gates", "any fails", "any passes"), rows)


def _shown(share: float, most: float) -> str:
    """Bold above its bound."""
    return f"{share:.4f}" if share <= most else f"**{share:.4f}**"


def main() -> int:
    """Make the runs that are missing, and print what all of them say; 1 where a bound is missed."""
    options = kept.arguments("gates", __doc__, 20_000)
    tasks: list[Task] = [
        (name, n, run)
        for run in range(-(-options.simulations // LENGTH))
        for n in LOSS_SIZES
        for name in ("normal", "exponential", "lognormal", LOSSES)
        if name == LOSSES or n in SIZES
    ]
    found = kept.resumed(options.keep, tasks, simulated)
    blocks = {"gates": told(found), "gates-together": told_together(found)}
    for name, block in blocks.items():
        print(block)
        if options.write:
            kept.write(name, block)
    return int("**" in "".join(blocks.values()))


if __name__ == "__main__":
    sys.exit(main())
