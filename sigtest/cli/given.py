"""Files and folders on the command line, with what the options say of them."""

from __future__ import annotations

import argparse
import os
import sys
from collections.abc import Sequence
from dataclasses import replace
from pathlib import Path

from sigtest.cli.files import STDIN, shown
from sigtest.errors import InputError
from sigtest.files import Gathered, Given, Joining, Upload, gather, read_builtin
from sigtest.files.builtin import SETTING
from sigtest.files.gathering import COLUMNS
from sigtest.metrics import METRICS, only_labels
from sigtest.requests.recipe import labels_asked


def gathered(options: argparse.Namespace) -> Gathered:
    """What all files bring together.

    Raises:
        SigtestError: Something that cannot be used.
        OSError: A file that cannot be read.
    """
    given = [*_imports(options), *_references(options.reference)]
    given += systems_of(options.systems, options.replicas, options.scores)
    given += columns_of(options)
    if not given:
        raise InputError("No references: give them with -r FILE, or scores with --scores.")
    inside = options.testset if options.imports else None
    return read(given, joining_of(options, inside))


def joining_of(options: argparse.Namespace, testset: str | None = None) -> Joining:
    """What to do where files do not match; of several test sets the one to keep."""
    labels, wanted = only_labels(options.metrics), labels_asked(options.metrics)
    return Joining(options.missing, testset, False, labels, wanted, tuple(options.without))


def columns_of(options: argparse.Namespace) -> list[Given]:
    """The files that say something of each segment."""
    named = [(role, getattr(options, role, None)) for role in COLUMNS]
    return [Given(role, Path(path)) for role, path in named if path is not None]


def read(given: Sequence[Given], how: Joining) -> Gathered:
    """Read all files; standard input may be one of them."""
    piped = [entry for entry in given if entry.where == Path(STDIN)]
    if len(piped) > 1:
        raise InputError("Standard input (-) can be only one of the files.")
    content = Upload(shown(STDIN), sys.stdin.buffer.read() if piped else b"")
    return gather([replace(e, where=content) if e in piped else e for e in given], how)


def _imports(options: argparse.Namespace) -> list[Given]:
    """What `--from` names, or else the test set of sacreBLEU that `--testset` does."""
    if options.imports:
        return [Given("anything", Path(path)) for path in options.imports]
    if options.testset is None:
        return []
    if options.reference:
        raise InputError("--testset brings the references; leave out -r.")
    return [Given("anything", read_builtin(options.testset, os.environ.get(SETTING) == "1"))]


def _references(paths: Sequence[str]) -> list[Given]:
    return [Given("reference", Path(path)) for path in paths]


def references_of(options: argparse.Namespace) -> list[Given]:
    """The references, and what is said of each segment."""
    return [*_references(options.reference), *columns_of(options)]


def systems_of(texts: Sequence[str], replicas: Sequence[str], scores: Sequence[str]) -> list[Given]:
    """The systems: plain ones, those with several runs, those with scores."""
    given = [Given("system", Path(path), name) for name, path in map(_named, texts)]
    for name, paths in map(_replicated, replicas):
        given += [Given("system", Path(path), name, run=True) for path in paths]
    for label, name, path in map(_labelled, scores):
        given.append(Given("scores", Path(path), name, label))
    return given


def _named(spelled: str) -> tuple[str | None, str]:
    """Name and file of `[NAME=]FILE`; what has a slash is a folder rather than a name."""
    name, equals, path = spelled.partition("=")
    meant = "/" not in name or (os.path.exists(path) and not os.path.exists(spelled))
    if equals and meant:
        return name, _path(path, spelled)
    if spelled.partition(":")[0].lower() in METRICS and not os.path.exists(spelled):
        raise InputError(
            f"{spelled!r} is a metric, and there is no such file; every metric has an option of "
            f"its own: -m bleu -m {spelled}."
        )
    return ("stdin", STDIN) if spelled == STDIN else (None, _path(spelled, spelled))


def _replicated(spelled: str) -> tuple[str, list[str]]:
    """System and files of `NAME=FILE,FILE,...`."""
    name, equals, listed = spelled.partition("=")
    files = listed.split(",")
    if not equals or not all(files):
        raise InputError(f"--replicas takes NAME=FILE,FILE,..., not {spelled!r}.")
    return name, files


def _labelled(spelled: str) -> tuple[str | None, str, str]:
    """Label, system and file of `[LABEL:]NAME=FILE`."""
    target, equals, path = spelled.partition("=")
    if not equals:
        raise InputError(f"--scores takes [LABEL:]NAME=FILE, not {spelled!r}.")
    label, colon, name = target.partition(":")
    return (label, name, _path(path, spelled)) if colon else (None, target, _path(path, spelled))


def _path(path: str, spelled: str) -> str:
    if not path:
        raise InputError(f"{spelled!r} names no file.")
    return path
