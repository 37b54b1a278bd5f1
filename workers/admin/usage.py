"""`sigtest-admin usage`: what each caller has unfinished, and what waits."""

from __future__ import annotations

import argparse
from collections.abc import Iterator

from redis import Redis

from workers.admin.keys import Commands
from workers.load import load
from workers.settings import Settings
from workers.tasks.context import Context

COLUMNS = "{:<20}  {:>10}  {:>17}"


def add_to(commands: Commands[argparse.ArgumentParser]) -> None:
    """Add the command."""
    told = "unfinished questions and their predicted seconds, by caller"
    commands.add_parser("usage", help=told).set_defaults(run=_usage)


def _usage(asked: argparse.Namespace, redis: Redis, settings: Settings) -> Iterator[str]:
    now = load(Context.on(redis, settings))
    yield COLUMNS.format("caller", "unfinished", "predicted seconds")
    for caller, count in sorted(now.unfinished.items()):
        yield COLUMNS.format(caller, count, f"{now.predicted[caller]:.3f}")
    if now.drained:
        yield "drained: nothing is handed out until `sigtest-admin drain --end`"
    yield f"{now.waiting} tasks wait, the oldest for {now.oldest:.0f} s; {now.workers} workers"
