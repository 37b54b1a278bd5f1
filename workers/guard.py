"""Says in our words that Redis failed."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager

from redis.exceptions import RedisError

from workers.errors import StorageError


@contextmanager
def storage() -> Iterator[None]:
    """Turn what redis raises into StorageError; also a decorator.

    Raises:
        StorageError: Redis failed.
    """
    try:
        yield
    except RedisError as error:
        raise StorageError(f"The store of comparisons does not answer: {error}") from error
