"""Test sets in Redis, and the systems that they have."""

from __future__ import annotations

import json
import time
from collections.abc import Sequence
from dataclasses import replace
from typing import Any

from redis import Redis

from sigtest.comparison.comparison import system_of, testset_of
from sigtest.comparison.plan import Plan
from sigtest.data.testset import System, TestSet
from workers import codec
from workers import leaderboard_keys as keys
from workers import leaderboard_scripts as scripts
from workers.codec import decoded
from workers.errors import GoneError, VersionError
from workers.leaderboard_keys import call, key
from workers.leaderboard_records import State, SystemRecord, TestSetRecord, system_record
from workers.leaderboard_results import Results
from workers.listings import page, place_of
from workers.settings import Settings
from workers.store import statistics_name

SHOWN = ("caller", "created", "expiry", "summary", "resamples", "era", "revision", "showing")

Changed = tuple[str, str]  # a verdict, and the digest that nobody has any longer


class LeaderboardStore:
    """Reads and writes test sets and systems. Raises what redis raises.

    Args:
        redis: The server, with bytes as answers.
        settings: How long things live, and how many bytes of totals there may be.

    Attributes:
        results: What workers make of them.
    """

    def __init__(self, redis: Redis, settings: Settings) -> None:
        self.redis = redis
        self.settings = settings
        self.results = Results(redis, settings)
        register = redis.register_script
        self._create, self._put, self._remove, self._raise, self._delete = map(
            register, (scripts.CREATE, scripts.PUT, scripts.REMOVE, scripts.RAISE, scripts.DELETE)
        )

    # test sets

    def create(self, testset_id: str, name: str, caller: str, testset: TestSet, plan: Plan) -> bool:
        """Store a test set; whether it was not there before."""
        now = time.time()
        summary = {
            "name": name,
            "content": _content(plan, testset),
            "settings": {**plan.recipe.as_json(), "replicas": plan.replicas},
            "metrics": plan.recipe.labels,
        }
        facts: dict[str, str | bytes] = {
            "caller": caller,
            "created": repr(now),
            "place": place_of(testset_id, now),
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
        arguments = [*self._lives(), keys.listing(caller), facts["place"], text, *fields]
        return decoded(call(self._create, testset_id, *arguments)) == "created"

    def state(self, testset_id: str) -> State | None:
        """A test set as it is now, unless it expired, was deleted or never was."""
        with self.redis.pipeline() as pipe:
            pipe.hmget(key(testset_id), SHOWN)
            pipe.hgetall(key(testset_id, "-systems"))
            pipe.smembers(key(testset_id, "-measured"))
            pipe.hgetall(key(testset_id, "-failures"))
            facts, digests, measured, failures = pipe.execute()
        if facts[0] is None:
            return None
        caller, created, expiry, summary, resamples, era, revision, showing = map(decoded, facts)
        told = json.loads(summary)
        state = State(
            caller,
            TestSetRecord(
                id=testset_id,
                name=told["name"],
                created_at=float(created),
                expires_at=int(expiry) / 1000,
                content=told["content"],
                settings={**told["settings"], "resamples": int(resamples)},
                metrics=tuple(told["metrics"]),
                systems=len(digests),
                pending=0,
            ),
            era,
            revision,
            showing,
            {decoded(name): decoded(digest) for name, digest in digests.items()},
            frozenset(map(decoded, measured)),
            {decoded(digest): decoded(why) for digest, why in failures.items()},
        )
        return replace(state, record=replace(state.record, pending=len(state.pending)))

    def was(self, testset_id: str, caller: str) -> bool:
        """Whether the caller had a test set with this id that is gone now."""
        left = self.redis.get(keys.gone(testset_id))
        return left is not None and decoded(left) == caller

    def plan(self, testset_id: str) -> Plan:
        """The settings of a test set, without systems.

        Raises:
            GoneError: It expired or was deleted.
            VersionError: It was made by another version, whose results could differ.
        """
        packed, version, resamples = self.redis.hmget(
            key(testset_id), ["plan", "version", "resamples"]
        )
        if packed is None or version is None or resamples is None:
            raise gone(testset_id)
        plan = Plan.of(codec.unpack_json(packed))  # type: ignore[arg-type]  # bytes
        if plan.key != decoded(version):
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
        packed = self.redis.get(key(testset_id, "-text"))
        if packed is None:
            raise gone(testset_id)
        return testset_of(codec.unpack_json(packed))  # type: ignore[arg-type]  # bytes

    def listing(
        self, caller: str, cursor: str | None, limit: int
    ) -> tuple[list[TestSetRecord], str | None]:
        """The caller's test sets; see `page`."""

        def find(testset_id: str) -> TestSetRecord | None:
            state = self.state(testset_id)
            return None if state is None else state.record

        return page(self.redis, keys.listing(caller), cursor, limit, find)

    def raise_resamples(self, testset_id: str, resamples: int) -> str:
        """Raise R: `raised`, `same`, `fewer` or `gone`."""
        return decoded(call(self._raise, testset_id, *self._lives(), resamples))

    def delete(self, testset_id: str, caller: str) -> None:
        """Delete everything about a test set except that it was there."""
        call(self._delete, testset_id, keys.listing(caller), caller, self._lives()[1])

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
        return _changed(call(self._put, testset_id, *self._lives(), *arguments))

    def joined(self, testset_id: str, name: str, digest: str) -> bool:
        """Whether nothing is to be measured any longer of what was put under a name."""
        with self.redis.pipeline(transaction=False) as pipe:
            pipe.sismember(key(testset_id, "-measured"), name)
            pipe.hexists(key(testset_id, "-failures"), digest)
            pipe.hget(key(testset_id, "-systems"), name)
            measured, failed, held = pipe.execute()
        return bool(measured or failed or held is None or decoded(held) != digest)

    def remove(self, testset_id: str, name: str) -> Changed:
        """Remove a system: `removed` or `absent`, and the digest that nobody has any longer."""
        return _changed(call(self._remove, testset_id, *self._lives(), name))

    def output(self, testset_id: str, digest: str) -> System | None:
        """What a system brought, under a name of no meaning; nothing where it was removed."""
        packed = self.redis.hget(key(testset_id, "-outputs"), digest)
        if packed is None:
            return None
        body = codec.unpack_json(packed)  # type: ignore[arg-type]  # bytes
        return system_of({"name": "system", **body}, "system")

    def systems(self, state: State, names: Sequence[str]) -> list[SystemRecord]:
        """What is told of some systems of a test set."""
        digests = [state.digests[name] for name in names]
        rows = self.results.rows(state.record.id, digests)
        return [system_record(state, name, row) for name, row in zip(names, rows, strict=True)]

    def forget_statistics(self, plan: Plan, digest: str) -> None:
        """Drop the cached statistics of content that nobody has any longer."""
        alone = replace(plan, systems=("",), digests=(digest,))
        hashes = [alone.statistics_key(0, metric) for metric in plan.recipe.metrics]
        self.redis.delete(*map(statistics_name, hashes))

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
    if system.replicas:
        body["replicas"] = [text.lines for text in system.replicas]
    return body


def _numbers(rows: list[list[float]]) -> list[Any]:
    return [row[0] for row in rows] if rows and len(rows[0]) == 1 else rows


def _changed(answer: Sequence[bytes]) -> Changed:
    return decoded(answer[0]), decoded(answer[1])
