"""What workers do for questions. Each function reads pieces, computes, writes a piece.

Any of them may run twice, late or at the same time as itself: pieces are functions of the question.
"""

from __future__ import annotations

import time
from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np

from sigtest import engine
from sigtest.arrays import Array
from sigtest.comparison.plan import Plan
from sigtest.data.testset import System, TestSet
from sigtest.draws.distribution import distribution, pair_of
from sigtest.draws.sample import Samples
from sigtest.kinds import KINDS, Kind
from sigtest.kinds.comparisons import output_field, testset_field
from sigtest.render.records import render_json
from sigtest.segments import segment_shares
from workers.errors import gone
from workers.queue import Context
from workers.store import codec, keys
from workers.store.questions import Pieces, Run, shares_key, statistics_keys
from workers.store.records import Record, Status

READ_AHEAD = 20_000  # lines of outputs that are read at a time; they are compressed until used
SAVE_SECONDS = 0.25  # every write waits for the disk; more often would slow small texts down


class Statistics:
    """Statistics of one comparison; its texts are read only if something must be measured.

    Args:
        context: The stores.
        plan: What is computed.
        owner: Id of the comparison, or of the test set.
        caller: Whose it is.
        testset: Id of the test set that has the texts, where a leaderboard shows it.
    """

    def __init__(
        self, context: Context, plan: Plan, owner: str, caller: str, testset: str | None
    ) -> None:
        self._store = context.questions
        self._boards = context.testsets
        self._id, self._caller, self._of_board = owner, caller, testset
        self._cache = context.questions.cache(testset or keys.space_of(caller))
        self._plan = plan
        self._keys = statistics_keys(plan)
        self._testsets: dict[int, TestSet] = {}
        self._at_hand: dict[str, Array] = {}  # what was saved last
        self._packed: dict[str, bytes] = {}  # texts that were read and not used yet

    def fill(self, first: int, last: int) -> frozenset[str]:
        """Measure what is missing of outputs `first` to `last`, while its caller wants it.

        Returns:
            Keys of their statistics that exist now.
        """
        metrics = range(len(self._plan.recipe.measured))
        names = [self._keys[output][m] for output in range(first, last) for m in metrics]
        measured = self._cache.existing(names)
        missing = {
            output: [m for m in metrics if self._keys[output][m] not in measured]
            for output in range(first, last)
            if not measured.issuperset(self._keys[output])
        }
        unsaved: dict[str, Array] = {}
        saved = time.monotonic()
        outputs = list(missing)
        for place, output in enumerate(outputs):
            self._read_ahead(outputs[place:])
            unsaved |= self._measure(output, missing[output])
            if time.monotonic() > saved + SAVE_SECONDS:
                self._cache.add(self._caller, unsaved)
                measured, unsaved, saved = measured.union(unsaved), {}, time.monotonic()
                if not self._store.unfinished(self._id):
                    return measured
        self._cache.add(self._caller, unsaved)
        self._at_hand = unsaved
        return measured.union(unsaved)

    def _read_ahead(self, outputs: Sequence[int]) -> None:
        """Read the texts of the first of some outputs, as many as fit, unless that was done."""
        if self._of_board is not None or output_field(outputs[0]) in self._packed:
            return
        size = len(self._plan.systems)
        some = outputs[: max(1, READ_AHEAD // self._plan.parts[outputs[0] // size].segments)]
        testsets = dict.fromkeys(output // size for output in some)
        fields = [testset_field(t) for t in testsets if t not in self._testsets]
        fields += map(output_field, some)
        self._packed = dict(zip(fields, self._store.packed(self._id, fields), strict=True))

    def _content(self, field: str) -> Any:
        """Something that was brought; see `QuestionStore.packed`."""
        if field not in self._packed:
            [self._packed[field]] = self._store.packed(self._id, [field])
        return codec.unpack_json(self._packed.pop(field))

    def tables(self) -> list[list[Array]]:
        """For each test set, one (S, n, k) array a metric."""
        size, metrics = len(self._plan.systems), len(self._plan.recipe.measured)
        return [
            [self.table(range(first, first + size), m) for m in range(metrics)]
            for first in range(0, len(self._plan.parts) * size, size)
        ]

    def table(self, outputs: Sequence[int], metric: int, keep: bool = True) -> Array:
        """(S, n, k) statistics of some outputs for the same test set.

        Args:
            outputs: Which.
            metric: Number of the metric.
            keep: Whether those that are measured here are kept; not for who may only read.
        """
        names = [self._keys[output][metric] for output in outputs]
        found = {name: self._at_hand[name] for name in names if name in self._at_hand}
        found |= self._cache.find([name for name in names if name not in found])
        for output in outputs:
            if self._keys[output][metric] not in found:
                measured = self._measure(output, [metric])
                if keep:
                    self._cache.add(self._caller, measured)
                found |= measured
        return np.stack([found[self._keys[output][metric]] for output in outputs])

    def _measure(self, output: int, metrics: Iterable[int]) -> dict[str, Array]:
        """Measure one output; its metrics share what they derive from its text."""
        testset = self.testset(output // len(self._plan.systems))
        system = self.system(output)
        kinds = self._plan.recipe.measured
        return {self._keys[output][m]: engine.measure(testset, system, kinds[m]) for m in metrics}

    def system(self, output: int) -> System:
        """What a system brings to a test set.

        Raises:
            GoneError: It was deleted.
        """
        number, s = divmod(output, len(self._plan.systems))
        name = self._plan.systems[s]
        if self._of_board is None:
            return System.load(name, self._content(output_field(output)))
        brought = self._boards.output(self._of_board, self._plan.parts[number].digests[s])
        if brought is None:
            raise gone(self._id)
        return brought

    def testset(self, number: int) -> TestSet:
        """References, documents and labels of a test set."""
        if number not in self._testsets:
            self._testsets[number] = (
                TestSet.load(self._content(testset_field(number)))
                if self._of_board is None
                else self._boards.testset(self._of_board)
            )
        return self._testsets[number]


def measure(context: Context, question_id: str, first: int, last: int) -> None:
    """Measure outputs `first` to `last`; the task that ends last begins the resampling."""
    work = _Work.on(context, question_id)
    measured = work.statistics.fill(first, last)
    pieces = context.questions.pieces(question_id, measured)
    if pieces.unmeasured:
        return
    mine, *others = pieces.tasks(question_id)
    context.feed.add(work.stored.caller, others)
    if mine.name == resample.__name__:  # needs no other worker
        start, stop = map(int, mine.arguments)
        _resample(context, work, pieces, (start, stop))
    else:
        _report(context, work, work.samples, pieces.cut.blocks)


def resample(context: Context, question_id: str, start: int, stop: int) -> None:
    """Draw resamples `start` to `stop`; the task that draws the last ones writes the report."""
    work = _Work.on(context, question_id)
    _resample(context, work, context.questions.pieces(question_id), (start, stop))


def conclude(context: Context, question_id: str) -> None:
    """Write the report of a question without pieces, or from pieces that all exist."""
    pieces = context.questions.pieces(question_id)
    if pieces.cut.resamples:
        work = _Work.on(context, question_id)
        _report(context, work, work.samples, pieces.cut.blocks)
        return
    stored, outline = context.questions.read(question_id)
    kind = KINDS[stored.kind]
    question = kind.load(outline, context.questions.contents(question_id))
    _commit(context, question_id, kind, kind.compute(question))


def distribute(
    context: Context, question_id: str, part: int, a: int, b: int, metric: int, test: int
) -> None:
    """Make the pseudo-statistics of one pair again; all are told by their numbers."""
    work = _Work.on(context, question_id)
    own = work.plan.parts[part]
    label, name = own.recipe.labels[metric], own.recipe.tests[test]
    pair, systems = pair_of(own, own.systems[a], own.systems[b], label, name)
    made = distribution(pair, [work.table(part, systems, metric)], label)
    work.keep(pair.key, made.observed, made.values)


def attribute(context: Context, question_id: str, part: int, a: int, b: int, metric: int) -> None:
    """Make the segments' shares of one pair's difference; all are told by their numbers."""
    work = _Work.on(context, question_id)
    own, table = work.plan.parts[part], work.table(part, (a, b), metric)
    shares = segment_shares(own.recipe.metrics[metric], table, own.replicas)
    work.keep(shares_key(own, a, b, metric), float(shares.sum()), shares)


@dataclass(frozen=True)
class _Work:
    """A comparison that a task works on, read once.

    Attributes:
        context: The stores and the queue.
        stored: As it is stored.
        plan: What it computes.
        statistics: Of its outputs.
    """

    context: Context
    stored: Record
    plan: Plan
    statistics: Statistics

    @classmethod
    def on(cls, context: Context, question_id: str) -> _Work:
        """Read a comparison.

        Raises:
            GoneError: It expired or was deleted.
        """
        stored, outline = context.questions.read(question_id)
        plan = Plan.of(outline)
        own = stored.id, stored.caller, stored.testset
        return cls(context, stored, plan, Statistics(context, plan, *own))

    @property
    def samples(self) -> Samples:
        """Its measured statistics, ready to be resampled."""
        return Samples(self.plan, self.statistics.tables())

    def table(self, part: int, systems: Sequence[int], metric: int) -> Array:
        """(S, n, k) statistics of some systems; what is measured for it is not kept."""
        first = part * len(self.plan.systems)
        return self.statistics.table([first + s for s in systems], metric, keep=False)

    def keep(self, name: str, observed: float, values: Array) -> None:
        """Keep what a reader asked for, and wake who waits for it."""
        cache = self.context.questions.cache(self.stored.space)
        cache.add_values(self.stored.caller, name, observed, values)
        self.context.redis.publish(keys.key("news", self.stored.id), b"")


def _resample(context: Context, work: _Work, pieces: Pieces, run: Run) -> None:
    samples, question_id = work.samples, work.stored.id
    if pieces.cut.blocks == [run]:  # nobody else needs what is drawn
        report = engine.reduce(samples, [samples.block(*run)])
        _commit(context, question_id, KINDS["comparisons"], report)
        return
    drawn = pieces.drawn
    if run not in drawn:
        drawn = context.questions.add_blocks(question_id, samples.block(*run))
    if drawn.issuperset(pieces.cut.blocks):
        _report(context, work, samples, pieces.cut.blocks)


def _report(context: Context, work: _Work, samples: Samples, runs: Sequence[Run]) -> None:
    question_id = work.stored.id
    blocks = context.questions.blocks(question_id, runs)
    if len(blocks) == len(runs):  # fewer where another task has reported meanwhile
        _commit(context, question_id, KINDS["comparisons"], engine.reduce(samples, blocks))


def _commit(context: Context, question_id: str, kind: Kind[Any], report: Any) -> None:
    stored = render_json(kind.present(report)).encode()
    pictures = kind.drawable(report)
    context.questions.commit(question_id, Status.SUCCEEDED, report=stored, pictures=pictures)
