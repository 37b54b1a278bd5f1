"""`sigtest accuracy`: judgements, and what is compared."""

from __future__ import annotations

import argparse

from sigtest.accuracy.parse import OWN
from sigtest.cli.doors import Brought, Door, Request, read_files
from sigtest.cli.doors.people import JUDGING, add_people
from sigtest.cli.parser import UsageError, add_files, add_recipe
from sigtest.cli.request import read_comparison
from sigtest.requests.options import words_of

UNUSED = ("--alternative", "--alpha", "--correction", "--family", "--baseline", "--interval")


def _add_study(group: argparse._ArgumentGroup) -> None:
    add_people(group, "judgements; repeatable")
    add_files(group)
    add_recipe(group, without=UNUSED)
    group.set_defaults(**{option.removeprefix("--"): None for option in UNUSED})


def _read_study(options: argparse.Namespace, request: Request) -> Brought:
    if not options.human:
        raise UsageError("which judgements? --human FILE (see sigtest accuracy --help)")
    body = read_comparison(options).as_json()
    request["comparison"] = {name: said for name, said in body.items() if name not in OWN}
    request["human"] = words_of(JUDGING, options)
    return request, read_files("judgements", options.human)


DOOR = Door(
    "test-accuracy",
    (
        "--human FILE --from PATH [options]",
        "--human FILE -r FILE --metric NAME [NAME=]SYSTEM [NAME=]SYSTEM ... [options]",
    ),
    _add_study,
    _read_study,
)
