"""Says in our words that Redis failed, and soon: none waits for a server known to be silent."""

from __future__ import annotations

import logging
import time
from collections.abc import Iterator
from contextlib import contextmanager
from types import FunctionType
from typing import TypeVar

from redis.exceptions import OutOfMemoryError, RedisError
from redis.exceptions import TimeoutError as RedisTimeoutError

from workers.errors import FullError, StorageError

log = logging.getLogger(__name__)

RESPITE = 1.0  # seconds in which a server that was silent is not asked again

T = TypeVar("T")

_silent_until = 0.0


@contextmanager
def storage() -> Iterator[None]:
    """Turn what redis raises into StorageError; also a decorator.

    Raises:
        StorageError: Redis failed.
        FullError: It has no memory left.
    """
    global _silent_until
    if time.monotonic() < _silent_until:
        raise StorageError("The store of comparisons is silent.")
    try:
        yield
    except RedisTimeoutError as error:
        log.warning("the store is silent: %s", error)  # with the address: strangers are not told
        _silent_until = time.monotonic() + RESPITE
        raise StorageError("The store of comparisons is silent.") from error
    except OutOfMemoryError as error:
        raise FullError(
            "The store of comparisons is full; delete something, or wait until something expires."
        ) from error
    except RedisError as error:
        log.warning("the store does not answer: %s", error)
        raise StorageError("The store of comparisons does not answer.") from error


def guarded(kind: type[T]) -> type[T]:
    """Let every public method of a class do what `storage` does."""
    for name, method in [*vars(kind).items()]:
        if isinstance(method, FunctionType) and not name.startswith("_"):
            setattr(kind, name, storage()(method))
    return kind
