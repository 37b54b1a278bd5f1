"""`sigtest plan`: the pilot, which is a comparison."""

from __future__ import annotations

import argparse

from sigtest.cli.doors import Brought, Door, Request
from sigtest.cli.parser import UsageError, add_files, add_recipe
from sigtest.cli.request import read_comparison


def _add_pilot(group: argparse._ArgumentGroup) -> None:
    add_files(group)
    add_recipe(
        group,
        metric="one; default bleu where there are references, otherwise the first label of scores",
    )


def _read_pilot(options: argparse.Namespace, request: Request) -> Brought:
    """The metric that the plan is for is the one that the pilot measures."""
    if options.metrics and len(options.metrics) > 1:
        raise UsageError("a plan is for one metric; give --metric once (see sigtest plan --help)")
    return request | {"comparison": read_comparison(options).as_json()}, []


DOOR = Door(
    "plans",
    (
        "-r FILE [NAME=]SYSTEM [NAME=]SYSTEM ... [options]",
        "--from PATH [options]",
    ),
    _add_pilot,
    _read_pilot,
    own=("metric",),
)
