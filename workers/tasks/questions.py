"""What workers do for questions. Each function reads pieces, computes, writes a piece.

Any of them may run twice, late or at the same time as itself: pieces are functions of the question.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

from sigtest import engine
from sigtest.comparison.plan import Plan
from sigtest.draws.distribution import distribution, pair_of
from sigtest.draws.samples import Samples
from sigtest.kinds import KINDS, Kind
from sigtest.render import json
from sigtest.segments import segment_shares
from workers.store.pieces import Pieces, Run, shares_key
from workers.store.records import Status
from workers.store.stored import Stored
from workers.tasks.context import Context
from workers.tasks.statistics import Statistics


def measure(context: Context, question_id: str, first: int, last: int) -> None:
    """Measure outputs `first` to `last`; the task that ends last begins the resampling."""
    work = _Work.on(context, question_id)
    measured = work.statistics.fill(first, last)
    pieces = context.questions.progress.pieces(question_id, measured)
    if pieces.unmeasured:
        return
    mine, *others = pieces.tasks(question_id)
    context.feed.add(work.stored.caller, others)
    if mine.task.name == resample.__name__:  # needs no other worker
        start, stop = map(int, mine.task.arguments)
        _resample(context, work, pieces, (start, stop))
    else:
        _report(context, work, work.samples, pieces.cut.blocks)


def resample(context: Context, question_id: str, start: int, stop: int) -> None:
    """Draw resamples `start` to `stop`; the task that draws the last ones writes the report."""
    work = _Work.on(context, question_id)
    _resample(context, work, context.questions.progress.pieces(question_id), (start, stop))


def conclude(context: Context, question_id: str) -> None:
    """Write the report of a question without pieces, or from pieces that all exist."""
    pieces = context.questions.progress.pieces(question_id)
    if not pieces.cut.resamples:
        _compute(context, question_id)
        return
    work = _Work.on(context, question_id)
    _report(context, work, work.samples, pieces.cut.blocks)


def distribute(
    context: Context, question_id: str, part: int, a: int, b: int, metric: int, test: int
) -> None:
    """Make the pseudo-statistics of one pair again; all are told by their numbers."""
    work = _Work.on(context, question_id)
    plan = work.plan
    own = plan.parts[part]
    label, name = own.recipe.labels[metric], own.recipe.tests[test]
    pair, systems = pair_of(own, own.systems[a], own.systems[b], label, name)
    first = part * len(plan.systems)
    outputs = [first + system for system in systems]
    table = work.statistics.table(outputs, metric, keep=False)
    made = distribution(pair, [table], label)
    cache = context.questions.cache(work.stored.space)
    cache.add_values(work.stored.caller, pair.key, made.observed, made.values)
    context.questions.progress.tell(question_id)


def attribute(context: Context, question_id: str, part: int, a: int, b: int, metric: int) -> None:
    """Make the segments' shares of one pair's difference; all are told by their numbers."""
    work = _Work.on(context, question_id)
    plan = work.plan
    own = plan.parts[part]
    outputs = [part * len(plan.systems) + system for system in (a, b)]
    table = work.statistics.table(outputs, metric, keep=False)
    shares = segment_shares(own.recipe.metrics[metric], table, own.replicas)
    cache = context.questions.cache(work.stored.space)
    name = shares_key(own, a, b, metric)
    cache.add_values(work.stored.caller, name, float(shares.sum()), shares)
    context.questions.progress.tell(question_id)


@dataclass(frozen=True)
class _Work:
    """A comparison that a task works on, read once.

    Attributes:
        stored: As it is stored.
        plan: What it computes.
        statistics: Of its outputs.
    """

    stored: Stored
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
        return cls(stored, plan, Statistics(context.questions, context.testsets, stored, plan))

    @property
    def samples(self) -> Samples:
        """Its measured statistics, ready to be resampled."""
        return Samples(self.plan, self.statistics.tables())


def _resample(context: Context, work: _Work, pieces: Pieces, run: Run) -> None:
    samples, question_id = work.samples, work.stored.record.id
    if pieces.cut.blocks == [run]:  # nobody else needs what is drawn
        report = engine.reduce(samples, [samples.block(*run)])
        _commit(context, question_id, KINDS["comparisons"], report)
        return
    drawn = pieces.drawn
    if run not in drawn:
        drawn = context.questions.progress.add_blocks(question_id, samples.block(*run))
    if drawn.issuperset(pieces.cut.blocks):
        _report(context, work, samples, pieces.cut.blocks)


def _compute(context: Context, question_id: str) -> None:
    """A question of a kind that is computed whole."""
    stored, outline = context.questions.read(question_id)
    kind = KINDS[stored.record.kind]
    asked = kind.load(outline, context.questions.contents(question_id))
    _commit(context, question_id, kind, kind.compute(asked))


def _report(context: Context, work: _Work, samples: Samples, runs: Sequence[Run]) -> None:
    question_id = work.stored.record.id
    blocks = context.questions.progress.blocks(question_id, runs)
    if len(blocks) == len(runs):  # fewer where another task has reported meanwhile
        _commit(context, question_id, KINDS["comparisons"], engine.reduce(samples, blocks))


def _commit(context: Context, question_id: str, kind: Kind[Any], report: Any) -> None:
    stored = json.render(kind.present(report)).encode()
    pictures = kind.drawable(report)
    context.questions.commit(question_id, Status.SUCCEEDED, report=stored, pictures=pictures)
