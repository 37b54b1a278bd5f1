"""Comparisons that leaderboards show: their reports, and which of them is shown."""

from __future__ import annotations

import json
import time
from collections.abc import Sequence
from dataclasses import asdict

from redis import Redis

from sigtest.comparison.plan import Plan
from sigtest.kinds.comparisons import about
from sigtest.version import __version__
from workers.settings import Settings
from workers.store import codec, keys
from workers.store.boards import Choice, State
from workers.store.cache import newest
from workers.store.codec import decoded
from workers.store.messages import Message, announcing
from workers.store.records import Progress, Status
from workers.store.scripts import testsets as scripts

MOST_CHOICES = 8  # of a caller's boards, decided in another way than their test sets say


class ShownStore:
    """Reads and writes what leaderboards show. Raises what redis raises.

    Args:
        redis: The server, with bytes as answers.
        settings: For how long it is known that one was there, and one of another choice kept.
    """

    def __init__(self, redis: Redis, settings: Settings) -> None:
        self.redis = redis
        self.settings = settings
        self._show = redis.register_script(scripts.SHOW)

    def find(self, testset_id: str, choice: str) -> str | None:
        """Id of the comparison that was shown last."""
        found = self.redis.hget(keys.key("testset-shown", testset_id), choice)
        return None if found is None else decoded(found)

    def add(
        self,
        state: State,
        choice: Choice,
        question_id: str,
        plan: Plan,
        report: bytes,
        pictures: Sequence[str],
    ) -> None:
        """Store a comparison with its report; one that is there already stays as old as it is.

        Args:
            state: Its test set, which has the contents.
            choice: How it is decided; what only a reader chose is kept as long as a cache.
            question_id: Where.
            plan: What is compared.
            report: Canonical JSON.
            pictures: Names of those that can be drawn of the report.
        """
        testset, expiry = state.record.id, int(state.record.expires_at * 1000)
        remembered = expiry + self.settings.remembrance * 1000
        if choice != Choice():
            expiry = min(expiry, int((time.time() + self.settings.cache) * 1000))
            remembered = expiry
        facts: dict[str, str | bytes] = {
            "caller": state.caller,
            "kind": "comparisons",
            "expiry": str(expiry),
            "about": json.dumps(asdict(about(plan))),
            "testset": testset,
            "outline": codec.pack_json(plan.as_json()),
            "outcome": Status.SUCCEEDED.value,
            "progress": json.dumps(vars(Progress("report", 1, 1))),
            "computed_with": __version__,
            "pictures": json.dumps(pictures),
        }
        name = keys.key("question", question_id)
        with self.redis.pipeline() as pipe:
            pipe.hset(name, mapping=facts)  # type: ignore[arg-type]  # bytes are fine
            pipe.hsetnx(name, "created", repr(time.time()))
            pipe.pexpireat(name, expiry)
            packed = codec.pack_bytes(report)
            pipe.set(keys.key("report", question_id), packed, pxat=expiry)
            pipe.set(keys.key("gone", question_id), state.caller, pxat=remembered)
            reports = keys.key("testset-reports", testset)  # deleted with the test set
            pipe.sadd(reports, question_id)
            pipe.pexpireat(reports, expiry)
            pipe.publish(keys.key("news", testset), question_id)
            pipe.execute()

    def show(self, state: State, choice: Choice, question_id: str) -> None:
        """Note which comparison is to be shown; webhooks are told where it is another one.

        They are told of the choice that their test set makes, and of no other.
        """
        record = state.record
        parts = ("testset-shown", "testset-reports", "testset")
        names = [keys.key(part, record.id) for part in parts]
        told = {"id": record.id, "name": record.name, "comparison": question_id}
        message = Message.of("leaderboard.refreshed", {**told, **vars(record.envelope)})
        shown = [choice.spelled, question_id, keys.key("news", record.id)]
        own: list[str | int] = [*shown, int(choice == Choice()), *message.arguments]
        self._show([*names, *announcing(state.caller)], own)
        if choice != Choice():
            chosen = " ".join((record.id, choice.spelled, question_id))
            group = keys.of_caller("choices", state.caller)
            for old in newest(self.redis, group, chosen, MOST_CHOICES, self.settings.retention):
                self._drop(*old.split())

    def _drop(self, testset_id: str, spelled: str, question_id: str) -> None:
        """Forget a comparison that only a reader chose."""
        shown, reports = (keys.key(f"testset-{part}", testset_id) for part in ("shown", "reports"))
        with self.redis.pipeline() as pipe:
            pipe.hdel(shown, spelled)
            pipe.srem(reports, question_id)
            pipe.delete(*(keys.key(part, question_id) for part in (*keys.OF_QUESTION, "gone")))
            pipe.execute()
