"""Calibrated significance tests for comparing translation systems and other NLP systems."""

from sigtest.version import __version__

__all__ = ["__version__"]
