"""Bradley & Terry's model with Davidson's ties: strengths, and how sure they are.

A comparison of i and j at distance d = theta_i - theta_j has the outcomes win, tie and loss with
probabilities in the ratio exp(d / 2) : nu : exp(-d / 2) (Bradley & Terry 1952; Davidson 1970,
"On Extending the Bradley-Terry Model to Accommodate Ties in Paired Comparison Experiments",
equation 2.3). Strengths sum to 0. All that a likelihood needs may be added over comparisons: half
wins by ordered pair, and ties. Parameters are S strengths and the logarithm of nu, K = S + 1.
"""

import math
from dataclasses import dataclass, replace

import numpy as np

from sigtest.arrays import Array, Counts, Flags, Weights
from sigtest.compiled import compiled
from sigtest.draws.weights import bootstrap_counts

ENDLESS = 15.0  # log odds, beyond which no maximum is looked for
LONGEST = 0.25  # of a step: distances change by 1/2, so that no step overshoots
STEPS = 200
CONVERGED = 1e-9
SHARE = 1e-3  # of the full information, added to that of a resample, which may have none
ROOM = 1 << 21  # numbers of a block
STREAM = 7  # of the draws of units
FURTHEST = 50.0  # from an opponent that a bound is looked for
LARGEST = 1e3  # distance, at which nothing else can happen
LEAST = 1e-300


@dataclass(frozen=True)
class Sums:
    """What comparisons add up to, and the same row by row.

    Attributes:
        size: Systems, S.
        first: (n,) first system of each comparison.
        second: (n,) second system.
        share: (n,) how far the first is preferred, 1/2 being a tie.
        weight: (n,) how often each counts.
    """

    size: int
    first: Counts
    second: Counts
    share: Array
    weight: Array

    @property
    def ties(self) -> Array:
        """(n,) weights of ties, 0 of what is none."""
        return np.where(self.share == 0.5, self.weight, 0.0)

    @property
    def cells(self) -> tuple[Counts, Array]:
        """(2 n,) places in an (S, S) table of wins, and what each is increased by."""
        places = [self.first * self.size + self.second, self.second * self.size + self.first]
        wins = [self.share * self.weight, (1 - self.share) * self.weight]
        return np.concatenate(places), np.concatenate(wins)

    @property
    def won(self) -> Array:
        """(S, S) how often the row's system was preferred to the column's; ties are half a win."""
        return added(*self.cells, self.size**2).reshape(self.size, self.size)

    @property
    def tied(self) -> Array:
        """(S, S) ties of the two systems."""
        return 2 * replace(self, share=np.full_like(self.share, 0.5), weight=self.ties).won


def added(places: Counts, values: Array, size: int) -> Array:
    """(size,) sums of the values at each place."""
    return np.bincount(places, values, size).astype(np.float64, copy=False)


@dataclass(frozen=True)
class Strengths:
    """The maximum of the likelihood.

    Attributes:
        theta: (S,) strengths in log odds, which sum to 0.
        log_nu: How likely ties are: the logarithm of nu; -infinity where ties are half wins.
        inverse: (K, K) inverse of the information.
    """

    theta: Array
    log_nu: float
    inverse: Array

    @property
    def davidson(self) -> bool:
        """Whether ties have a probability of their own."""
        return math.isfinite(self.log_nu)

    @property
    def distances(self) -> Array:
        """(S, S) strength of the row's system less that of the column's."""
        distances: Array = self.theta[:, None] - self.theta[None, :]
        return distances

    def outcomes(self, distance: Array) -> tuple[Array, Array, Array]:
        """Probabilities of win, tie and loss at some distances."""
        most = np.maximum(np.abs(distance) / 2, self.log_nu)
        win, loss = np.exp(distance / 2 - most), np.exp(-distance / 2 - most)
        tie = np.exp(self.log_nu - most)
        total = win + tie + loss
        return win / total, tie / total, loss / total

    def preferred(self, distance: float) -> float:
        """Probability of winning at a distance, ties counting half; it may be infinite."""
        win, tie, _ = self.outcomes(np.array(np.clip(distance, -LARGEST, LARGEST)))
        return float(win + tie / 2)


def derivatives(at: Strengths, won: Array, ties: Array) -> tuple[Array, Array]:
    """Gradient (..., K) and information (..., K, K), 1 being added between all strengths.

    Args:
        at: Where.
        won: (..., S, S) half wins.
        ties: (...) how many there are.
    """
    win, tie, loss = at.outcomes(at.distances)
    ahead, size = win - loss, len(at.theta)
    met = won + np.swapaxes(won, -1, -2)
    inside = met * ((win + loss - ahead**2) / 4)
    gradient = np.zeros((*won.shape[:-2], size + 1))
    information = np.zeros((*won.shape[:-2], size + 1, size + 1))
    gradient[..., :size] = won.sum(axis=-1) - (won.sum(axis=-2) + (met * ahead).sum(axis=-1))
    gradient[..., :size] /= 2
    information[..., :size, :size] = 1.0 - inside
    places = np.arange(size)
    information[..., places, places] += inside.sum(axis=-1)
    information[..., size, size] = 1.0
    if at.davidson:
        gradient[..., size] = ties - (met * tie).sum(axis=(-1, -2)) / 2
        mixed = (met * (-ahead * tie / 2)).sum(axis=-1)
        information[..., size, :size] = information[..., :size, size] = mixed
        information[..., size, size] = (met * (tie * (1 - tie))).sum(axis=(-1, -2)) / 2
    return gradient, information


def fit(won: Array, ties: float, davidson: bool) -> Strengths | None:
    """Maximise the likelihood by Newton's method.

    Args:
        won: (S, S) half wins; every system has won against every other one, perhaps over others.
        ties: How many there are.
        davidson: Whether ties have a probability of their own; otherwise each is two half wins.

    Returns:
        Nothing where it has no maximum: only ties, or fewer losses of the better than ties.
    """
    size, log_nu = len(won), 0.0 if davidson and 0 < ties < won.sum() else -math.inf
    at = Strengths(np.zeros(size), log_nu, np.empty((0, 0)))
    scale = float(won.sum()) / size or 1.0  # what is added between strengths is of its size
    won, tied = won / scale, np.array(ties / scale)
    for _ in range(STEPS):
        if max(np.abs(at.theta).max(), at.log_nu) > ENDLESS:
            break
        gradient, information = derivatives(at, won, tied)
        step = np.linalg.solve(information, gradient)
        longest = float(np.abs(step).max())
        step *= min(1.0, LONGEST / max(longest, CONVERGED))
        theta: Array = at.theta + step[:size]
        at = Strengths(theta - float(theta.mean()), at.log_nu + float(step[size]), at.inverse)
        if longest < CONVERGED:
            inverse = np.linalg.inv(derivatives(at, won, tied)[1])
            inverse[:size, :size] -= 1 / size**2  # what was added between strengths
            return replace(at, inverse=inverse.astype(np.float64) / scale)
    return None


def residuals(at: Strengths, sums: Sums) -> tuple[Array, Array, Array, Array]:
    """Of each comparison (n,): derivatives by its distance and by log_nu, information on both.

    The first information is on its distance, the second on its distance and log_nu together.
    """
    win, tie, loss = at.outcomes(at.theta[sums.first] - at.theta[sums.second])
    ahead = win - loss
    return (
        sums.weight * (2 * sums.share - 1 - ahead) / 2,
        (sums.ties - sums.weight * tie) * at.davidson,
        sums.weight * (win + loss - ahead**2) / 4,
        -sums.weight * ahead * tie / 2,
    )


def scatter(at: Strengths, sums: Sums, units: Counts, shown: Counts) -> Array:
    """Sum over units of the outer products of their scores, (K + 1, K + 1).

    The last score is that of an effect of standing first.

    Args:
        at: The maximum.
        sums: Comparisons.
        units: (n,) number of the unit of each, from 0.
        shown: (n,) 1 where the first system was shown first, 0 where that is not known.

    White (1982); of units Liang & Zeger (1986).
    """
    (win, tie, _, _), width = residuals(at, sums), len(at.inverse) + 1
    order = np.argsort(units, kind="stable")
    starts = np.searchsorted(units[order], np.arange(int(units.max(initial=-1)) + 2))
    total, step = np.zeros((width, width)), max(1, ROOM // width)
    for low in range(0, len(starts) - 1, step):
        high = min(low + step, len(starts) - 1)
        rows = order[starts[low] : starts[high]]
        columns = sums.first[rows], sums.second[rows], width - 2, width - 1
        flat = np.concatenate([(units[rows] - low) * width + column for column in columns])
        values = np.concatenate([win[rows], -win[rows], tie[rows], (win * shown)[rows]])
        scores = added(flat, values, (high - low) * width).reshape(-1, width)
        total += scores.T @ scores
    return total


def resample(
    at: Strengths, sums: Sums, units: Counts, resamples: int, seed: int
) -> tuple[Array, float]:
    """Draw units anew and take one step of Newton's method from the maximum in each resample.

    Args:
        at: The maximum.
        sums: Comparisons.
        units: (n,) number of the unit of each, from 0.
        resamples: R.
        seed: Of the draws.

    Returns:
        (S, S) covariance of strengths; share of the resamples whose likelihood has no maximum.
    """
    size, number = sums.size, int(units.max()) + 1
    cells, wins = sums.cells
    keys = (np.concatenate([units, units]) * size**2 + cells)[wins > 0]
    known, places = np.unique(keys, return_inverse=True)
    starts = np.searchsorted(known, np.arange(number + 1) * size**2)
    values, ties = added(places, wins[wins > 0], len(known)), added(units, sums.ties, number)
    _, full = derivatives(at, sums.won, ties.sum())
    total, cross = np.zeros(size), np.zeros((size, size))
    without, rows = 0, max(1, ROOM // max(number, size**2))
    for start in range(0, resamples, rows):
        counts = bootstrap_counts(seed, start, min(start + rows, resamples), number, STREAM)
        flat = np.zeros((len(counts), size**2))
        _add_up(counts, starts, known % size**2, values, flat)
        won = flat.reshape(-1, size, size)
        without += int(np.count_nonzero(~connected(won)))
        gradient, information = derivatives(at, won, counts @ ties)
        steps = np.linalg.solve(information + SHARE * full, gradient[..., None])[:, :size, 0]
        total += steps.sum(axis=0)
        cross += steps.T @ steps
    covariance = (cross - np.outer(total, total) / resamples) / max(resamples - 1, 1)
    return covariance, without / resamples


@compiled
def _add_up(counts: Weights, starts: Counts, cells: Counts, values: Array, won: Array) -> None:
    for r in range(counts.shape[0]):
        for unit in range(counts.shape[1]):
            often = counts[r, unit]
            if often > 0:
                for entry in range(starts[unit], starts[unit + 1]):
                    won[r, cells[entry]] += often * values[entry]


def reaching(won: Array) -> Flags:
    """(..., S, S) whether the row's system won against the column's, or tied, perhaps over others.

    A likelihood has a maximum where all do: Ford (1957), "Solution of a Ranking Problem from Binary
    Comparisons".
    """
    reached = ((won > 0) | np.eye(won.shape[-1], dtype=np.bool_)).astype(np.float32)
    for _ in range(won.shape[-1].bit_length()):
        if (reached > 0).all():
            break
        reached = np.minimum(reached @ reached, 1)
    found: Flags = reached > 0
    return found


def connected(won: Array) -> Flags:
    """(...) whether each system won against each other one, or tied, perhaps over others."""
    edges = ((won > 0) | np.eye(won.shape[-1], dtype=np.bool_)).astype(np.float32)
    found = np.ones(won.shape[:-2], dtype=np.bool_)
    for way in (edges, np.swapaxes(edges, -1, -2)):  # from the first system, and to it
        reached, grown = np.zeros_like(way[..., :1, :]), way[..., :1, :]
        while (grown != reached).any():
            reached, grown = grown, np.minimum(grown @ way, 1)
        found &= (reached > 0).all(axis=(-1, -2))
    return found


def parts(won: Array) -> list[Counts]:
    """Systems that won against, or tied with, each other, perhaps over others; largest part first.

    Between two parts all comparisons, if there are any, were won by one side.
    """
    reached, met = reaching(won), won + won.T
    found = {tuple(np.flatnonzero(row).tolist()) for row in reached & reached.T}
    ordered = sorted(
        found,
        key=lambda part: (-len(part), -met[np.ix_(part, part)].sum(), -met[list(part)].sum(), part),
    )
    return [np.array(part, dtype=np.int64) for part in ordered]


def all_won(
    at: Strengths, strength: float, opponents: Array, units: Counts, weights: Array
) -> float:
    """Probability of winning all of some comparisons; those of a unit count as the likeliest.

    So nothing is taken to be independent that is not. Losses: turn all strengths round.

    Args:
        at: Ties, and strengths that are taken as known.
        strength: Of who wins.
        opponents: (n,) strength of each opponent.
        units: (n,) unit of each comparison, from 0, none left out.
        weights: (n,) how often each counts.
    """
    win, _, _ = at.outcomes(strength - opponents)
    logs = np.full(int(units.max(initial=-1)) + 1, -math.inf)
    np.maximum.at(logs, units, weights * np.log(np.maximum(win, LEAST)))
    return math.exp(float(logs.sum()))


def bound(at: Strengths, opponents: Array, units: Counts, weights: Array, level: float) -> float:
    """The least strength with which all of some comparisons are won with this probability."""
    low, high = float(opponents.min()) - FURTHEST, float(opponents.max()) + FURTHEST
    while high - low > CONVERGED:
        middle = (low + high) / 2
        likely = all_won(at, middle, opponents, units, weights) >= level
        low, high = (low, middle) if likely else (middle, high)
    return low
