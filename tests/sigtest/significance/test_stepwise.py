"""Decisions with one p-value moved, against adjusting the whole family again for each of them."""

import numpy as np
import pytest

from sigtest.arrays import Array, Flags
from sigtest.significance import CORRECTIONS
from sigtest.significance.corrections import Correction, adjust
from sigtest.significance.stepwise import rejected_alone

BY_RANK = [c for c in CORRECTIONS.values() if c.scale is not None]


def one_by_one(p: Array, moved: Array, correction: str, alpha: float) -> Flags:
    decisions = np.empty(len(p), dtype=np.bool_)
    for i in range(len(p)):
        family = p.copy()
        family[i] = moved[i]
        decisions[i] = adjust(family, correction)[i] <= alpha
    return decisions


@pytest.mark.parametrize("correction", BY_RANK, ids=lambda correction: correction.name)
def test_moving_one_equals_adjusting_again(correction: Correction) -> None:
    rng = np.random.default_rng(0)
    for _ in range(200):
        size, resamples = int(rng.integers(1, 14)), int(rng.choice([9, 19, 99, 9999]))
        counts = rng.integers(0, resamples + 1, (2, size)) * rng.random((2, 1)) ** 3
        p, moved = (counts.astype(int) + 1) / (resamples + 1)  # few values, and so many ties
        moved = np.where(rng.random(size) < 0.3, rng.permutation(p), moved)
        reached = float(rng.choice(adjust(p, correction.name)))
        for alpha in (0.05, 0.3, *([reached] if reached < 1 else [])):  # also one just reached
            expected = one_by_one(p, moved, correction.name, alpha)
            found = rejected_alone(p, moved, correction.scale, correction.direction, alpha)
            assert found.tolist() == expected.tolist()
