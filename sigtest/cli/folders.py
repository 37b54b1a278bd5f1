"""`sigtest suite`: folders, each a test set, to the request that compares on all of them."""

from __future__ import annotations

import argparse
import os
from pathlib import Path
from typing import Any

from sigtest.cli.files import read_lines
from sigtest.cli.request import Columns, choices_of
from sigtest.comparison.comparison import Comparison
from sigtest.comparison.parse import parse_comparison
from sigtest.comparison.recipe import Recipe
from sigtest.data.names import system_name
from sigtest.errors import InputError


def read_folders(options: argparse.Namespace) -> Comparison:
    """The comparison on the test sets that lie in folders.

    Raises:
        SigtestError: A file or an option that cannot be used.
        OSError: A file that cannot be read.
    """
    choices = choices_of(options, ["bleu"])
    Recipe.of(choices)  # a wrong option is cheaper to find than a wrong file
    testsets = [_read_testset(spelled) for spelled in options.folders]
    return parse_comparison({"testsets": testsets, "pooled": options.pooled, **choices})


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
