"""What the command of each kind of question takes besides the kind's fields, and what it brings."""

from __future__ import annotations

import argparse
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from sigtest.accuracy.parse import OWN
from sigtest.cli.files import STDIN, read_bytes, shown
from sigtest.cli.parser import UsageError, add_files, add_recipe
from sigtest.cli.request import read_comparison
from sigtest.data.choices import choose
from sigtest.data.fields import Field, Flag, Numbers
from sigtest.errors import InputError
from sigtest.human.request.choices import FIELDS, JUDGING
from sigtest.kinds import File
from sigtest.meta.brought import with_evalset
from sigtest.meta.data.evalset import EvalSet
from sigtest.meta.data.tables import reads_scores

HUMAN_FIELDS = tuple(field for field in FIELDS if field.name in JUDGING)
UNUSED = ("--alternative", "--alpha", "--correction", "--family", "--baseline", "--interval")

Request = dict[str, Any]
Brought = tuple[Request, list[File]]


@dataclass(frozen=True)
class Door:
    """The way in of one command.

    Attributes:
        takes: What must follow the command, a line for each way of asking.
        add: Adds its own options.
        read: A request with what these options bring, and files to send with it.
        epilog: What else to know.
    """

    takes: tuple[str, ...]
    add: Callable[[argparse._ArgumentGroup], None]
    read: Callable[[argparse.Namespace, Request], Brought]
    epilog: str = ""


def add_field(group: argparse._ActionsContainer, field: Field) -> None:
    """The option of one field of a request."""
    if isinstance(field, Flag):
        group.add_argument(field.flag, dest=field.name, action="store_true", help=field.help)
        return
    several = isinstance(field, Numbers)
    group.add_argument(
        field.flag, dest=field.name, metavar=field.metavar, help=field.help,
        action="extend" if several else "append", nargs="+" if several else None,
    )  # fmt: skip


def choices_of(fields: Sequence[Field], options: argparse.Namespace) -> Request:
    """What the options say, as a request has it.

    Raises:
        RecipeError: An option that says nothing of the kind that it must.
    """
    request: Request = {}
    for field in fields:
        given = getattr(options, field.name)
        if given:
            request[field.name] = given if isinstance(field, Flag) else field.read(given)
    return request


def read_files(part: str, paths: Sequence[str]) -> list[File]:
    """Files as they are sent, decompressed.

    Raises:
        InputError: Standard input is given twice, or a damaged gzip file.
        OSError: One cannot be read.
    """
    if list(paths).count(STDIN) > 1:
        raise InputError("Standard input (-) can be only one of the files.")
    return [File(part, shown(path).removesuffix(".gz"), read_bytes(path)) for path in paths]


def _add_judgements(group: argparse._ArgumentGroup) -> None:
    group.add_argument("files", nargs="*", metavar="FILE", help="judgements, one file or more")


def _read_judgements(options: argparse.Namespace, request: Request) -> Brought:
    if not options.files:
        raise UsageError("which files? (see sigtest human --help)")
    return request, read_files("judgements", options.files)


def _add_people(group: argparse._ArgumentGroup, what: str) -> None:
    """Judgements, and the choices that say what becomes of them."""
    group.add_argument("--human", action="append", default=[], metavar="FILE", help=what)
    for field in HUMAN_FIELDS:
        add_field(group, field)


def _add_scores(group: argparse._ArgumentGroup) -> None:
    group.add_argument("--evalset", metavar="PATH", help="directory or archive of mt-metrics-eval")
    for option, metavar, words in (
        ("--lp", "PAIR", "which pair of languages, such as en-de; or several"),
        ("--metric", "LABEL", "which metrics, called as their files; default all"),
        ("--scores", "LABEL=FILE", "scores by a metric: lines of system and score, a system once "
         "or once for each segment"),
        ("--lower", "LABEL", "metrics for which less is better"),
    ):  # fmt: skip
        group.add_argument(
            option, action="extend", nargs="+", default=[], metavar=metavar, help=words
        )
    group.add_argument("--gold", metavar="NAME", help="which human scores, such as mqm")
    _add_people(group, "judgements, or scores by people in a file like a metric's; repeatable")


def _read_scores(options: argparse.Namespace, request: Request) -> Brought:
    if options.evalset is not None:
        return _read_evalset(options, request)
    if not options.human or not options.scores:
        raise UsageError("--human and --scores, or --evalset? (see sigtest meta --help)")
    files = []
    metrics: dict[str, Request] = {}  # in their order
    for spelled in options.scores:
        label, equals, path = spelled.partition("=")
        if not equals or not path:
            raise InputError(f"--scores takes LABEL=FILE, not {spelled!r}.")
        metrics[label] = {}
        files += [File("scores", f"{label}.tsv", file.data) for file in read_files("", [path])]
    people = read_files("judgements", options.human)
    if len(people) == 1 and reads_scores(people[0].data, people[0].name):
        people = [File("human", people[0].name, people[0].data)]
    human = choices_of(HUMAN_FIELDS, options)
    for label in options.lower:
        metrics[choose(label, metrics, "lower", "metric")] = {"higher": False}
    return request | ({"human": human} if human else {}) | {"metrics": metrics}, [*files, *people]


def _read_evalset(options: argparse.Namespace, request: Request) -> Brought:
    """The EvalSet of a directory is read here; an archive is sent as it is."""
    if options.human or options.scores:
        raise UsageError("--evalset brings all scores; leave out --human and --scores")
    own = {
        "lp": options.lp if len(options.lp) > 1 else next(iter(options.lp), None),
        "gold": options.gold,
        "metrics": options.metric or None,
    }
    request |= {field: said for field, said in own.items() if said is not None}
    path = Path(options.evalset)
    if path.is_dir():
        return with_evalset(request, EvalSet.of_folder(path)), []
    return request, [File("evalset", path.name, path.read_bytes())]


def _add_study(group: argparse._ArgumentGroup) -> None:
    _add_people(group, "judgements; repeatable")
    add_files(group)
    add_recipe(group, without=UNUSED)
    group.set_defaults(**{option.removeprefix("--"): None for option in UNUSED})


def _read_study(options: argparse.Namespace, request: Request) -> Brought:
    if not options.human:
        raise UsageError("which judgements? --human FILE (see sigtest accuracy --help)")
    body = read_comparison(options).as_json()
    request["comparison"] = {name: said for name, said in body.items() if name not in OWN}
    request["human"] = choices_of(HUMAN_FIELDS, options)
    return request, read_files("judgements", options.human)


def _add_pilot(group: argparse._ArgumentGroup) -> None:
    add_files(group)
    add_recipe(group, without=("--metric",))


def _read_pilot(options: argparse.Namespace, request: Request) -> Brought:
    """The metric that the plan is for is the one that the pilot measures."""
    if options.metric and len(options.metric) > 1:
        raise UsageError("a plan is for one metric; give --metric once (see sigtest plan --help)")
    request.pop("metric", None)
    return request | {"comparison": read_comparison(options).as_json()}, []


DOORS = {
    "human": Door(("FILE ... [options]",), _add_judgements, _read_judgements),
    "meta": Door(
        (
            "--evalset PATH --lp PAIR --gold NAME [options]",
            "--human FILE --scores LABEL=FILE LABEL=FILE ... [options]",
        ),
        _add_scores,
        _read_scores,
    ),
    "accuracy": Door(
        (
            "--human FILE --from PATH [options]",
            "--human FILE -r FILE --metric NAME [NAME=]SYSTEM [NAME=]SYSTEM ... [options]",
        ),
        _add_study,
        _read_study,
    ),
    "plan": Door(
        (
            "-r FILE [NAME=]SYSTEM [NAME=]SYSTEM ... [options]",
            "--from PATH [options]",
        ),
        _add_pilot,
        _read_pilot,
    ),
}
