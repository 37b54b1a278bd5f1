"""Confidence sequences of paired differences: intervals that hold at all looks together.

Axes: `n` items in the order of arrival, `P` pairs of systems, `G` candidates of a difference.
Betting sequences are for bounded scores and hold with any number of items; asymptotic ones are for
any scores with a variance and hold from a burn-in.
"""

import math
from dataclasses import dataclass, field
from itertools import combinations

import numpy as np

from sigtest.arrays import Array, Counts
from sigtest.compiled import compiled

LEFT, RIGHT = -1.0, 0.5  # candidates lie between these, in widths of the scale
BET = 0.6  # most that is bet: no capital falls to 0 below RIGHT, as 0.6 * (1 + 0.5) < 1
NODES = 32  # the polynomial through them is exact to 1e-9 in all of that range
FLUSH = 64  # items whose factors are multiplied before a logarithm is taken
CLOSE = 1e-13  # where Newton's steps end
TIGHTEST = 5  # burn-ins after which asymptotic intervals are as tight as they can be
SEEN = 20  # items of a pair, with fewer than which nothing is foreseen
MOST_TIMES = 1_000  # as many items as there are, further than which nothing is foreseen
OPEN, FIRST, SECOND = 0, 1, 2  # what is decided of a pair: nothing, or who has the larger mean
ANGLES = (np.arange(NODES) + 0.5) * math.pi / NODES
CANDIDATES = np.append(0.0, (LEFT + RIGHT) / 2 + (RIGHT - LEFT) / 2 * np.cos(ANGLES))
TO_CHEBYSHEV = 2 / NODES * np.cos(np.arange(NODES)[:, None] * ANGLES)  # coefficients of values
TO_CHEBYSHEV[0] /= 2
NEVER = np.empty((0, 0))


def all_pairs(systems: int) -> Counts:
    """(P, 2) numbers of two systems each."""
    return np.array([*combinations(range(systems), 2)], int).reshape(-1, 2)


@dataclass
class Sequences:
    """The sequences of some pairs, which take items as they come.

    Attributes:
        pairs: (P, 2) numbers of systems.
        level: Of one pair, after correction.
        width: Of the scale, highest less lowest score; none for asymptotic sequences.
        burn_in: Items of a pair before which these say nothing.
        items: Rows that came.
        sums: (P, 3) items that both have, sum of differences, and sum of squares about the means of
            the items before (betting, in widths) or about their own mean.
        decided: (P,) OPEN, FIRST or SECOND.
        since: (P,) row with which it was decided, from 1; 0 where it is open.
        logs: (P, 2, G) logarithms of the capital of two bettors, that a - b is more than each
            candidate, and b - a.
        products: (P, 2, G) what they have won since.
    """

    pairs: Counts
    level: float
    width: float | None
    burn_in: int
    items: int = 0
    sums: Array = field(init=False)
    decided: Counts = field(init=False)
    since: Counts = field(init=False)
    logs: Array = field(init=False)
    products: Array = field(init=False)

    def __post_init__(self) -> None:
        count = len(self.pairs)
        self.sums = np.zeros((count, 3))
        self.decided, self.since = np.zeros((2, count), int)
        bets = (count if self.width else 0, 2, len(CANDIDATES))
        self.logs, self.products = np.zeros(bets), np.ones(bets)

    @property
    def target(self) -> float:
        """Logarithm of the capital that decides, of a bettor who has half."""
        return math.log(2 / self.level)

    @property
    def mixing(self) -> float:
        """rho^2 of the normal mixture.

        Waudby-Smith, Arbour, Sinha, Kennedy & Ramdas (2024), appendix: rho for a time t* of choice.
        """
        twice = -2 * math.log(self.level)
        return (twice + math.log(twice + 1)) / (TIGHTEST * self.burn_in)

    def add(
        self, scores: Array, came: Array | None = None, rows: tuple[int, int] | None = None
    ) -> None:
        """Take further items, one after the other, with a look after each.

        Args:
            scores: (n, S), NaN where a system has none.
            came: (n, S) numbers that rise with the time at which a score came, where some came
                after those of later items: a pair takes items in the order in which it had both.
            rows: Takes what came with the rows after the first of these, up to the second.
        """
        start, stop = rows or (0, len(scores))
        # of other layouts another kernel would be compiled, for seconds
        table, late = map(np.ascontiguousarray, (scores, NEVER if came is None else came))
        _take(
            table, late, self.pairs, start, stop, self.items - start,
            self.sums, self.decided, self.since, self.width or 1.0, self.burn_in, self.mixing,
            self.level, self.logs, self.products, CANDIDATES,
        )  # fmt: skip
        self.items += stop - start

    @property
    def counts(self) -> Array:
        """(P,) items that both systems have."""
        return self.sums[:, 0]

    @property
    def means(self) -> Array:
        """(P,) mean differences, first less second system; NaN without items."""
        with np.errstate(invalid="ignore"):
            return self.sums[:, 1] / self.counts * (self.width or 1.0)

    @property
    def capital(self) -> Array:
        """(P, 2, G) logarithms of all that was won."""
        won: Array = self.logs + np.log(self.products)
        return won

    def intervals(self) -> Array:
        """(P, 2) ends of the interval of each mean difference; infinite where nothing is known."""
        if self.width is None:
            reach, middle = self._reach(), np.nan_to_num(self.means)
            reach[self.counts < self.burn_in] = np.inf
            return np.stack([middle - reach, middle + reach], axis=1)
        least = _least(self.capital[:, :, 1:] @ TO_CHEBYSHEV.T, self.target)
        return np.stack([least[:, 0], -least[:, 1]], axis=1) * self.width

    def _reach(self) -> Array:
        margins = [_margin(max(int(n), 1), self.mixing, self.level) for n in self.counts]
        return np.sqrt(self.sums[:, 2] / np.maximum(self.counts, 1.0) * margins)

    def remaining(self) -> Counts:
        """(P,) about how many further items decide open pairs, if these go on as they do.

        Intervals shrink with the root of items; a capital falls by about the target in the long
        run, and what differences win grows with that root. 0 where a pair is decided, or nothing
        can be said: after few items, and while BET bounds bets, as in a scale far wider than
        differences.
        """
        with np.errstate(divide="ignore", invalid="ignore"):
            if self.width is None:
                times = (self._reach() / np.abs(self.means)) ** 2
            else:
                free = (1 + self.sums[:, 2]) * np.log1p(self.counts) > 2 * self.target / BET**2
                won = free * np.maximum(self.capital[:, :, 0].max(axis=1) + self.target, 0.0)
                times = (2 * self.target / won) ** 2
            times = np.maximum(times, self.burn_in / self.counts if self.width is None else 1.0)
            further = np.ceil(self.counts * (times - 1))
        seen = (self.counts >= SEEN) & (self.sums[:, 1] != 0) & (times < MOST_TIMES)
        return np.where(seen & (self.decided == OPEN), np.maximum(further, 1), 0).astype(int)


@compiled
def _margin(n: float, mixing: float, level: float) -> float:
    """Square of half an asymptotic interval, in variances of a difference.

    Waudby-Smith et al. (2024), "Time-uniform central limit theory and asymptotic confidence
    sequences", Annals of Statistics 52(6), Theorem 2.2.
    """
    grown = n * mixing + 1
    return 2 * grown / (n * n * mixing) * math.log(math.sqrt(grown) / level)


@compiled
def _take(
    scores: Array, came: Array, pairs: Counts, start: int, stop: int, before: int, sums: Array,
    decided: Counts, since: Counts, width: float, burn_in: int, mixing: float, level: float,
    logs: Array, products: Array, candidates: Array,
) -> None:  # fmt: skip
    """Take items, and decide pairs whose interval leaves 0 out, with a look after each item.

    Taken is what came with the rows from `start` to `stop`, behind `before` rows of other tables.

    Betting: half of the capital reaches 1 / level. Waudby-Smith & Ramdas (2024), "Estimating means
    of bounded random variables by betting", JRSS B 86(1): the hedged capital process with
    predictable plug-in bets (section 4), of differences in [-1, 1], and at most BET, so that bets
    are the same against all candidates. Otherwise by Welford's sums and `_margin`.
    """
    target = math.log(2 / level)
    for p in range(len(pairs)):
        n, total, squares = int(sums[p, 0]), sums[p, 1], sums[p, 2]
        a, b = pairs[p]
        order, row = np.arange(start, stop), 0
        if len(came) > 0:
            order = np.argsort(np.maximum(came[:, a], came[:, b]), kind="mergesort")
        for i in order:
            d = scores[i, a] - scores[i, b]
            if width != 1.0:
                d = scores[i, a] / width - scores[i, b] / width
            row = max(row, int(i) + 1)  # as many there were by then
            if math.isnan(d) or not start < row <= stop:
                continue
            n += 1
            total += d
            if len(logs) > 0:
                bet = min(BET, math.sqrt(2 * target / ((1 + squares) * math.log(1 + n))))
                squares += (d - total / (n + 1)) ** 2
                _multiply(products[p, 0], bet, d, candidates)
                _multiply(products[p, 1], bet, -d, candidates)
                if n % FLUSH == 0:
                    _flush(logs[p], products[p])
                first = logs[p, 0, 0] + math.log(products[p, 0, 0]) >= target
                second = logs[p, 1, 0] + math.log(products[p, 1, 0]) >= target
            else:
                squares += n / (n - 1) * (d - total / n) ** 2 if n > 1 else 0.0
                apart = n >= burn_in and total**2 > n * squares * _margin(n, mixing, level)
                first, second = apart and total > 0, apart and total < 0
            if decided[p] == OPEN and (first or second):
                decided[p] = FIRST if first else SECOND
                since[p] = before + row
        sums[p, 0], sums[p, 1], sums[p, 2] = n, total, squares


@compiled
def _multiply(products: Array, bet: float, d: float, candidates: Array) -> None:
    for g in range(len(candidates)):
        products[g] *= 1 + bet * (d - candidates[g])


@compiled
def _flush(logs: Array, products: Array) -> None:
    for side in range(2):
        for g in range(logs.shape[1]):
            logs[side, g] += math.log(products[side, g])
            products[side, g] = 1.0


@compiled
def _least(coefficients: Array, target: float) -> Array:
    """(P, 2) least candidates against which less than `target` was won; LEFT or RIGHT beyond.

    What was won falls with the candidate and is concave, so that Newton's steps from the right stay
    on the right of the answer.
    """
    found = np.ones(coefficients.shape[:2])
    for p in range(coefficients.shape[0]):
        for side in range(2):
            value, slope = _value(coefficients[p, side], 1.0)
            while value < target and found[p, side] > -1:
                step = (value - target) / slope if slope < 0 else 2.0
                found[p, side] = max(-1.0, found[p, side] - step)
                value, slope = _value(coefficients[p, side], found[p, side])
                if step < CLOSE:
                    break
    return (LEFT + RIGHT) / 2 + (RIGHT - LEFT) / 2 * found


@compiled
def _value(coefficients: Array, x: float) -> tuple[float, float]:
    """A sum of Chebyshev polynomials and its slope, by Clenshaw's recurrence."""
    b1 = b2 = s1 = s2 = 0.0
    for k in range(len(coefficients) - 1, 0, -1):
        b1, b2, s1, s2 = 2 * x * b1 - b2 + coefficients[k], b1, 2 * b1 + 2 * x * s1 - s2, s1
    return x * b1 - b2 + coefficients[0], b1 + x * s1 - s2
