"""`sigtest-admin failed`: what has failed, and why."""

from __future__ import annotations

import argparse
from collections.abc import Iterator

from workers.admin.arguments import Commands
from workers.store import survey
from workers.tasks.context import Context

COLUMNS = "{:<32}  {:<20}  {:<18}  {}"


def add_to(commands: Commands[argparse.ArgumentParser]) -> None:
    """Add the command."""
    told = "questions and systems that have failed, and why; reasons may quote a text"
    commands.add_parser("failed", help=told).set_defaults(run=_failed)


def _failed(asked: argparse.Namespace, context: Context) -> Iterator[str]:
    yield COLUMNS.format("id", "caller", "kind", "why")
    for name in sorted(survey.failed_questions(context.redis)):
        stored = context.questions.find(name)
        if stored is not None:
            record = stored.record
            yield COLUMNS.format(name, stored.caller, record.kind, record.error)
    for name in sorted(survey.failed_testsets(context.redis)):
        state = context.testsets.state(name)
        if state is None:
            continue
        for system, why in state.failed.items():
            yield COLUMNS.format(name, state.caller, "testsets", f"{system}: {why}")
