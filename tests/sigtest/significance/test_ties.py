"""Numbers that tie in decimals tie in floating point; others stay apart."""

from fractions import Fraction

import numpy as np
import pytest

from sigtest.significance.ties import as_printed, with_ties

SCORES = [0.1, 0.2, 0.3, 0.7, 1.1, 2.2]


def summed(order: list[int], scores: list[float]) -> float:
    """A sum in an order of its own, with the rounding that the order has."""
    total = 0.0
    for place in order:
        total += scores[place]
    return total


@pytest.mark.parametrize("size", [1e-6, 1.0, 100.0, 1e9 / 3])
def test_sums_tie_where_their_fractions_do(size: float) -> None:
    rng = np.random.default_rng(7)
    scores = [size * score for score in SCORES]
    decimals = [Fraction(str(score)) for score in SCORES]
    chosen = [list(rng.permutation(6)[: rng.integers(1, 7)]) for _ in range(300)]
    found = np.array([summed(order, scores) for order in chosen])
    exact = [sum((decimals[place] for place in order), Fraction(0)) for order in chosen]
    assert len(set(found.tolist())) > len(set(exact))  # rounding tells some apart
    tied = with_ties(found, max(map(abs, found)))
    for i in range(len(chosen)):
        equal = [value == exact[i] for value in exact]
        assert (tied == tied[i]).tolist() == equal
        assert tied[i] == found[equal].max()


def test_ties_go_by_the_largest_number_behind_them() -> None:
    x = np.array([3e-13, 0.0, 5.0])
    assert with_ties(x, 5.0).tolist() == [3e-13, 3e-13, 5.0]
    assert with_ties(x, 1.0).tolist() == x.tolist()
    assert with_ties(np.array([0.0, 1e-13]), 1.0).tolist() == [1e-13, 1e-13]  # as far as may be
    assert with_ties(np.array([]), 1.0).tolist() == []


def test_what_is_nearly_tied_in_a_chain_is_all_tied() -> None:
    x = np.array([2e-13, 0.0, 1e-13, 4e-13])
    assert with_ties(x, 1.2).tolist() == [2e-13, 2e-13, 2e-13, 4e-13]


def test_fifteen_digits_are_printed_as_r_prints_them() -> None:
    assert as_printed(np.array([2 / 3, 0.1 + 0.2, 1e16 + 2])).tolist() == [
        0.666666666666667,
        0.3,
        1e16,
    ]
