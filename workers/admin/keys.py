"""`sigtest-admin keys`: make, list and revoke keys, in effect from the next request on."""

from __future__ import annotations

import argparse
import time
from collections.abc import Iterator
from datetime import UTC, datetime

from workers.access import SCOPES, Access, ApiKey
from workers.admin.arguments import Commands, span
from workers.tasks.context import Context

COLUMNS = "{:<8}  {:<20}  {:<17}  {:<10}  {:<10}  {:>7}  {}"


def add_to(commands: Commands[argparse.ArgumentParser]) -> None:
    """Add the commands about keys."""
    whole = commands.add_parser("keys", help="make, list and revoke API keys")
    ways = whole.add_subparsers(required=True, metavar="add|list|revoke")
    add = ways.add_parser("add", help="make a key and print it, this once")
    add.add_argument("name", help="of its holder; holders see their own questions only")
    add.add_argument(
        "--scope", action="append", choices=SCOPES,
        help="what it is for; repeatable; default read and submit",
    )  # fmt: skip
    add.add_argument("--days", type=span, help="after how many it ends; default never")
    add.add_argument(
        "--budget", type=int,
        help="predicted seconds of one core that its holder may have unfinished",
    )  # fmt: skip
    add.set_defaults(run=_add)
    ways.add_parser("list", help="all keys, without the keys themselves").set_defaults(run=_list)
    revoke = ways.add_parser("revoke", help="take back one key, or all of a holder")
    revoke.add_argument("which", metavar="ID-OR-NAME")
    revoke.set_defaults(run=_revoke)


def _add(asked: argparse.Namespace, context: Context) -> Iterator[str]:
    scopes = asked.scope or ["read", "submit"]
    access = Access(context.redis, context.settings.marker)
    _, secret = access.add(asked.name, scopes, asked.days, asked.budget)
    yield secret


def _list(asked: argparse.Namespace, context: Context) -> Iterator[str]:
    known = Access(context.redis).listing()
    yield COLUMNS.format("id", "name", "scopes", "made", "ends", "budget", "state")
    yield from map(_line, known)


def _revoke(asked: argparse.Namespace, context: Context) -> Iterator[str]:
    for key in Access(context.redis).revoke(asked.which):
        yield f"revoked {key.id} of {key.name}"


def _line(key: ApiKey) -> str:
    state = "valid" if key.valid(time.time()) else "revoked" if key.revoked else "expired"
    ends = "never" if key.expires_at is None else _day(key.expires_at)
    budget = "" if key.budget is None else str(key.budget)
    scopes = ",".join(key.scopes)
    return COLUMNS.format(key.id, key.name, scopes, _day(key.created_at), ends, budget, state)


def _day(seconds: float) -> str:
    return datetime.fromtimestamp(seconds, UTC).strftime("%Y-%m-%d")
