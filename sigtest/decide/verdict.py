"""What a pair's numbers mean, in one line of plain language."""

from __future__ import annotations

import math

from sigtest.report import PairReport
from sigtest.requests.recipe import MAX_RESAMPLES
from sigtest.significance.base import SMALLEST_P
from sigtest.significance.corrections import after


def verdict(pair: PairReport, higher_is_better: bool, correction: str, comparisons: int) -> str:
    """One line: who is better and how sure, or what the test set could have shown.

    Args:
        pair: With p-values, decision and detectable differences.
        higher_is_better: False for error metrics.
        correction: Name of the correction.
        comparisons: Size of the family that was corrected.
    """
    digits = _digits(pair)
    unit = pair.metric
    alike, unsure = f"{pair.a} and {pair.b} are not separated", ""
    if pair.claimed:
        side = "better" if pair.alternative == "greater" else "worse"
        alike = f"{pair.a} is not shown to be {side} than {pair.b}"
        unsure = f" (claim: {pair.a} is {side})"
    if pair.difference == 0 and not pair.varies:
        return f"{pair.a} and {pair.b} score the same {unit} on every resample"
    if pair.undecided:
        return (
            f"{pair.a} and {pair.b} are undecided{unsure}: {pair.difference:+.{digits}f} {unit}, "
            f"{_shown(pair.p_adjusted)}{after(correction, comparisons)}; {_prospect(pair)}"
        )
    if not pair.significant and not pair.varies:
        return (
            f"{alike}: {pair.difference:+.{digits}f} {unit} on "
            f"every resample, {_shown(pair.p_adjusted)}{after(correction, comparisons)}"
        )
    if not pair.significant:
        seen = f"{pair.detectable[1]:.{digits}f}"
        return f"{alike}: this test set would show a difference of {seen} {unit} with 80 % power"
    winner = pair.winner(higher_is_better)
    loser, sign = (pair.b, 1) if winner == pair.a else (pair.a, -1)
    low, high = sorted(sign * end for end in pair.ci)
    return (
        f"{winner} is better than {loser}: {sign * pair.difference:+.{digits}f} {unit} "
        f"[{low:.{digits}f}, {high:.{digits}f}], "
        f"{_shown(pair.p_adjusted)}{after(correction, comparisons)}"
    )


def _prospect(pair: PairReport) -> str:
    """What more resamples would do for an undecided pair."""
    if pair.resamples_needed is None:
        return (
            f"p is so near to its limit that {MAX_RESAMPLES:,} resamples, the most that can be "
            "asked for, would likely not settle it"
        )
    return "more resamples could turn the decision round"


def _digits(pair: PairReport) -> int:
    """Decimals that show two significant digits of the standard error, one at least."""
    if not pair.varies:
        return 1
    return max(1, -math.floor(math.log10(pair.stderr)))


def _shown(p: float) -> str:
    return f"p = {p:.2g}" if p > SMALLEST_P else f"p < {SMALLEST_P:.0e}"
