"""Races whose scores arrive in batches: stored, looked at, and what they decided announced.

`observe` stores a batch and asks a worker to `look`: it reads all scores, computes the ordinary
report of them, and `show`s that as the question with the id of the race, in one step with what is
announced of it; `current` is the race and that question. Scores are facts by item, which never
change, and so are decisions: each is announced once.

Every method may raise StorageError, and those that take an id raise NotFoundError for one that is
unknown or another caller's and GoneError for one that expired or was deleted.
"""

import json
import time
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from typing import Any

import numpy as np

from sigtest.arrays import Array
from sigtest.data.names import check_name
from sigtest.errors import LimitError
from sigtest.kinds import About
from sigtest.meta_evaluation.scored import MOST_CELLS
from sigtest.race.compute import SECONDS, SequentialQuestion, SequentialReport, compute, mean_of
from sigtest.race.kind import KIND
from sigtest.render.records import render_json
from sigtest.requests.races import RaceRequest, SequentialRequest
from workers.errors import NotReadyError, ScoredError, guarded
from workers.queue import Context
from workers.store import keys
from workers.store.codec import decoded
from workers.store.lasting import COMMON, Shelf
from workers.store.questions import finish, finished
from workers.store.records import FIELDS, Lasting, Link, Record, Task
from workers.store.usage import check_room, weigh
from workers.store.webhooks import Message, announce

FACTS = ("about", "items", "observations", "seen", "over", "changed")


@dataclass(frozen=True, kw_only=True)
class RaceRecord(Lasting):
    """A race.

    Attributes:
        name: What its caller calls it.
        systems: Names of all that race.
        settings: How it is decided, as it was asked for.
        items: That some system has a score of.
        observations: Scores.
        seen: Scores that its report has; 0 where another version wrote that.
        over: Who was left, and since which item; nothing before.
        changed_at: Seconds since the epoch.
    """

    name: str
    systems: tuple[str, ...]
    settings: Mapping[str, Any]
    items: int
    observations: int
    seen: int
    over: Mapping[str, Any] | None
    changed_at: float

    @property
    def pending(self) -> bool:
        """Whether there are scores that the report does not have yet."""
        return self.observations > self.seen

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
        held = self.redis.hmget(keys.key("race", name), FACTS + COMMON)
        about, items, observations, seen, over, changed = held[: len(FACTS)]
        if about is None:
            return None
        settings, (make, _, looked) = json.loads(about), decoded(seen or b"").rpartition(" ")
        return RaceRecord(
            **self.common(name, held[len(FACTS) :]),
            name=settings.pop("name"),
            systems=tuple(settings.pop("systems")),
            settings=settings,
            items=int(items),
            observations=int(observations),
            seen=int(looked) if make == keys.MAKE else 0,
            over=json.loads(over or b"null"),
            changed_at=int(changed) / 1000,
        )

    def besides(self, pipe: Any, name: str) -> list[str]:
        """Its report is deleted with a race."""
        return [name]

    def behind(self, link: Link) -> Record:
        """What the public link of a race leads to: the report that it shows now.

        Raises:
            NotReadyError: It shows none yet.
        """
        race = self.stored(link.name)
        record = self.current(race.id, race.caller)[1] if race is not None else None
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
        table = race.question(np.empty((0, size))).rows(scores, items)
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

    def current(self, race_id: str, caller: str) -> tuple[RaceRecord, Record | None]:
        """A race and the question that it shows; a worker is asked to look where scores wait."""
        race, stored = self.find(race_id, caller), self._context.questions.stored(race_id)
        if race.seen and stored is None:  # somebody deleted it
            self.redis.hdel(keys.key("race", race_id), "seen")
            race = replace(race, seen=0)
        if race.pending and self.redis.sadd(keys.RACING, race_id):
            self._context.feed.add_view(caller, race.task)
        return race, stored

    def decisions(self, race_id: str, first: int) -> list[str]:
        """Decided pairs in JSON, in the order in which they were known, from a number on."""
        return [*map(decoded, self.redis.lrange(keys.key("race-facts", race_id), first, -1))]

    # what workers do

    def scores(self, race: RaceRecord) -> tuple[Array, Array | None]:
        """(n, S) scores, and when they came where that is not as their rows say."""
        held = self.redis.hvals(keys.key("race-items", race.id))
        rows = np.frombuffer(b"".join(held)).reshape(len(held), -1)
        scores, came = np.split(rows[np.argsort(rows[:, 0]), 1:], 2, axis=1)
        late = (np.fmax.accumulate(came) > came).any()
        return scores, came if late else None

    def show(self, race_id: str, report: SequentialReport) -> None:
        """Store a report, which is shown from now on; announce what it decides, each once."""
        record, facts = (keys.key(part, race_id) for part in ("race", "race-facts"))
        about = About(tuple(own.name for own in report.systems), (report.statistic,))
        known = finished(KIND.path, about, {}, KIND.drawable(report))
        known["created"] = repr(time.time())
        data = render_json(KIND.present(report)).encode()

        def write(pipe: Any) -> None:
            race, before = self.stored(race_id), map(json.loads, pipe.lrange(facts, 0, -1))
            known_pairs = {(fact["a"], fact["b"]) for fact in before}
            pipe.multi()
            if race is None or race.seen >= report.observations:  # another one looked, too
                return
            caller, expiry = race.caller, round(race.expires_at * 1000)
            finish(pipe, self.settings, race_id, {**known, "caller": caller}, data, expiry)
            pipe.hset(record, "seen", f"{keys.MAKE} {report.observations}")
            named = {"id": race.id, "name": race.name, **vars(race.envelope)}
            new = [
                {"a": pair.a, "b": pair.b, "decided": pair.decided, "since": pair.since}
                for pair in report.pairs
                if pair.decided and (pair.a, pair.b) not in known_pairs
            ]
            if new:
                pipe.rpush(facts, *map(json.dumps, new))
                announce(pipe, caller, Message.of("race.decided", {**named, "pairs": new}))
            if report.over and race.over is None:
                end = {"leader": report.leader, "since": report.over}
                pipe.hset(record, "over", json.dumps(end))
                announce(pipe, caller, Message.of("race.over", {**named, **end}))
            pipe.pexpireat(facts, expiry)
            weigh(pipe, caller, "race", race_id)
            pipe.publish(keys.key("news", race_id), race_id)

        self.redis.transaction(write, record, facts)

    def settle(self, race_id: str) -> None:
        """Nothing is left to look at, unless scores came that its report does not have."""

        def write(pipe: Any) -> None:
            race = self.stored(race_id)
            pipe.multi()
            if race is None or not race.pending:
                pipe.srem(keys.RACING, race_id)

        self.redis.transaction(write, keys.key("race", race_id))


def look(context: Context, race_id: str, *seen: int) -> None:
    """Show what the scores of a race say; for those that come meanwhile a task waits already."""
    races = Races(context)
    if (race := races.stored(race_id)) is not None and race.pending:
        scores, came = races.scores(race)
        races.show(race_id, compute(race.question(scores), came=came))
    races.settle(race_id)
