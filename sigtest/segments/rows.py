"""The segments behind a difference: filtered, in order, some at a time."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from sigtest.arrays import Array
from sigtest.data.choices import choose
from sigtest.errors import RecipeError

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
        return np.array([len((line or "").split()) for line in lines], dtype=np.int64)


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
        rows=tuple(_row(segments, int(i)) for i in shown),
        wanted=len(wanted),
        carried=float(segments.shares[wanted[: start + limit]].sum()),
        in_all=float(segments.shares[wanted].sum()),
    )


def _wanted(segments: Segments, chosen: Filter, gains: Array) -> NDArray[np.bool_]:
    kept = np.ones(len(gains), dtype=np.bool_)
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


def _row(segments: Segments, i: int) -> Row:
    def line(lines: Sequence[str | None] | None) -> str | None:
        return None if lines is None else lines[i]

    return Row(
        number=i + 1,
        share=float(segments.shares[i]),
        document=line(segments.documents),
        reference=line(segments.reference),
        a=line(segments.a),
        b=line(segments.b),
        source=line(segments.source),
    )
