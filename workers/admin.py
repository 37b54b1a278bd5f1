"""`sigtest-admin`, or `python -m workers.admin`: what operators do to a service.

It speaks to the store that the service has: REDIS_URL, or the embedded server of SIGTEST_STATE,
which it starts for itself where no service runs.
"""

from __future__ import annotations

import argparse
import math
import sys
import time
from collections.abc import Callable, Iterator, Sequence
from datetime import UTC, datetime
from functools import partial
from typing import Any

from sigtest.cli.shell import status_of
from sigtest.kinds import KINDS
from sigtest.render.words import printable
from workers.access import SCOPES, Access
from workers.errors import NotFoundError, NotReadyError, storage
from workers.observing import load
from workers.questions import Questions
from workers.queue import Context
from workers.races import Races
from workers.settings import SECONDS, Settings
from workers.shared_tasks import SharedTasks
from workers.store import keys, usage
from workers.store.lasting import Shelf
from workers.store.records import Status, Task
from workers.store.server import EmbeddedServer, connect
from workers.testsets import TestSets
from workers.webhooks import Webhooks

Lines = Iterator[str]
Page = tuple[Sequence[Any], str | None]

KEY_COLUMNS = "{:<8}  {:<20}  {:<17}  {:<10}  {:<10}  {:>7}  {}"
USAGE_COLUMNS = "{:<20}  {:>10}  {:>17}  {:>16}"
FAILED_COLUMNS = "{:<32}  {:<20}  {:<18}  {}"
LOOK_SECONDS = 0.1  # between looks whether a task still runs
PAGE = 100
DAY = 86_400.0


def main(arguments: Sequence[str] | None = None) -> int:
    """Run one command; 2 where it cannot be done."""
    options = _parser().parse_args(arguments)
    return status_of("sigtest-admin", lambda: _run(options))


def span(text: str) -> float:
    """A length of time, in days or in seconds, as a type of argparse.

    Raises:
        ArgumentTypeError: It is none.
    """
    try:
        number = float(text)
    except ValueError:
        number = math.nan
    if not 0 <= number <= SECONDS:
        raise argparse.ArgumentTypeError(f"must be a number from 0 to {SECONDS:,}, not {text!r}")
    return number


def _run(options: argparse.Namespace) -> int:
    settings = Settings()
    with storage():
        server = EmbeddedServer(settings)
        server.ensure()
        redis = connect(settings, retries=3, timeout=3.0)
        try:
            for line in options.run(options, Context.on(redis, settings)):
                # reasons of failures quote what callers sent
                sys.stdout.write(f"{printable(line)}\n")
            sys.stdout.flush()
        finally:
            redis.close()
            server.stop()
    return 0


def _parser() -> argparse.ArgumentParser:
    parser = argparse.ArgumentParser(prog="sigtest-admin", allow_abbrev=False)
    commands = parser.add_subparsers(required=True, metavar="COMMAND")

    def command(name: str, run: Callable[..., Lines], among: Any = commands) -> Any:
        words = " ".join((run.__doc__ or "").split()).removesuffix(".")
        made = among.add_parser(name, help=f"{words[:1].lower()}{words[1:]}")
        made.set_defaults(run=run)
        return made

    whole = commands.add_parser("keys", help="make, list and revoke API keys")
    ways = whole.add_subparsers(required=True, metavar="add|list|revoke")
    add = command("add", _add_key, ways)
    add.add_argument("name", help="of its holder; holders see their own questions only")
    add.add_argument(
        "--scope", action="append", choices=SCOPES,
        help="what it is for; repeatable; default read and submit",
    )  # fmt: skip
    add.add_argument("--days", type=span, help="after how many it ends; default never")
    budget = "predicted seconds of one core that its holder may have unfinished"
    add.add_argument("--budget", type=int, help=budget)
    command("list", _list_keys, ways)
    command("revoke", _revoke_keys, ways).add_argument("which", metavar="ID-OR-NAME")
    command("usage", _usage)
    command("failed", _failed)
    which = command("requeue", _requeue).add_mutually_exclusive_group(required=True)
    which.add_argument("ids", metavar="ID", nargs="*", default=[], help="of what")
    which.add_argument("--failed", action="store_true", help="all that `failed` lists")
    drain = command("drain", _drain)
    drain.add_argument("--end", action="store_true", help="serve what waits again")
    wait = "how long to wait; default %(default)g"
    drain.add_argument("--seconds", type=span, default=3600.0, help=wait)
    purge = command("purge", _purge)
    purge.add_argument("caller", help="name of a holder of keys; anonymous where there are none")
    ago = "only what was accepted, and test sets that were changed, that long ago"
    purge.add_argument("--days", type=span, default=0.0, help=ago)
    purge.add_argument("--yes", action="store_true", help="do it; without, say what there is")
    return parser


def _add_key(options: argparse.Namespace, context: Context) -> Lines:
    """Make a key and print it, this once."""
    scopes = options.scope or ["read", "submit"]
    access = Access(context.redis, context.settings.marker)
    yield access.add(options.name, scopes, options.days, options.budget)[1]


def _list_keys(options: argparse.Namespace, context: Context) -> Lines:
    """All keys, without the keys themselves."""
    known = Access(context.redis).listing()  # first: the store may not answer
    yield KEY_COLUMNS.format("id", "name", "scopes", "made", "ends", "budget", "state")
    for key in known:
        made, ends = (
            "never" if end is None else datetime.fromtimestamp(end, UTC).strftime("%Y-%m-%d")
            for end in (key.created_at, key.expires_at)
        )
        state = "valid" if key.valid(time.time()) else "revoked" if key.revoked else "expired"
        scopes = ",".join(key.scopes)
        yield KEY_COLUMNS.format(key.id, key.name, scopes, made, ends, key.budget or "", state)


def _revoke_keys(options: argparse.Namespace, context: Context) -> Lines:
    """Take back one key, or all of a holder."""
    for key in Access(context.redis).revoke(options.which):
        yield f"revoked {key.id} of {key.name}"


def _usage(options: argparse.Namespace, context: Context) -> Lines:
    """Unfinished questions, their predicted seconds, and bytes of the store, by caller."""
    now = load(context)
    yield USAGE_COLUMNS.format("caller", "unfinished", "predicted seconds", "bytes")
    for caller, size in sorted(usage.all_held(context.redis).items()):
        seconds = f"{now.predicted.get(caller, 0.0):.3f}"
        yield USAGE_COLUMNS.format(caller, now.unfinished.get(caller, 0), seconds, f"{size:,}")
    if now.drained:
        yield "drained: nothing is handed out until `sigtest-admin drain --end`"
    yield f"{now.waiting} tasks wait, the oldest for {now.oldest:.0f} s; {now.workers} workers"


def _failed(options: argparse.Namespace, context: Context) -> Lines:
    """Questions and systems that have failed, and why; reasons may quote a text."""
    yield FAILED_COLUMNS.format("id", "caller", "kind", "why")
    yield from (FAILED_COLUMNS.format(*failure) for failure in _failures(context))


def _failures(context: Context) -> Iterator[tuple[str, str, str, str | None]]:
    """Id, caller, kind and reason of all that failed."""
    for name in usage.ids_of(context.redis, "question"):
        record = context.questions.stored(name, how_far=False)
        if record is not None and record.status is Status.FAILED:
            yield name, record.caller, record.kind, record.error
    for name in usage.ids_of(context.redis, "testset-failures"):
        state = context.testsets.stored(name)
        if state is not None:
            for system, why in state.failed.items():
                yield name, state.caller, "testsets", f"{system}: {why}"


def _requeue(options: argparse.Namespace, context: Context) -> Lines:
    """Let questions and test sets that failed, or are unfinished, start again."""
    ids: Sequence[str] = options.ids
    if options.failed:
        ids = sorted({name for name, *_ in _failures(context)})
    for name in ids:
        caller, tasks = _revived(context, name)
        alive = context.feed.jobs.alive()
        idle = [entry for entry in tasks if entry.key not in alive]
        context.feed.jobs.forget(entry.key for entry in idle)
        context.feed.add(caller, idle)
        yield f"requeued {name} of {caller}"


def _revived(context: Context, name: str) -> tuple[str, list[Task]]:
    """Whose it is, and what there is to do for it."""
    stored = context.questions.stored(name)
    if stored is not None:
        if not context.questions.revive(name, stored.caller):
            raise NotReadyError(
                f"{name} is {stored.status}; only what failed or is unfinished starts again.",
                record=stored,
            )
        return stored.caller, context.questions.pieces(name).tasks(name)
    if context.testsets.stored(name) is None:
        raise NotFoundError(f"There is no question and no test set {name}.")
    context.testsets.revive(name)
    state = context.testsets.stored(name)
    if state is None:
        raise NotFoundError(f"The test set {name} has just been deleted.")
    return state.caller, state.joins


def _drain(options: argparse.Namespace, context: Context) -> Lines:
    """Hand out no task until `drain --end`, and wait until none runs.

    What callers ask is accepted and waits.
    """
    feed = context.feed
    if options.end:
        feed.resume()
        yield "tasks are handed out"
        return
    feed.drain()
    deadline = time.monotonic() + options.seconds
    while feed.jobs.workers() and feed.jobs.busy() and time.monotonic() < deadline:
        time.sleep(LOOK_SECONDS)
    running, (waiting, _) = len(feed.jobs.running()), feed.depth()
    yield f"drained: workers have {running} tasks, {waiting} wait until `sigtest-admin drain --end`"


def _purge(options: argparse.Namespace, context: Context) -> Lines:
    """Delete a caller's questions, test sets and webhooks, with texts, reports and what is cached.

    Keys stay (keys revoke).
    """
    caller, until = options.caller, time.time() - options.days * DAY
    questions, testsets, webhooks = Questions(context), TestSets(context), Webhooks(context)
    shelves: dict[str, Shelf[Any]] = {
        "races": Races(context),
        "testsets": testsets,
        "tasks": SharedTasks(context, testsets),
    }
    listings = {kind: partial(questions.listing, caller, listed=kind) for kind in KINDS}
    doomed = {
        kind: [own.id for own in _all_pages(listing) if own.created_at <= until]
        for kind, listing in listings.items()
    }
    for kind, shelf in shelves.items():
        listed = _all_pages(partial(shelf.listing, caller))
        doomed[kind] = [own.id for own in listed if own.changed_at <= until]
    doomed["webhooks"] = [] if options.days else [own.id for own in webhooks.listing(caller)]
    if options.yes:
        for name in (name for kind in KINDS for name in doomed[kind]):
            if questions.remove(name, caller) is not None:  # it was cancelled
                questions.remove(name, caller)
        for kind in reversed(shelves):  # tasks before their test sets
            for name in doomed[kind]:
                shelves[kind].delete(name, caller)
                usage.forget_space(context.redis, name)
        for name in doomed["webhooks"]:
            webhooks.remove(name, caller)
        if not options.days:
            usage.forget_space(context.redis, keys.space_of(caller))
    done = "deleted" if options.yes else "would delete (with --yes)"
    for kind, names in doomed.items():
        yield f"{done} {len(names)} {kind} of {caller}"


def _all_pages(listing: Callable[..., Page]) -> Iterator[Any]:
    """Everything of a listing, page by page."""
    entries, cursor = listing(cursor=None, limit=PAGE)
    yield from entries
    while cursor is not None:
        entries, cursor = listing(cursor=cursor, limit=PAGE)
        yield from entries


if __name__ == "__main__":
    raise SystemExit(main())
