"""METEOR 1.5 itself: its jar in Java processes that are pooled, bounded and never orphaned."""

from sigtest.metrics.meteor.access import score, share
from sigtest.metrics.meteor.installation import INSTALL, find
from sigtest.metrics.meteor.pool import UnansweredError

__all__ = ["INSTALL", "UnansweredError", "find", "score", "share"]
