"""Options that commands share which hold something against people's judgements."""

from __future__ import annotations

import argparse

from sigtest.cli.parser import add_field
from sigtest.requests.options import options
from sigtest.requests.people import Judging

JUDGING = options(Judging)


def add_people(group: argparse._ArgumentGroup, what: str) -> None:
    """Judgements, and the choices that say what becomes of them."""
    group.add_argument("--human", action="append", default=[], metavar="FILE", help=what)
    for field in JUDGING:
        add_field(group, field)
