"""Sufficient statistics from text: what each module knows is said at its top."""

from sigtest.metrics.extraction.fallback import sacrebleu_statistics

__all__ = ["sacrebleu_statistics"]
