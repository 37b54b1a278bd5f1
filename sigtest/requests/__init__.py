"""Requests: one model each, the only place that says what a field may be."""
