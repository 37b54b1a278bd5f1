"""Bradley & Terry's model with Davidson's ties: strengths, and how sure they are.

A comparison of i and j at distance d = theta_i - theta_j has the outcomes win, tie and loss with
probabilities in the ratio exp(d / 2) : nu : exp(-d / 2) (Bradley & Terry 1952; Davidson 1970,
"On Extending the Bradley-Terry Model to Accommodate Ties in Paired Comparison Experiments",
equation 2.3). Strengths sum to 0. All that a likelihood needs may be added over comparisons: half
wins by ordered pair, and ties. Parameters are S strengths and the logarithm of nu, K = S + 1.
"""

import math
from dataclasses import dataclass, replace
from typing import Any

import numpy as np

from sigtest.arrays import Array, Counts, Flags
from sigtest.draws.weights import bootstrap_counts
from sigtest.people.judgements import Comparisons, added

ENDLESS = 15.0  # logarithm of nu, beyond which no maximum is looked for
LONGEST = 0.25  # of a step: distances of who met change by 1/2, so that no step overshoots
STEPS = 200
EPSILON = 1e-15
ROUGHEST = 1e-3  # error of strengths by rounding
CONVERGED = 1e-9
SHARE = 1e-3  # of the full information, added to that of a resample, which may have none
ROOM = 1 << 21  # numbers of a block
STREAM = 7  # of the draws of units
FURTHEST = 50.0  # from an opponent that a bound is looked for
LARGEST = 1e3  # distance, at which nothing else can happen
LEAST = 1e-300


@dataclass(frozen=True)
class Strengths:
    """The maximum of the likelihood.

    Attributes:
        theta: (S,) strengths in log odds, which sum to 0 in each part.
        log_nu: How likely ties are: the logarithm of nu; -infinity where ties are half wins.
        inverse: (K, K) inverse of the information.
        part: (S,) number of the part whose systems determine each other, 0 the largest.
    """

    theta: Array
    log_nu: float
    inverse: Array
    part: Counts

    @property
    def davidson(self) -> bool:
        """Whether ties have a probability of their own."""
        return math.isfinite(self.log_nu)

    @property
    def same(self) -> Flags:
        """(S, S) which systems are of one part."""
        return self.part[:, None] == self.part[None, :]

    @property
    def distances(self) -> Array:
        """(S, S) strength of the row's system less that of the column's."""
        return np.subtract.outer(self.theta, self.theta)

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
    """Gradient (..., K) and information (..., K, K), 1 being added between strengths of a part.

    Args:
        at: Where.
        won: (..., S, S) half wins, none between parts.
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
    information[..., :size, :size] = at.same - inside
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
    """Maximise the likelihood by Newton's method, in each part.

    Args:
        won: (S, S) half wins; those between two parts, which one of them won, do not count.
        ties: How many there are.
        davidson: Whether ties have a probability of their own; otherwise each is two half wins.

    Returns:
        Nothing where it has no maximum: only ties, or fewer losses of the better than ties; or
        where losses are so rare that rounding hides it.
    """
    size, log_nu = len(won), 0.0 if davidson and 0 < ties < won.sum() else -math.inf
    at = Strengths(np.zeros(size), log_nu, np.empty((0, 0)), parts(won))
    won = np.where(at.same, won, 0.0)
    scale = float(won.sum()) / size or 1.0  # what is added between strengths is of its size
    won, tied = won / scale, np.array(ties / scale)
    met = won + won.T > 0
    for _ in range(STEPS):
        gradient, information = derivatives(at, won, tied)
        rounding = EPSILON * float(np.linalg.cond(information, 1))
        if at.log_nu > ENDLESS or rounding > ROUGHEST:
            break
        step = np.linalg.solve(information, gradient)
        apart = np.abs(np.subtract.outer(step[:size], step[:size]))
        longest = max(float(apart[met].max(initial=0.0)) / 2, abs(float(step[size])))
        step *= min(1.0, LONGEST / max(longest, CONVERGED))
        at = replace(at, theta=at.theta + step[:size], log_nu=at.log_nu + float(step[size]))
        if longest < CONVERGED + rounding:
            inverse = np.linalg.inv(derivatives(at, won, tied)[1])
            inverse[:size, :size] -= at.same / at.same.sum(axis=0) ** 2  # what was added
            return replace(at, inverse=inverse.astype(np.float64) / scale)
    return None


def residuals(at: Strengths, judged: Comparisons) -> tuple[Array, Array, Array, Array]:
    """Of each comparison (n,): derivatives by its distance and by log_nu, information on both.

    The first information is on its distance, the second on its distance and log_nu together.
    """
    first, second = at.theta[judged.system.codes].T
    win, tie, loss = at.outcomes(first - second)
    ahead, weight = win - loss, judged.weight
    return (
        weight * (2 * judged.share - 1 - ahead) / 2,
        (judged.ties - weight * tie) * at.davidson,
        weight * (win + loss - ahead**2) / 4,
        -weight * ahead * tie / 2,
    )


def scatter(at: Strengths, judged: Comparisons, units: Counts) -> Array:
    """Sum over G units of the outer products of their scores, (K + 1, K + 1), times G / (G - 1).

    The last score is that of an effect of standing first.

    Args:
        at: The maximum.
        judged: Comparisons, those between parts with the weight 0.
        units: (n,) number of the unit of each, from 0.

    White (1982); of units Liang & Zeger (1986).
    """
    (win, tie, _, _), width, n = residuals(at, judged), len(at.inverse) + 1, len(units)
    places = *judged.system.codes.T, np.repeat([width - 2, width - 1], n)
    values = np.concatenate([win, -win, tie, win * judged.shown])
    scores = summed(values, np.tile(units, 4), np.concatenate(places), width)
    number = scores.shape[0]
    return (scores.T @ scores).toarray() * number / max(number - 1, 1)


def summed(values: Array, units: Counts, places: Counts, width: int) -> Any:
    """(G, width) sums of the values at each place of each unit, as a sparse array."""
    from scipy.sparse import csr_array  # takes longer to load than a small comparison

    shape = int(units.max(initial=-1)) + 1, width
    return csr_array((values, (units, places)), shape=shape)


def resample(
    at: Strengths, judged: Comparisons, units: Counts, resamples: int, seed: int
) -> tuple[Array, float]:
    """Draw units anew and take one step of Newton's method from the maximum in each resample.

    Args:
        at: The maximum.
        judged: Comparisons, those between parts with the weight 0.
        units: (n,) number of the unit of each, from 0.
        resamples: R.
        seed: Of the draws.

    Returns:
        (S, S) covariance of strengths, times G / (G - 1) for G units; share of the resamples whose
        likelihood has no maximum.
    """
    size, number = len(at.theta), int(units.max()) + 1
    cells, wins = judged.cells
    table = summed(wins, np.tile(units, 2), cells, size**2)
    ties = added(units, judged.ties, number)
    _, full = derivatives(at, judged.won, ties.sum())
    bridges = np.isin(np.arange(size), np.unique(at.part, return_index=True)[1])
    bridged = np.outer(bridges, bridges)  # one system of each part with those of the others
    total, cross = np.zeros(size), np.zeros((size, size))
    without, rows = 0, max(1, ROOM // max(number, size**2))
    for start in range(0, resamples, rows):
        counts = bootstrap_counts(seed, start, min(start + rows, resamples), number, STREAM)
        won = (counts.astype(np.float64) @ table).reshape(-1, size, size)
        without += int(np.count_nonzero(~reaching(won + bridged).all(axis=(-1, -2))))
        gradient, information = derivatives(at, won, counts @ ties)
        steps = np.linalg.solve(information + SHARE * full, gradient[..., None])[:, :size, 0]
        total += steps.sum(axis=0)
        cross += steps.T @ steps
    covariance = (cross - np.outer(total, total) / resamples) / max(resamples - 1, 1)
    return covariance * number / max(number - 1, 1), without / resamples


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


def parts(won: Array) -> Counts:
    """(S,) number of each system's part, 0 the largest.

    Systems of a part won against, or tied with, each other, perhaps over others. Between two parts
    all comparisons, if there are any, were won by one side.
    """
    reached, met = reaching(won), won + won.T
    alike = reached & reached.T
    first = alike.argmax(axis=1).tolist()  # system of each part

    def order(own: int) -> tuple[float, ...]:
        inside = alike[own]
        return -inside.sum(), -met[inside][:, inside].sum(), -met[inside].sum(), own

    ordered = sorted({*first}, key=order)
    return np.array([ordered.index(own) for own in first], int)


def determined(part: Counts) -> Flags:
    """(S,) which strengths are: those of the largest part, if it has two systems."""
    return (part == 0) & np.full(len(part), np.count_nonzero(part == 0) > 1)


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
