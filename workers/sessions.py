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
from workers.store.cache import newest
from workers.store.codec import decoded

SECONDS = 12 * 3600
MOST_SESSIONS = 100  # of a key; the oldest ends when one more begins


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
        token, digest = secrets.token_urlsafe(32), digest_of(secret)
        self._redis.set(_key(token), digest, ex=SECONDS)
        group = keys.key("sessions", digest)
        if old := newest(self._redis, group, _key(token), MOST_SESSIONS, SECONDS):
            self._redis.delete(*old)
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
