"""Gates: whether a change may pass, given how much worse it may be.

A difference that is not significant is no proof that there is none. A gate names the margin
beforehand and turns the question round: its null hypothesis is that the system is worse than the
baseline by the margin or more, and only data that reject it let the system pass. Equivalence asks
that of both sides (two one-sided tests). All p-values come from the same studentised draws as those
of the bootstrap-t, shifted to the margin.

Schuirmann (1987), "A Comparison of the Two One-Sided Tests Procedure and the Power Approach for
Assessing the Equivalence of Average Bioavailability".
"""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass, replace
from typing import Any, Literal, get_args

import numpy as np
from scipy.special import ndtr, ndtri

from sigtest.arrays import Array
from sigtest.comparison.comparison import Comparison
from sigtest.data.choices import choose
from sigtest.draws.sample import Sample
from sigtest.engine import BLOCK, Progress, sampled
from sigtest.errors import RecipeError
from sigtest.report import encode
from sigtest.significance.base import SLACK
from sigtest.significance.corrections import CORRECTIONS, adjust
from sigtest.significance.intervals import bootstrap_t_interval
from sigtest.significance.montecarlo import p_value
from sigtest.version import __version__

Claim = Literal["not_worse", "equivalent", "same"]
Outcome = Literal["pass", "fail", "undecided"]
CLAIMS: tuple[Claim, ...] = get_args(Claim)


@dataclass(frozen=True)
class Gated:
    """One system at the gate.

    Attributes:
        system: Its name.
        difference: Its score less the baseline's, not oriented.
        ci: Bootstrap-t interval of the difference, level 1 - 2 alpha: what both one-sided tests at
            alpha look at. Of the claim `same`, level 1 - alpha.
        p_value: Of the null hypothesis that it must not pass.
        p_adjusted: Corrected over the systems.
        p_fail: Of the null hypothesis that it should pass; a small one fails it.
        outcome: Whether it passes, fails, or the test set cannot tell.
        power: How likely a system without any difference passes.
    """

    system: str
    difference: float
    ci: tuple[float, float]
    p_value: float
    p_adjusted: float
    p_fail: float
    outcome: Outcome
    power: float


@dataclass(frozen=True)
class GateReport:
    """What a gate decides.

    Attributes:
        signature: The line that reproduces the comparison behind it.
        version: Of sigtest.
        claim: What lets a system pass: `not_worse` by the margin, `equivalent` within it, or, for
            two runs of one system (A/A), `same`: no significant difference.
        margin: How much worse, in units of the metric; nothing for `same`.
        metric: Its label.
        alpha: Level of every one-sided test; two-sided for `same`.
        correction: For several systems.
        baseline: What they are held against.
        systems: All others, in input order.
        outcome: `fail` where any system fails, `pass` where all pass.
    """

    signature: str
    version: str
    claim: Claim
    margin: float | None
    metric: str
    alpha: float
    correction: str
    baseline: str
    systems: tuple[Gated, ...]
    outcome: Outcome

    def as_json(self) -> dict[str, Any]:
        """The report as JSON has it."""
        body: dict[str, Any] = encode(self)
        return body


def gate(
    comparison: Comparison,
    margin: float | None = None,
    claim: str = "not_worse",
    progress: Progress | None = None,
) -> GateReport:
    """Decide which systems may pass.

    Args:
        comparison: One metric, one test set, and a baseline that the others are held against.
        margin: How much worse a system may be, in units of the metric; none for `same`.
        claim: What lets a system pass, in CLAIMS.
        progress: As for `compare`.

    Raises:
        RecipeError: A margin that is no positive number, or that is missing; several metrics or
            test sets; no baseline; a correction of all pairs' draws.
    """
    chosen = choose(claim, CLAIMS, "claim", "claim")
    _check(comparison, margin, chosen)
    drawing = replace(comparison.recipe, tests=("bootstrap_t",), interval="bootstrap_t")
    asked = replace(comparison, recipe=drawing)
    (sample,) = sampled(asked, progress).parts
    size = len(sample.part.systems)
    values = _studentised(sample)[size:]
    assert sample.moments is not None
    errors = sample.moments.errors[0, size:]
    sign = sample.metrics[0].sign
    a, b = sample.part.pairs.T
    differences = sample.scores[0, a] - sample.scores[0, b]
    held = _Held(sign * differences, errors, sign * values)
    rows = _same(held, drawing.alpha) if margin is None else _within(held, margin, chosen)
    p, p_fail, power = rows.p, rows.p_fail, rows.power(drawing.alpha)
    adjusted = adjust(p, drawing.correction, drawing.comparisons(len(p)))
    level = drawing.alpha if margin is None else min(2 * drawing.alpha, 0.999)
    low, high = bootstrap_t_interval(differences, errors, values, level)
    systems = tuple(
        Gated(
            sample.part.systems[a[i]],
            float(differences[i]),
            (float(low[i]), float(high[i])),
            float(p[i]),
            float(adjusted[i]),
            float(p_fail[i]),
            _outcome(chosen, float(adjusted[i]), float(p_fail[i]), drawing.alpha),
            float(power[i]),
        )
        for i in range(len(p))
    )
    return GateReport(
        signature=sample.part.signature,
        version=__version__,
        claim=chosen,
        margin=margin,
        metric=drawing.labels[0],
        alpha=drawing.alpha,
        correction=drawing.correction,
        baseline=str(drawing.baseline),
        systems=systems,
        outcome=_together([system.outcome for system in systems]),
    )


@dataclass(frozen=True)
class _Held:
    """(P,) oriented differences, their standard errors, and (P, R) studentised draws."""

    differences: Array
    errors: Array
    values: Array

    def above(self, limit: float) -> Array:
        """(P,) p-values of the null hypothesis that differences are at most `limit`."""
        return self._tail(self.differences - limit, self.values)

    def below(self, limit: float) -> Array:
        """(P,) p-values of the null hypothesis that differences are at least `limit`."""
        return self._tail(limit - self.differences, -self.values)

    def _tail(self, moved: Array, values: Array) -> Array:
        with np.errstate(divide="ignore", invalid="ignore"):
            t = np.where(self.errors > 0, moved / self.errors, np.where(moved > 0, np.inf, -np.inf))
        least = t - SLACK * np.where(np.isfinite(t), np.abs(t), 0.0)
        return p_value(np.count_nonzero(values >= least[:, None], axis=1), values.shape[1])


@dataclass(frozen=True)
class _Rows:
    """(P,) p-values for and against passing, and what the power of passing depends on."""

    p: Array
    p_fail: Array
    room: Array  # margins in standard errors
    sides: int

    def power(self, alpha: float) -> Array:
        """How likely a system passes whose true difference is 0, from the normal distribution."""
        if not self.sides:
            return np.full_like(self.p, 1 - alpha)
        reached = ndtr(self.room - ndtri(1 - alpha))
        return reached if self.sides == 1 else np.maximum(0.0, 2 * reached - 1)


def _within(held: _Held, margin: float, claim: Claim) -> _Rows:
    with np.errstate(divide="ignore"):
        room = margin / held.errors
    worse, better = held.above(-margin), held.below(margin)
    if claim == "not_worse":
        return _Rows(worse, held.below(-margin), room, 1)
    outside = np.minimum(1.0, 2 * np.minimum(held.below(-margin), held.above(margin)))
    return _Rows(np.maximum(worse, better), outside, room, 2)


def _same(held: _Held, alpha: float) -> _Rows:
    """Two runs of one system pass unless they differ significantly."""
    p = np.minimum(1.0, 2 * np.minimum(held.above(0.0), held.below(0.0)))
    return _Rows(p, p, np.full_like(p, math.inf), 0)


def _outcome(claim: Claim, adjusted: float, p_fail: float, alpha: float) -> Outcome:
    if claim == "same":
        return "fail" if adjusted <= alpha else "pass"
    if adjusted <= alpha:
        return "pass"
    return "fail" if p_fail <= alpha else "undecided"


def _together(outcomes: Sequence[Outcome]) -> Outcome:
    if "fail" in outcomes:
        return "fail"
    return "undecided" if "undecided" in outcomes else "pass"


def _studentised(sample: Sample) -> Array:
    """(S + P, R) of the only metric."""
    resamples = sample.part.resamples
    starts = range(0, resamples, BLOCK)
    blocks = [sample.block(first, min(first + BLOCK, resamples)).studentised[0] for first in starts]
    return np.concatenate(blocks, axis=1)


def _check(comparison: Comparison, margin: float | None, claim: Claim) -> None:
    recipe = comparison.recipe
    if comparison.names:
        raise RecipeError("A gate is about one test set.", field="testsets")
    if len(recipe.metrics) != 1:
        raise RecipeError(
            "A gate has one metric, as its margin is in that metric's units; "
            f"{len(recipe.metrics)} are asked for.",
            field="metrics",
        )
    if recipe.baseline is None:
        raise RecipeError("A gate needs the baseline that systems are held against.", field="pairs")
    if CORRECTIONS[recipe.correction].joint is not None:
        raise RecipeError(
            f"correction {recipe.correction} does not go with gates; take holm.", field="correction"
        )
    if claim == "same":
        if margin is not None:
            raise RecipeError("Two runs of one system need no margin.", field="margin")
    elif margin is None:
        raise RecipeError(
            f"{claim} needs a margin: how much worse a system may be, in units of the metric.",
            field="margin",
        )
    elif not (math.isfinite(margin) and margin > 0):
        raise RecipeError(f"margin must be a positive number, not {margin}.", field="margin")
