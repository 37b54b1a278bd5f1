"""`sigtest human`: files of judgements."""

from __future__ import annotations

import argparse

from sigtest.cli.doors import Brought, Door, Request, read_files
from sigtest.cli.parser import UsageError


def _add_judgements(group: argparse._ArgumentGroup) -> None:
    group.add_argument("files", nargs="*", metavar="FILE", help="judgements, one file or more")


def _read_judgements(options: argparse.Namespace, request: Request) -> Brought:
    if not options.files:
        raise UsageError("which files? (see sigtest human --help)")
    return request, read_files("judgements", options.files)


DOOR = Door("human-evaluations", ("FILE ... [options]",), _add_judgements, _read_judgements)
