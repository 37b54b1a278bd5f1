"""Which task is next."""
