"""Seeded faults: each replaces one thing in sigtest by a mistake that people have made."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from contextlib import AbstractContextManager, ExitStack, contextmanager
from dataclasses import dataclass, replace
from types import ModuleType
from typing import Any
from unittest.mock import patch

import numpy as np

from sigtest.arrays import Array, Counts, Weights
from sigtest.decide import decisions
from sigtest.draws import product, weights
from sigtest.draws.sample import Sample
from sigtest.draws.weights import bootstrap_counts, swap_masks
from sigtest.metrics.ter import Ter
from sigtest.significance import CORRECTIONS, Alternative, exact, intervals, resampling
from sigtest.significance.base import claim
from validation import exhaustion, invariance, loops, peers
from validation.published import adjusted_p_values_are_published_ones
from validation.results import Check

Seed = Callable[[], AbstractContextManager[object]]
QuickCheck = Callable[[], Check]


@dataclass(frozen=True)
class Fault:
    """A mistake, and a quick check that has to see it.

    Attributes:
        name: What is wrong.
        seed: Puts the mistake into sigtest for as long as its context lasts.
        seen_by: The check that must fail then.
    """

    name: str
    seed: Seed
    seen_by: QuickCheck


def _count_strictly(
    self: Any, observed: Array, draws: Array, tolerance: Array, alt: Alternative
) -> Counts:
    """`>` where `>=` belongs."""
    if alt == "two-sided":
        return np.count_nonzero(np.abs(draws) > np.abs(observed)[:, None], axis=1)
    return np.count_nonzero(claim(draws, alt) > claim(observed, alt)[:, None], axis=1)


def _paired_strictly(
    self: Any, observed: Array, draws: Array, tolerance: Array, alt: Alternative
) -> Counts:
    """The paper's `<`: ties count for the claim."""
    against_a = np.count_nonzero(draws < 0, axis=1)
    against_b = np.count_nonzero(draws > 0, axis=1)
    if alt == "two-sided":
        return np.minimum(against_a, against_b)
    return against_a if alt == "greater" else against_b


class _StrictEnumeration(resampling.ApproximateRandomization):
    """Leaves out patterns tied with the observed one; one of them is kept, so that p > 0."""

    def count(
        self, observed: Array, draws: Array, tolerance: Array, alternative: Alternative
    ) -> Counts:
        return np.maximum(1, _count_strictly(self, observed, draws, tolerance, alternative))


def _no_plus_one(count: Counts, resamples: int, sides: int = 1) -> Array:
    """C / R, which can be 0."""
    return np.minimum(1.0, sides * np.asarray(count) / resamples)


def _not_doubled(count: Counts, resamples: int, sides: int = 1) -> Array:
    return (np.asarray(count) + 1) / (resamples + 1)


def _not_shifted(self: Any, draws: Array) -> Array:
    return np.zeros(len(draws))


def _absolute_first(
    self: Any, observed: Array, draws: Array, tolerance: Array, alt: Alternative
) -> Counts:
    """The formula of 2005 in the place of the shifted bootstrap."""
    lengths = np.abs(draws)
    centred = lengths - lengths.mean(axis=1, keepdims=True)
    return np.count_nonzero(centred >= (np.abs(observed) - tolerance)[:, None], axis=1)


def _winner_first(kind: Any) -> Callable[..., Counts]:
    """A one-sided count whose direction is chosen after the data were seen."""
    honest = kind.count

    def count(
        self: Any, observed: Array, draws: Array, tolerance: Array, alt: Alternative
    ) -> Counts:
        if alt == "two-sided":
            return honest(self, observed, draws, tolerance, alt)
        picked = np.where(observed >= 0, 1.0, -1.0)
        return honest(self, picked * observed, picked[:, None] * draws, tolerance, "greater")

    return count


def _unpaired(self: Sample, first: int, last: int) -> Array:
    """Every system resampled on its own."""
    scores = np.empty((len(self.metrics), len(self.part.systems), last - first))
    for s in range(len(self.part.systems)):
        counts = bootstrap_counts(self.part.recipe.seed + s, first, last, self.units)
        for m, sums in enumerate(self.columns.sums(counts)):
            scores[m, s] = self.metrics[m].score_columns(sums)[s]
    return scores


def _one_mask(
    seed: int, start: int, stop: int, units: int, stream: int = 0, room: Weights | None = None
) -> Weights:
    """One coin for all segments of a resample."""
    return np.repeat(swap_masks(seed, start, stop, 1, stream), units, axis=1)


def _same_draws(honest: Callable[..., Weights]) -> Callable[..., Weights]:
    """Every block starts again at the first resample."""

    def draw(
        seed: int, start: int, stop: int, units: int, stream: int = 0, room: Weights | None = None
    ) -> Weights:
        return honest(seed, 0, stop - start, units, stream)

    return draw


def _without_replacement(
    seed: int, start: int, stop: int, units: int, stream: int = 0, room: Weights | None = None
) -> Weights:
    """Half the units, each at most once."""
    masks = swap_masks(seed, start, stop, units, stream)
    return 2 * masks


def _half_swapped(self: Sample, m: int, kept: Array) -> Iterator[tuple[slice, Array]]:
    """The swapped units of the other system are forgotten."""
    scores = self.metrics[m].sign * self.metrics[m].score_columns(kept)
    for i, (a, b) in enumerate(self.part.pairs):
        yield slice(i, i + 1), (scores[a] - scores[b])[None]


def _not_monotone(p: Array) -> Array:
    """Holm without the running maximum."""
    order = np.argsort(p, axis=-1)
    m = p.shape[-1]
    adjusted = np.empty_like(p)
    factors = m - np.arange(m, dtype=np.float64)
    np.put_along_axis(adjusted, order, np.take_along_axis(p, order, -1) * factors, axis=-1)
    return np.minimum(1.0, adjusted)


def _narrow(draws: Array, alpha: float) -> tuple[Array, Array]:
    """Quantiles that are one resample off at either end."""
    ordered = np.sort(draws, axis=1)
    beyond = round(alpha / 2 * draws.shape[1])
    return ordered[:, beyond], ordered[:, -1 - beyond]


@contextmanager
def replaced(owner: ModuleType | type, name: str, new: object) -> Iterator[None]:
    """`owner.name` is `new` for a while."""
    with patch.object(owner, name, new):
        yield


def _both(*changes: tuple[ModuleType | type, str, object]) -> Seed:
    @contextmanager
    def seed() -> Iterator[None]:
        with ExitStack() as stack:
            for change in changes:
                stack.enter_context(replaced(*change))
            yield

    return seed


def _one(owner: ModuleType | type, name: str, new: object) -> Seed:
    return lambda: replaced(owner, name, new)


AR = resampling.ApproximateRandomization
BOOTSTRAP = resampling.Bootstrap
PAIRED = resampling.PairedBootstrap
WEIGHTS = (product, "TWO_UNITS", 0)  # no sums without weights, which faults of drawing change


FAULTS: tuple[Fault, ...] = (
    Fault(
        "> for >= in approximate randomization",
        _one(AR, "count", _count_strictly),
        invariance.identical_systems_have_p_one,
    ),
    Fault(
        "< for <= in the paired bootstrap",
        _one(PAIRED, "count", _paired_strictly),
        invariance.identical_systems_have_p_one,
    ),
    Fault(
        "> for >= in the enumeration",
        _one(exact, "ApproximateRandomization", _StrictEnumeration),
        exhaustion.level_holds_exactly,
    ),
    Fault(
        "c/R for (c+1)/(R+1)",
        _one(decisions, "p_value", _no_plus_one),
        loops.p_values_follow_from_counts,
    ),
    Fault(
        "two-sided paired bootstrap not doubled",
        _one(decisions, "p_value", _not_doubled),
        loops.p_values_follow_from_counts,
    ),
    Fault(
        "bootstrap not shifted to the null",
        _one(BOOTSTRAP, "centre", _not_shifted),
        loops.counts_equal_plain_loops,
    ),
    Fault(
        "absolute value before centring",
        _one(BOOTSTRAP, "count", _absolute_first),
        loops.counts_equal_plain_loops,
    ),
    Fault(
        "unpaired bootstrap draws",
        _one(Sample, "bootstrap_scores", _unpaired),
        loops.counts_equal_plain_loops,
    ),
    Fault(
        "float32 sums beyond 2^24",
        _one(product, "FLOAT32_EXACT", 2.0**60),
        invariance.large_sums_are_exact,
    ),
    Fault(
        "one mask for all segments of a resample",
        _both((weights, "swap_masks", _one_mask), WEIGHTS),
        exhaustion.resampled_agrees_with_exact,
    ),
    Fault(
        "direction picked after seeing the data (randomization)",
        _one(AR, "count", _winner_first(AR)),
        invariance.opposite_claims_add_up,
    ),
    Fault(
        "direction picked after seeing the data (bootstrap)",
        _one(BOOTSTRAP, "count", _winner_first(BOOTSTRAP)),
        invariance.opposite_claims_add_up,
    ),
    Fault(
        "TER not turned round",
        _one(Ter, "higher_is_better", True),
        invariance.error_metrics_are_turned_round,
    ),
    Fault(
        "every block draws the first resamples again",
        _both(
            (weights, "swap_masks", _same_draws(swap_masks)),
            (weights, "bootstrap_counts", _same_draws(bootstrap_counts)),
            WEIGHTS,
        ),
        invariance.blocks_are_irrelevant,
    ),
    Fault(
        "bootstrap without replacement",
        _both(
            (weights, "bootstrap_counts", _without_replacement),
            WEIGHTS,
        ),
        invariance.draws_are_fair,
    ),
    Fault(
        "only one system's units are swapped",
        _one(Sample, "swap_differences", _half_swapped),
        exhaustion.resampled_agrees_with_exact,
    ),
    Fault(
        "Holm without its running maximum",
        lambda: patch.dict(CORRECTIONS, holm=replace(CORRECTIONS["holm"], adjust=_not_monotone)),
        adjusted_p_values_are_published_ones,
    ),
    Fault(
        "interval ends one resample too far in",
        _one(intervals, "percentile_interval", _narrow),
        peers.scipy_bootstrap_agrees,
    ),
)
