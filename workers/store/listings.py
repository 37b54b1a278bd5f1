"""What a caller has, newest first and page by page.

A listing is a sorted set of places, all with score 0 and so in the order of their bytes: a time in
hexadecimal digits, then an id. A place is also the cursor of the page that follows it.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Collection
from dataclasses import dataclass
from typing import TypeVar

from redis import Redis

from sigtest.errors import InputError
from sigtest.requests.notes import Notes
from workers.store.codec import decoded

T = TypeVar("T")

DIGITS = 16  # of the time, in microseconds
CURSOR = re.compile("[0-9a-f]{48}")
LOOKED_AT = 1000  # entries for one page of a listing that is filtered


@dataclass(frozen=True)
class Filter:
    """Which entries of a listing are wanted.

    Attributes:
        title: Stands in the title, in capitals or not.
        tags: It has all of these.
        statuses: It has one of these; none for any.
    """

    title: str = ""
    tags: Collection[str] = ()
    statuses: Collection[str] = ()

    def passes(self, envelope: Notes, status: str = "", name: str = "") -> bool:
        """Whether an entry is wanted; a test set's name counts as its title does."""
        return (
            (not self.statuses or status in self.statuses)
            and set(self.tags) <= set(envelope.tags)
            and self.title.casefold() in f"{envelope.title}\n{name}".casefold()
        )


ALL = Filter()


def place_of(name: str, now: float) -> str:
    """Where a listing has what was made at a time, in seconds since the epoch."""
    return f"{int(now * 1e6):0{DIGITS}x}{name}"


def page(
    redis: Redis,
    listing: str,
    cursor: str | None,
    limit: int,
    find: Callable[[str], T | None],
    wanted: Callable[[T], bool],
) -> tuple[list[T], str | None]:
    """What follows a cursor, and the cursor of the next page if there is one.

    Args:
        redis: The server.
        listing: Key of the listing; places of what is gone are removed from it.
        cursor: From the page before; nothing for the first.
        limit: Entries a page.
        find: What has an id, or nothing where it is gone.
        wanted: Whether an entry is to be shown. A page looks at LOOKED_AT entries at most, and so
            may have fewer than there are room for before the last.

    Raises:
        InputError: A cursor that no listing gave.
    """
    if cursor is not None and not CURSOR.fullmatch(cursor):
        raise InputError("The cursor must be one that a listing gave.", field="cursor")
    found: list[tuple[str, T]] = []
    end = f"({cursor}" if cursor else "+"
    looked = 0
    while len(found) <= limit:
        places = [decoded(p) for p in redis.zrevrangebylex(listing, end, "-", 0, limit + 1)]
        for place in places:
            entry = find(place[DIGITS:])
            if entry is None:
                redis.zrem(listing, place)
            elif wanted(entry):
                found.append((place, entry))
        looked += len(places)
        if len(places) <= limit:
            break
        if looked >= LOOKED_AT and len(found) <= limit:
            return [entry for _, entry in found], places[-1]
        end = f"({places[-1]}"
    following = found[limit - 1][0] if len(found) > limit else None
    return [entry for _, entry in found[:limit]], following
