"""Health checks of submissions: what an organiser would want to know before any score.

Each check is a function of the texts alone, deterministic, and fast enough to run every time.
"""

from sigtest.data.health.checks import KINDS, OF_REFERENCES, check
from sigtest.data.health.finding import Finding

__all__ = ["KINDS", "OF_REFERENCES", "Finding", "check"]
