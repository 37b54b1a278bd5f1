"""What workers do for questions. Each function reads pieces, computes, writes a piece.

Any of them may run twice, late or at the same time as itself: pieces are functions of the question.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from sigtest import engine
from sigtest.comparison.plan import Plan
from sigtest.draws.distribution import distribution, pair_of
from sigtest.draws.samples import Samples
from sigtest.kinds import KINDS, Kind
from sigtest.render import json
from sigtest.segments import segment_shares
from workers.errors import GoneError
from workers.store.pieces import Pieces, Run, shares_key
from workers.store.questions import Stored
from workers.store.records import Status, gone
from workers.tasks.context import Context
from workers.tasks.statistics import Statistics


def measure(context: Context, question_id: str, first: int, last: int) -> None:
    """Measure outputs `first` to `last`; the task that ends last begins the resampling."""
    stored, plan = _read(context, question_id)
    _statistics(context, stored, plan).fill(first, last)
    pieces = context.questions.progress.pieces(question_id)
    if pieces.unmeasured:
        return
    mine, *others = pieces.tasks(question_id)
    context.feed.add(stored.caller, others)
    if mine.task.name == resample.__name__:  # needs no other worker
        start, stop = map(int, mine.task.arguments)
        resample(context, question_id, start, stop)
    else:
        conclude(context, question_id)


def resample(context: Context, question_id: str, start: int, stop: int) -> None:
    """Draw resamples `start` to `stop`; the task that draws the last ones writes the report."""
    stored, plan = _read(context, question_id)
    pieces = context.questions.progress.pieces(question_id)
    samples = Samples(plan, _statistics(context, stored, plan).tables())
    drawn = pieces.drawn
    if (start, stop) not in drawn:
        drawn = context.questions.progress.add_blocks(question_id, samples.block(start, stop))
    if drawn.issuperset(pieces.cut.blocks):
        _report(context, question_id, samples, pieces.cut.blocks)


def conclude(context: Context, question_id: str) -> None:
    """Write the report of a question without pieces, or from pieces that all exist."""
    pieces = context.questions.progress.pieces(question_id)
    if not pieces.cut.resamples:
        _compute(context, question_id)
        return
    stored, plan = _read(context, question_id)
    samples = Samples(plan, _statistics(context, stored, plan).tables())
    _report(context, question_id, samples, pieces.cut.blocks)


def distribute(
    context: Context, question_id: str, part: int, a: int, b: int, metric: int, test: int
) -> None:
    """Make the pseudo-statistics of one pair again; all are told by their numbers."""
    stored, plan = _read(context, question_id)
    own = plan.parts[part]
    label, name = own.recipe.labels[metric], own.recipe.tests[test]
    pair, systems = pair_of(own, own.systems[a], own.systems[b], label, name)
    first = part * len(plan.systems)
    outputs = [first + system for system in systems]
    table = _statistics(context, stored, plan).table(outputs, metric)
    made = distribution(pair, [table], label)
    cache = context.questions.cache(stored.space)
    cache.add_values(pair.key, made.observed, made.values)
    context.questions.progress.tell(question_id)


def attribute(context: Context, question_id: str, part: int, a: int, b: int, metric: int) -> None:
    """Make the segments' shares of one pair's difference; all are told by their numbers."""
    stored, plan = _read(context, question_id)
    own = plan.parts[part]
    outputs = [part * len(plan.systems) + system for system in (a, b)]
    table = _statistics(context, stored, plan).table(outputs, metric)
    shares = segment_shares(own.recipe.metrics[metric], table, own.replicas)
    cache = context.questions.cache(stored.space)
    cache.add_values(shares_key(own, a, b, metric), float(shares.sum()), shares)
    context.questions.progress.tell(question_id)


def missing(context: Context, idle: Sequence[str]) -> dict[str, Pieces]:
    """The pieces of those questions that still exist; the others are no longer cared for."""
    found = {}
    for question_id in idle:
        try:
            found[question_id] = context.questions.progress.pieces(question_id)
        except GoneError:
            context.questions.drop_pending(question_id)  # it expired
    return found


def _read(context: Context, question_id: str) -> tuple[Stored, Plan]:
    stored = context.questions.find(question_id, how_far=False)
    if stored is None:
        raise gone(question_id)
    return stored, Plan.of(context.questions.outline(question_id))


def _statistics(context: Context, stored: Stored, plan: Plan) -> Statistics:
    return Statistics(context.questions, context.testsets, stored, plan)


def _compute(context: Context, question_id: str) -> None:
    """A question of a kind that is computed whole."""
    stored = context.questions.find(question_id, how_far=False)
    if stored is None:
        raise gone(question_id)
    kind = KINDS[stored.record.kind]
    outline = context.questions.outline(question_id)
    asked = kind.load(outline, context.questions.contents(question_id))
    _commit(context, question_id, kind, kind.compute(asked))


def _report(context: Context, question_id: str, samples: Samples, runs: Sequence[Run]) -> None:
    blocks = context.questions.progress.blocks(question_id, runs)
    if len(blocks) == len(runs):  # fewer where another task has reported meanwhile
        _commit(context, question_id, KINDS["comparisons"], engine.reduce(samples, blocks))


def _commit(context: Context, question_id: str, kind: Kind[Any], report: Any) -> None:
    stored = json.render(kind.present(report)).encode()
    pictures = kind.drawable(report)
    context.questions.commit(question_id, Status.SUCCEEDED, report=stored, pictures=pictures)
