"""Comparisons in Redis: every key name and how long each key lives.

    sigtest:comparison:ID     hash     facts about a comparison: plan, cut, caller, outcome
    sigtest:texts:ID          hash     its test sets and systems, compressed (see `texts`)
    sigtest:blocks:ID         hash     blocks of resamples, by "start-stop"
    sigtest:attempts:ID       hash     how often each task was started
    sigtest:report:ID         string   canonical JSON of the report, compressed
    sigtest:gone:ID           string   the caller; outlives the comparison
    sigtest:pending           set      ids of unfinished comparisons
    sigtest:listing:CALLER    sorted   a caller's comparisons, by time
    sigtest:idempotency:HASH  string   id of the comparison that an idempotency key stands for
    sigtest:statistics:HASH   string   statistics of one system and metric, shared by comparisons
    sigtest:distribution:...  string   pseudo-statistics of one pair, made on demand
    sigtest:news:ID           channel  says that something about a comparison was finished

Everything that belongs to a comparison expires with it, whatever happens to those who wrote it.
Statistics and distributions hold no text; they expire some time after their last use.
"""

from __future__ import annotations

import hashlib
import json
import time
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any

from redis import Redis

from sigtest.arrays import Array
from sigtest.comparison.comparison import system_of, testset_of
from sigtest.data.testset import System, TestSet
from workers import codec, scripts, texts, work
from workers.codec import decoded
from workers.errors import GoneError, VersionError, gone
from workers.listings import page, place_of
from workers.pieces import Cut, Pieces, Run
from workers.records import Progress, Record, Status
from workers.settings import Settings
from workers.work import Asked, Blocks, Work

PREFIX = "sigtest:"
PENDING = PREFIX + "pending"
SHOWN = ("caller", "created", "expiry", "names", "started", "outcome", "progress", "error")
OWN = ("comparison", "texts", "blocks", "attempts", "report")
Numbers = tuple[int, int, int, int]  # of the systems a and b, the metric and the test

DISTRIBUTION_SECONDS = 3600
PROBE_SECONDS = 10


@dataclass(frozen=True)
class Stored:
    """A comparison as it is stored.

    Attributes:
        record: What its caller is told.
        caller: Whose it is.
    """

    record: Record
    caller: str


class Store:
    """Reads and writes comparisons and their pieces. Raises what redis raises.

    Args:
        redis: The server, with bytes as answers.
        settings: How long things live.
    """

    def __init__(self, redis: Redis, settings: Settings) -> None:
        self.redis = redis
        self.settings = settings
        self._create = redis.register_script(scripts.CREATE)
        self._begin = redis.register_script(scripts.BEGIN)
        self._add_block = redis.register_script(scripts.ADD_BLOCK)
        self._commit = redis.register_script(scripts.COMMIT)

    def probe(self) -> None:
        """Write a key, which fails where the server cannot be reached or is out of memory."""
        self.redis.set(PREFIX + "probe", b"", ex=PROBE_SECONDS)

    def close(self) -> None:
        """Close the connections."""
        self.redis.close()

    # comparisons

    def create(
        self,
        comparison_id: str,
        asked: Asked,
        cut: Cut,
        caller: str,
        idempotency_key: str | None,
    ) -> str:
        """Store a comparison and count it as pending.

        Returns:
            `created`; `known` where it exists and has not failed or been cancelled; `conflict`
            where the idempotency key stands for another one; `busy` where too many are pending.
        """
        now = time.time()
        expiry = int((now + self.settings.retention) * 1000)
        plan = asked.plan
        names = [plan.systems, plan.recipe.labels, plan.recipe.tests, work.testsets(plan)]
        place = place_of(comparison_id, now)
        facts: dict[str, str | bytes] = {
            "caller": caller,
            "created": repr(now),
            "expiry": str(expiry),
            "names": json.dumps(names),
            "place": place,
            "version": plan.key,
            "plan": codec.pack_json(plan.as_json()),
            "cut": codec.pack_json(cut.as_json()),
        }
        fields = _flat(facts)
        keys = [
            *(_key(kind, comparison_id) for kind in (*OWN, "gone")),
            PENDING,
            _listing(caller),
            _key("idempotency", _hash(caller, idempotency_key or "")),
        ]
        options: list[str | int] = [
            comparison_id,
            expiry,
            expiry + self.settings.remembrance * 1000,
            self.settings.pending,
            place,
            caller,
            int(idempotency_key is not None),
            len(fields),
        ]
        return decoded(self._create(keys, [*options, *fields, *_flat(texts.packed(asked))]))

    def find(self, comparison_id: str) -> Stored | None:
        """A comparison, unless it expired, was deleted or never was."""
        facts = dict(
            zip(SHOWN, self.redis.hmget(_key("comparison", comparison_id), SHOWN), strict=True)
        )
        return None if facts["caller"] is None else self._stored(comparison_id, facts)

    def was(self, comparison_id: str, caller: str) -> bool:
        """Whether the caller had a comparison with this id that is gone now."""
        left = self.redis.get(_key("gone", comparison_id))
        return left is not None and decoded(left) == caller

    def listing(
        self, caller: str, cursor: str | None, limit: int
    ) -> tuple[list[Record], str | None]:
        """The caller's comparisons; see `page`."""

        def find(comparison_id: str) -> Record | None:
            stored = self.find(comparison_id)
            return None if stored is None else stored.record

        return page(self.redis, _listing(caller), cursor, limit, find)

    def pending(self) -> list[str]:
        """Ids of the comparisons without an outcome."""
        return sorted(decoded(comparison_id) for comparison_id in self.redis.smembers(PENDING))

    def drop_pending(self, comparison_id: str) -> None:
        """Stop caring for a comparison that expired before it was finished."""
        self.redis.srem(PENDING, comparison_id)

    def commit(
        self, comparison_id: str, outcome: Status, error: str = "", report: bytes = b""
    ) -> bool:
        """Give a comparison its outcome, unless it has one; with the report where it succeeded.

        The progress of one that failed or was cancelled stays where it was.
        """
        keys = [*(_key(kind, comparison_id) for kind in OWN), PENDING]
        packed, channel = codec.pack_bytes(report), _key("news", comparison_id)
        progress = Progress("report", 1, 1)
        if outcome is not Status.SUCCEEDED:
            try:
                progress = self.pieces(comparison_id).progress
            except GoneError:
                return False
        told = json.dumps(vars(progress))
        return bool(
            self._commit(keys, [comparison_id, outcome.value, error, packed, channel, told])
        )

    def delete(self, comparison_id: str, caller: str) -> None:
        """Delete everything about a comparison except that it was there."""
        place = self.redis.hget(_key("comparison", comparison_id), "place")
        with self.redis.pipeline() as pipe:
            pipe.delete(*(_key(kind, comparison_id) for kind in OWN))
            pipe.srem(PENDING, comparison_id)
            if place is not None:
                pipe.zrem(_listing(caller), place)
            pipe.set(_key("gone", comparison_id), caller, ex=self.settings.remembrance)
            pipe.execute()

    def report(self, comparison_id: str) -> bytes | None:
        """Canonical JSON of a finished comparison."""
        data = self.redis.get(_key("report", comparison_id))
        return None if data is None else codec.unpack_bytes(_bytes(data))

    # what tasks read and write

    def begin(self, comparison_id: str, task: str) -> int:
        """Note that a task is started; how often it was, 0 where there is nothing left to do."""
        keys = [_key("comparison", comparison_id), _key("attempts", comparison_id)]
        return int(self._begin(keys, [task, repr(time.time())]))

    def unfinished(self, comparison_id: str) -> bool:
        """Whether the comparison exists and has no outcome."""
        return bool(self.redis.sismember(PENDING, comparison_id))

    def plan(self, comparison_id: str) -> Work:
        """What a comparison computes.

        Raises:
            GoneError: It expired or was deleted.
            VersionError: It was stored by another version, whose results could differ.
        """
        packed, version = self.redis.hmget(_key("comparison", comparison_id), ["plan", "version"])
        if packed is None or version is None:
            raise gone(comparison_id)
        plan = work.plan_of(codec.unpack_json(_bytes(packed)))
        if plan.key != decoded(version):
            raise VersionError(
                "This comparison was submitted to another version of sigtest; submit it again."
            )
        return plan

    def pieces(self, comparison_id: str) -> Pieces:
        """Which pieces of a comparison exist.

        Raises:
            GoneError: It expired or was deleted.
        """
        packed = self.redis.hget(_key("comparison", comparison_id), "cut")
        if packed is None:
            raise gone(comparison_id)
        cut = Cut.from_json(codec.unpack_json(_bytes(packed)))
        drawn = _runs(self.redis.hkeys(_key("blocks", comparison_id)))
        return Pieces(cut, self.measured(cut.distinct_keys), drawn)

    def measured(self, keys: Sequence[str]) -> frozenset[str]:
        """Keys of those statistics that exist."""
        with self.redis.pipeline(transaction=False) as pipe:
            for key in keys:
                pipe.exists(statistics_name(key))
            found = pipe.execute()
        return frozenset(key for key, there in zip(keys, found, strict=True) if there)

    def testset(self, comparison_id: str, number: int) -> TestSet:
        """References and documents of one test set of a comparison.

        Raises:
            GoneError: They were deleted with the comparison.
        """
        return testset_of(self._text_of(comparison_id, texts.testset_field(number)))

    def system(self, comparison_id: str, output: int) -> System:
        """One system of a comparison with what it brings to one test set.

        Raises:
            GoneError: It was deleted with the comparison.
        """
        field = texts.output_field(output)
        return system_of(self._text_of(comparison_id, field), field)

    def add_statistics(self, tables: Mapping[str, Array]) -> None:
        """Keep statistics, each of one system and metric, under their keys."""
        with self.redis.pipeline() as pipe:
            for key, table in tables.items():
                data = codec.pack_statistics(table)
                pipe.set(statistics_name(key), data, ex=self.settings.cache)
            pipe.execute()

    def statistics(self, keys: Sequence[str]) -> dict[str, Array]:
        """Those statistics that exist; their lives are prolonged."""
        with self.redis.pipeline(transaction=False) as pipe:
            for key in keys:
                pipe.getex(statistics_name(key), ex=self.settings.cache)
            found = pipe.execute()
        return {
            key: codec.unpack_statistics(data)
            for key, data in zip(keys, found, strict=True)
            if data is not None
        }

    def add_blocks(self, comparison_id: str, drawn: Blocks) -> frozenset[Run]:
        """Keep what a run of resamples gave; which runs exist afterwards."""
        name = f"{drawn[0].start}-{drawn[0].stop}"
        keys = [_key("comparison", comparison_id), _key("blocks", comparison_id)]
        return _runs(self._add_block(keys, [name, codec.pack_blocks(drawn)]))

    def blocks(self, comparison_id: str, runs: Sequence[Run]) -> list[Blocks]:
        """What these runs of resamples gave, as far as it exists."""
        found = []
        for start, stop in runs:
            data = self.redis.hget(_key("blocks", comparison_id), f"{start}-{stop}")
            if data is not None:
                found.append(codec.unpack_blocks(start, stop, _bytes(data)))
        return found

    def add_values(
        self, comparison_id: str, numbers: Numbers, observed: float, values: Array
    ) -> None:
        """Keep a distribution for some time, and tell those who wait for it."""
        key = _distribution(comparison_id, numbers)
        self.redis.set(key, codec.pack_values(observed, values), ex=DISTRIBUTION_SECONDS)
        self.redis.publish(_key("news", comparison_id), key)

    def values(self, comparison_id: str, numbers: Numbers) -> tuple[float, Array] | None:
        """A distribution's observed difference and values, if they exist."""
        data = self.redis.get(_distribution(comparison_id, numbers))
        return None if data is None else codec.unpack_values(_bytes(data))

    def _stored(self, comparison_id: str, facts: dict[str, Any]) -> Stored:
        systems, metrics, tests, testsets = map(tuple, json.loads(facts["names"]))
        if facts["outcome"] is not None:
            status = Status(decoded(facts["outcome"]))
            progress = Progress(**json.loads(facts["progress"]))
        else:
            status = Status.QUEUED if facts["started"] is None else Status.RUNNING
            progress = self.pieces(comparison_id).progress
        record = Record(
            id=comparison_id,
            status=status,
            progress=progress,
            created_at=float(facts["created"]),
            expires_at=int(facts["expiry"]) / 1000,
            systems=systems,
            metrics=metrics,
            tests=tests,
            testsets=testsets,
            error=decoded(facts["error"] or b"") or None,
        )
        return Stored(record, decoded(facts["caller"]))

    def _text_of(self, comparison_id: str, name: str) -> dict[str, Any]:
        packed = self.redis.hget(_key("texts", comparison_id), name)
        if packed is None:
            raise gone(comparison_id)
        body: dict[str, Any] = codec.unpack_json(_bytes(packed))
        return body


def statistics_name(key: str) -> str:
    """Where statistics are, which comparisons and test sets share."""
    return _key("statistics", key)


def _runs(names: Sequence[bytes | str]) -> frozenset[Run]:
    """Blocks from the names of their fields."""
    ends = (decoded(name).split("-") for name in names)
    return frozenset((int(start), int(stop)) for start, stop in ends)


def _key(kind: str, name: str) -> str:
    return f"{PREFIX}{kind}:{name}"


def _listing(caller: str) -> str:
    return _key("listing", _hash(caller))


def _distribution(comparison_id: str, numbers: Numbers) -> str:
    return _key("distribution", ":".join(map(str, (comparison_id, *numbers))))


def _hash(*parts: str) -> str:
    return hashlib.sha256(json.dumps(parts).encode()).hexdigest()[:32]


def _flat(fields: Mapping[str, str | bytes]) -> list[str | bytes]:
    return [part for pair in fields.items() for part in pair]


def _bytes(value: bytes | str) -> bytes:
    return value.encode() if isinstance(value, str) else value
