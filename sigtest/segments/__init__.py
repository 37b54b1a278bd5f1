"""Which segments made a difference between two systems, and which of their words differ."""

from sigtest.segments.rows import ORDERS, Filter, Row, Segments, Slice, rows_of
from sigtest.segments.shares import METHOD, segment_shares
from sigtest.segments.words import Words, marked_words

__all__ = [
    "METHOD",
    "ORDERS",
    "Filter",
    "Row",
    "Segments",
    "Slice",
    "Words",
    "marked_words",
    "rows_of",
    "segment_shares",
]
