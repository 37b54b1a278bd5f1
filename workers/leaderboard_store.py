"""Test sets in Redis: every key name that comparisons do not have, and how long each key lives.

    sigtest:testset:ID            hash    facts about a test set: caller, plan, resamples, revision
    sigtest:testset-text:ID       string  references, documents, labels; compressed
    sigtest:testset-systems:ID    hash    digest of each system's content, by name
    sigtest:testset-outputs:ID    hash    hypotheses and scores by digest, compressed
    sigtest:testset-measured:ID   set     names of the systems whose rows all exist
    sigtest:testset-rows:ID       hash    rows of systems (by digest) and pairs (by both digests)
    sigtest:testset-failures:ID   hash    why a digest cannot be measured
    sigtest:testset-attempts:ID   hash    how often the joining of a digest was started
    sigtest:testset-views:ID      hash    reports by what they show; gone with every change
    sigtest:gone:ID               string  the caller; outlives the test set
    sigtest:joining               set     ids of test sets with systems to be measured
    sigtest:testsets:CALLER       sorted  a caller's test sets, by time
    sigtest:totals:ID:R:DIGEST    hash    totals of one system under R resamples, by part
    sigtest:totals-used           sorted  keys of totals, by last use
    sigtest:totals-sizes          hash    bytes of totals by key
    sigtest:totals-bytes          string  bytes of all totals

A test set and all that belongs to it expires some time after its last change. Totals may go
earlier: they are a function of the statistics, which are a function of the text.
"""

from __future__ import annotations

import hashlib
import json
import time
from collections.abc import Sequence
from dataclasses import replace
from typing import Any

from redis import Redis
from redis.commands.core import Script

from sigtest.comparison import system_of, testset_of
from sigtest.plan import Plan
from sigtest.testset import System, TestSet
from workers import codec, totals
from workers import leaderboard_scripts as scripts
from workers.errors import GoneError, VersionError
from workers.leaderboard_records import State, SystemRecord, TestSetRecord, system_record
from workers.settings import Settings

PREFIX = "sigtest:"
JOINING = PREFIX + "joining"
USED = PREFIX + "totals-used"
OWN = (
    "",
    "-text",
    "-systems",
    "-outputs",
    "-measured",
    "-rows",
    "-failures",
    "-attempts",
    "-views",
)
SHOWN = ("caller", "created", "expiry", "summary", "resamples", "era", "revision", "showing")
MOST_VIEWS = 32

Changed = tuple[str, str]  # a verdict, and the digest that nobody has any longer


class LeaderboardStore:
    """Reads and writes test sets and what leaderboards are made of. Raises what redis raises.

    Args:
        redis: The server, with bytes as answers.
        settings: How long things live, and how many bytes of totals there may be.
    """

    def __init__(self, redis: Redis, settings: Settings) -> None:
        self.redis = redis
        self.settings = settings
        register = redis.register_script
        self._create, self._put, self._remove, self._raise, self._delete = map(
            register, (scripts.CREATE, scripts.PUT, scripts.REMOVE, scripts.RAISE, scripts.DELETE)
        )
        self._begin, self._keep, self._join, self._fail, self._add_view = map(
            register,
            (scripts.BEGIN, scripts.KEEP, scripts.JOIN, scripts.FAIL, scripts.ADD_VIEW),
        )

    # test sets

    def create(self, testset_id: str, name: str, caller: str, testset: TestSet, plan: Plan) -> bool:
        """Store a test set; whether it was not there before."""
        now = time.time()
        place = f"{int(now * 1e6):016x}{testset_id}"
        summary = {
            "name": name,
            "content": _content(plan, testset),
            "recipe": plan.recipe.as_json(),
            "metrics": plan.recipe.labels,
        }
        facts: dict[str, str | bytes] = {
            "caller": caller,
            "created": repr(now),
            "place": place,
            "version": plan.key,
            "plan": codec.pack_json(plan.as_json()),
            "summary": json.dumps(summary),
            "resamples": str(plan.resamples),
            "era": str(int(now * 1e3)),
            "revision": "0",
            "showing": "",
        }
        text = codec.pack_json(_text_of(testset))
        fields = [part for pair in facts.items() for part in pair]
        arguments = [*self._lives(), _listing(caller), place, text, *fields]
        return _decoded(self._call(self._create, testset_id, *arguments)) == "created"

    def state(self, testset_id: str) -> State | None:
        """A test set as it is now, unless it expired, was deleted or never was."""
        keys = [_key(testset_id, part) for part in ("", "-systems", "-measured", "-failures")]
        with self.redis.pipeline() as pipe:
            pipe.hmget(keys[0], SHOWN)
            pipe.hgetall(keys[1])
            pipe.smembers(keys[2])
            pipe.hgetall(keys[3])
            facts, digests, measured, failures = pipe.execute()
        if facts[0] is None:
            return None
        caller, created, expiry, summary, resamples, era, revision, showing = map(_decoded, facts)
        told = json.loads(summary)
        state = State(
            caller,
            TestSetRecord(
                id=testset_id,
                name=told["name"],
                created_at=float(created),
                expires_at=int(expiry) / 1000,
                content=told["content"],
                settings={**told["recipe"], "resamples": int(resamples)},
                metrics=tuple(told["metrics"]),
                systems=len(digests),
                pending=0,
            ),
            era,
            revision,
            showing,
            {_decoded(name): _decoded(digest) for name, digest in digests.items()},
            frozenset(map(_decoded, measured)),
            {_decoded(digest): _decoded(why) for digest, why in failures.items()},
        )
        return replace(state, record=replace(state.record, pending=len(state.pending)))

    def was(self, testset_id: str, caller: str) -> bool:
        """Whether the caller had a test set with this id that is gone now."""
        left = self.redis.get(f"{PREFIX}gone:{testset_id}")
        return left is not None and _decoded(left) == caller

    def plan(self, testset_id: str) -> Plan:
        """The settings of a test set, without systems.

        Raises:
            GoneError: It expired or was deleted.
            VersionError: It was made by another version, whose results could differ.
        """
        packed, version, resamples = self.redis.hmget(
            _key(testset_id), ["plan", "version", "resamples"]
        )
        if packed is None or version is None or resamples is None:
            raise gone(testset_id)
        plan = Plan.of(codec.unpack_json(packed))  # type: ignore[arg-type]  # bytes
        if plan.key != _decoded(version):
            raise VersionError(
                "This test set was made by another version of sigtest; make it and submit its "
                "systems again."
            )
        return replace(plan, recipe=replace(plan.recipe, resamples=int(resamples)))

    def testset(self, testset_id: str) -> TestSet:
        """References, documents and labels.

        Raises:
            GoneError: They were deleted.
        """
        packed = self.redis.get(_key(testset_id, "-text"))
        if packed is None:
            raise gone(testset_id)
        return testset_of(codec.unpack_json(packed))  # type: ignore[arg-type]  # bytes

    def listing(
        self, caller: str, cursor: str | None, limit: int
    ) -> list[tuple[str, TestSetRecord]]:
        """The caller's test sets after the cursor, newest first, each with its own cursor."""
        found: list[tuple[str, TestSetRecord]] = []
        end = f"({cursor}" if cursor else "+"
        while len(found) < limit:
            places = self.redis.zrevrangebylex(_listing(caller), end, "-", 0, limit)
            for place in map(_decoded, places):
                state = self.state(place[16:])
                if state is None:
                    self.redis.zrem(_listing(caller), place)
                elif len(found) < limit:
                    found.append((place, state.record))
            if len(places) < limit:
                break
            end = f"({_decoded(places[-1])}"
        return found

    def raise_resamples(self, testset_id: str, resamples: int) -> str:
        """Raise R: `raised`, `same`, `fewer` or `gone`."""
        return _decoded(self._call(self._raise, testset_id, *self._lives(), resamples))

    def delete(self, testset_id: str, caller: str) -> None:
        """Delete everything about a test set except that it was there."""
        self._call(self._delete, testset_id, _listing(caller), caller, self._lives()[1])

    # systems

    def put(self, testset_id: str, system: System, replace: bool, most: int) -> Changed:
        """Add or replace a system.

        Returns:
            `created`, `replaced`, `known` (the same content is there), `again` (it is, and had
            failed), `taken` (other content is there), `full` or `gone`; and the digest that nobody
            has any longer.
        """
        output = codec.pack_json(_output_of(system))
        arguments = [system.name, system.sha256, output, int(replace), most]
        return _changed(self._call(self._put, testset_id, *self._lives(), *arguments))

    def joined(self, testset_id: str, name: str, digest: str) -> bool:
        """Whether nothing is to be measured any longer of what was put under a name."""
        with self.redis.pipeline(transaction=False) as pipe:
            pipe.sismember(_key(testset_id, "-measured"), name)
            pipe.hexists(_key(testset_id, "-failures"), digest)
            pipe.hget(_key(testset_id, "-systems"), name)
            measured, failed, held = pipe.execute()
        return bool(measured or failed or held is None or _decoded(held) != digest)

    def remove(self, testset_id: str, name: str) -> Changed:
        """Remove a system: `removed` or `absent`, and the digest that nobody has any longer."""
        return _changed(self._call(self._remove, testset_id, *self._lives(), name))

    def output(self, testset_id: str, digest: str) -> System | None:
        """What a system brought, under a name of no meaning; nothing where it was removed."""
        packed = self.redis.hget(_key(testset_id, "-outputs"), digest)
        if packed is None:
            return None
        body = codec.unpack_json(packed)  # type: ignore[arg-type]  # bytes
        return system_of({"name": "system", **body}, "system")

    def systems(self, state: State, names: Sequence[str]) -> list[SystemRecord]:
        """What is told of some systems of a test set."""
        digests = [state.digests[name] for name in names]
        rows = self.rows(state.record.id, digests)
        return [system_record(state, name, row) for name, row in zip(names, rows, strict=True)]

    def forget_statistics(self, plan: Plan, digest: str) -> None:
        """Drop the cached statistics of content that nobody has any longer."""
        alone = replace(plan, systems=("",), digests=(digest,))
        keys = [alone.statistics_key(0, metric) for metric in plan.recipe.metrics]
        self.redis.delete(*(f"{PREFIX}statistics:{key}" for key in keys))

    # what tasks read and write

    def joining(self) -> list[str]:
        """Ids of the test sets with systems to be measured."""
        return sorted(_decoded(testset_id) for testset_id in self.redis.smembers(JOINING))

    def drop_joining(self, testset_id: str) -> None:
        """Stop caring for a test set that is gone."""
        self.redis.srem(JOINING, testset_id)

    def begin(self, testset_id: str, digest: str) -> int:
        """Note that the joining of a digest starts; how often it did, 0 if there is no need."""
        return int(self._call(self._begin, testset_id, digest))

    def keep(self, testset_id: str, resamples: int, digest: str, parts: totals.Parts) -> None:
        """Keep a system's totals, while its test set has it and as long as there is room."""
        fields = [part for pair in parts.items() for part in pair]
        size = totals.size(parts.values())
        bounds = [repr(time.time()), self.settings.totals, size]
        self._call(self._keep, testset_id, resamples, digest, *bounds, *fields)

    def totals(
        self, testset_id: str, resamples: int, digests: Sequence[str], names: Sequence[str]
    ) -> list[dict[str, bytes]]:
        """Some parts of the totals of some systems; nothing of those that were evicted."""
        keys = [f"{PREFIX}totals:{testset_id}:{resamples}:{digest}" for digest in digests]
        with self.redis.pipeline(transaction=False) as pipe:
            for key in keys:
                pipe.hmget(key, names)
            found = pipe.execute()
        if keys:
            self.redis.zadd(USED, dict.fromkeys(keys, time.time()), xx=True)
        return [
            {name: part for name, part in zip(names, parts, strict=True) if part is not None}
            for parts in found
        ]

    def join(
        self,
        testset_id: str,
        resamples: int,
        name: str,
        digest: str,
        row: bytes,
        compared: Sequence[tuple[str, str, str, bytes]],
    ) -> str:
        """Keep the rows of a system and its pairs; see `leaderboard_scripts.JOIN`."""
        others = [part for other in compared for part in other]
        arguments = [resamples, name, digest, row, len(compared), *others]
        return _decoded(self._call(self._join, testset_id, *arguments))

    def fail(self, testset_id: str, digest: str, message: str) -> None:
        """Note why a digest cannot be measured."""
        self._call(self._fail, testset_id, digest, message)

    def rows(self, testset_id: str, fields: Sequence[str]) -> list[bytes | None]:
        """Rows by their fields."""
        found: list[bytes | None] = []
        if fields:
            found = self.redis.hmget(_key(testset_id, "-rows"), fields)  # type: ignore[assignment]
        return found

    def add_view(self, state: State, field: str, report: bytes) -> None:
        """Keep a report, while nothing that it shows was replaced or deleted."""
        view = json.dumps([state.revision, sorted(state.measured)]).encode()
        packed = view + b"\n" + codec.pack_bytes(report)
        self._call(self._add_view, state.record.id, state.era, field, packed, MOST_VIEWS)

    def view(self, testset_id: str, field: str) -> tuple[str, frozenset[str], bytes] | None:
        """Revision, names of the systems and compressed report, if there is one."""
        packed = self.redis.hget(_key(testset_id, "-views"), field)
        if packed is None:
            return None
        head, _, report = packed.partition(b"\n")  # type: ignore[arg-type]  # bytes
        revision, names = json.loads(head)
        return revision, frozenset(names), report  # type: ignore[return-value]

    def _call(self, script: Script, testset_id: str, *arguments: Any) -> Any:
        keys = [
            *(_key(testset_id, part) for part in OWN),
            f"{PREFIX}gone:{testset_id}",
            JOINING,
            USED,
            PREFIX + "totals-sizes",
            PREFIX + "totals-bytes",
        ]
        return script(keys, [testset_id, *arguments])

    def _lives(self) -> tuple[int, int]:
        """When what is changed now expires, and when nobody remembers it, in milliseconds."""
        expiry = int((time.time() + self.settings.retention) * 1000)
        return expiry, expiry + self.settings.remembrance * 1000


def gone(testset_id: str) -> GoneError:
    """The error for a test set that was there."""
    return GoneError(f"The test set {testset_id} expired or was deleted; make it again.")


def _content(plan: Plan, testset: TestSet) -> dict[str, Any]:
    content: dict[str, Any] = {"segments": plan.segments, "references": plan.references}
    if plan.document_count:
        content["documents"] = plan.document_count
    if testset.labels is not None:
        content["labels"] = len(set(testset.labels))
    return {**content, "sha256": plan.testset}


def _text_of(testset: TestSet) -> dict[str, Any]:
    return {
        "references": [list(text.lines) for text in testset.references],
        "documents": testset.documents,
        "segments": testset.segments,
        "labels": testset.labels,
    }


def _output_of(system: System) -> dict[str, Any]:
    body: dict[str, Any] = {"scores": {k: _numbers(v.tolist()) for k, v in system.scores.items()}}
    if system.hypotheses is not None:
        body["hypotheses"] = system.hypotheses.lines
    return body


def _numbers(rows: list[list[float]]) -> list[Any]:
    return [row[0] for row in rows] if rows and len(rows[0]) == 1 else rows


def _changed(answer: Sequence[bytes]) -> Changed:
    return _decoded(answer[0]), _decoded(answer[1])


def _key(testset_id: str, part: str = "") -> str:
    return f"{PREFIX}testset{part}:{testset_id}"


def _listing(caller: str) -> str:
    return f"{PREFIX}testsets:{hashlib.sha256(caller.encode()).hexdigest()[:32]}"


def _decoded(value: bytes | str) -> str:
    return value.decode() if isinstance(value, bytes) else value
