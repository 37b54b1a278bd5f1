"""A human gold standard from the five-way rankings of WMT12.

The direct assessments that Graham, Mathur & Baldwin (2014) used were never released. What is
public are rankings: a judge orders five systems' outputs of one segment, ties allowed. For each
pair of systems, every ranking that contains both is a win for one, a win for the other or a tie;
rank -1 means not ranked, and such a place is left out. Ties are dropped, and an exact one-sided
sign test on the wins, in each direction, gives the human conclusion at each level.
"""

from __future__ import annotations

import csv
from collections import Counter
from itertools import combinations
from pathlib import Path

import numpy as np
from scipy.stats import binomtest

from sigtest.arrays import Array

PLACES = range(1, 6)
NOT_RANKED = -1


def wins(path: Path) -> Counter[tuple[str, str]]:
    """How often the first system of each ordered pair was ranked above the second."""
    found: Counter[tuple[str, str]] = Counter()
    with path.open(encoding="utf-8", newline="") as lines:
        for row in csv.DictReader(lines):
            ranked = [
                (row[f"system{place}Id"], int(row[f"system{place}rank"]))
                for place in PLACES
                if int(row[f"system{place}rank"]) != NOT_RANKED
            ]
            for (a, rank_a), (b, rank_b) in combinations(ranked, 2):
                if rank_a != rank_b:  # rank 1 is the best
                    found[(a, b) if rank_a < rank_b else (b, a)] += 1
    return found


def win_shares(found: Counter[tuple[str, str]], systems: tuple[str, ...]) -> Array:
    """(S,) share of untied comparisons that each system wins."""
    won = np.array([sum(found[a, b] for b in systems) for a in systems])
    lost = np.array([sum(found[b, a] for b in systems) for a in systems])
    shares: Array = won / (won + lost)
    return shares


def sign_test_p(found: Counter[tuple[str, str]], systems: tuple[str, ...]) -> Array:
    """(S, S) one-sided p of the claim that the row's system is better than the column's."""
    p = np.full((len(systems), len(systems)), np.nan)
    for i, a in enumerate(systems):
        for j, b in enumerate(systems):
            if i != j:
                untied = found[a, b] + found[b, a]
                p[i, j] = binomtest(found[a, b], untied, alternative="greater").pvalue
    return p
