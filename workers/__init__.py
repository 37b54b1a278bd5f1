"""Questions computed by a queue and its workers: the only code that speaks to Redis."""
