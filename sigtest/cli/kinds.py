"""The command of every kind of question but comparisons: options and files in, a report out."""

from __future__ import annotations

import argparse
from collections.abc import Iterator, Mapping, Sequence
from pathlib import Path
from typing import Any

from sigtest.cli.doors import door_of
from sigtest.cli.files import write, write_pictures
from sigtest.cli.parser import Parser, add_envelope, add_field, add_layout, add_output, add_server
from sigtest.cli.progress import bar
from sigtest.cli.served import client_of, envelope_of, understood
from sigtest.cli.showing import layout_of, rendered, rendered_anew
from sigtest.data.choices import choose
from sigtest.kinds import KINDS, File, Kind
from sigtest.requests.options import words_of

Report = Any  # each kind has its own; see `Kind.reports`


def parser(command: str) -> Parser:
    """The parser of a kind's command: what the kind's door brings, and the kind's fields."""
    door = door_of(command)
    kind = KINDS[door.kind]
    made = Parser(f"sigtest {command}", door.takes, kind.summary, door.epilog)
    door.add(made.add_argument_group("what to ask about"))
    group = made.add_argument_group("what to ask")
    for field in kind.fields:
        if field.name not in door.own:
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
    door = door_of(options.command)
    kind = KINDS[door.kind]
    layout_of(options, lambda table: choose(table, kind.tables, "table", "table"))
    envelope = envelope_of(options)
    fields = [field for field in kind.fields if field.name not in door.own]
    request, files = door.read(options, words_of(fields, options))
    if options.plots is not None:
        Path(options.plots).mkdir(exist_ok=True)
    answered = _ask_here if options.server is None else _ask_there
    write(answered(kind, {**request, **envelope.as_json()}, files, options), options.output)


def _ask_here(
    kind: Kind[Any], request: Mapping[str, Any], files: Sequence[File], options: argparse.Namespace
) -> bytes:
    with bar() as progress:
        report = kind.compute(kind.parse(request, files), progress)
    if options.plots is not None:
        drawn = (
            ((name, *chosen.values()), kind.pictures[name].draw(report, chosen).encode())
            for name, chosen in _pictures(kind, report)
        )
        write_pictures(drawn, options.plots)
    return rendered(kind, report, options)


def _ask_there(
    kind: Kind[Any], request: Mapping[str, Any], files: Sequence[File], options: argparse.Namespace
) -> bytes:
    with client_of(options) as client:
        with bar() as progress:
            key = client.run(request, progress, kind.path, files)
        stored = client.report(key, kind=kind.path)
        if options.plots is not None:
            drawn = (
                ((name, *chosen.values()), client.plot(key, name, kind=kind.path, **chosen))
                for name, chosen in _pictures(kind, understood(stored, kind.read))
            )
            write_pictures(drawn, options.plots)
    return rendered_anew(kind, stored, options)


def _pictures(kind: Kind[Any], report: Report) -> Iterator[tuple[str, Mapping[str, str]]]:
    """Every picture of a report, and what it shows of it."""
    for name in kind.drawable(report):
        yield name, {}
        for chosen in kind.pictures[name].shows(report)[1:]:
            yield name, chosen
