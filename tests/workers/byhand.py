"""Doing what workers do, one task after the other, in this process."""

from collections.abc import Sequence

from workers.desk import Desk
from workers.pieces import Task
from workers.tasks import run


def perform(desk: Desk, tasks: Sequence[Task]) -> None:
    for task in tasks:
        run(desk, task.name, [task.comparison, *task.arguments])


def missing(desk: Desk, comparison_id: str) -> list[Task]:
    return desk.store.pieces(comparison_id).tasks(comparison_id)


def finish(desk: Desk, comparison_id: str) -> None:
    """Compute a comparison to its end, and take what was queued for workers out of the queue."""
    while desk.store.unfinished(comparison_id):
        perform(desk, missing(desk, comparison_id))
    desk.queue.drop(comparison_id)
