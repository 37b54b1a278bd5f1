"""`sigtest-admin requeue`: let what failed, or is stuck, start as if it was never tried."""

from __future__ import annotations

import argparse
from collections.abc import Iterator, Sequence

from workers.admin.arguments import Commands
from workers.errors import NotFoundError, NotReadyError
from workers.store import survey
from workers.store.task import Priced
from workers.tasks import boards
from workers.tasks.context import Context


def add_to(commands: Commands[argparse.ArgumentParser]) -> None:
    """Add the command."""
    requeue = commands.add_parser(
        "requeue", help="let questions and test sets that failed, or are stuck, start again"
    )
    which = requeue.add_mutually_exclusive_group(required=True)
    which.add_argument("ids", metavar="ID", nargs="*", default=[], help="of what")
    which.add_argument("--failed", action="store_true", help="all that `failed` lists")
    requeue.set_defaults(run=_requeue)


def _requeue(asked: argparse.Namespace, context: Context) -> Iterator[str]:
    ids: Sequence[str] = asked.ids
    if asked.failed:
        redis = context.redis
        ids = sorted({*survey.failed_questions(redis), *survey.failed_testsets(redis)})
    for name in ids:
        caller, tasks = _revived(context, name)
        alive = context.feed.jobs.alive()
        idle = [entry for entry in tasks if entry.task.key not in alive]
        context.feed.jobs.forget(entry.task.key for entry in idle)
        context.feed.add(caller, idle)
        yield f"requeued {name} of {caller}"


def _revived(context: Context, name: str) -> tuple[str, list[Priced]]:
    """Whose it is, and what there is to do for it."""
    stored = context.questions.find(name)
    if stored is None:
        return _revived_testset(context, name)
    if not survey.revive_question(context.redis, name, stored.caller):
        raise NotReadyError(
            f"{name} is {stored.record.status}; only what failed or is unfinished starts again.",
            stored.record,
        )
    return stored.caller, context.questions.progress.pieces(name).tasks(name)


def _revived_testset(context: Context, name: str) -> tuple[str, list[Priced]]:
    if context.testsets.state(name) is None:
        raise NotFoundError(f"There is no question and no test set {name}.")
    survey.revive_testset(context.testsets, name)
    state = context.testsets.state(name)
    if state is None:
        raise NotFoundError(f"The test set {name} has just been deleted.")
    return state.caller, boards.joins(state)
