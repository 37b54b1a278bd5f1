"""`sigtest-admin stuck`: what is unfinished for long, and what it waits for."""

from __future__ import annotations

import argparse
import time
from collections.abc import Iterator

from workers.admin.arguments import Commands, span
from workers.store import survey
from workers.store.task import owner_of
from workers.tasks.context import Context

COLUMNS = "{:<32}  {:<20}  {:<18}  {:>9}  {:>6}  {}"
LONG = 600.0


def add_to(commands: Commands[argparse.ArgumentParser]) -> None:
    """Add the command."""
    stuck = commands.add_parser(
        "stuck",
        help="what is unfinished for long: running, waiting for a worker, or lost (no task of it "
        "is anywhere; a service that runs finds it within two seconds)",
    )
    stuck.add_argument("--seconds", type=span, default=LONG, help="how long; default %(default)g")
    stuck.set_defaults(run=_stuck)


def _stuck(asked: argparse.Namespace, context: Context) -> Iterator[str]:
    running = {owner_of(key) for key in context.feed.jobs.running()}
    alive = {owner_of(key) for key in context.feed.jobs.alive()}

    def state(name: str) -> str:
        if name in running:
            return "running"
        return "lost" if name not in alive and context.feed.since(name) is None else "waiting"

    now = time.time()
    yield COLUMNS.format("id", "caller", "kind", "seconds", "starts", "state")
    for name in context.questions.pending():
        stored = context.questions.find(name)
        if stored is None or now - stored.record.created_at < asked.seconds:
            continue
        age = f"{now - stored.record.created_at:.0f}"
        times = survey.starts(context.redis, "attempts", name)
        kind = stored.record.kind
        yield COLUMNS.format(name, stored.caller, kind, age, times, state(name))
    for name in context.testsets.joining():
        board = context.testsets.state(name)
        since = context.feed.since(name)
        if board is None or (since is not None and now - since < asked.seconds):
            continue
        age = "" if since is None else f"{now - since:.0f}"
        times = survey.starts(context.redis, "testset-attempts", name)
        yield COLUMNS.format(name, board.caller, "testsets", age, times, state(name))
