"""Files on this machine: read with their names in every message, written whole or not at all."""

from __future__ import annotations

import argparse
import io
import os
import re
import sys
from collections.abc import Iterable, Sequence
from dataclasses import replace
from pathlib import Path
from typing import BinaryIO

from sigtest.errors import InputError, LimitError
from sigtest.files import Entry, Gathered, Joining, Upload, gather, read_builtin
from sigtest.files.builtin import SETTING
from sigtest.files.gathering import COLUMNS
from sigtest.files.tree import GZIP, unpacking
from sigtest.metrics import METRICS, only_labels
from sigtest.render.converters import converted
from sigtest.requests.recipe import labels_asked

STDIN = "-"
MAX_BYTES = 512 * 2**20
LONGEST = 60  # characters of a word in the name of a picture


def shown(path: str) -> str:
    """What messages call a file."""
    return "standard input" if path == STDIN else path


def read_bytes(path: str) -> bytes:
    """The content of a file, decompressed."""
    if path == STDIN:
        return _read(sys.stdin.buffer, path)
    with open(path, "rb") as file:
        return _read(file, path)


def check_output(path: str | None) -> None:
    """Complain before a long computation about a file that could not be written after it.

    Raises:
        OSError: There is no such folder, or the file is a folder.
    """
    if path is None:  # standard output
        return
    target = Path(path).resolve()
    if target.is_dir():
        raise IsADirectoryError(21, "Is a directory", path)
    if not target.parent.is_dir():
        raise FileNotFoundError(2, "No such file or directory", str(target.parent))


def write(content: bytes, path: str | None) -> None:
    """Write to a file atomically, or to standard output.

    Raises:
        OSError: It cannot be written; says which of the two.
    """
    file = None if path == STDIN else path
    try:
        _write(content, file)
    except OSError as error:
        error.filename = file or "standard output"
        raise


def _write(content: bytes, path: str | None) -> None:
    if path is None:
        sys.stdout.buffer.write(content)
        sys.stdout.buffer.flush()
        return
    target = Path(path).resolve()  # a link stays a link
    if target.exists() and not target.is_file():  # a device or pipe cannot be replaced
        target.write_bytes(content)
        return
    partial = target.with_name(f".{target.name[:200]}.{os.getpid()}.part")
    try:
        partial.write_bytes(content)
        partial.replace(target)
    finally:
        partial.unlink(missing_ok=True)


def write_pictures(pictures: Iterable[tuple[Sequence[str], str]], folder: str, suffix: str) -> None:
    """Write pictures that are called by what they show; a second of one name gets a number.

    Args:
        pictures: What each shows, in words, and the SVG.
        folder: Where they go.
        suffix: One of PICTURE_FORMATS.
    """
    taken: set[str] = set()
    for parts, svg in pictures:
        stem = "-".join(_plain(part) for part in parts)
        name, again = stem, 1
        while name.casefold() in taken:
            again += 1
            name = f"{stem}-{again}"
        taken.add(name.casefold())
        write(converted(svg, suffix), str(Path(folder) / f"{name}.{suffix}"))


def _plain(part: str) -> str:
    """What no shell, file system or LaTeX minds in the name of a file."""
    return re.sub(r"[^A-Za-z0-9+-]+", "_", part)[:LONGEST]


def _read(file: BinaryIO, path: str) -> bytes:
    data = file.read(MAX_BYTES + 1)
    if data.startswith(GZIP):
        with unpacking(io.BytesIO(data), shown(path)) as inner:
            data = inner.read(MAX_BYTES + 1)  # a gzip bomb stays small
    if len(data) > MAX_BYTES:
        raise LimitError(
            f"{shown(path)} has more than {MAX_BYTES // 2**20} MiB of text.", limit="max_text_bytes"
        )
    return data


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


def columns_of(options: argparse.Namespace) -> list[Entry]:
    """The files that say something of each segment."""
    named = [(role, getattr(options, role, None)) for role in COLUMNS]
    return [Entry(role, Path(path)) for role, path in named if path is not None]


def read(given: Sequence[Entry], how: Joining) -> Gathered:
    """Read all files; standard input may be one of them."""
    piped = [entry for entry in given if entry.where == Path(STDIN)]
    if len(piped) > 1:
        raise InputError("Standard input (-) can be only one of the files.")
    content = Upload(shown(STDIN), sys.stdin.buffer.read() if piped else b"")
    return gather([replace(e, where=content) if e in piped else e for e in given], how)


def _imports(options: argparse.Namespace) -> list[Entry]:
    """What `--from` names, or else the test set of sacreBLEU that `--testset` does."""
    if options.imports:
        return [Entry("anything", Path(path)) for path in options.imports]
    if options.testset is None:
        return []
    if options.reference:
        raise InputError("--testset brings the references; leave out -r.")
    return [Entry("anything", read_builtin(options.testset, os.environ.get(SETTING) == "1"))]


def _references(paths: Sequence[str]) -> list[Entry]:
    return [Entry("reference", Path(path)) for path in paths]


def references_of(options: argparse.Namespace) -> list[Entry]:
    """The references, and what is said of each segment."""
    return [*_references(options.reference), *columns_of(options)]


def systems_of(texts: Sequence[str], replicas: Sequence[str], scores: Sequence[str]) -> list[Entry]:
    """The systems: plain ones, those with several runs, those with scores."""
    given = [Entry("system", Path(path), name) for name, path in map(_named, texts)]
    for name, paths in map(_replicated, replicas):
        given += [Entry("system", Path(path), name, run=True) for path in paths]
    for label, name, path in map(_labelled, scores):
        given.append(Entry("scores", Path(path), name, label))
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
