"""Populations of differences with mean zero, most of them not symmetric."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Callable
from functools import cache
from itertools import combinations

import numpy as np
from scipy.stats import skew

from sigtest.arrays import Array
from validation.populations import data_folder

Draw = Callable[[np.random.Generator, int], Array]


def normal(rng: np.random.Generator, n: int) -> Array:
    """Symmetric: labels are exchangeable here."""
    return rng.normal(size=n)


def exponential(rng: np.random.Generator, n: int) -> Array:
    """Skewness 2."""
    return rng.exponential(size=n) - 1.0


def lognormal(rng: np.random.Generator, n: int) -> Array:
    """Skewness 6.2."""
    return rng.lognormal(size=n) - float(np.exp(0.5))


def rare(rng: np.random.Generator, n: int) -> Array:
    """Failures on 3 % of the units hold all the loss; a small gain everywhere else."""
    lost = rng.random(n) < 0.03
    return np.where(lost, -0.97, 0.03) + 0.01 * rng.normal(size=n)


def comet(rng: np.random.Generator, n: int) -> Array:
    """COMET of two systems of WMT23 he-en, segment by segment, recentred."""
    return rng.choice(recentred("COMET-refA"), size=n)


def gemba(rng: np.random.Generator, n: int) -> Array:
    """A language model's judgements of two systems of WMT23 he-en, recentred."""
    return rng.choice(recentred("GEMBA-MQM-src"), size=n)


POPULATIONS: dict[str, Draw] = {
    draw.__name__: draw for draw in (normal, exponential, lognormal, rare, comet, gemba)
}
REAL = ("comet", "gemba")
TOLD = {
    "normal": "normal (symmetric)",
    "rare": "3 % hold all the loss",
    "comet": "real COMET, recentred",
    "gemba": "real GEMBA-MQM, recentred",
}


def at_hand() -> tuple[str, ...]:
    """The populations that there are: real ones need the shared test sets."""
    known = tuple(POPULATIONS)
    return known if data_folder() else tuple(name for name in known if name not in REAL)


@cache
def recentred(metric: str) -> Array:
    """Differences of the two systems that this metric tells apart most unevenly, of mean 0."""
    folder = data_folder()
    if folder is None:
        raise LookupError(f"{metric} needs the shared test sets; SIGTEST_DATA names their folder.")
    path = folder / "wmt23.he-en" / "metric-scores" / "he-en" / f"{metric}.seg.score"
    scores: dict[str, list[float]] = defaultdict(list)
    for line in path.read_text().splitlines():
        system, score = line.split("\t")
        scores[system].append(float("nan") if score == "None" else float(score))
    systems = {name: np.array(own) for name, own in scores.items()}
    pairs = [systems[a] - systems[b] for a, b in combinations(sorted(systems), 2)]
    pairs = [d[np.isfinite(d)] for d in pairs if np.isfinite(d).sum() > 1_000 and np.ptp(d) > 0]
    most = max(pairs, key=lambda d: abs(float(skew(d))))
    centred: Array = most - most.mean()
    return centred
