"""Strengths from comparisons of two systems: `python -m validation.preferences --keep FILE`.

How often are two of 20 systems of equal strength said to differ at .05, where comparisons are
independent, or where items, or judges, like some systems more than others? How often do 95 %
intervals hold the true strength where each two of 10 or 60 systems met 0 to 10 times, and how often
do all rank ranges together hold all true ranks? Each simulation goes through the product's own
functions; beside the size with the right unit stands that with judgements as the unit, of which
reports warn, and by how much the variances of differences are larger than these say.
"""

from __future__ import annotations

from itertools import combinations

import numpy as np

from sigtest.arrays import Array, Counts
from sigtest.people import bradley_terry
from sigtest.people.bradley_terry import Strengths
from sigtest.people.judgements import Comparisons, Names
from sigtest.people.preferences import wald
from sigtest.significance.corrections import adjust
from sigtest.special import stdtrit
from validation import kept
from validation.kept import Found, Task
from validation.settings import SEED

LEVEL = 0.05
MOST = 0.058  # pairs of equal systems that are separated at .05, with the right unit
COVERED = (0.93, 0.97)
HELD = 0.94  # rank ranges that hold all true ranks
RESAMPLES = 499
LENGTH = 50  # simulations a run
PREFERENCES = 41  # part of every seed
TIES = 0.8  # Davidson's nu
SYSTEMS, COMPARISONS = 20, 2_000
UNITS = {"independent": COMPARISONS, "items": 100, "judges": 30}  # how many there are
SIZES = [(design, errors) for design in UNITS for errors in ("sandwich", "bootstrap")]
DESIGNS = [(n, spread, ties) for n in (10, 60) for spread in (0, 0.5, 1) for ties in ("yes", "no")]
BETWEEN = 0.9  # standard deviation of how much a unit likes a system
MEETINGS = 10  # of two systems, at most


def outcomes(rng: np.random.Generator, distance: Array, nu: float) -> Array:
    """(n,) shares of the first systems."""
    win, loss = np.exp(distance / 2), np.exp(-distance / 2)
    drawn = rng.random(len(distance)) * (win + nu + loss)
    return np.where(drawn < win, 1.0, np.where(drawn < win + nu, 0.5, 0.0))


def compared(systems: int, a: Counts, b: Counts, share: Array) -> Comparisons:
    """Comparisons that say of nothing else."""
    alone = np.arange(len(share))
    system = Names(tuple(map(str, range(systems))), np.stack([a, b], axis=1))
    weight, no = np.ones(len(share)), Names.unknown(len(share))
    return Comparisons(system, no, no, no, no, 0 * alone, share, weight, no, 0 * alone, alone)


def covariance(at: Strengths, judged: Comparisons, units: Counts, errors: str, seed: int) -> Array:
    """(S, S) of strengths, as reports have it."""
    if errors == "bootstrap":
        return bradley_terry.resample(at, judged, units, RESAMPLES, seed)[0]
    scores = bradley_terry.scatter(at, judged, units)[:-1, :-1]
    found: Array = (at.inverse @ scores @ at.inverse)[:-1, :-1]
    return found


def fitted(judged: Comparisons) -> Strengths | None:
    """The maximum, if there is one."""
    if not bradley_terry.reaching(judged.won).all():
        return None
    return bradley_terry.fit(judged.won, float(judged.ties.sum()), davidson=True)


def sized(rng: np.random.Generator, design: str, errors: str) -> list[float]:
    """Shares of pairs separated with the right unit and with judgements; ratio of variances."""
    upper = np.triu_indices(SYSTEMS, 1)
    a = rng.integers(SYSTEMS, size=COMPARISONS)
    b = (a + 1 + rng.integers(SYSTEMS - 1, size=COMPARISONS)) % SYSTEMS
    alone, size = np.arange(COMPARISONS), UNITS[design]
    units = alone if design == "independent" else rng.integers(size, size=COMPARISONS)
    units = np.unique(units, return_inverse=True)[1]
    liked = BETWEEN * rng.normal(size=(size, SYSTEMS)) * (design != "independent")
    share = outcomes(rng, liked[units, a] - liked[units, b], TIES)
    judged = compared(SYSTEMS, a, b, share)
    at = fitted(judged)
    assert at is not None
    shares, variances = [], []
    for own in (units, alone):
        found = covariance(at, judged, own, errors, int(rng.integers(2**63)))
        p = wald(at, found, int(own.max()) + 1)
        p = 2 * np.minimum(p, p.T)[upper]
        shares.append(float((p <= LEVEL).mean()))
        variances.append((np.add.outer(np.diag(found), np.diag(found)) - 2 * found)[upper])
    return [*shares, float(np.median(variances[0] / variances[1]))]


def covered(rng: np.random.Generator, systems: int, spread: float, nu: float) -> list[float]:
    """Share of strengths that intervals hold, and whether rank ranges hold all true ranks."""
    true = spread * rng.normal(size=systems)
    true -= true.mean()
    pairs = np.array(list(combinations(range(systems), 2)))
    a, b = np.repeat(pairs, rng.integers(MEETINGS + 1, size=len(pairs)), axis=0).T
    judged = compared(systems, a, b, outcomes(rng, true[a] - true[b], nu))
    at = fitted(judged)
    if at is None:
        return []
    seed, alone = int(rng.integers(2**63)), np.arange(len(a))
    errors = "bootstrap" if systems == 10 else "sandwich"
    found = covariance(at, judged, alone, errors, seed)
    reach = float(stdtrit(len(a) - 1, 1 - LEVEL / 2)) * np.sqrt(np.diag(found))
    inside = float((np.abs(at.theta - true) <= reach).mean())
    better = wald(at, found, len(a))
    p = np.stack([own[tuple(pairs.T)] for own in (better, better.T)], axis=1)
    claims = adjust(p.ravel(), "holm").reshape(p.shape) <= LEVEL
    ahead = (true[pairs[:, 0]] - true[pairs[:, 1]])[:, None] * [1, -1]
    return [inside, float(not (claims & (ahead <= 0)).any())]


def simulated(task: Task) -> Found:
    """Sums over LENGTH simulations, and how many of them have a maximum."""
    kind, first, second, third, run = task
    numbers = [abs(hash_of(str(part))) for part in task]
    rng = np.random.default_rng((SEED, PREFERENCES, *numbers))
    rows = []
    for _ in range(LENGTH):
        if kind == "size":
            rows.append(sized(rng, str(first), str(second)))
        else:
            nu = TIES if third == "yes" else 0.0
            rows.append(covered(rng, int(first), float(second), nu))
    known = [row for row in rows if row]
    return {"sums": np.sum(known, axis=0).tolist(), "of": [len(known)], "run": [int(run)]}


def hash_of(text: str) -> int:
    """The same number for the same text in every process."""
    return int.from_bytes(text.encode()[-7:], "big")


def told(found: dict[Task, Found]) -> str:
    """Two tables; what misses its bar is bold."""
    together: dict[tuple[str | int, ...], list[Found]] = {}
    for task, run in found.items():
        together.setdefault(task[:4], []).append(run)
    sizes, intervals = [], []
    for (kind, first, second, third), runs in together.items():
        of = sum(int(run["of"][0]) for run in runs)
        means = np.sum([run["sums"] for run in runs], axis=0) / of
        if kind == "size":
            right = _bold(means[0], means[0] <= MOST)
            wrong = "" if first == "independent" else f"{means[1]:.4f}"
            ratio = "" if first == "independent" else f"{means[2]:.2f}"
            units = "" if first == "independent" else f"{UNITS[str(first)]}"
            sizes.append([str(first), units, str(second), f"{of:,}", right, wrong, ratio])
        else:
            low, high = COVERED
            shown = _bold(means[0], low <= means[0] <= high)
            ranges = _bold(means[1], means[1] >= HELD)
            row = [str(first), str(second), str(third), f"{of:,}", shown, ranges]
            intervals.append(row)
    head = (
        "comparisons",
        "units",
        "errors",
        "simulations",
        "separated",
        "by judgements",
        "variance",
    )
    spread = ("systems", "spread", "ties", "with a maximum", "coverage", "all ranks held")
    return f"{kept.table(head, sizes)}\n\n{kept.table(spread, intervals)}"


def _bold(rate: float, holds: bool) -> str:
    return f"{rate:.4f}" if holds else f"**{rate:.4f}**"


def main() -> None:
    """Make the runs that are missing, and print what all of them say; 1 where a bar is missed."""
    options = kept.arguments("preferences", __doc__, 2_000)
    runs = range(-(-options.simulations // LENGTH))
    tasks: list[Task] = [("size", *cell, "", run) for run in runs for cell in SIZES]
    tasks += [("interval", n, str(s), ties, run) for run in runs for n, s, ties in DESIGNS]
    block = told(kept.resumed(options.keep, tasks, simulated))
    print(block)
    if options.write:
        kept.write("preferences", block)
    if "**" in block:
        raise SystemExit("a bar is missed")


if __name__ == "__main__":
    main()
