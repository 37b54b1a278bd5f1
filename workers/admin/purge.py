"""`sigtest-admin purge`: delete what a caller has."""

from __future__ import annotations

import argparse
import time
from collections.abc import Callable, Iterator, Sequence
from functools import partial
from typing import TypeVar

from sigtest.kinds import KINDS
from workers.admin.arguments import Commands, span
from workers.questions import Questions
from workers.store import keys, survey
from workers.store.boards import TestSetRecord
from workers.tasks.context import Context
from workers.testsets import TestSets
from workers.webhooks import Webhooks

PAGE = 100
DAY = 86_400.0
T = TypeVar("T")


def add_to(commands: Commands[argparse.ArgumentParser]) -> None:
    """Add the command."""
    purge = commands.add_parser(
        "purge",
        help="delete a caller's questions, test sets and webhooks, with texts, reports and what is "
        "cached; keys stay (keys revoke)",
    )
    purge.add_argument("caller", help="name of a holder of keys; anonymous where there are none")
    purge.add_argument(
        "--days", type=span, default=0.0,
        help="only what was accepted, and test sets that were changed, that long ago",
    )  # fmt: skip
    purge.add_argument("--yes", action="store_true", help="do it; without, say what there is")
    purge.set_defaults(run=_purge)


def _purge(asked: argparse.Namespace, context: Context) -> Iterator[str]:
    questions, testsets, webhooks = Questions(context), TestSets(context), Webhooks(context)
    caller, until = asked.caller, time.time() - asked.days * DAY
    listed = _all(partial(testsets.listing, caller, limit=PAGE))
    boards = [record for record in listed if _changed(record, context) <= until]
    found = {
        kind: [
            record
            for record in _all(partial(questions.listing, caller, kind, limit=PAGE))
            if record.created_at <= until
        ]
        for kind in KINDS
    }
    hooks = [] if asked.days else webhooks.listing(caller)
    if asked.yes:
        for record in (r for records in found.values() for r in records):
            if questions.remove(record.id, caller) is not None:  # it was cancelled
                questions.remove(record.id, caller)
        for board in boards:
            testsets.delete(board.id, caller)
            survey.forget_space(context.redis, board.id)
        for hook in hooks:
            webhooks.remove(hook.id, caller)
        if not asked.days:
            survey.forget_space(context.redis, keys.space_of(caller))
    done = "deleted" if asked.yes else "would delete (with --yes)"
    counts = {kind: len(records) for kind, records in found.items()}
    for kind, count in (*counts.items(), ("testsets", len(boards)), ("webhooks", len(hooks))):
        yield f"{done} {count} {kind} of {caller}"


def _all(page: Callable[[str | None], tuple[Sequence[T], str | None]]) -> Iterator[T]:
    """Everything of a listing, page by page."""
    entries, cursor = page(None)
    yield from entries
    while cursor is not None:
        entries, cursor = page(cursor)
        yield from entries


def _changed(board: TestSetRecord, context: Context) -> float:
    """When a test set was last changed, seconds since the epoch."""
    return board.expires_at - context.settings.retention
