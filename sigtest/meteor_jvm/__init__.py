"""METEOR 1.5 itself: its jar in Java processes that are pooled, bounded and never orphaned."""

from sigtest.meteor_jvm.access import score, share
from sigtest.meteor_jvm.installation import INSTALL, find
from sigtest.meteor_jvm.pool import UnansweredError

__all__ = ["INSTALL", "UnansweredError", "find", "score", "share"]
