"""`sigtest-admin`, or `python -m workers.admin`: what operators do to a service.

It speaks to the store that the service has: REDIS_URL, or the embedded server of SIGTEST_STATE,
which it starts for itself where no service runs.
"""

from __future__ import annotations

import argparse
import sys
from collections.abc import Iterator, Sequence
from contextlib import contextmanager

from sigtest.cli.terminal import status_of
from sigtest.render.names import printable
from workers.admin import drain, failed, keys, purge, requeue, stuck, usage
from workers.guard import storage
from workers.settings import Settings
from workers.store.server import EmbeddedServer, connect
from workers.tasks.context import Context


def main(arguments: Sequence[str] | None = None) -> int:
    """Run one command; 2 where it cannot be done."""
    parser = argparse.ArgumentParser(prog="sigtest-admin", allow_abbrev=False)
    commands = parser.add_subparsers(required=True, metavar="COMMAND")
    for command in (keys, usage, failed, stuck, requeue, drain, purge):
        command.add_to(commands)
    asked = parser.parse_args(arguments)
    return status_of("sigtest-admin", lambda: _run(asked))


def _run(asked: argparse.Namespace) -> int:
    with storage(), _context(Settings()) as context:
        for line in asked.run(asked, context):
            sys.stdout.write(f"{printable(line)}\n")  # reasons of failures quote what callers sent
        sys.stdout.flush()
    return 0


@contextmanager
def _context(settings: Settings) -> Iterator[Context]:
    server = EmbeddedServer(settings)
    server.ensure()
    redis = connect(settings, retries=3, timeout=3.0)
    try:
        yield Context.on(redis, settings)
    finally:
        redis.close()
        server.stop()


if __name__ == "__main__":
    raise SystemExit(main())
