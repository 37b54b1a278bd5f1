"""Scores of one row of summed statistics, by other programs than sigtest's vectorised formulas."""

from __future__ import annotations

import math
from collections.abc import Callable

from sigtest.arrays import Array
from sigtest.metrics import Metric

Formula = Callable[[Array], float]


def formula_of(metric: Metric) -> Formula:
    """What scores one row of sums: sacreBLEU itself where it can, else the published formula.

    Raises:
        LookupError: No independent formula is known; a new metric needs one here.
    """
    program = getattr(metric, "reference_program", None)
    if hasattr(program, "_compute_score_from_stats"):
        return lambda sums: float(program._compute_score_from_stats(_as_sacrebleu(sums)).score)
    if metric.name in PLAIN:
        return PLAIN[metric.name]
    raise LookupError(f"no independent formula for the metric {metric.name}")


def _as_sacrebleu(sums: Array) -> list[float]:
    """sacreBLEU counts in whole numbers; TER's mean reference length need not be one."""
    return [int(value) if value == int(value) else float(value) for value in sums]


def _ratio(sums: Array) -> float:
    return float(sums[0] / sums[1]) if sums[1] else 0.0


def _fscore(sums: Array) -> float:
    """2 P R / (P + R) with P = match / system and R = match / reference."""
    match, system, reference = (float(value) for value in sums)
    if not match:
        return 0.0
    precision, recall = match / system, match / reference
    return 2 * precision * recall / (precision + recall)


def _nist(sums: Array) -> float:
    """Doddington (2002), equation 3: mean reference length, information and totals by order."""
    order = (len(sums) - 1) // 2
    information = [float(value) for value in sums[1 : 1 + order]]
    totals = [float(value) for value in sums[1 + order :]]
    precision = sum(info / total for info, total in zip(information, totals, strict=True) if total)
    return precision * nist_penalty(totals[0], float(sums[0]))


def nist_penalty(hypothesis: float, reference: float) -> float:
    """Doddington (2002): one half where two thirds of the words are there, 1 from all on."""
    ratio = min(hypothesis / reference, 1.0) if reference else 1.0
    beta = math.log(0.5) / math.log(1.5) ** 2
    return math.exp(beta * math.log(ratio) ** 2) if ratio > 0 else 0.0


PLAIN: dict[str, Formula] = {
    "scores": _ratio,
    "ratio": _ratio,
    "fscore": _fscore,
    "nist": _nist,
}
