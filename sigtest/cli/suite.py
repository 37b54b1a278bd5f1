"""`sigtest suite`: folders, each a test set, to one report."""

from __future__ import annotations

import argparse
import os
from pathlib import Path
from typing import Any

from sigtest.cli.arguments import SUITE_FORMATS
from sigtest.cli.files import check_output, read_lines, write
from sigtest.cli.progress import bar
from sigtest.cli.request import Columns, choices_of
from sigtest.cli.served import client_of, understood
from sigtest.comparison.recipe import Recipe
from sigtest.comparison.suite import Suite
from sigtest.data.choices import choose
from sigtest.data.names import system_name
from sigtest.errors import InputError
from sigtest.render import json
from sigtest.render.suite import render
from sigtest.report.suite_report import SuiteReport
from sigtest.suite_engine import compare_suite


def suite(options: argparse.Namespace) -> None:
    """Compare on every test set and on all together, and write the report.

    Raises:
        SigtestError: Bad input, or a service that refuses or cannot be reached.
        OSError: A file that cannot be read or written.
    """
    choose(options.format, SUITE_FORMATS, "format", "format")
    if options.output is not None:
        check_output(options.output)
    choices = choices_of(options, ["bleu"])
    Recipe.of(choices)  # a wrong option is cheaper to find than a wrong file
    testsets = [_read_testset(spelled) for spelled in options.folders]
    asked = Suite.of({"testsets": testsets, "pooled": options.pooled, **choices})
    compared = _compare_here if options.server is None else _compare_there
    write(compared(asked, options), options.output)


def _compare_here(asked: Suite, options: argparse.Namespace) -> bytes:
    with bar() as progress:
        report = compare_suite(asked, progress)
    return (json.render(report) if options.format == "json" else render(report)).encode()


def _compare_there(asked: Suite, options: argparse.Namespace) -> bytes:
    with client_of(options) as client, bar() as progress:
        stored = client.compare(asked, progress)
    if options.format == "json":
        return stored
    return render(understood(stored, SuiteReport.from_json)).encode()


def _read_testset(spelled: str) -> dict[str, Any]:
    """The test set of `[NAME=]FOLDER`; every file in it must be equally long."""
    name, equals, path = spelled.partition("=")
    if not equals or os.path.isdir(spelled):
        name, path = os.path.basename(os.path.abspath(spelled)), spelled
    entries = _entries(Path(path))
    columns = Columns()
    body: dict[str, Any] = {"name": name}
    body["references"] = [
        columns.read(str(entry), read_lines)
        for entry in entries
        if entry.name.startswith("reference")
    ]
    if not body["references"]:
        raise InputError(f"{path} has no file whose name starts with reference.")
    for what in ("documents", "labels"):
        found = [entry for entry in entries if entry.name.startswith(what)]
        if len(found) > 1:
            raise InputError(f"{path} has several files whose names start with {what}.")
        if found:
            body[what] = columns.read(str(found[0]), read_lines)
    body["systems"] = [_read_system(entry, columns) for entry in _entries(Path(path) / "systems")]
    return body


def _read_system(entry: Path, columns: Columns) -> dict[str, Any]:
    """A system: a file with its hypotheses, or a folder with a file for each replica."""
    if not entry.is_dir():
        name = system_name(entry.name)
        return {"name": name, "hypotheses": columns.read(str(entry), read_lines)}
    replicas = [columns.read(str(file), read_lines) for file in _entries(entry)]
    return {"name": entry.name, "replicas": replicas}


def _entries(folder: Path) -> list[Path]:
    """What is in a folder, in the order of the names, but for hidden files."""
    return sorted(entry for entry in folder.iterdir() if not entry.name.startswith("."))
