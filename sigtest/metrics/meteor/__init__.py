"""METEOR 1.5 itself: its jar in one Java process of whoever measures, bounded, never orphaned."""

from sigtest.metrics.meteor.program import (
    IDLE_SECONDS,
    Jvm,
    UnansweredError,
    ahead,
    borrow,
    find,
    running,
    score,
)

__all__ = ["IDLE_SECONDS", "Jvm", "UnansweredError", "ahead", "borrow", "find", "running", "score"]
