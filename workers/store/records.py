"""Questions as records of the store: what their fields say, what is written on them, listings.

A listing is a sorted set of places, all with score 0 and so in the order of their bytes: a time in
hexadecimal digits, then an id. A place is also the cursor of the page that follows it.
"""

from __future__ import annotations

import json
import re
from collections.abc import Callable, Collection, Mapping, Sequence
from dataclasses import dataclass, field
from enum import StrEnum
from typing import Any, TypeVar, cast

from redis import Redis

from sigtest.errors import InputError
from sigtest.kinds import About
from sigtest.requests.notes import PARTS, Noted, Notes, PlainNotes, milliseconds, spelled
from workers.errors import NO_PROBLEM
from workers.store import keys
from workers.store.codec import decoded


@dataclass(frozen=True)
class Task:
    """One call.

    Attributes:
        name: The function.
        owner: Id of the question or test set it works on.
        arguments: What else it is told.
        seconds: That it is predicted to take, of one core.
    """

    name: str
    owner: str
    arguments: tuple[int | str, ...] = ()
    seconds: float = field(default=0.0, compare=False)

    @property
    def key(self) -> str:
        """Id of the task; equal tasks have equal ids and are queued once."""
        return "-".join(str(part) for part in (self.owner, self.name, *self.arguments))

    @classmethod
    def of_key(cls, key: str) -> Task:
        """The task with this id, whose arguments are text then."""
        owner, _, rest = key.partition("-")
        name, *arguments = rest.split("-")
        return cls(name, owner, tuple(arguments))

    @property
    def spelled(self) -> str:
        """A line of text that `of` turns into this task: its seconds come first."""
        return f"{self.seconds:.6f} {json.dumps([self.name, self.owner, *self.arguments])}"

    @classmethod
    def of(cls, spelled: str) -> Task:
        """The task that `spelled` wrote."""
        seconds, _, call = spelled.partition(" ")
        name, owner, *arguments = json.loads(call)
        return cls(name, owner, tuple(arguments), float(seconds))


def owner_of(key: str) -> str:
    """Id of the question or test set that the task with this id works on."""
    return key.partition("-")[0]


Check = Callable[[str], None]  # of an ETag; raises where it is not the one that is meant


class Status(StrEnum):
    """Where a question stands."""

    QUEUED = "queued"
    RUNNING = "running"
    SUCCEEDED = "succeeded"
    FAILED = "failed"
    CANCELLED = "cancelled"

    @property
    def finished(self) -> bool:
        """Whether it stays as it is."""
        return self not in {Status.QUEUED, Status.RUNNING}


@dataclass(frozen=True)
class Progress:
    """How much of the current phase exists.

    Attributes:
        phase: `statistics` (arrays), `resampling` (resamples) or `report`.
        done: How many of them exist.
        total: How many there will be.
    """

    phase: str
    done: int
    total: int


@dataclass(frozen=True)
class Link:
    """A public link.

    Attributes:
        kind: Of what it leads to, as its key has it: `question` or `testset`.
        name: Id of that.
        word: What its address ends with: the id, and a secret.
        origins: Other sites whose pages may show it; `*` for all.
        title: Of the board that it leads to.
    """

    kind: str
    name: str
    word: str
    origins: tuple[str, ...] = ()
    title: str = ""


@dataclass(frozen=True, kw_only=True)
class Lasting:
    """What lasts, as its caller sees it.

    Attributes:
        id: 32 hexadecimal digits: a hash of caller, content, choices and versions.
        caller: Whose it is.
        created_at: Seconds since the epoch.
        expires_at: When it will be forgotten unless something changes, seconds since the epoch.
        size: Bytes of the store that it takes.
        envelope: What its caller wrote on it.
    """

    id: str
    caller: str
    created_at: float
    expires_at: float
    size: int = field(repr=False, compare=False)
    envelope: Notes

    @property
    def etag(self) -> str:
        """Changes whenever anything else does."""
        return keys.hashed(repr(self))


@dataclass(frozen=True, kw_only=True)
class Record(Lasting):
    """A question.

    Attributes:
        kind: Path of its kind.
        status: Where it stands.
        progress: How far it is.
        about: Names and labels of what it is about.
        testset: Id of the test set that it shows the leaderboard of, if it does.
        computed_with: Version of sigtest that computed it, once it has succeeded.
        pictures: Names of those that can be drawn of its report.
        error: Why it failed, if it did.
        problem: The same for programs: `type`, and `field`, `system` and `line` where known.
        frozen: Whether it is what a leaderboard showed, to stay until it is deleted by itself.
        link: The public link that led to it.
    """

    kind: str
    status: Status
    progress: Progress
    about: About
    testset: str | None = None
    computed_with: str | None = None
    pictures: tuple[str, ...] = ()
    error: str | None = None
    problem: Mapping[str, Any] = field(default_factory=lambda: NO_PROBLEM, hash=False)
    frozen: bool = False
    link: Link | None = None

    @property
    def space(self) -> str:
        """Where what it computes is cached."""
        return self.testset or keys.space_of(self.caller)

    @property
    def etag(self) -> str:
        """Changes whenever anything else does."""
        told = f"{self.created_at} {self.status} {self.progress} {self.error} {self.envelope}"
        return keys.hashed(self.id, told)


@dataclass(frozen=True)
class Place:
    """Where an unfinished question stands among its caller's; other callers' are served in turn.

    Attributes:
        seconds: Of one core, predicted for it.
        smaller: How many questions of its caller are smaller and come first.
        before: Seconds of one core predicted for those.
    """

    seconds: float
    smaller: int
    before: float


FIELDS = tuple(PARTS)


def change(
    redis: Redis,
    name: str,
    write: Callable[[Any], object],
    check: Callable[[], None] | None = None,
) -> list[Any] | None:
    """Write something of what has this key, undivided; nothing where it is gone.

    Args:
        redis: The server.
        name: The key.
        write: Gives a pipeline what is to be written.
        check: Raises where it is not as expected; nothing comes between this and the writing.

    Returns:
        What the server answers.
    """

    def changed(pipe: Any) -> None:
        if check is not None:
            check()
        there = bool(pipe.exists(name))
        pipe.multi()
        if there:
            write(pipe)
            pipe.ping()  # that it was there, also where there was nothing to write

    answers: Any = redis.transaction(changed, name)
    return answers[:-1] if answers else None


# ARGV: the commands of a transaction, each after the number of its words
IN_ORDER = """
local at = 1
while ARGV[at] do
    local last = at + tonumber(ARGV[at])
    redis.call(unpack(ARGV, at + 1, last))
    at = last + 1
end
"""
DELETING = {"DEL", "HDEL", "LREM", "SREM", "ZREM"}


def delete_first(pipe: Any) -> None:
    """Let what a pipeline deletes go before it writes anything, undivided.

    A full server refuses a transaction that writes, but no script that began to delete.
    """
    commands = [words for words, _ in pipe.command_stack]
    commands.sort(key=lambda words: words[0] not in DELETING)
    pipe.command_stack.clear()
    pipe.eval(IN_ORDER, 0, *(word for words in commands for word in (len(words), *words)))


def clock(redis: Any) -> float:
    """Seconds since the epoch by the clock of the store: those of machines may differ."""
    seconds, micros = redis.time()
    return float(seconds + micros / 1e6)


def fields_of(notes: Noted) -> dict[str, str | bytes]:
    """What is said, by field; an end in milliseconds, which scripts of the store compare."""
    ends = {name: milliseconds(notes[name]) for name in ("expires",) if name in notes}
    return {name: json.dumps(value) for name, value in {**notes, **ends}.items()}


def envelope_of(values: Sequence[bytes | str | None]) -> Notes:
    """The envelope whose FIELDS have these values."""
    held = zip(FIELDS, values, strict=True)
    said = {name: json.loads(value) for name, value in held if value is not None}
    return Notes.of({**said, "expires": spelled(said.get("expires", 0))})


def by_name(held: Mapping[bytes, bytes]) -> dict[str, PlainNotes]:
    """Envelopes of several things, whose fields are a part and a name."""
    said: dict[str, dict[str, object]] = {}
    for key, value in held.items():
        part, _, name = decoded(key).partition(" ")
        said.setdefault(name, {})[part] = json.loads(value)
    return {name: PlainNotes.of(own) for name, own in said.items()}


SHOWN = (
    "caller", "kind", "created", "expiry", "size", "bytes", "about", "testset", "started",
    "outcome", "progress", "computed_with", "pictures", "error", "problem", "frozen", *FIELDS,
)  # fmt: skip
NOTHING_SEEN = Progress("report", 0, 1)


def stored_of(question_id: str, fields: Mapping[str, Any]) -> Record | None:
    """A question by its fields SHOWN, unless it is gone.

    Its progress is NOTHING_SEEN while it is unfinished: which pieces exist stands elsewhere.
    """
    facts: dict[str, Any] = {**dict.fromkeys(SHOWN), **fields}
    if facts["caller"] is None:
        return None
    texts = ("testset", "computed_with", "error")
    testset, computed_with, error = (decoded(facts[name] or b"") or None for name in texts)
    progress = NOTHING_SEEN
    if facts["outcome"] is not None:
        status = Status(decoded(facts["outcome"]))
        progress = Progress(**json.loads(facts["progress"]))
    else:
        status = Status.QUEUED if facts["started"] is None else Status.RUNNING
    names = {field: tuple(held) for field, held in json.loads(facts["about"]).items()}
    return Record(
        id=question_id,
        caller=decoded(facts["caller"]),
        kind=decoded(facts["kind"]),
        status=status,
        progress=progress,
        created_at=float(facts["created"]),
        expires_at=int(facts["expiry"]) / 1000,
        size=int(facts["bytes"] or facts["size"] or 0),
        about=About(**names),
        testset=testset,
        computed_with=computed_with if status is Status.SUCCEEDED else None,
        pictures=tuple(json.loads(facts["pictures"] or "[]")),
        error=error,
        problem=json.loads(facts["problem"]) if facts["problem"] else NO_PROBLEM,
        envelope=envelope_of([facts[name] for name in FIELDS]),
        frozen=facts["frozen"] is not None,
    )


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

    def passes(self, envelope: PlainNotes, status: str = "", name: str = "") -> bool:
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


def shorten(redis: Redis, listing: str, kind: str) -> None:
    """Let what is gone leave a listing to which something is added: of two places at random.

    So no more than about half of them are of what is gone, whether anybody looks or not.

    Args:
        redis: The server.
        listing: Its key.
        kind: Of the keys of what is listed.
    """
    some = cast("list[bytes]", redis.zrandmember(listing, 2))
    places = list(map(decoded, some))
    with redis.pipeline(transaction=False) as pipe:
        for place in places:
            pipe.exists(keys.key(kind, place[DIGITS:]))
        there = pipe.execute()
    if gone := [place for place, known in zip(places, there, strict=True) if not known]:
        redis.zrem(listing, *gone)
