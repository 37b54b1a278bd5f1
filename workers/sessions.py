"""Browsers that signed in with a key. `app` calls this.

A session is 256 random bits in a cookie; the store has its hash, and the hash of the key, so that a
key that is revoked ends its sessions.

Every function may raise StorageError.
"""

from __future__ import annotations

import secrets
from typing import cast

from redis import Redis

from workers.access import digest_of
from workers.guard import guarded
from workers.store import keys
from workers.store.codec import decoded

SECONDS = 12 * 3600


@guarded
class Sessions:
    """The sessions in the store; safe to share between threads.

    Args:
        redis: The server, with bytes as answers.
    """

    def __init__(self, redis: Redis) -> None:
        self._redis = redis

    def begin(self, secret: str) -> str:
        """Begin a session of the holder of a key; what the cookie holds."""
        token = secrets.token_urlsafe(32)
        self._redis.set(_key(token), digest_of(secret), ex=SECONDS)
        return token

    def digest(self, token: str) -> str | None:
        """Hash of the key that a session was begun with, while it lasts."""
        held = cast("bytes | None", self._redis.get(_key(token)))
        return None if held is None else decoded(held)

    def end(self, token: str) -> None:
        """End a session."""
        self._redis.delete(_key(token))


def _key(token: str) -> str:
    return keys.key("session", digest_of(token))
