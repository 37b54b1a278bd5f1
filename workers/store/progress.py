"""How a question is cut into pieces, and how far it is: tasks started, and pieces that exist.

A piece is one statistics array (of an output and a metric) or one block of resamples. Pieces are
addressed by what they hold, never by a running number, so that a piece written late or twice, or
for a question that was meanwhile cut differently, changes nothing. A question of another kind than
comparison has no pieces; one task computes it whole.
"""

from __future__ import annotations

import math
import time
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, replace
from typing import Any, cast

from redis import Redis
from redis.client import Pipeline

from sigtest.comparison.plan import Part, Plan
from sigtest.kinds import Question
from sigtest.kinds.comparisons import ComparisonQuestion
from workers.errors import gone
from workers.settings import Settings
from workers.store import codec, keys, scripts
from workers.store.cache import Cache
from workers.store.codec import decoded
from workers.store.keys import MAKE, hashed
from workers.store.records import Place, Progress
from workers.store.task import Priced, Task

# Seconds of work that are worth a task of their own: starting one takes about 0.02 s.
SHORT = 0.2
BLOCK_SECONDS = 0.5
# A long question gives way to others more often, which costs it a tenth.
LONG = 60.0
SHORT_BLOCK_SECONDS = 0.15
BATCH_SECONDS = 2.0
# A block is predicted to take so many times what loading its statistics takes, at least; ordinary
# texts are drawn several times as fast as is predicted.
LOADINGS = 8.0

Run = tuple[int, int]


@dataclass(frozen=True)
class Cut:
    """How a question is cut; stored with it, since workers may have other settings.

    Attributes:
        keys: Key of each statistics array, by output and metric.
        batch: Outputs that one task measures; they share the work on the references.
        resamples: R; 0 where nothing is resampled piece by piece.
        rows: Resamples that one task draws.
        measuring: Predicted seconds of measuring everything.
        computing: Predicted seconds of everything else.
        bytes: Of what blocks and statistics hold in the store until the report is written, at most.
    """

    keys: tuple[tuple[str, ...], ...]
    batch: int
    resamples: int
    rows: int
    measuring: float
    computing: float
    bytes: int = 0

    @classmethod
    def of(cls, question: Question, workers: int, rows: int | None = None) -> Cut:
        """Cut a question so that small ones stay whole and large ones occupy every worker.

        Args:
            question: What is to be computed.
            workers: Processes to share large work between.
            rows: Resamples a task draws, where that is a setting.
        """
        if not isinstance(question, ComparisonQuestion):
            return cls((), 1, 0, 1, 0.0, question.seconds)
        plan = question.comparison.plan
        measuring, drawing = question.measuring, question.drawing
        each = BLOCK_SECONDS if drawing < LONG else SHORT_BLOCK_SECONDS
        blocks = _tasks(drawing, max(each, LOADINGS * question.loading), workers)
        outputs = len(plan.parts) * len(plan.systems)
        return cls(
            keys=statistics_keys(plan),
            batch=math.ceil(outputs / _tasks(measuring, BATCH_SECONDS, workers)),
            resamples=plan.resamples,
            rows=rows or math.ceil(plan.resamples / blocks),
            measuring=measuring,
            computing=question.resampling,
            bytes=8 * (plan.kept * len(plan.recipe.metrics) * plan.resamples + plan.statistics),
        )

    @property
    def batches(self) -> list[Run]:
        """Outputs that are measured together: first, and first of the next batch."""
        return _runs(len(self.keys), self.batch)

    @property
    def blocks(self) -> list[Run]:
        """Resamples that are drawn together: first, and first of the next block."""
        return _runs(self.resamples, self.rows)

    @property
    def distinct_keys(self) -> list[str]:
        """Keys of the statistics, each once: equal texts are measured once."""
        return list(dict.fromkeys(key for row in self.keys for key in row))

    def as_json(self) -> dict[str, Any]:
        """A JSON object that `from_json` turns into this cut."""
        return dict(vars(self))

    @classmethod
    def from_json(cls, body: dict[str, Any]) -> Cut:
        """The cut that `as_json` wrote."""
        return cls(**{**body, "keys": tuple(tuple(row) for row in body["keys"])})


@dataclass(frozen=True)
class Pieces:
    """Which pieces of an unfinished question exist.

    Attributes:
        cut: Which there will be.
        measured: Keys of the statistics arrays that exist.
        drawn: Blocks that exist.
    """

    cut: Cut
    measured: frozenset[str]
    drawn: frozenset[Run]

    @property
    def unmeasured(self) -> list[Run]:
        """Batches of outputs with statistics missing."""
        return [
            (first, last)
            for first, last in self.cut.batches
            if any(key not in self.measured for row in self.cut.keys[first:last] for key in row)
        ]

    @property
    def undrawn(self) -> list[Run]:
        """Blocks missing."""
        return [block for block in self.cut.blocks if block not in self.drawn]

    def tasks(self, owner: str) -> list[Priced]:
        """What to do next; all of it can be done at the same time."""
        cut = self.cut
        if batches := self.unmeasured:
            each = cut.measuring / len(cut.batches)
            return [Priced(Task("measure", owner, run), each) for run in batches]
        if blocks := self.undrawn:
            each = cut.computing / len(cut.blocks)
            return [Priced(Task("resample", owner, run), each) for run in blocks]
        return [Priced(Task("conclude", owner), 0.0 if cut.resamples else cut.computing)]

    @property
    def progress(self) -> Progress:
        """How much of the current phase exists."""
        keys = self.cut.distinct_keys
        done = sum(key in self.measured for key in keys)
        if done < len(keys):
            return Progress("statistics", done, len(keys))
        drawn = sum(stop - start for start, stop in self.cut.blocks if (start, stop) in self.drawn)
        if drawn < self.cut.resamples:
            return Progress("resampling", drawn, self.cut.resamples)
        return Progress("report", 0, 1)


def statistics_keys(plan: Plan) -> tuple[tuple[str, ...], ...]:
    """Key of each statistics array of a comparison, by output and metric."""
    return tuple(
        tuple(part.statistics_key(s, metric) for metric in plan.recipe.metrics)
        for part in plan.parts
        for s in range(len(plan.systems))
    )


def shares_key(part: Part, a: int, b: int, metric: int) -> str:
    """Key of the segments' shares of the difference between two systems of a test set."""
    scored = part.recipe.metrics[metric]
    measured = (part.statistics_key(system, scored) for system in (a, b))
    return hashed("shares", *measured, str(part.replicas))


def block_name(run: Run) -> str:
    """What a block is called; see `make`."""
    start, stop = run
    return f"{MAKE} {start}-{stop}"


def blocks_named(names: Iterable[bytes | str]) -> frozenset[Run]:
    """Blocks of this make, from what all are called."""
    ends = []
    for name in map(decoded, names):
        make, _, run = name.rpartition(" ")
        if make == MAKE:
            start, _, stop = run.partition("-")
            ends.append((int(start), int(stop)))
    return frozenset(ends)


def _tasks(seconds: float, each: float, workers: int) -> int:
    """Into how many tasks to cut work that takes one worker so long."""
    if seconds < SHORT:
        return 1
    return workers * math.ceil(seconds / (each * workers))


def _runs(total: int, step: int) -> list[Run]:
    return [(first, min(first + step, total)) for first in range(0, total, step)]


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
