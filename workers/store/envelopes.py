"""Envelopes as fields of a hash: each part by itself, so that one can be written over alone."""

from __future__ import annotations

import json
from collections.abc import Callable, Mapping, Sequence
from typing import Any

from redis import Redis

from sigtest.requests.notes import PARTS, Noted, Notes
from workers.store.codec import decoded, flat
from workers.store.scripts.envelopes import DESCRIBE

FIELDS = tuple(PARTS)


class EnvelopeStore:
    """Writes on questions and test sets. Raises what redis raises.

    Args:
        redis: The server.
    """

    def __init__(self, redis: Redis) -> None:
        self.redis = redis
        self._describe = redis.register_script(DESCRIBE)

    def write(self, name: str, notes: Noted, check: Callable[[], None] | None = None) -> bool:
        """Write on what has this key; what is not said stays.

        Args:
            name: The key.
            notes: What is written.
            check: Raises where it is not as expected; nothing comes between this and the writing.

        Returns:
            Whether it is there.
        """
        fields = flat(fields_of(notes))
        if check is None:
            return bool(self._describe([name], fields))

        def checked(pipe: Any) -> None:
            check()
            pipe.multi()
            self._describe([name], fields, pipe)

        written: Any = self.redis.transaction(checked, name)
        return written == [1]


def fields_of(notes: Noted) -> dict[str, str | bytes]:
    """What is said, by field."""
    return {name: json.dumps(value) for name, value in notes.items()}


def envelope_of(values: Sequence[bytes | str | None]) -> Notes:
    """The envelope whose FIELDS have these values."""
    held = zip(FIELDS, values, strict=True)
    return Notes.of({name: json.loads(value) for name, value in held if value is not None})


def by_name(held: Mapping[bytes, bytes]) -> dict[str, Notes]:
    """Envelopes of several things, whose fields are a part and a name."""
    said: dict[str, dict[str, object]] = {}
    for field, value in held.items():
        part, _, name = decoded(field).partition(" ")
        said.setdefault(name, {})[part] = json.loads(value)
    return {name: Notes.of(own) for name, own in said.items()}
