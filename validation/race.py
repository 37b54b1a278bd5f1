"""Races, looked at after every item: `python -m validation.race --keep FILE`.

Where systems are equal, how often is some pair decided in any look? Where they are not, how often
is some true difference outside of its interval in some look, and how many items does a decision
take, next to a t-test with a fixed plan? Scores with bounds are judged by betting sequences, others
by asymptotic ones from the default burn-in, and skewed ones by those, too, for which no bound is
held.
"""

from __future__ import annotations

from collections.abc import Callable
from functools import cache

import numpy as np

from sigtest.arrays import Array
from sigtest.race.sequences import FIRST, Sequences, all_pairs
from sigtest.requests.races import SequentialRequest
from validation import kept
from validation.asymmetric import POPULATIONS
from validation.kept import Found, Task
from validation.settings import SEED

LEVEL = 0.05
MOST = 0.06  # false decisions at .05
LEAST = 0.94  # of races whose intervals all cover in all looks
LENGTH = 100  # simulations a run
RACE = 36  # part of every seed
ITEMS = 2_000
LOOKS = (50, 300, ITEMS)
SYSTEMS = (2, 20)
EVERY = {2: 1, 20: 10}  # items between two looks at intervals, of so many systems
STEP = 0.05  # between two systems, in standard deviations of a score
POWER = 2.8016  # normal deviates of .975 and .8
PLANNED = 500  # items of the fixed plan with that power

Population = Callable[[np.random.Generator, Array], Array]


def _shared(rng: np.random.Generator, shape: tuple[int, ...]) -> Array:
    """(n, S) uniform numbers, of half of the items the same for all systems."""
    alike = rng.random((shape[0], 1)) < 0.5
    return np.where(alike, rng.random((shape[0], 1)), rng.random(shape))


def _right(share: float) -> Population:
    """Right or wrong; systems are behind in the share that is right."""
    spread = (share * (1 - share)) ** 0.5
    return lambda rng, behind: (_shared(rng, behind.shape) < share - behind * spread).astype(float)


def _ratings(rng: np.random.Generator, behind: Array) -> Array:
    """Whole numbers from 0 to 4 as parts of 4: four trials each."""
    chance = 0.7 - behind * 0.2291
    trials = np.stack([_shared(rng, behind.shape) < chance for _ in range(4)])
    return trials.astype(float).sum(axis=0) / 4


def _normal(rng: np.random.Generator, behind: Array) -> Array:
    return rng.normal(size=(len(behind), 1)) + rng.normal(size=behind.shape) - behind


def _exponential(rng: np.random.Generator, behind: Array) -> Array:
    return rng.exponential(size=behind.shape) - behind


def _skewed(name: str) -> Population:
    """Every other system has scores of part 10, the others normal ones a tenth as wide."""

    def population(rng: np.random.Generator, behind: Array) -> Array:
        n, systems = behind.shape
        scores = [POPULATIONS[name](rng, n) for _ in range(0, systems, 2)]
        wide = np.std(scores) / 10
        others = [wide * rng.normal(size=n) for _ in scores]
        return np.stack([one for two in zip(scores, others, strict=True) for one in two], axis=1)

    return population


BOUNDED = {"right or wrong": _right(0.8), "nearly all right": _right(0.97), "ratings": _ratings}
UNBOUNDED = {"normal": _normal, "exponential": _exponential}
SKEWED = {name: _skewed(name) for name in ("lognormal", "rare")}
KINDS = BOUNDED | UNBOUNDED | SKEWED
GAPS = ("equal", "steps", "planned")


def races(kind: str, systems: int) -> Sequences:
    """LENGTH races beside one another, as they are where nothing is said but the scale."""
    pairs = all_pairs(systems)
    beside = (pairs + systems * np.arange(LENGTH)[:, None, None]).reshape(-1, 2)
    width = 1.0 if kind in BOUNDED else None
    return Sequences(beside, LEVEL / len(pairs), width, SequentialRequest().burn_in)


def simulated(task: Task) -> Found:
    """Of LENGTH races: those that decide falsely by each of LOOKS, or cover, or when they end."""
    kind, systems, gaps, run = str(task[0]), int(task[1]), str(task[2]), int(task[3])
    seed = (SEED, RACE, list(KINDS).index(kind), systems, GAPS.index(gaps), run)
    rng, race = np.random.default_rng(seed), races(kind, systems)
    step = {"equal": 0.0, "steps": STEP, "planned": gap(kind) if gaps == "planned" else 0.0}[gaps]
    behind = np.tile(step * np.arange(systems), (ITEMS, 1))
    scores = np.concatenate([KINDS[kind](rng, behind) for _ in range(LENGTH)], axis=1)
    if gaps == "steps":
        return {"covers": [_covering(race, scores, STEP * SPREADS[kind], EVERY[systems])]}
    race.add(scores)
    if gaps == "planned":
        d = scores[:PLANNED, 0::2] - scores[:PLANNED, 1::2]
        t = d.mean(axis=0) / d.std(axis=0, ddof=1) * PLANNED**0.5
        when = np.where(race.decided == FIRST, race.since, -1)
        return {"decided": when.tolist(), "plan": [float((t > 1.96).mean())]}
    since = np.where(race.since > 0, race.since, ITEMS + 1).reshape(LENGTH, -1).min(axis=1)
    return {"false": [int((since <= n).sum()) for n in LOOKS]}


@cache
def gap(kind: str) -> float:
    """The step that a plan of PLANNED items shows with power .8."""
    rng = np.random.default_rng((SEED, RACE))
    trial = KINDS[kind](rng, np.zeros((400_000, 2)))
    return float((trial[:, 0] - trial[:, 1]).std()) * POWER / PLANNED**0.5 / SPREADS[kind]


SPREADS = {"right or wrong": 0.4, "nearly all right": 0.1706, "ratings": 0.2291,
           "normal": 1.0, "exponential": 1.0}  # fmt: skip


def _covering(race: Sequences, scores: Array, step: float, every: int) -> int:
    """How many races have intervals that hold all true differences in every look."""
    truth = step * (race.pairs[:, 1] - race.pairs[:, 0])
    missed = np.zeros(len(truth), dtype=bool)
    for start in range(0, len(scores), every):
        race.add(scores[start : start + every])
        low, high = race.intervals().T
        missed |= (low > truth) | (high < truth)
    return int((~missed.reshape(LENGTH, -1).any(axis=1)).sum())


def told(found: dict[Task, Found]) -> str:
    """Tables of false decisions and coverage, and of what a decision costs; misses stand out."""
    together: dict[tuple[str | int, ...], list[Found]] = {}
    for task, run in found.items():
        together.setdefault(task[:3], []).append(run)
    rows, costs = [], []
    for (kind, systems, gaps), runs in together.items():
        count = f"{LENGTH * len(runs):,}"
        if gaps == "equal":
            rates = [sum(run["false"][i] for run in runs) / LENGTH / len(runs) for i in range(3)]
            shown = [f"**{rate:.3f}**" if rate > MOST else f"{rate:.3f}" for rate in rates]
            others = together.get((kind, systems, "steps"))
            covers = "-"
            if others:
                share = sum(run["covers"][0] for run in others) / LENGTH / len(others)
                covers = f"{share:.3f}" if share >= LEAST else f"**{share:.3f}**"
            how = "betting" if kind in BOUNDED else "asymptotic"
            rows.append([str(kind), str(systems), how, count, *shown, covers])
        elif gaps == "planned":
            when = np.array([value for run in runs for value in run["decided"]])
            plan = np.mean([run["plan"][0] for run in runs])
            by = [f"{np.mean((when > 0) & (when <= n)):.2f}" for n in (PLANNED, ITEMS)]
            ends = np.where(when > 0, when, ITEMS)
            usual = f"{np.median(ends):,.0f}"
            costs.append([str(kind), count, f"{plan:.2f}", *by, usual, f"{ends.mean():,.0f}"])
    head = ["scores", "systems", "sequence", "simulations"]
    head += [f"false by {n:,}" for n in LOOKS] + ["intervals cover"]
    cost = ["scores", "simulations", f"plan of {PLANNED}", f"race by {PLANNED}",
            f"race by {ITEMS:,}", "median items", "mean items"]  # fmt: skip
    return (
        f"{kept.table(head, rows)}\n\nBounds: {MOST} and {LEAST}.\n\n{kept.table(cost, costs)}\n\n"
        f"Mean and median count races that are open after {ITEMS:,} items as {ITEMS:,}."
    )


def main() -> None:
    """Make the runs that are missing, and print what all of them say; 1 where a bound is missed."""
    options = kept.arguments("race", __doc__, 2_000)
    runs = range(-(-options.simulations // LENGTH))
    tasks: list[Task] = [
        (kind, systems, gaps, run)
        for run in runs
        for kind in KINDS
        for systems in SYSTEMS
        for gaps in GAPS
        if (gaps == "equal" or kind not in SKEWED) and (gaps != "planned" or systems == SYSTEMS[0])
    ]
    found = kept.resumed(options.keep, tasks, simulated)
    block = told(found)
    print(block)
    if options.write:
        kept.write("race", block)
    rows = [row for row in block.splitlines() if "**" in row]
    if any(row.split("|")[1].strip() not in SKEWED for row in rows):
        raise SystemExit("a bound is missed")


if __name__ == "__main__":
    main()
