"""How a comparison is cut into pieces, and which tasks write those that are missing.

A piece is one statistics array (of a system and a metric) or one block of resamples. Pieces are
addressed by what they hold, never by a running number, so that a piece written late or twice, or
for a comparison that was meanwhile cut differently, changes nothing.
"""

from __future__ import annotations

import math
from dataclasses import dataclass
from typing import Any

from sigtest.comparison.plan import Plan
from sigtest.significance import TESTS
from workers import work
from workers.records import Progress
from workers.work import Work

# Seconds of work that are worth a task of their own: starting one takes about 0.02 s and loading
# the statistics of a dozen systems about as long again.
SHORT = 0.2
BLOCK_SECONDS = 0.5
BATCH_SECONDS = 2.0
MEASURE_SECONDS = 15e-6  # for one segment, system and metric

Run = tuple[int, int]


@dataclass(frozen=True)
class Task:
    """A call of one of the functions in `tasks`.

    Attributes:
        name: The function.
        comparison: Id of the comparison it works on.
        arguments: What else it is told.
    """

    name: str
    comparison: str
    arguments: tuple[int | str, ...] = ()

    @property
    def key(self) -> str:
        """Id of the task; equal tasks have equal ids and are queued once."""
        return "-".join(str(part) for part in (self.comparison, self.name, *self.arguments))


def comparison_of(key: str) -> str:
    """Id of the comparison that the task with this id works on."""
    return key.partition("-")[0]


@dataclass(frozen=True)
class Cut:
    """How a comparison is cut; stored with it, since workers may have other settings.

    Attributes:
        keys: Key of each statistics array, by output and metric.
        batch: Outputs that one task measures; they share the work on the references.
        resamples: R.
        rows: Resamples that one task draws.
    """

    keys: tuple[tuple[str, ...], ...]
    batch: int
    resamples: int
    rows: int

    @classmethod
    def of(cls, plan: Work, workers: int, rows: int | None = None) -> Cut:
        """Cut a comparison so that small ones stay whole and large ones occupy every worker.

        Args:
            plan: What is to be computed.
            workers: Processes to share large work between.
            rows: Resamples a task draws, where that is a setting.
        """
        parts = work.parts(plan)
        measuring = sum(measuring_seconds(part) for part in parts)
        resampling = sum(resampling_seconds(part) for part in work.resampled(plan))
        tasks = _tasks(measuring, BATCH_SECONDS, workers)
        blocks = _tasks(resampling, BLOCK_SECONDS, workers)
        return cls(
            keys=tuple(
                tuple(part.statistics_key(s, metric) for metric in plan.recipe.metrics)
                for part in parts
                for s in range(len(plan.systems))
            ),
            batch=math.ceil(len(parts) * len(plan.systems) / tasks),
            resamples=plan.resamples,
            rows=rows or math.ceil(plan.resamples / blocks),
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
    """Which pieces of an unfinished comparison exist.

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

    def tasks(self, comparison: str) -> list[Task]:
        """What to do next; all of it can be done at the same time."""
        if batches := self.unmeasured:
            return [Task("measure", comparison, run) for run in batches]
        if blocks := self.undrawn:
            return [Task("resample", comparison, run) for run in blocks]
        return [Task("conclude", comparison)]

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


def measuring_seconds(plan: Plan) -> float:
    """About how long one worker would measure all systems."""
    outputs = len(plan.systems) * plan.replicas
    return MEASURE_SECONDS * plan.segments * outputs * len(plan.recipe.metrics)


def resampling_seconds(plan: Plan) -> float:
    """About how long one worker would resample; fitted to measured times, right within a third."""
    swaps = any(TESTS[test].draws == "swaps" for test in plan.recipe.tests)
    tables = 1 + plan.replicas if swaps else 1  # each replica has swaps of its own
    pairs = len(plan.pairs) if swaps else 0
    width = sum(metric.width for metric in plan.recipe.metrics)
    columns = width * len(plan.systems)
    drawing = tables * plan.units * (5.5e-10 + 1.8e-11 * columns)
    scoring = 1.3e-9 * columns + 3.8e-9 * width * pairs
    return plan.resamples * (drawing + scoring + 1e-7)


def _tasks(seconds: float, each: float, workers: int) -> int:
    """Into how many tasks to cut work that takes one worker so long."""
    if seconds < SHORT:
        return 1
    return workers * math.ceil(seconds / (each * workers))


def _runs(total: int, step: int) -> list[Run]:
    return [(first, min(first + step, total)) for first in range(0, total, step)]
