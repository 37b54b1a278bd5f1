"""Doing what workers do, one task after the other, in this process."""

from collections.abc import Sequence

from workers.store.task import Task
from workers.tasks.context import Context
from workers.tasks.run import run


def perform(context: Context, tasks: Sequence[Task]) -> None:
    for task in tasks:
        run(context, task.name, [task.owner, *task.arguments])


def missing(context: Context, question_id: str) -> list[Task]:
    return [entry.task for entry in context.questions.pieces(question_id).tasks(question_id)]


def finish(context: Context, question_id: str) -> None:
    """Compute a question to its end, and take what was queued for workers out of the queue."""
    while context.questions.unfinished(question_id):
        perform(context, missing(context, question_id))
    context.feed.drop(question_id)
