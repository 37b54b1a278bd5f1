"""`sigtest-admin usage`: what each caller has unfinished and holds, and what waits."""

from __future__ import annotations

import argparse
from collections.abc import Iterator

from workers.admin.arguments import Commands
from workers.load import load
from workers.store.holdings import Tour
from workers.tasks.context import Context

COLUMNS = "{:<20}  {:>10}  {:>17}  {:>16}"


def add_to(commands: Commands[argparse.ArgumentParser]) -> None:
    """Add the command."""
    told = "unfinished questions, their predicted seconds, and bytes of the store, by caller"
    commands.add_parser("usage", help=told).set_defaults(run=_usage)


def _usage(asked: argparse.Namespace, context: Context) -> Iterator[str]:
    now = load(context)
    tour = Tour(context.redis)
    while not tour.step():
        pass
    yield COLUMNS.format("caller", "unfinished", "predicted seconds", "bytes")
    for caller, held in sorted(tour.held.items()):
        seconds = f"{now.predicted.get(caller, 0.0):.3f}"
        yield COLUMNS.format(caller, now.unfinished.get(caller, 0), seconds, f"{held:,}")
    if now.drained:
        yield "drained: nothing is handed out until `sigtest-admin drain --end`"
    yield f"{now.waiting} tasks wait, the oldest for {now.oldest:.0f} s; {now.workers} workers"
