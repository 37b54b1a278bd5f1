"""From resamples to decisions, warnings and verdicts."""
