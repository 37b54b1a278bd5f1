"""Checks of sigtest's claim that its p-values are right; `python -m validation` runs them all."""
