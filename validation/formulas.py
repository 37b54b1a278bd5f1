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
    if program is not None:
        return lambda sums: float(program._compute_score_from_stats(_as_sacrebleu(sums)).score)
    if metric.name in PLAIN:
        return PLAIN[metric.name]
    raise LookupError(f"no independent formula for the metric {metric.name}")


def _as_sacrebleu(sums: Array) -> list[float]:
    """SacreBLEU counts in whole numbers; TER's mean reference length need not be one."""
    return [int(value) if value == int(value) else float(value) for value in sums]


def _ratio(sums: Array) -> float:
    return float(sums[0] / sums[1]) if sums[1] else 0.0


def _error_rate(sums: Array) -> float:
    """Errors in percent of the words of the reference; of none, as of one word."""
    return 100 * float(sums[0]) / max(float(sums[1]), 1.0)


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


def _meteor(sums: Array) -> float:
    """Denkowski & Lavie (2014), section 2, with the parameters tuned for English (rank)."""
    alpha, beta, gamma, delta = 0.85, 0.2, 0.6, 0.75
    weights = (1.0, 0.6, 0.8, 0.6)  # exact, stem, synonym, paraphrase
    test, reference, test_function, reference_function = (float(v) for v in sums[:4])
    chunks, test_matched, reference_matched = (float(v) for v in sums[20:])
    matched = [0.0, 0.0]
    for stage, weight in enumerate(weights):
        content_and_function = sums[4 + 4 * stage : 8 + 4 * stage]
        for side in (0, 1):
            content, function = content_and_function[side], content_and_function[2 + side]
            matched[side] += weight * (delta * content + (1 - delta) * function)
    if not (matched[0] and matched[1]):
        return 0.0
    precision = matched[0] / (delta * (test - test_function) + (1 - delta) * test_function)
    recall = matched[1] / (
        delta * (reference - reference_function) + (1 - delta) * reference_function
    )
    mean = precision * recall / (alpha * precision + (1 - alpha) * recall)
    fragmentation = chunks / ((test_matched + reference_matched) / 2)
    return float(max(0.0, mean * (1 - gamma * fragmentation**beta)))


PLAIN: dict[str, Formula] = {
    "scores": _ratio,
    "ratio": _ratio,
    "pass@k": _ratio,
    "pass^k": _ratio,
    "perplexity": lambda sums: math.exp(_ratio(sums)),
    "wer": _error_rate,
    "cer": _error_rate,
    "fscore": _fscore,
    "nist": _nist,
    "meteor": _meteor,
}
