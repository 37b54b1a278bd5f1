"""API keys: who may ask, for what, until when and with which budget. `app` calls this.

A key is 256 random bits, which only its holder has; the store has its hash. A key that was revoked
stays listed: a service that ever had a key never opens again by itself.

Every function may raise StorageError.

A browser signs in with a key. Its session is 256 random bits in a cookie; the store has their hash,
and the hash of the key, so that a key that is revoked ends its sessions.
"""

import hashlib
import json
import secrets
import time
from collections.abc import Sequence
from dataclasses import asdict, dataclass, replace
from pathlib import Path
from typing import cast

from redis import Redis

from sigtest.data.names import check_name, choose
from sigtest.errors import RecipeError
from workers.errors import NotFoundError, guarded
from workers.settings import SECONDS
from workers.store import keys
from workers.store.cache import newest
from workers.store.codec import decoded
from workers.store.records import delete_first
from workers.store.shared_tasks import Team

SCOPES = ("read", "submit", "admin")
PREFIX = "sigtest_"  # lets programs that look for leaked secrets find one
TEAM_PREFIX = f"{PREFIX}team_"
ID_DIGITS = 8
SHA_DIGITS = 64
DAY = 86_400.0
CENTURY = 36_500  # days


@dataclass(frozen=True)
class ApiKey:
    """What is known of a key; never the key itself.

    Attributes:
        id: The first digits of its hash, which tell it from others of the same name.
        name: Of its holder: whose questions are asked with it.
        scopes: What it is for, some of SCOPES.
        created_at: Seconds since the epoch.
        expires_at: When it ends, seconds since the epoch; nothing for never.
        budget: Seconds of one core that its holder's unfinished questions may be predicted to
            take; nothing for the service's own.
        revoked: Whether it was taken back.
    """

    id: str
    name: str
    scopes: tuple[str, ...]
    created_at: float
    expires_at: float | None = None
    budget: int | None = None
    revoked: bool = False

    def valid(self, now: float) -> bool:
        """Whether it opens anything at a time."""
        return not self.revoked and (self.expires_at is None or now < self.expires_at)


@guarded
class Access:
    """The keys in the store; safe to share between threads.

    Args:
        redis: The server, with bytes as answers.
        marker: A file outside of the store that says that keys are needed: it is there from the
            first key on, also when the store has lost them.
    """

    def __init__(self, redis: Redis, marker: Path | None = None) -> None:
        self._redis = redis
        self._marker = marker
        self._needed = False

    def add(
        self,
        name: str,
        scopes: Sequence[str],
        days: float | None = None,
        budget: int | None = None,
    ) -> tuple[ApiKey, str]:
        """Make a key.

        Args:
            name: Of its holder; several keys may have one.
            scopes: What it is for.
            days: After how many it ends.
            budget: See ApiKey.

        Returns:
            What is known of it, and the key, which can be read nowhere else.

        Raises:
            SigtestError: A name, scope or number that cannot be used.
        """
        check_name(name, "key holder")
        for scope in scopes:
            choose(scope, SCOPES, "scope", "scope")
        for field, number, most in (("days", days, CENTURY), ("budget", budget, SECONDS)):
            if number is not None and not 0 < number <= most:
                raise RecipeError(
                    f"{field} must be more than 0 and at most {most:,}, not {number:g}.",
                    field=field,
                )
        secret = PREFIX + secrets.token_urlsafe(32)
        digest = digest_of(secret)
        now = time.time()
        expires = None if days is None else now + days * DAY
        held = tuple(scope for scope in SCOPES if scope in scopes)
        key = ApiKey(digest[:ID_DIGITS], name, held, now, expires, budget)
        self._redis.hset(keys.ACCESS, digest, json.dumps(asdict(key)))
        self._remember(True)
        return key, secret

    def listing(self) -> list[ApiKey]:
        """All keys that there ever were, oldest first."""
        return sorted(self._all().values(), key=lambda key: key.created_at)

    def revoke(self, which: str) -> list[ApiKey]:
        """Take back the key of one id, or all of one name, from the next request on.

        Raises:
            NotFoundError: No key that was not revoked before has this id or name.
        """
        found = {
            digest: replace(key, revoked=True)
            for digest, key in self._all().items()
            if which in (key.id, key.name) and not key.revoked
        }
        if not found:
            raise NotFoundError(f"There is no key {which!r} that could be revoked.")
        with self._redis.pipeline() as pipe:
            for digest, key in found.items():
                pipe.hdel(keys.ACCESS, digest)  # a full store takes a key back, too
                pipe.hset(keys.ACCESS, digest, json.dumps(asdict(key)))
            delete_first(pipe)
            pipe.execute()
        return list(found.values())

    def known(self, digest: str) -> tuple[ApiKey | Team | None, bool]:
        """The key, or team of a shared task, with this hash, and whether there ever was any key."""
        with self._redis.pipeline(transaction=False) as pipe:
            pipe.hget(keys.ACCESS, digest)
            pipe.hvals(keys.key("shared-task-teams", digest[:-SHA_DIGITS]))
            pipe.exists(keys.ACCESS)
            held, teams, there = pipe.execute()
        known: list[ApiKey | Team] = [_read(held)] if held is not None else []
        known += [team for data in teams if (team := Team.of(data)).digest == digest]
        now = time.time()
        return next((own for own in known if own.valid(now)), None), self._remember(there)

    def _remember(self, there: object) -> bool:
        """Whether there ever was a key, which is never forgotten."""
        if self._marker is not None and not self._needed:
            if there:
                self._marker.touch(0o600)
            there = there or self._marker.exists()
        self._needed = self._needed or bool(there)
        return self._needed

    def _all(self) -> dict[str, ApiKey]:
        held = cast("dict[bytes, bytes]", self._redis.hgetall(keys.ACCESS))
        return {decoded(digest): _read(data) for digest, data in held.items()}


def digest_of(secret: str) -> str:
    """What is stored of a key, behind the id of its task where it is a team's token.

    Keys are random, so that no slow hash is needed.
    """
    team = secret.startswith(TEAM_PREFIX) and secret.isascii()
    task = secret[len(TEAM_PREFIX) :][: keys.ID_DIGITS] if team else ""
    return task + hashlib.sha256(secret.encode("utf-8", "backslashreplace")).hexdigest()


def _read(data: bytes) -> ApiKey:
    facts = json.loads(data)
    return ApiKey(**{**facts, "scopes": tuple(facts["scopes"])})


SESSION_SECONDS = 12 * 3600
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
        self._redis.set(_key(token), digest, ex=SESSION_SECONDS)
        group = keys.key("sessions", digest)
        if old := newest(self._redis, group, _key(token), SESSION_SECONDS, MOST_SESSIONS):
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
