"""Which segments made a difference between two systems, and which of their words differ.

A score is a function of sums. On the straight way from the sums of b to those of a it changes by
the whole difference, and at each point of the way each segment pushes it by the gradient times what
the segment adds. The share of a segment is the mean of its pushes (Aumann & Shapley 1974, "Values
of Non-Atomic Games"; as integrated gradients, Sundararajan, Taly & Yan 2017). Shares sum to the
difference whatever the metric; where scores are means they are plain differences over n.
"""

import re
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from difflib import SequenceMatcher

import numpy as np
from numpy.typing import NDArray

from sigtest.arrays import Array
from sigtest.data.names import choose
from sigtest.errors import RecipeError
from sigtest.metrics import Metric

# Segments: filtered, in order, some at a time ------------------------

ORDERS = ("size", "a", "b", "place")


@dataclass(frozen=True)
class Segments:
    """What is known of the segments of two systems.

    Attributes:
        shares: (n,) of the difference a - b, in units of the metric, not oriented.
        reference: Lines of the first reference; none where there is none.
        a: Lines of the first system; none where it brings scores alone.
        b: Lines of the second.
        source: Lines of the source, where it is known.
        documents: Document of each segment, where known.
    """

    shares: Array
    reference: tuple[str | None, ...] | None
    a: tuple[str | None, ...] | None
    b: tuple[str | None, ...] | None
    source: tuple[str | None, ...] | None = None
    documents: tuple[str, ...] | None = None

    @property
    def lengths(self) -> NDArray[np.int64]:
        """(n,) words of each segment: of the reference, or else of a."""
        lines = self.reference or self.a or ("",) * len(self.shares)
        return np.array([len((line or "").split()) for line in lines], int)


@dataclass(frozen=True)
class Filter:
    """Which segments are wanted, and in which order.

    Attributes:
        document: Of this document only.
        shortest: At least so many words.
        longest: At most so many.
        better: `a` or `b`: only those on which this system is better.
        order: `size` of the share; `a` or `b`, the best for this system first; `place` in the test
            set.
    """

    document: str | None = None
    shortest: int | None = None
    longest: int | None = None
    better: str | None = None
    order: str = "size"


@dataclass(frozen=True)
class Row:
    """One segment.

    Attributes:
        number: Its place in the test set, from 1.
        share: Of the difference.
        document: Its document, where known.
        reference: Its reference.
        a: The output of the first system.
        b: The output of the second.
        source: Its source, where known.
    """

    number: int
    share: float
    document: str | None
    reference: str | None
    a: str | None
    b: str | None
    source: str | None


@dataclass(frozen=True)
class Slice:
    """Some of the segments that are wanted.

    Attributes:
        rows: These, in order.
        wanted: How many are wanted in all.
        carried: What these and all before them add up to.
        in_all: What all that are wanted add up to.
    """

    rows: tuple[Row, ...]
    wanted: int
    carried: float
    in_all: float


def rows_of(
    segments: Segments, chosen: Filter, higher_is_better: bool, start: int, limit: int
) -> Slice:
    """The segments that are wanted, from one on.

    Args:
        segments: All of them.
        chosen: Which of them.
        higher_is_better: False for error rates, on which less is better.
        start: How many to pass over.
        limit: How many to show at most.

    Raises:
        RecipeError: A document that is not there, or an unknown order or system.
    """
    order = choose(chosen.order, ORDERS, "order", "order")
    gains = segments.shares if higher_is_better else -segments.shares
    wanted = np.flatnonzero(_wanted(segments, chosen, gains))
    sizes = {"size": -np.abs(gains), "a": -gains, "b": gains, "place": np.zeros(len(gains))}
    wanted = wanted[np.argsort(sizes[order][wanted], kind="stable")]
    shown = wanted[start : start + limit]
    return Slice(
        rows=tuple(_rows(segments, shown.tolist())),
        wanted=len(wanted),
        carried=float(segments.shares[wanted[: start + limit]].sum()),
        in_all=float(segments.shares[wanted].sum()),
    )


def _wanted(segments: Segments, chosen: Filter, gains: Array) -> NDArray[np.bool_]:
    kept = np.ones(len(gains), bool)
    if chosen.document is not None:
        if segments.documents is None:
            raise RecipeError("The documents are not known; leave document out.", field="document")
        choose(chosen.document, dict.fromkeys(segments.documents), "document", "document")
        kept &= np.array([own == chosen.document for own in segments.documents])
    if chosen.better is not None:
        choose(chosen.better, ("a", "b"), "better", "side of the pair")
        kept &= gains > 0 if chosen.better == "a" else gains < 0
    if chosen.shortest is not None:
        kept &= segments.lengths >= chosen.shortest
    if chosen.longest is not None:
        kept &= segments.lengths <= chosen.longest
    return kept


def _rows(segments: Segments, places: Sequence[int]) -> Iterator[Row]:
    columns = (segments.documents, segments.reference, segments.a, segments.b, segments.source)
    for i in places:
        lines = (None if column is None else column[i] for column in columns)
        yield Row(i + 1, float(segments.shares[i]), *lines)


# Shares of the difference ------------------------

METHOD = "Aumann-Shapley"
POINTS = 32  # of the way, at which gradients are taken (Gauss and Legendre)
STEP = 1e-5  # of a sum, for its gradient


def segment_shares(metric: Metric, table: Array, replicas: int = 1) -> Array:
    """Shares of the difference score(a) - score(b), which they sum to.

    Args:
        metric: The metric.
        table: (2, m n, k) statistics of a and b; segments of one replica after those of another.
        replicas: m.

    Returns:
        (n,) shares in units of the metric, not oriented; those of all replicas together.
    """
    sums = table.sum(axis=1)
    score_a, score_b = metric.score(sums)
    difference = float(score_a - score_b)
    slopes = _exact_slopes(metric, sums)
    if slopes is None:
        slopes = _mean_gradient(metric, sums)
    moved = (table[0] - table[1]).reshape(replicas, -1, table.shape[2]).sum(axis=0)
    return _summing_to(difference, moved @ slopes, moved, sums)


def _exact_slopes(metric: Metric, sums: Array) -> Array | None:
    """Slopes of a score that is linear between a and b: a fraction over one denominator."""
    if metric.fraction is None:
        return None
    top, bottom = metric.fraction.numerator, metric.fraction.denominator
    if sums[0, bottom] != sums[1, bottom]:
        return None
    further = sums.copy()
    if sums[0, top] == sums[1, top]:
        further[1, top] += 1.0
    rise = metric.score(further[0]) - metric.score(further[1])
    slopes = np.zeros(sums.shape[1])
    slopes[top] = rise / (further[0, top] - further[1, top])
    return slopes


def _mean_gradient(metric: Metric, sums: Array) -> Array:
    """(k,) the gradient of the score, averaged over the way from b to a."""
    nodes, weights = np.polynomial.legendre.leggauss(POINTS)
    way = sums[1] + np.outer((nodes + 1) / 2, sums[0] - sums[1])  # (Q, k)
    steps = STEP * np.maximum(np.abs(sums).max(axis=0), 1.0)
    aside = np.diag(steps)
    ahead = way[:, None, :] + aside  # (Q, k, k): each sum in turn a step further
    behind = np.where(way[:, None, :] >= aside, way[:, None, :] - aside, way[:, None, :])
    width = np.einsum("qjj->qj", ahead - behind)
    gradients = (metric.score(ahead) - metric.score(behind)) / width
    return np.nan_to_num(weights / 2 @ gradients)


def _summing_to(difference: float, shares: Array, moved: Array, sums: Array) -> Array:
    """Shares with what gradients miss: a jump where sums leave 0, or rounding, spread by size.

    Where a system has no match of one length, its smoothed BLEU is no limit of those near it: the
    jump is of the segments with such matches, in equal parts for each length.
    """
    opens = (sums == 0).any(axis=0) & (sums != 0).any(axis=0)
    if opens.any():
        parts = moved[:, opens] / moved[:, opens].sum(axis=0)
        return np.asarray(shares + (difference - float(shares.sum())) * parts.mean(axis=1))
    weight = np.abs(shares)
    total = float(weight.sum())
    if total == 0:
        return shares
    return np.asarray(shares + (difference - float(shares.sum())) * weight / total)


# Words that differ ------------------------

Words = tuple[tuple[str, bool], ...]  # stretches of a line, and whether the other line lacks them

MOST = 2000  # words of the two lines together; longer ones are not compared
# Scripts without blanks between words are compared letter by letter.
_UNSPACED = "\u0e00-\u0eff\u1000-\u109f\u1780-\u17ff\u3040-\u30ff\u3400-\u9fff\U00020000-\U0003ffff"
_WORD = re.compile(rf"[{_UNSPACED}]|[^\W{_UNSPACED}]+|[^\w\s]|\s+")


def marked_words(a: str, b: str) -> tuple[Words, Words]:
    """Both lines in stretches, each with whether the other line has it.

    Joined, the stretches are the line. Very long lines are one stretch without a mark.
    """
    words_a, words_b = _WORD.findall(a), _WORD.findall(b)
    if len(words_a) + len(words_b) > MOST:
        return ((a, False),), ((b, False),)
    matcher = SequenceMatcher(None, words_a, words_b, autojunk=False)
    marked_a: list[tuple[str, bool]] = []
    marked_b: list[tuple[str, bool]] = []
    for tag, a1, a2, b1, b2 in matcher.get_opcodes():
        if a1 < a2:
            marked_a.append(("".join(words_a[a1:a2]), tag != "equal"))
        if b1 < b2:
            marked_b.append(("".join(words_b[b1:b2]), tag != "equal"))
    return tuple(marked_a), tuple(marked_b)
