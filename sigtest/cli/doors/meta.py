"""`sigtest meta`: scores of metrics and of people, or both from an EvalSet."""

from __future__ import annotations

import argparse
from collections.abc import Mapping, Sequence
from pathlib import Path

from sigtest.cli.doors import Brought, Door, Request, read_files
from sigtest.cli.doors.people import JUDGING, add_people
from sigtest.cli.files import shown
from sigtest.cli.parser import UsageError, add_option
from sigtest.data.choices import choose
from sigtest.errors import InputError
from sigtest.kinds import File
from sigtest.meta.brought import with_evalset
from sigtest.meta.data.evalset import EvalSet
from sigtest.meta.data.tables import read_scores
from sigtest.requests.options import words_of

OF_EVALSETS = {"lp": "--lp", "gold": "--gold", "metric": "--metric"}
OF_OTHERS = {
    "human": "--human", "scores": "--scores", "lower": "--lower",
    **{field.name: field.flag for field in JUDGING},
}  # fmt: skip


def _add_scores(group: argparse._ArgumentGroup) -> None:
    add_option(group, "--evalset", "PATH", "directory or archive of mt-metrics-eval")
    for option, metavar, words in (
        ("--lp", "PAIR", "which pair of languages, such as en-de; or several"),
        ("-m --metric", "LABEL", "which metrics, called as their files; default all"),
        ("--scores", "LABEL=FILE", "scores by a metric: lines of system and score, a system once "
         "or once for each segment"),
        ("--lower", "LABEL", "metrics for which less is better"),
    ):  # fmt: skip
        group.add_argument(
            *option.split(), action="extend", nargs="+", default=[], metavar=metavar, help=words
        )
    add_option(group, "--gold", "NAME", "which human scores, such as mqm")
    add_people(group, "judgements, or scores by people in a file like a metric's; repeatable")


def _read_scores(options: argparse.Namespace, request: Request) -> Brought:
    if options.evalset is not None:
        return _read_evalset(options, request)
    if not options.human or not options.scores:
        raise UsageError("--human and --scores, or --evalset? (see sigtest meta --help)")
    if unread := _given(OF_EVALSETS, options):
        raise UsageError(f"what --evalset reads is said by {unread}; there is none, leave that out")
    metrics = _metrics(options.scores)
    people = read_files("judgements", options.human)
    human = words_of(JUDGING, options)
    for label in options.lower:
        metrics[choose(label, metrics, "lower", "metric")]["higher"] = False
    return request | ({"human": human} if human else {}) | {"metrics": metrics}, people


def _given(flags: Mapping[str, str], options: argparse.Namespace) -> str:
    """Which of some options are given."""
    return ", ".join(flag for name, flag in flags.items() if getattr(options, name))


def _metrics(labelled: Sequence[str]) -> dict[str, Request]:
    """The scores of each metric, in their order, read here: a form would name files by labels."""
    paths: dict[str, str] = {}
    for spelled in labelled:
        label, equals, path = spelled.partition("=")
        if not label or not equals or not path:
            raise InputError(f"--scores takes LABEL=FILE, not {spelled!r}.")
        if label in paths:
            raise InputError(
                f"--scores gives {label} both {shown(paths[label])} and {shown(path)}; every "
                "metric needs its own label."
            )
        paths[label] = path
    files = read_files("scores", [*paths.values()])
    return {
        label: read_scores(file.data, file.name) for label, file in zip(paths, files, strict=True)
    }


def _read_evalset(options: argparse.Namespace, request: Request) -> Brought:
    """The EvalSet of a directory is read here; an archive is sent as it is."""
    if unread := _given(OF_OTHERS, options):
        raise UsageError(
            f"--evalset brings all scores, of which more is better; leave out {unread}"
        )
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


DOOR = Door(
    "metric-evaluations",
    (
        "--evalset PATH --lp PAIR --gold NAME [options]",
        "--human FILE --scores LABEL=FILE LABEL=FILE ... [options]",
    ),
    _add_scores,
    _read_scores,
)
