"""What workers do. The functions in TASKS are all that the queue can name.

Each reads pieces, calls the engine, writes a piece and looks what is to be done next. Any of them
may run twice, late or at the same time as itself: pieces are functions of the comparison.
"""

from __future__ import annotations

import logging
from collections.abc import Callable, Sequence
from typing import Any

from redis.exceptions import RedisError
from rq.timeouts import JobTimeoutException

from sigtest.draws.distribution import distribution, pair_of
from sigtest.draws.sample import Sample
from sigtest.errors import SigtestError
from sigtest.render import json
from sigtest.suite_engine import SuiteSample
from workers import leaderboard_tasks, work
from workers.desk import Desk
from workers.measuring import Measuring
from workers.pieces import Run, Task
from workers.records import Status

log = logging.getLogger(__name__)


def measure(desk: Desk, comparison_id: str, first: int, last: int) -> None:
    """Measure outputs `first` to `last`; whoever measures the last one begins the resampling."""
    Measuring(desk.store, comparison_id, desk.store.plan(comparison_id)).fill(first, last)
    pieces = desk.store.pieces(comparison_id)
    if pieces.unmeasured:
        return
    mine, *others = pieces.tasks(comparison_id)
    desk.queue.add(others)
    TASKS[mine.name](desk, comparison_id, *mine.arguments)  # need not wait for a worker


def resample(desk: Desk, comparison_id: str, start: int, stop: int) -> None:
    """Draw resamples `start` to `stop`; whoever draws the last ones writes the report."""
    plan, pieces = desk.store.plan(comparison_id), desk.store.pieces(comparison_id)
    sample = work.sample_of(plan, Measuring(desk.store, comparison_id, plan).tables())
    drawn = pieces.drawn
    if (start, stop) not in drawn:
        drawn = desk.store.add_blocks(comparison_id, work.draw(sample, start, stop))
    if drawn.issuperset(pieces.cut.blocks):
        _report(desk, comparison_id, sample, pieces.cut.blocks)


def conclude(desk: Desk, comparison_id: str) -> None:
    """Write the report from pieces that all exist, where the one who should have done so died."""
    plan = desk.store.plan(comparison_id)
    sample = work.sample_of(plan, Measuring(desk.store, comparison_id, plan).tables())
    _report(desk, comparison_id, sample, desk.store.pieces(comparison_id).cut.blocks)


def distribute(desk: Desk, comparison_id: str, a: int, b: int, metric: int, test: int) -> None:
    """Make the pseudo-statistics of one pair again; all are told by their numbers."""
    (plan,) = work.parts(desk.store.plan(comparison_id))
    label = plan.recipe.labels[metric]
    pair, systems = pair_of(plan, plan.systems[a], plan.systems[b], label, plan.recipe.tests[test])
    table = Measuring(desk.store, comparison_id, plan).table(systems, metric)
    made = distribution(pair, [table], label)
    desk.store.add_values(comparison_id, (a, b, metric, test), made.observed, made.values)


TASKS: dict[str, Callable[..., None]] = {
    task.__name__: task for task in (measure, resample, conclude, distribute)
} | leaderboard_tasks.TASKS


def run(desk: Desk, name: str, arguments: Sequence[Any]) -> None:
    """Run a task. What would go wrong again becomes the comparison's error.

    Raises:
        RedisError: The server failed; the task is worth another try.
    """
    if name in leaderboard_tasks.TASKS:
        leaderboard_tasks.run(desk, name, arguments)
        return
    task = Task(name, arguments[0], tuple(arguments[1:]))
    try:
        if name == distribute.__name__ or _begin(desk, task):
            TASKS[name](desk, *arguments)
    except RedisError:
        raise
    except SigtestError as error:
        desk.store.commit(task.comparison, Status.FAILED, error.message)
    except JobTimeoutException:
        limit = desk.store.settings.timeout
        message = f"One task ({name}) took more than {limit} seconds."
        desk.store.commit(task.comparison, Status.FAILED, message)
    except Exception as error:
        log.exception("task %s failed", task.key)
        message = f"Internal error in one task ({name}): {type(error).__name__}."
        desk.store.commit(task.comparison, Status.FAILED, message)


def _begin(desk: Desk, task: Task) -> bool:
    """Whether to start the task: its comparison is unfinished, and it does not kill workers."""
    attempt = desk.store.begin(task.comparison, task.key)
    limit = desk.store.settings.attempts
    if attempt > limit:
        message = (
            f"One task ({task.name}) was started {limit} times and its worker died each time; "
            "it may need more memory than there is."
        )
        desk.store.commit(task.comparison, Status.FAILED, message)
    return 0 < attempt <= limit


def _report(
    desk: Desk, comparison_id: str, sample: Sample | SuiteSample, runs: Sequence[Run]
) -> None:
    blocks = desk.store.blocks(comparison_id, runs)
    if len(blocks) == len(runs):  # fewer where somebody else has reported meanwhile
        report = json.render(work.reduce(sample, blocks))
        desk.store.commit(comparison_id, Status.SUCCEEDED, report=report.encode())
