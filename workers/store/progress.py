"""How far a question is: tasks that were started, and the pieces that they wrote."""

from __future__ import annotations

import time
from collections.abc import Mapping, Sequence
from dataclasses import replace
from typing import Any, cast

from redis import Redis
from redis.client import Pipeline

from sigtest.comparison.plan import Plan
from workers.errors import gone
from workers.settings import Settings
from workers.store import codec, keys
from workers.store.cache import Cache
from workers.store.codec import decoded
from workers.store.make import MAKE
from workers.store.pieces import Cut, Pieces, Run, block_name, blocks_named, statistics_keys
from workers.store.records import Place
from workers.store.scripts import questions as scripts


class ProgressStore:
    """Reads and writes what workers make of unfinished questions. Raises what redis raises.

    Args:
        redis: The server, with bytes as answers.
        settings: How long caches live.
    """

    def __init__(self, redis: Redis, settings: Settings) -> None:
        self.redis = redis
        self.settings = settings
        self._begin = redis.register_script(scripts.BEGIN)
        self._add_block = redis.register_script(scripts.ADD_BLOCK)

    def begin(self, question_id: str, task: str) -> int:
        """Note that a task is started; how often it was, 0 where there is nothing left to do."""
        names = [keys.key("question", question_id), keys.key("attempts", question_id)]
        return int(self._begin(names, [task, repr(time.time())]))

    def end(self, question_id: str, task: str) -> Pipeline:
        """Note that a task has ended, to be sent with more: it may start as often again.

        It may have to, without a death: where another make did it, whose pieces are none of ours.
        """
        pipe = self.redis.pipeline()
        pipe.hdel(keys.key("attempts", question_id), task)
        return pipe

    def pieces(self, question_id: str, measured: frozenset[str] = frozenset()) -> Pieces:
        """Which pieces of a question exist.

        Args:
            question_id: The question.
            measured: Keys of statistics that are known to exist.

        Raises:
            GoneError: It expired or was deleted.
        """
        name = keys.key("question", question_id)
        fields = ["cut", "caller", "testset", "accepted_with", "outline"]
        with self.redis.pipeline(transaction=False) as pipe:
            pipe.hmget(name, fields)
            pipe.hkeys(keys.key("blocks", question_id))
            (packed, caller, testset, make, outline), names = pipe.execute()
        if packed is None or caller is None:
            raise gone(question_id)
        cut = Cut.from_json(codec.unpack_json(packed))
        if cut.resamples and decoded(make or b"") != MAKE:
            # another make calls statistics by other names
            plan = Plan.of(codec.unpack_json(outline))
            cut = replace(cut, keys=statistics_keys(plan))
        space = decoded(testset) if testset is not None else keys.space_of(decoded(caller))
        cache = Cache(self.redis, space, self.settings.cache)
        others = [key for key in cut.distinct_keys if key not in measured]
        return Pieces(cut, measured | cache.existing(others), blocks_named(names))

    def place(self, question_id: str, caller: str) -> Place | None:
        """Where a question stands among its caller's, unless it has ended."""
        held = cast("Mapping[bytes, bytes]", self.redis.hgetall(keys.of_caller("pending", caller)))
        predicted = {decoded(name): float(said.split()[0]) for name, said in held.items()}
        own = predicted.get(question_id)
        if own is None:
            return None
        smaller = [seconds for seconds in predicted.values() if seconds < own]
        return Place(own, len(smaller), sum(smaller))

    def add_blocks(self, question_id: str, drawn: Sequence[Any]) -> frozenset[Run]:
        """Keep what a run of resamples gave; which runs exist afterwards."""
        name = block_name((drawn[0].start, drawn[0].stop))
        names = [keys.key("question", question_id), keys.key("blocks", question_id)]
        return blocks_named(self._add_block(names, [name, codec.pack_blocks(drawn)]))

    def blocks(self, question_id: str, runs: Sequence[Run]) -> list[Any]:
        """What these runs of resamples gave, as far as it exists."""
        found = []
        for start, stop in runs:
            data = self.redis.hget(keys.key("blocks", question_id), block_name((start, stop)))
            if data is not None:
                found.append(codec.unpack_blocks(start, stop, data))  # type: ignore[arg-type]
        return found

    def tell(self, question_id: str) -> None:
        """Wake those who wait for something of a question."""
        self.redis.publish(keys.key("news", question_id), b"")
