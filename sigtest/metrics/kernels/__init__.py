"""Sufficient statistics from text: what each module knows is said at its top."""
