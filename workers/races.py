"""Races whose scores arrive in batches: stored, looked at, and what they decided announced.

Scores are facts by item, which never change. What is shown is an ordinary report of those that are
there, which a worker writes after each batch. What was decided is kept, and announced once, in the
step that shows the report which says it. `app` calls this, and workers `look`.

Every method may raise StorageError, and those that take an id raise NotFoundError for one that is
unknown or another caller's and GoneError for one that expired or was deleted.
"""

import hashlib
import json
import time
from collections.abc import Mapping, Sequence
from contextlib import suppress
from dataclasses import dataclass, field, replace
from typing import Any

import numpy as np
from redis.exceptions import OutOfMemoryError

from sigtest.arrays import Array
from sigtest.data.names import check_name, choose
from sigtest.errors import LimitError
from sigtest.meta_evaluation.scored import MOST_CELLS
from sigtest.race.compute import SECONDS, SequentialQuestion, compute, mean_of
from sigtest.race.kind import KIND
from sigtest.race.report import SequentialReport
from sigtest.render.records import render_json
from sigtest.requests.notes import Notes
from sigtest.requests.races import RaceRequest, SequentialRequest
from sigtest.version import __version__
from workers.errors import NotReadyError, ScoredError, guarded
from workers.queue import Context
from workers.store import codec, keys, records
from workers.store.codec import decoded
from workers.store.lasting import Shelf, unseen
from workers.store.records import FIELDS, Check, Link, Record, Status, Task, envelope_of
from workers.store.usage import check_room, weigh
from workers.store.webhooks import Message, announce

LOOKS = 5  # at a race whose scores come faster than they are looked at
FACTS = (
    "caller", "created", "expiry", "about", "items", "observations", "shown", "before", "over",
    "changed", "bytes",
)  # fmt: skip


@dataclass(frozen=True)
class RaceRecord:
    """A race as its caller sees it.

    Attributes:
        id: 32 hexadecimal digits: a hash of caller, name, systems and choices.
        caller: Whose it is.
        name: What its caller calls it.
        systems: Names of all that race.
        settings: How it is decided, as it was asked for.
        created_at: Seconds since the epoch.
        expires_at: When it will be forgotten unless scores come, seconds since the epoch.
        items: That some system has a score of.
        observations: Scores.
        shown: Id of the question that it shows; empty before there is one.
        before: The one before, which somebody may be reading.
        over: Who was left, and since which item; nothing before.
        envelope: What is written on it.
        changed_at: Seconds since the epoch.
        size: Bytes of the store that it takes.
    """

    id: str
    caller: str
    name: str
    systems: tuple[str, ...]
    settings: Mapping[str, Any]
    created_at: float
    expires_at: float
    items: int
    observations: int
    shown: str
    before: str
    over: Mapping[str, Any] | None
    envelope: Notes
    changed_at: float
    size: int = field(repr=False, compare=False)

    @property
    def current(self) -> str:
        """Id of the question about all scores that are there: they only become more."""
        return keys.hashed("race", self.id, keys.MAKE, str(self.observations))

    @property
    def pending(self) -> bool:
        """Whether there are scores that the report does not have yet."""
        return self.observations > 0 and self.shown != self.current

    @property
    def etag(self) -> str:
        """Changes whenever anything else does."""
        return hashlib.sha256(repr(self).encode()).hexdigest()[:32]

    def question(self, scores: Array) -> SequentialQuestion:
        """What (n, S) scores ask."""
        choices = SequentialRequest.of(self.settings)
        return SequentialQuestion(self.systems, scores, mean_of(choices), choices)

    @property
    def task(self) -> Task:
        """The task that looks at it."""
        seconds = 0.1 + SECONDS * self.observations * len(self.systems)
        return Task(look.__name__, self.id, (self.observations,), seconds)


@guarded
class Races(Shelf[RaceRecord]):
    """The races of all callers; safe to share between threads.

    Args:
        context: The stores and the queue.
    """

    kind, noun, listed, busy = "race", "race", "races", keys.RACING

    def __init__(self, context: Context) -> None:
        super().__init__(context.redis, context.settings)
        self._context = context

    def make(self, wanted: RaceRequest, caller: str) -> tuple[RaceRecord, bool]:
        """Make a race; equal ones of a caller are the same. The race, and whether it was made.

        Raises:
            SigtestError: A name that cannot be used, or no room.
        """
        check_name(wanted.name, "race")
        for name in wanted.systems:
            check_name(name, field="systems")
        check_room(self.redis, self.settings, caller)
        dumped = wanted.model_dump(mode="json", exclude_defaults=True, exclude={*FIELDS})
        about = json.dumps(dumped)
        race_id = keys.hashed(caller, "race", about)
        facts = {"about": about, "items": 0, "observations": 0}
        return self.create(race_id, caller, facts, wanted.written())

    def stored(self, name: str) -> RaceRecord | None:
        """A race, whoever's it is, unless it is gone."""
        held = self.redis.hmget(keys.key("race", name), (*FACTS, *FIELDS))
        return self._record(name, held)

    def besides(self, pipe: Any, name: str) -> tuple[list[str], list[str]]:
        """Its reports are deleted with a race."""
        shown = pipe.hmget(keys.key("race", name), ["shown", "before"])
        return [decoded(own) for own in shown if own], []

    def delete(self, name: str, caller: str, check: Check = unseen) -> None:
        """Delete a race with its scores and reports."""
        super().delete(name, caller, check)
        with suppress(OutOfMemoryError):  # a full server takes nothing new
            self._context.feed.drop(name)

    def behind(self, link: Link) -> Record:
        """What the public link of a race leads to: the report that it shows now.

        Raises:
            NotReadyError: It shows none yet.
        """
        race = self.stored(link.name)
        record = self.shown(race.id, race.caller)[1] if race is not None else None
        if race is None or record is None:
            raise NotReadyError("There is no report of this race yet; ask again.")
        return replace(record, link=replace(link, title=race.name))

    # scores

    def observe(
        self, race_id: str, caller: str, items: Sequence[str], scores: Mapping[str, Array]
    ) -> RaceRecord:
        """Take a batch of scores, all or none; those that are there already change nothing.

        Args:
            race_id: The race.
            caller: Whose it is.
            items: Names of n items, in order of their arrival.
            scores: (n,) of each system, NaN where it has none.

        Raises:
            ScoredError: Another score is there of an item and system.
            SigtestError: One outside of the scale, or too many; another system.
        """
        check_room(self.redis, self.settings, caller)
        race = self.find(race_id, caller)
        size, names = len(race.systems), [item.encode("utf-8", "surrogatepass") for item in items]
        table = np.full((len(items), size), np.nan)
        for name, own in scores.items():
            choose(name, race.systems, "scores", "system of the race")
            table[:, race.systems.index(name)] = own
        race.question(table).check(items)
        record, held = (keys.key(part, race_id) for part in ("race", "race-items"))
        none = np.full(1 + 2 * size, np.nan)  # its row; of each system a score, and when it came

        def write(pipe: Any) -> bool | None:
            count, there = pipe.hget(record, "observations"), pipe.hlen(held)
            found = pipe.hmget(held, names)
            pipe.multi()
            rows = np.array([none if row is None else np.frombuffer(row) for row in found])
            new = np.isnan(rows[:, 0])
            rows[new, 0] = there + np.arange(new.sum())
            known, came = np.split(rows[:, 1:], 2, axis=1)
            fresh = np.isfinite(table) & np.isnan(known)
            for i, s in np.argwhere(np.isfinite(table) & ~fresh & (known != table)):
                raise ScoredError(
                    f"Item {items[i]!r} has a score of {known[i, s]:g}, not {table[i, s]:g}, for "
                    f"system {race.systems[s]!r}. A score stays; nothing of this batch is taken.",
                    field="scores",
                    system=race.systems[s],
                )
            if (there + new.sum()) * size > MOST_CELLS:
                what = f"A race has up to {MOST_CELLS:,} scores: systems times items."
                raise LimitError(what, limit="scores", field="scores")
            if not fresh.any():
                return None
            known[fresh], came[fresh] = table[fresh], int(count)
            changed = np.flatnonzero(fresh.any(axis=1)).tolist()
            pipe.sadd(keys.RACING, race_id)
            pipe.hset(held, mapping={names[i]: rows[i].tobytes() for i in changed})
            pipe.hincrby(record, "observations", int(fresh.sum()))
            pipe.hincrby(record, "items", int(new.sum()))
            return True

        comes = self.change(race_id, caller, write, watched=[held])
        after = self.find(race_id, caller)
        if comes:
            self._context.feed.add(caller, [after.task])
        return after

    def shown(self, race_id: str, caller: str) -> tuple[RaceRecord, Record | None]:
        """A race and the question that it shows; a worker is asked to look where scores wait."""
        race = self.find(race_id, caller)
        stored = self._context.questions.stored(race.shown) if race.shown else None
        if race.shown and stored is None:  # somebody deleted it
            self.redis.hdel(keys.key("race", race_id), "shown")
            race = replace(race, shown="")
        if race.pending and self.redis.sadd(keys.RACING, race_id):
            self._context.feed.add_view(caller, race.task)
        return race, stored

    def decided(self, race_id: str, first: int) -> list[str]:
        """Decided pairs in JSON, in the order in which they were known, from a number on."""
        return [*map(decoded, self.redis.lrange(keys.key("race-facts", race_id), first, -1))]

    # what workers do

    def asked(self, race_id: str) -> tuple[RaceRecord, SequentialQuestion, Array | None] | None:
        """A race, what its scores ask, and when they came where that is not as their rows say.

        Nothing where it is gone, or shows all of them; then nothing is left to look at.
        """
        with self.redis.pipeline() as pipe:
            pipe.hmget(keys.key("race", race_id), (*FACTS, *FIELDS))
            pipe.hvals(keys.key("race-items", race_id))
            facts, held = pipe.execute()
        race = self._record(race_id, facts)
        if race is None or not race.pending:
            self.settle(race_id, race.observations if race else 0)
            return None
        rows = np.frombuffer(b"".join(held)).reshape(len(held), -1)
        scores, came = np.split(rows[np.argsort(rows[:, 0]), 1:], 2, axis=1)
        late = (np.fmax.accumulate(came) > came).any()
        return race, race.question(scores), came if late else None

    def show(self, race: RaceRecord, report: SequentialReport) -> None:
        """Store a report and show it; announce what it decides, each decision once."""
        caller, question_id = race.caller, race.current
        record, facts = (keys.key(part, race.id) for part in ("race", "race-facts"))
        question, stored = (keys.key(part, question_id) for part in ("question", "report"))
        data = codec.pack_bytes(render_json(KIND.present(report)).encode())
        known = {
            "caller": caller, "kind": KIND.path, "created": repr(time.time()),
            "about": json.dumps({"systems": race.systems, "metrics": [report.statistic]}),
            "outline": codec.pack_json({}), "outcome": Status.SUCCEEDED.value,
            "progress": json.dumps(vars(records.Progress("report", 1, 1))),
            "computed_with": __version__, "pictures": json.dumps(KIND.drawable(report)),
        }  # fmt: skip
        decided = [
            json.dumps({"a": pair.a, "b": pair.b, "decided": pair.decided, "since": pair.since})
            for pair in report.pairs
            if pair.decided
        ]
        named = {"id": race.id, "name": race.name, **vars(race.envelope)}

        def write(pipe: Any) -> None:
            now, told = self.stored(race.id), {*map(_pair_of, pipe.lrange(facts, 0, -1))}
            pipe.multi()
            if now is None or now.shown == question_id:  # two looked at the same scores
                return
            expiry = round(now.expires_at * 1000)
            pipe.hset(question, mapping={**known, "expiry": expiry})
            pipe.set(stored, data, pxat=expiry)
            pipe.hset(record, mapping={"shown": question_id, "before": now.shown})
            if now.before not in ("", question_id):
                weigh(pipe, caller, "question", now.before, lasts=False)
                pipe.delete(*(keys.key(part, now.before) for part in keys.OF_QUESTION))
            if new := [fact for fact in decided if _pair_of(fact) not in told]:
                pipe.rpush(facts, *new)
                message = Message.of("race.decided", {**named, "pairs": [*map(json.loads, new)]})
                announce(pipe, caller, message)
            if report.over and now.over is None:
                end = {"leader": report.leader, "since": report.over}
                pipe.hset(record, "over", json.dumps(end))
                announce(pipe, caller, Message.of("race.over", {**named, **end}))
            for name in (question, facts):
                pipe.pexpireat(name, expiry)
            weigh(pipe, caller, "question", question_id)
            weigh(pipe, caller, "race", race.id)
            pipe.publish(keys.key("news", race.id), question_id)

        self.redis.transaction(write, record, facts)

    def settle(self, race_id: str, seen: int) -> None:
        """Nothing is left to look at, unless scores came since these were seen."""
        record = keys.key("race", race_id)

        def write(pipe: Any) -> None:
            count = pipe.hget(record, "observations")
            pipe.multi()
            if count is None or int(count) == seen:
                pipe.srem(keys.RACING, race_id)

        self.redis.transaction(write, record)

    def _record(self, race_id: str, held: Sequence[bytes | None]) -> RaceRecord | None:
        """A race by its fields, unless it is gone."""
        if held[0] is None:
            return None
        caller, created, expiry, about, items, observations, shown, before, over, changed, size = (
            decoded(value or b"") for value in held[: len(FACTS)]
        )
        settings, expires_at = json.loads(about), int(expiry) / 1000
        return RaceRecord(
            race_id, caller, settings.pop("name"), tuple(settings.pop("systems")), settings,
            float(created), expires_at, int(items), int(observations), shown, before,
            json.loads(over or "null"), envelope_of(held[len(FACTS) :]),
            int(changed or 0) / 1000 or expires_at - self.settings.retention, int(size or 0),
        )  # fmt: skip


def look(context: Context, race_id: str, *seen: int) -> None:
    """Show what the scores of a race say, as long as more come.

    What comes after the last look stays for the reconciler.
    """
    races = Races(context)
    for _ in range(LOOKS):
        if (asked := races.asked(race_id)) is None:
            return
        race, question, came = asked
        races.show(race, compute(question, came=came))


def _pair_of(fact: str | bytes) -> tuple[str, str]:
    """The systems of a decided pair."""
    told = json.loads(fact)
    return told["a"], told["b"]
