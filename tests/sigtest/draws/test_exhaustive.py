"""Sampled bootstraps against all n**n resamples of seven units, listed in exact arithmetic.

Every bound is five standard errors of what is sampled. The seeds are fixed.
"""

import math
from bisect import bisect_left
from collections import Counter
from fractions import Fraction
from functools import cache
from itertools import accumulate, combinations_with_replacement, product
from typing import Any

import pytest
from computed import report_of

# Match, system and reference counts of seven segments; scores are 2 match / (system + reference).
X = [(9, 12, 14), (2, 7, 6), (11, 13, 12), (6, 9, 10), (3, 3, 8), (7, 11, 9), (5, 10, 7)]
Y = [(7, 12, 14), (3, 8, 6), (9, 14, 12), (5, 7, 10), (3, 5, 8), (8, 11, 9), (2, 9, 7)]
UNITS, RESAMPLES, BAND = 7, 99_999, 5
TESTS = ["bootstrap", "paired_bootstrap", "riezler_maxwell_bootstrap"]


def score(rows: list[tuple[int, int, int]], counts: tuple[int, ...]) -> Fraction:
    match, system, reference = (
        sum(count * row[j] for count, row in zip(counts, rows, strict=True)) for j in range(3)
    )
    return Fraction(2 * match, system + reference)


@cache
def differences() -> dict[Fraction, int]:
    """How many of the 7**7 ordered resamples give each difference X - Y."""
    found: Counter[Fraction] = Counter()
    for drawn in combinations_with_replacement(range(UNITS), UNITS):
        counts = tuple(drawn.count(unit) for unit in range(UNITS))
        orders = math.factorial(UNITS) // math.prod(map(math.factorial, counts))
        found[score(X, counts) - score(Y, counts)] += orders
    assert sum(found.values()) == UNITS**UNITS
    return found


def probability(condition: Any) -> float:
    ways = sum(count for difference, count in differences().items() if condition(difference))
    return ways / UNITS**UNITS


def mean(function: Any) -> Fraction:
    total = sum(function(value) * count for value, count in differences().items())
    return total / Fraction(UNITS**UNITS)


OBSERVED = score(X, (1,) * UNITS) - score(Y, (1,) * UNITS)


def pairs(alternative: str, *tests: str, **choices: Any) -> dict[str, dict[str, Any]]:
    """What a report says of X and Y, by test."""
    systems = [
        {"name": name, "scores": {"r": [list(row) for row in rows]}}
        for name, rows in (("X", X), ("Y", Y))
    ]
    choices |= {"metrics": ["fscore:of=r"], "tests": list(tests), "resamples": RESAMPLES}
    report = report_of({"systems": systems, "alternative": alternative, **choices})
    return {pair["test"]: pair for pair in report["pairs"] if pair["a"] == "X"}


def centred_reaches(alternative: str) -> float:
    tau = mean(lambda difference: difference)
    if alternative == "two-sided":
        return probability(lambda difference: abs(difference - tau) >= abs(OBSERVED))
    sign = 1 if alternative == "greater" else -1
    return probability(lambda difference: sign * (difference - tau) >= sign * OBSERVED)


def against(alternative: str) -> float:
    sides = {
        "greater": probability(lambda difference: difference <= 0),
        "less": probability(lambda difference: difference >= 0),
    }
    return sides.get(alternative, min(1, 2 * min(sides.values())))


def as_printed() -> float:
    tau = mean(abs)
    return probability(lambda difference: abs(difference) - tau >= abs(OBSERVED))


@pytest.mark.parametrize("alternative", ["two-sided", "greater", "less"])
def test_bootstrap_p_values_are_shares_of_all_resamples(alternative):
    expected = dict(
        zip(TESTS, (centred_reaches(alternative), against(alternative), as_printed()), strict=True)
    )
    found = pairs(alternative, *TESTS)
    for test, share in expected.items():
        pair = found[test]
        sides = 2 if (test, alternative) == ("paired_bootstrap", "two-sided") else 1
        error = sides * math.sqrt(share / sides * (1 - share / sides) / RESAMPLES)
        assert 0.01 < share < 0.99
        assert abs(pair["p_value"] - share) <= BAND * error + sides / RESAMPLES
        assert pair["difference"] == pytest.approx(float(OBSERVED), rel=1e-12)


def quantile(share: float) -> float:
    """The smallest difference that at least this share of all resamples does not exceed."""
    values = sorted(differences())
    reached = list(accumulate(differences()[value] for value in values))
    return float(values[bisect_left(reached, share * UNITS**UNITS)])


def test_interval_has_the_quantiles_of_all_resamples():
    low, high = pairs("two-sided", "bootstrap")["bootstrap"]["ci"]
    error = BAND * math.sqrt(0.025 * 0.975 / RESAMPLES)
    rounding = 1e-12
    assert quantile(0.025 - error) - rounding <= low <= quantile(0.025 + error) + rounding
    assert quantile(0.975 - error) - rounding <= high <= quantile(0.975 + error) + rounding


def test_standard_error_is_that_of_all_resamples():
    variance = mean(lambda d: d * d) - mean(lambda d: d) ** 2
    found = pairs("two-sided", "bootstrap")["bootstrap"]["stderr"]
    # the standard deviation of R normal draws has standard error sd / sqrt(2 R)
    assert found == pytest.approx(math.sqrt(variance), rel=BAND / math.sqrt(2 * RESAMPLES))


@pytest.mark.parametrize("alternative", ["two-sided", "greater", "less"])
def test_exact_randomization_p_is_the_share_of_all_exchanges(alternative):
    reached = 0
    for kept in product((True, False), repeat=UNITS):
        x, y = (
            [a if k else b for a, b, k in zip(*rows, kept, strict=True)]
            for rows in ((X, Y), (Y, X))
        )
        difference = score(x, (1,) * UNITS) - score(y, (1,) * UNITS)
        reached += {
            "two-sided": abs(difference) >= abs(OBSERVED),
            "greater": difference >= OBSERVED,
            "less": difference <= OBSERVED,
        }[alternative]
    test = "approximate_randomization"
    exact = pairs(alternative, test)[test]
    sampled = pairs(alternative, test, exact="never")[test]
    share = reached / 2**UNITS
    assert exact["p_value"] == share
    error = math.sqrt(share * (1 - share) / RESAMPLES)
    assert abs(sampled["p_value"] - share) <= BAND * error + 1 / RESAMPLES
