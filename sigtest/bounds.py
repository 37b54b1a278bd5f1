"""Ends of intervals that have no bound: JSON has no infinite number, and people read one."""

from __future__ import annotations

import math

FAR = 1e300  # such an end; in standard errors, how far away all is that moved where nothing varies


def bound(end: float) -> float:
    """The end of an interval as it is meant: infinite where it is FAR."""
    return math.copysign(math.inf, end) if abs(end) >= FAR else end
