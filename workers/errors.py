"""The errors of stored questions, below sigtest's own tree.

    SigtestError
    ├── SettingError        an environment variable that cannot be used
    ├── NotFoundError       nothing with this id belongs to the caller
    │   └── GoneError       there was one; it expired or was deleted
    ├── NotReadyError       not computed yet, or never will be: see its record
    ├── ConflictError       an idempotency key used again with different content
    ├── TakenError          the name belongs to a system with other content
    ├── ScoredError         a race has another score of an item and system
    ├── CapacityError       a test set has taken as many systems as it may
    ├── PhaseError          a shared task that does not take this now
    ├── QuotaError          a team that has submitted as much as it may
    ├── OnBoardError          a comparison that a leaderboard shows cannot be deleted by itself
    ├── LimitError
    │   ├── CostlyError     one question that is more than a caller may ever have
    │   │   └── BusyError   more unfinished work than a caller may have now
    │   └── BudgetError     more that lasts than a caller may have
    └── StorageError        Redis cannot be reached, cannot write or is missing
        └── FullError       it has no memory or disk left

Like sigtest's own they know no status codes.
"""

from __future__ import annotations

import logging
import time
from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from dataclasses import dataclass
from inspect import getmembers, isfunction
from types import MappingProxyType
from typing import TYPE_CHECKING, Any, TypeVar

from redis.exceptions import OutOfMemoryError, RedisError
from redis.exceptions import TimeoutError as RedisTimeoutError

from sigtest import errors

if TYPE_CHECKING:  # records load NumPy, for which the supervisor must set its environment first
    from workers.store.records import Record


class SettingError(errors.SigtestError):
    """An environment variable with a value that cannot be used."""


class NotFoundError(errors.SigtestError):
    """Nothing with this id belongs to the caller."""


class GoneError(NotFoundError):
    """It expired or was deleted."""


@dataclass(eq=False, repr=False, kw_only=True)
class NotReadyError(errors.SigtestError):
    """What was asked for is not there (yet).

    Attributes:
        record: The question as it stands: unfinished, failed or cancelled; nothing for a
            leaderboard.
    """

    record: Record | None = None


class ConflictError(errors.SigtestError):
    """An idempotency key was used before, with different content."""


class TakenError(errors.SigtestError):
    """The name belongs to a system with other content."""


class ScoredError(errors.SigtestError):
    """A race has another score of an item and system."""


class CapacityError(errors.SigtestError):
    """A test set has taken as many systems as were declared when it was made."""


class PhaseError(errors.SigtestError):
    """A shared task does not take this now."""


class QuotaError(errors.SigtestError):
    """A team has submitted as much as it may."""


class OnBoardError(errors.SigtestError):
    """A leaderboard shows it, so that it goes with its test set and not before."""


@dataclass(eq=False, repr=False, kw_only=True)
class CostlyError(errors.LimitError):
    """One question that is more than a caller may ever have unfinished.

    Attributes:
        predicted: What was predicted and what is accepted, by name.
    """

    predicted: Mapping[str, float]


@dataclass(eq=False, repr=False, kw_only=True)
class BusyError(CostlyError):
    """More unfinished work than a caller may have now.

    Attributes:
        seconds: After which it may be accepted.
    """

    seconds: int


class BudgetError(errors.LimitError):
    """More that lasts longer than the retention than a caller may have."""


class StorageError(errors.SigtestError):
    """Redis cannot be reached or cannot write."""


class FullError(StorageError):
    """Redis has no memory left, or no disk."""


PROBLEM = "urn:sigtest:problem:"  # what types of problems begin with
NO_PROBLEM: Mapping[str, Any] = MappingProxyType({"type": PROBLEM + "error"})  # of older versions
# ends of the types of what tasks raise, as problem documents have them
SLUGS: dict[type[errors.SigtestError], str] = {
    errors.LengthError: "length-mismatch",
    errors.InputError: "invalid-input",
    errors.RecipeError: "invalid-recipe",
    errors.LimitError: "limit-exceeded",
    errors.UnavailableError: "unavailable",
    errors.SigtestError: "error",
}


def problem_of(error: errors.SigtestError) -> dict[str, Any]:
    """What failed, for programs: a type of problems, and the place that it is about."""
    slug = next(SLUGS[base] for base in type(error).__mro__ if base in SLUGS)
    places = {"field": error.field, "system": error.system, "line": error.line}
    known = {name: place for name, place in places.items() if place is not None}
    return {"type": PROBLEM + slug, **known}


def gone(question_id: str) -> GoneError:
    """The error for a question that was there."""
    return GoneError(f"{question_id} expired or was deleted; submit it again.")


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
    """Let every public method of a class, also an inherited one, do what `storage` does."""
    for name, method in getmembers(kind, isfunction):
        if not name.startswith("_"):
            setattr(kind, name, storage()(method))
    return kind
