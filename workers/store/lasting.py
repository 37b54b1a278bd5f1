"""What lasts: test sets, shared tasks, races and questions have an owner, notes, an end, a link.

Each is a hash with fields `caller`, `created`, `place` in the listing, `expiry` (in ms), what is
written on it, and `link` and `origins` where it is public. A shelf is all of one kind, and has the
verbs that all have in common; what only one kind can do stands with it.
"""

from __future__ import annotations

import hmac
import json
import secrets
import time
from collections.abc import Callable, Mapping, Sequence
from contextlib import suppress
from typing import Any, ClassVar, Generic, TypeVar

from redis import Redis
from redis.exceptions import OutOfMemoryError

from sigtest.requests.notes import Noted
from workers.errors import GoneError, NotFoundError
from workers.settings import Settings
from workers.store import keys
from workers.store.codec import decoded
from workers.store.records import (
    ALL,
    FIELDS,
    Check,
    Filter,
    Lasting,
    Link,
    delete_first,
    envelope_of,
    fields_of,
    page,
    place_of,
    shorten,
)
from workers.store.usage import WHOLES, check_lasting, hold, stay, weigh

LINK_BYTES = 16  # of a public link: too many to guess
LINKED = ("question", "testset", "race")  # what may have one
PUBLIC = ("link", "origins")
COMMON = ("caller", "created", "expiry", "bytes", *FIELDS)


R = TypeVar("R", bound=Lasting)
T = TypeVar("T")


def unseen(etag: str) -> None:
    """Check nothing: whoever asks has not seen it before."""


class Shelf(Generic[R]):
    """All things of one kind. Raises what redis raises.

    Methods that take an id and a caller raise NotFoundError where it is unknown or another
    caller's, and GoneError where it expired or was deleted. A `check` is called with the ETag and
    raises where that is not the one that is meant; nothing comes between it and what follows.

    Args:
        redis: The server, with bytes as answers.
        settings: How long things live, and how much may last longer.

    Attributes:
        kind: What keys call it; one of WHOLES.
        noun: What sentences call it.
        listed: What its listing is called.
        body: The key of what is stored beside a record, whole, where there is such a thing.
        busy: The key of the ids of those with something to do: questions without an outcome, test
            sets whose systems have changed since they were settled, races with scores to look at.
    """

    kind: ClassVar[str]
    noun: ClassVar[str]
    listed: ClassVar[str]
    body: ClassVar[str] = ""
    busy: ClassVar[str] = keys.PENDING

    def __init__(self, redis: Redis, settings: Settings) -> None:
        self.redis: Any = redis
        self.settings = settings

    def stored(self, name: str) -> R | None:
        """A thing, whoever's it is, unless it expired, was deleted or never was."""
        raise NotImplementedError

    def common(self, name: str, held: Sequence[bytes | None]) -> dict[str, Any]:
        """What the fields COMMON of a thing say of it."""
        caller, created, expiry, size, *notes = held
        return {
            "id": name,
            "caller": decoded(caller or b""),
            "created_at": float(created or 0),
            "expires_at": int(expiry or 0) / 1000,
            "size": int(size or 0),
            "envelope": envelope_of(notes),
        }

    def besides(self, pipe: Any, name: str) -> list[str]:
        """Questions that are deleted with a thing, the one that it shows first."""
        return []

    def gone(self, name: str) -> GoneError:
        """The error for a thing that was there."""
        return GoneError(f"The {self.noun} {name} expired or was deleted; make it again.")

    def was(self, name: str, caller: str) -> bool:
        """Whether the caller had something with this id that is gone now."""
        left = self.redis.get(keys.key("gone", name))
        return left is not None and decoded(left) == caller

    def missing(self, name: str, caller: str) -> NotFoundError:
        """The error for an id that nothing of the caller has."""
        if self.was(name, caller):
            return self.gone(name)
        return NotFoundError(f"There is no {self.noun} {name}.")

    def pending(self) -> set[str]:
        """Ids of those with something to do."""
        return {*map(decoded, self.redis.smembers(self.busy))}

    def find(self, name: str, caller: str) -> R:
        """A thing of the caller."""
        record = self.stored(name)
        if record is None or record.caller != caller:
            raise self.missing(name, caller)
        return record

    def listing(
        self,
        caller: str,
        cursor: str | None,
        limit: int,
        wanted: Filter = ALL,
        listed: str | None = None,
    ) -> tuple[list[R], str | None]:
        """The caller's, newest first, and the cursor of the next page if there is one.

        Raises:
            InputError: A cursor that no listing gave.
        """

        def passes(record: R) -> bool:
            status, title = getattr(record, "status", ""), getattr(record, "name", "")
            return wanted.passes(record.envelope, status, title)

        listing = keys.of_caller("listing", caller, listed or self.listed)
        return page(self.redis, listing, cursor, limit, self.stored, passes)

    def create(
        self,
        name: str,
        caller: str,
        facts: Mapping[str, Any],
        notes: Noted,
        until: int = 0,
        text: bytes = b"",
    ) -> tuple[R, bool]:
        """Store a thing; it, and whether it was not there before. Notes are written on either.

        Args:
            name: Its id.
            caller: Whose it is.
            facts: Fields of its record; a `kind` is what it is listed among.
            notes: What is written on it; what is not said stays.
            until: When it expires at the earliest, in ms.
            text: What is stored beside the record, if anything is.

        Raises:
            InputError: It would have expired already.
            BudgetError: The caller has too much that lasts.
        """
        now = time.time()
        written = fields_of(notes)
        record, listed = keys.key(self.kind, name), facts.get("kind", self.listed)
        lasts = int(written.get("expires", 0))
        check_lasting(self.redis, self.settings, caller, lasts, len(text), record)
        first = {"caller": caller, "created": repr(now), "place": place_of(name, now)}

        def write(pipe: Any) -> bool:
            new = not pipe.exists(record)
            pipe.multi()
            if new:
                pipe.hset(record, mapping={**first, **facts, **written})
                hold(pipe, caller, int((now + self.settings.retention) * 1000))
            if new and text:
                pipe.set(keys.key(self.body, name), text)
            return new

        while True:
            held = int(self.redis.hget(record, "expires") or 0)
            new = self.change(name, caller, write, until=max(until, lasts, held), new=listed)
            shorten(self.redis, keys.of_caller("listing", caller, listed), self.kind)
            with suppress(NotFoundError):  # somebody deleted it in between
                return self.describe(name, caller, {} if new else notes), new

    def change(
        self,
        name: str,
        caller: str,
        write: Callable[[Any], T],
        check: Check = unseen,
        *,
        until: int | None = None,
        new: str = "",
        watched: Sequence[str] = (),
    ) -> T:
        """Change a thing undivided, which then lives and stays listed as long as a new one.

        Args:
            name: Its id.
            caller: Whose it is.
            write: Reads what it decides by, calls `multi`, gives the pipeline what is to be
                written, and returns what is done; where that is nothing, it lives no longer.
            check: Raises where it is not as its caller thinks.
            until: When it is to expire, in ms, where that is later; as it says itself by default.
            new: What it is listed among, where it need not be there.
            watched: Further keys that must stay as they are meanwhile.
        """
        record = keys.key(self.kind, name)
        now = time.time()

        def changed(pipe: Any) -> T:
            if check is not unseen:
                check(self.find(name, caller).etag)
            owner, kind, expires = pipe.hmget(record, ["caller", "kind", "expires"])
            if not new and decoded(owner or b"") != caller:
                raise self.missing(name, caller)
            done = write(pipe)
            if done is None:
                return done
            pipe.hset(record, "changed", int(now * 1000))
            if done == "removed":
                delete_first(pipe)
            ends = int(expires or 0) if until is None else until
            expiry = max(ends, int((now + self.settings.retention) * 1000))
            listing = new or decoded(kind or self.listed)
            stay(pipe, self.settings, caller, self.kind, name, listing, expiry)
            return done

        done: T = self.redis.transaction(changed, record, *watched, value_from_callable=True)
        return done

    def describe(self, name: str, caller: str, notes: Noted, check: Check = unseen) -> R:
        """Write on a thing; what is not said stays.

        Raises:
            InputError: It would have expired already.
            BudgetError: The caller has too much that lasts.
        """
        record = keys.key(self.kind, name)
        fields = fields_of(notes)
        lasts, until = "expires" in fields, int(fields.get("expires", 0))
        check_lasting(self.redis, self.settings, caller, until, 0, record)

        def write(pipe: Any) -> bool | None:
            pipe.multi()
            if fields:
                pipe.hset(record, mapping=fields)
            return lasts or None

        if self.change(name, caller, write, check, until=until):
            self._follow(name, caller)
        return self.find(name, caller)

    def _follow(self, name: str, caller: str) -> None:
        """Let what a thing shows last as long as it does; what it showed before, no longer."""
        expiry = int(self.redis.hget(keys.key(self.kind, name), "expiry") or 0)
        for i, question in enumerate(self.besides(self.redis, name)):
            facts = self.redis.hmget(keys.key("question", question), ["kind", "expiry", "expires"])
            kind, (held, own) = decoded(facts[0] or b""), (int(fact or 0) for fact in facts[1:])
            ends = max(min(expiry, held) if i else expiry, own)
            stay(self.redis, self.settings, caller, "question", question, kind, ends)

    def delete(self, name: str, caller: str, check: Check = unseen) -> None:
        """Delete everything about a thing except that it was there."""
        record = keys.key(self.kind, name)

        def write(pipe: Any) -> list[str]:
            check(self.find(name, caller).etag)
            place, kind = pipe.hmget(record, ["place", "kind"])
            questions = self.besides(pipe, name)
            pipe.multi()
            for whole, own in ((self.kind, name), *(("question", own) for own in questions)):
                weigh(pipe, caller, whole, own, lasts=False)
                pipe.delete(*(keys.key(part, own) for part in WHOLES[whole]))
            listing = keys.of_caller("listing", caller, decoded(kind or self.listed))
            pipe.zrem(listing, place or "")
            pipe.srem(self.busy, name)
            pipe.hdel(keys.of_caller("pending", caller), name)
            return questions

        questions = self.redis.transaction(write, record, value_from_callable=True)
        # on its own: a full server takes nothing new, and must be emptied all the same
        with suppress(OutOfMemoryError), self.redis.pipeline() as pipe:
            for own in (name, *questions):
                pipe.set(keys.key("gone", own), caller, ex=self.settings.remembrance)
            pipe.set(keys.ERASE, 1)
            pipe.execute()

    # public links

    def link(self, name: str) -> Link | None:
        """The public link of a thing, if it has one."""
        return link_of(self.redis, self.kind, name)

    def share(self, name: str, caller: str, origins: Sequence[str] = ()) -> Link:
        """Give a thing a public link, with which it is read and nothing else.

        Args:
            name: Its id.
            caller: Whose it is.
            origins: Other sites whose pages may show it. The link stays, once there is one.
        """
        record = keys.key(self.kind, name)
        word = name + secrets.token_urlsafe(LINK_BYTES)

        def write(pipe: Any) -> None:
            pipe.multi()
            pipe.hsetnx(record, "link", word)
            pipe.hset(record, "origins", json.dumps(origins))

        self.change(name, caller, write)
        link = self.link(name)
        if link is None:
            raise self.gone(name)
        return link

    def unshare(self, name: str) -> None:
        """Take a public link back."""
        self.redis.hdel(keys.key(self.kind, name), *PUBLIC)


def link_of(redis: Any, kind: str, name: str) -> Link | None:
    """The public link of what has this id, if it has one."""
    word, origins = redis.hmget(keys.key(kind, name), PUBLIC)
    if not word:
        return None
    return Link(kind, name, decoded(word), tuple(json.loads(origins or b"[]")))


def linked(redis: Any, word: str) -> Link:
    """The public link of this address.

    Raises:
        NotFoundError: There is none, or it was taken back.
    """
    name = word[: keys.ID_DIGITS]
    for kind in LINKED if word.isascii() else ():
        link = link_of(redis, kind, name)
        if link is not None and hmac.compare_digest(link.word, word):
            return link
    raise NotFoundError("This link leads nowhere, or was taken back.")
