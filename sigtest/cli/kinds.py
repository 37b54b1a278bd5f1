"""The command of every kind of question but comparisons: options and files in, a report out."""

from __future__ import annotations

import argparse
from collections.abc import Callable, Container, Iterator, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from sigtest.cli.compare import (
    client_of,
    envelope_of,
    layout_of,
    rendered,
    rendered_anew,
    understood,
)
from sigtest.cli.files import STDIN, read_bytes, shown, write, write_pictures
from sigtest.cli.parser import (
    Parser,
    UsageError,
    add_envelope,
    add_field,
    add_files,
    add_layout,
    add_option,
    add_output,
    add_recipe,
    add_server,
)
from sigtest.cli.request import read_comparison
from sigtest.cli.terminal import bar
from sigtest.data.choices import choose
from sigtest.errors import InputError
from sigtest.kinds import KINDS, FormFile, Kind
from sigtest.requests.options import options as options_of
from sigtest.requests.options import words_of
from sigtest.requests.people import Judging

Report = Any  # each kind has its own; see `Kind.reports`
Request = dict[str, Any]

JUDGING = options_of(Judging)
OF_EVALSETS = {"lp": "--lp", "gold": "--gold", "metric": "--metric"}
OF_OTHERS = {
    "human": "--human", "scores": "--scores", "lower": "--lower",
    **{field.name: field.flag for field in JUDGING},
}  # fmt: skip
UNUSED = ("--alternative", "--alpha", "--correction", "--family", "--baseline", "--interval")


@dataclass(frozen=True)
class Door:
    """The way in of one command.

    Attributes:
        kind: Path of the kind that it asks.
        takes: What must follow the command, a line for each way of asking.
        add: Adds options of the command alone.
        read: A request with what these options bring, and files to send with it.
        epilog: What else to know.
        without: Fields of the kind for which other options stand.
    """

    kind: str
    takes: tuple[str, ...]
    add: Callable[[argparse._ArgumentGroup], None]
    read: Callable[[argparse.Namespace, Request], tuple[Request, list[FormFile]]]
    epilog: str = ""
    without: Container[str] = ()


def parser(command: str) -> Parser:
    """The parser of a kind's command: what the kind's door brings, and the kind's fields."""
    door = DOORS[command]
    kind = KINDS[door.kind]
    made = Parser(f"sigtest {command}", door.takes, kind.summary, door.epilog)
    door.add(made.add_argument_group("what to ask about"))
    group = made.add_argument_group("what to ask")
    for field in kind.fields:
        if field.name not in door.without:
            add_field(group, field)
    shown = made.add_argument_group("what to show")
    add_output(shown)
    add_layout(shown, ", ".join(kind.tables))
    where = made.add_argument_group("where")
    add_server(where)
    add_envelope(where)
    return made


def ask(options: argparse.Namespace) -> None:
    """Ask a question, here or of a service, and write the report.

    Raises:
        UsageError: Nothing to ask about.
        SigtestError: Bad input, or a service that refuses or cannot be reached.
        OSError: A file that cannot be read or written.
    """
    door = DOORS[options.command]
    kind = KINDS[door.kind]
    layout_of(options, lambda table: choose(table, kind.tables, "table", "table"))
    envelope = envelope_of(options)
    fields = [field for field in kind.fields if field.name not in door.without]
    request, files = door.read(options, words_of(fields, options))
    if options.plots is not None:
        Path(options.plots).mkdir(exist_ok=True)
    answered = _ask_here if options.server is None else _ask_there
    write(answered(kind, {**request, **envelope.as_json()}, files, options), options.output)


def _ask_here(
    kind: Kind[Any],
    request: Mapping[str, Any],
    files: Sequence[FormFile],
    options: argparse.Namespace,
) -> bytes:
    with bar() as progress:
        report = kind.compute(kind.parse(request, files), progress)
    if options.plots is not None:
        drawn = (
            ((name, *chosen.values()), kind.pictures[name].draw(report, chosen))
            for name, chosen in _pictures(kind, report)
        )
        write_pictures(drawn, options.plots, options.plots_as)
    return rendered(kind, report, options)


def _ask_there(
    kind: Kind[Any],
    request: Mapping[str, Any],
    files: Sequence[FormFile],
    options: argparse.Namespace,
) -> bytes:
    with client_of(options) as client:
        with bar() as progress:
            key = client.run(request, progress, kind.path, files)
        stored = client.report(key, kind=kind.path)
        if options.plots is not None:
            drawn = (
                (
                    (name, *chosen.values()),
                    client.plot(key, name, kind=kind.path, **chosen).decode(),
                )
                for name, chosen in _pictures(kind, understood(stored, kind.read))
            )
            write_pictures(drawn, options.plots, options.plots_as)
    return rendered_anew(kind, stored, options)


def _pictures(kind: Kind[Any], report: Report) -> Iterator[tuple[str, Mapping[str, str]]]:
    """Every picture of a report, and what it shows of it."""
    for name in kind.drawable(report):
        yield name, {}
        for chosen in kind.pictures[name].shows(report)[1:]:
            yield name, chosen


# what each command takes besides the fields of its kind


def _add_judgements(group: argparse._ArgumentGroup) -> None:
    group.add_argument("files", nargs="*", metavar="FILE", help="judgements, one file or more")


def _read_judgements(
    options: argparse.Namespace, request: Request
) -> tuple[Request, list[FormFile]]:
    if not options.files:
        raise UsageError("which files? (see sigtest human --help)")
    return request, read_files("judgements", options.files)


def add_people(group: argparse._ArgumentGroup, what: str) -> None:
    """Judgements, and the choices that say what becomes of them."""
    group.add_argument("--human", action="append", default=[], metavar="FILE", help=what)
    for field in JUDGING:
        add_field(group, field)


def read_files(part: str, paths: Sequence[str]) -> list[FormFile]:
    """Files as they are sent, decompressed.

    Raises:
        InputError: Standard input is given twice, or a damaged gzip file.
        OSError: One cannot be read.
    """
    if list(paths).count(STDIN) > 1:
        raise InputError("Standard input (-) can be only one of the files.")
    return [FormFile(part, shown(path).removesuffix(".gz"), read_bytes(path)) for path in paths]


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


def _read_scores(options: argparse.Namespace, request: Request) -> tuple[Request, list[FormFile]]:
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
    from sigtest.files.metric_scores import read_scores

    files = read_files("scores", [*paths.values()])
    return {
        label: read_scores(file.data, file.name) for label, file in zip(paths, files, strict=True)
    }


def _read_evalset(options: argparse.Namespace, request: Request) -> tuple[Request, list[FormFile]]:
    """The EvalSet of a directory is read here; an archive is sent as it is."""
    from sigtest.files.metric_scores import EvalSet
    from sigtest.meta_evaluation.uploads import with_evalset

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
    return request, [FormFile("evalset", path.name, path.read_bytes())]


def _add_study(group: argparse._ArgumentGroup) -> None:
    add_people(group, "judgements; repeatable")
    add_files(group)
    add_recipe(group, without=UNUSED)
    group.set_defaults(**{option.removeprefix("--"): None for option in UNUSED})


def _read_study(options: argparse.Namespace, request: Request) -> tuple[Request, list[FormFile]]:
    if not options.human:
        raise UsageError("which judgements? --human FILE (see sigtest accuracy --help)")
    from sigtest.accuracy_of_tests.parse import OWN

    body = read_comparison(options).as_json()
    request["comparison"] = {name: said for name, said in body.items() if name not in OWN}
    request["human"] = words_of(JUDGING, options)
    return request, read_files("judgements", options.human)


def _add_pilot(group: argparse._ArgumentGroup) -> None:
    add_files(group)
    add_recipe(
        group,
        metric="one; default bleu where there are references, otherwise the first label of scores",
    )


def _read_pilot(options: argparse.Namespace, request: Request) -> tuple[Request, list[FormFile]]:
    """The metric that the plan is for is the one that the pilot measures."""
    if options.metrics and len(options.metrics) > 1:
        raise UsageError("a plan is for one metric; give --metric once (see sigtest plan --help)")
    return request | {"comparison": read_comparison(options).as_json()}, []


DOORS = {
    "human": Door("human-evaluations", ("FILE ... [options]",), _add_judgements, _read_judgements),
    "meta": Door(
        "metric-evaluations",
        (
            "--evalset PATH --lp PAIR --gold NAME [options]",
            "--human FILE --scores LABEL=FILE LABEL=FILE ... [options]",
        ),
        _add_scores,
        _read_scores,
    ),
    "accuracy": Door(
        "test-accuracy",
        (
            "--human FILE --from PATH [options]",
            "--human FILE -r FILE --metric NAME [NAME=]SYSTEM [NAME=]SYSTEM ... [options]",
        ),
        _add_study,
        _read_study,
    ),
    "plan": Door(
        "plans",
        (
            "-r FILE [NAME=]SYSTEM [NAME=]SYSTEM ... [options]",
            "--from PATH [options]",
        ),
        _add_pilot,
        _read_pilot,
        without=("metric",),
    ),
}
