"""`sigtest-admin drain`: let workers finish what they have and take nothing new."""

from __future__ import annotations

import argparse
import time
from collections.abc import Iterator

from workers.admin.arguments import Commands, span
from workers.tasks.context import Context

LOOK = 0.1


def add_to(commands: Commands[argparse.ArgumentParser]) -> None:
    """Add the command."""
    drain = commands.add_parser(
        "drain",
        help="hand out no task until `drain --end`, and wait until none runs; what callers ask "
        "is accepted and waits",
    )
    drain.add_argument("--end", action="store_true", help="serve what waits again")
    drain.add_argument(
        "--seconds", type=span, default=3600.0, help="how long to wait; default %(default)g"
    )
    drain.set_defaults(run=_drain)


def _drain(asked: argparse.Namespace, context: Context) -> Iterator[str]:
    feed = context.feed
    if asked.end:
        feed.resume()
        yield "tasks are handed out"
        return
    feed.drain()
    deadline = time.monotonic() + asked.seconds
    while feed.jobs.workers() and feed.jobs.busy() and time.monotonic() < deadline:
        time.sleep(LOOK)
    held, (waiting, _) = len(feed.jobs.running()), feed.depth()
    yield f"drained: workers have {held} tasks, {waiting} wait until `sigtest-admin drain --end`"
