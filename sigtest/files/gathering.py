"""Files with what was said of them, as one material: the way in of every door.

The command line, forms and notebooks say what each file was given as; the rest its content says.
A name that was given wins over one inside. Files are bytes that were sent or paths of this machine,
of any format, alone, with gzip, in archives or folders.
"""

from __future__ import annotations

import os
import re
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, replace
from pathlib import Path, PurePosixPath
from typing import Any, Literal

from sigtest.data.names import check_name, is_reference, system_name
from sigtest.data.text import parse_lines
from sigtest.errors import InputError, LimitError, SigtestError
from sigtest.files.file import File, Near
from sigtest.files.folders import read_tree
from sigtest.files.join import STRICT, Joining, combine, join
from sigtest.files.material import Material
from sigtest.files.registry import format_of, read_file
from sigtest.files.tree import Bounds, Meter, Tree, is_hidden, opened

DEEPEST = 5  # folders below the one that was named
MOST = 20  # times as many entries are looked at as may be read


def read_bytes(
    data: bytes,
    name: str,
    bounds: Bounds | None = None,
    how: Joining = STRICT,
    near: Near | None = None,
    outer: Meter | None = None,
) -> Material:
    """Read a file of any format that is known, alone, with gzip, or an archive of several.

    Args:
        data: Its bytes, which say what it is.
        name: What messages call it; where a format does not name its system, the last part does.
        bounds: How much it may unpack to.
        how: Which test set to read, and what to do where files of an archive do not match.
        near: Reads files that lie beside it.
        outer: Counts this and other files together, within its own bounds.

    Raises:
        InputError: No known format, or something in it that cannot be used.
        LimitError: More than the bounds allow.
    """
    whole = outer or Meter(name, bounds or Bounds())
    found = opened(data, whole.of_part(name, len(data)))
    if isinstance(found, Tree):
        return read_tree(found, how)
    return read_file(File(name, found, near))


def read_path(
    path: str | os.PathLike[str],
    bounds: Bounds | None = None,
    how: Joining = STRICT,
    outer: Meter | None = None,
) -> Material:
    """Read what a folder or file has.

    Args:
        path: Of a folder, see `read_tree`, or a file, see `read_bytes`.
        bounds: How much may be read.
        how: Which test set to read, and what to do where files do not match.
        outer: Counts this and other files together, within its own bounds.

    Raises:
        InputError: Nothing that can be used.
        LimitError: More than the bounds allow.
        OSError: It cannot be read.
    """
    whole = outer or Meter(str(path), bounds or Bounds())
    limits, place = whole.bounds, Path(path)
    if place.is_dir():
        return read_tree(_tree(place, whole.of_part(str(place))), how)
    with place.open("rb") as file:
        data = file.read(limits.text_bytes + 1)
    return read_bytes(data, str(path), limits, how, _near(place, limits), whole)


def _tree(place: Path, meter: Meter) -> Tree:
    """The files in a folder and its folders."""
    readers: dict[PurePosixPath, Callable[[], bytes]] = {}
    looked = 0
    for folder, folders, names in os.walk(place):
        inner = PurePosixPath(*Path(folder).relative_to(place).parts)
        folders[:] = sorted(f for f in folders if f[0] != "." and len(inner.parts) < DEEPEST)
        looked += len(names)
        if looked > MOST * meter.bounds.files:
            raise LimitError(
                f"{place} has more than {MOST * meter.bounds.files:,} files; name a smaller one.",
                limit="max_archive_files",
            )
        for name in names:
            file = Path(folder, name)
            if not is_hidden(inner / name) and file.is_file():
                readers[inner / name] = _reader(file, meter)
    return Tree(readers, meter, packed=False)


def _reader(file: Path, meter: Meter) -> Callable[[], bytes]:
    def read() -> bytes:
        meter.add_file()
        with file.open("rb") as opened:
            return meter.drain(opened)

    return read


def _near(place: Path, limits: Bounds) -> Near:
    """Reads files beside one, by their names."""

    def near(wanted: Callable[[str], bool]) -> Mapping[str, bytes]:
        found = sorted(p for p in place.parent.iterdir() if wanted(p.name) and p.is_file())
        meter = Meter(str(place.parent), limits)
        readers = {PurePosixPath(file.name): _reader(file, meter) for file in found}
        beside = Tree(readers, meter)
        return {str(place.parent / p.name): beside.read(p) for p in beside.paths}

    return near


Role = Literal["anything", "reference", "system", "scores", "source", "documents", "labels"]
COLUMNS: tuple[Role, ...] = ("documents", "labels", "source")  # what is said of each segment
ALONE: dict[Role, dict[str, Any]] = {  # what counts for nothing in files that are given as others
    "reference": {"references": ()},
    "source": {"sources": None},
    "documents": {"documents": None},
    "labels": {"labels": None},
}
LINES = ("text", "numbers", "text-columns")  # formats in which documents and labels are lines


@dataclass(frozen=True)
class Upload:
    """A file that was sent.

    Attributes:
        name: What its sender calls it.
        data: Its bytes, packed as they are.
    """

    name: str
    data: bytes


@dataclass(frozen=True)
class Entry:
    """A file or folder, and what was said of it.

    Attributes:
        role: What it was given as; `anything` where its content has to say.
        where: A path on this machine, a file that was sent, or what has been read already.
        system: Name of the system that it is about, which wins over one inside.
        label: Name of the scores in it, which wins over one inside.
        run: Whether it is one of several runs of its system.
        field: The part of the request that it is, for errors.
    """

    role: Role
    where: Path | Upload | Material
    system: str | None = None
    label: str | None = None
    run: bool = False
    field: str | None = None

    @property
    def name(self) -> str:
        """What messages call it."""
        return str(self.where) if isinstance(self.where, Path) else self.where.name


@dataclass(frozen=True)
class Gathered:
    """What files bring together.

    Attributes:
        material: All of it, aligned and whole.
        files: What messages call the files of each system.
    """

    material: Material
    files: dict[str, tuple[str, ...]]


def gather(
    entries: Sequence[Entry], how: Joining = STRICT, bounds: Bounds | None = None
) -> Gathered:
    """Read files and put them together.

    Args:
        entries: In order, which systems keep.
        how: What to do where they do not match of themselves.
        bounds: How much all of them may be.

    Raises:
        InputError: A file that cannot be used, or files that do not belong together.
        LimitError: More than the bounds allow.
        OSError: A file that cannot be read.
    """
    limits = bounds or Bounds()
    meter = Meter("The set of files", limits)
    parts = [_checked(entry, how, meter) for entry in entries]
    _require_distinct(entries, parts)
    parts = _without_what_is_given_alone(entries, parts)
    files: dict[str, tuple[str, ...]] = {}
    for entry, part in zip(entries, parts, strict=True):
        for name in part.system_names:
            files[name] = (*files.get(name, ()), entry.name)
    try:
        material = join(_with_runs(entries, parts, how), how=how)
        return Gathered(replace(material, notes=_without_folders(material.notes, entries)), files)
    except SigtestError as error:
        for entry in entries:
            if entry.name == error.field:
                error.field = entry.field
                error.system = error.system or entry.system
                break
        raise


def _without_what_is_given_alone(
    entries: Sequence[Entry], parts: Sequence[Material]
) -> list[Material]:
    """Materials without the references, say, that others have beside systems, if some are given."""
    roles = {entry.role for entry in entries}
    kept = []
    for entry, part in zip(entries, parts, strict=True):
        for role in roles - {entry.role}:
            if (role, entry.role) != ("reference", "anything"):
                part = replace(part, **ALONE.get(role, {}))
        kept.append(part)
    return kept


def _without_folders(notes: Sequence[str], entries: Sequence[Entry]) -> tuple[str, ...]:
    """Notes that name files as uploads are named: no report depends on where its files lie."""
    paths = [entry.where for entry in entries if isinstance(entry.where, Path)]
    for path in sorted(paths, key=lambda path: -len(str(path))):  # one may lie in another
        called = os.path.basename(os.path.abspath(path)) or str(path)  # also . and ..
        spelled = re.compile(rf"(?<![^\s(]){re.escape(str(path))}(?=[/:,;)]|\.?(?:\s|$))")
        notes = [spelled.sub(called.replace("\\", r"\\"), note) for note in notes]
    return tuple(notes)


def _with_runs(entries: Sequence[Entry], parts: Sequence[Material], how: Joining) -> list[Material]:
    """Materials with the runs of each system put together, at the place of the first."""
    together: dict[str, list[Material]] = {}
    for entry, part in zip(entries, parts, strict=True):
        key = f"{entry.system}\n" if entry.run else str(len(together))
        together.setdefault(key, []).append(part)
    as_runs = replace(how, runs=True)
    return [
        combine(group, as_runs) if key.endswith("\n") else group[0]
        for key, group in together.items()
    ]


def _checked(entry: Entry, how: Joining, meter: Meter) -> Material:
    """What one entry brings; errors say which part of the request it is."""
    try:
        if entry.system is not None:
            _check_name(entry.system, "system", entry.name)
        if entry.label is not None:
            _check_name(entry.label, "score", entry.name)
        found = _ROLES[entry.role](entry, _material(entry, how, meter))
        _check_characters(found, entry, meter.bounds.characters)
        return found
    except SigtestError as error:
        if entry.field is not None:
            error.field = entry.field
            error.system = error.system or entry.system
        raise


def _check_characters(found: Material, entry: Entry, most: int) -> None:
    outputs = [run for _, runs in found.systems for run in runs]
    columns = [found.sources, found.documents, found.labels]
    for lines in (*found.references, *found.texts, *outputs, *(c for c in columns if c)):
        if max((len(line) for line in lines if line is not None), default=0) > most:
            line = next(i for i, text in enumerate(lines, 1) if text and len(text) > most)
            raise LimitError(
                f"{entry.name}, line {line}: {len(lines[line - 1] or ''):,} characters; a segment "
                f"has at most max_characters, {most:,}.",
                limit="max_characters",
                field=entry.name,
                line=line,
            )


def _check_name(name: str, what: str, file: str) -> None:
    try:
        check_name(name, what)
    except InputError as error:
        raise InputError(f"{file}: {error.message}") from error


def _material(entry: Entry, how: Joining, meter: Meter) -> Material:
    if isinstance(entry.where, Material):
        return entry.where
    if entry.role in ("documents", "labels"):
        return _column(entry, meter)
    if how.labels and entry.role in ("reference", "system"):
        lines = _plain_lines(entry, meter)
        if lines is not None:
            return Material(texts=(lines,), name=entry.name)
    if isinstance(entry.where, Upload):
        return read_bytes(entry.where.data, entry.where.name, how=how, outer=meter)
    return read_path(entry.where, how=how, outer=meter)


def _column(entry: Entry, meter: Meter) -> Material:
    """The documents or labels of a file: its lines, or what a format says of its segments.

    Of two columns between tabs, the first is the label and the second the document, as
    mt-metrics-eval writes them.
    """
    data = _unzipped(entry, meter)
    lines = parse_lines(data, entry.name)  # says what is wrong with an empty file
    known = format_of(File(entry.name, data))
    if known.name not in LINES:
        return known.read(File(entry.name, data))
    if known.name == "text-columns" and all(line.count("\t") == 1 for line in lines):
        rows = [line.split("\t") for line in lines]
        lines = tuple(row[entry.role == "documents"] for row in rows)
    column: dict[str, Any] = {entry.role: lines}
    return Material(name=entry.name, **column)


def _plain_lines(entry: Entry, meter: Meter) -> tuple[str, ...] | None:
    """The lines of a file that is of no other format, numbers among them."""
    if isinstance(entry.where, Path) and not entry.where.is_file():
        return None
    data = _unzipped(entry, meter)
    plain = format_of(File(entry.name, data)).name in ("numbers", "text")
    return parse_lines(data, entry.name) if plain else None


def _unzipped(entry: Entry, meter: Meter) -> bytes:
    where = entry.where
    data = where.data if isinstance(where, Upload) else Path(entry.name).read_bytes()
    return meter.of_part(entry.name, len(data)).unzipped(data, entry.name)


def _documents(entry: Entry, material: Material) -> Material:
    column: dict[str, Any] = {entry.role: getattr(material, entry.role)}
    if column[entry.role] is None:
        raise InputError(
            f"{entry.name} does not name the {entry.role} of segments; give one a line.",
            field=entry.name,
        )
    return Material(ids=material.ids, ordered=material.ordered, name=material.name, **column)


def _system(entry: Entry, material: Material) -> Material:
    if not entry.system and material.texts and is_reference(_base(entry)):
        raise InputError(
            f"{entry.name} has the name of a reference, and is given as a system. A reference is "
            f"-r {entry.name} (in a form the part references), a system NAME={entry.name}."
        )
    name = entry.system or system_name(_base(entry))
    if not entry.system and material.texts:
        _check_name(name, "system", entry.name)
    return material.as_systems(name).named(entry.system, entry.label)


def _scores(entry: Entry, material: Material) -> Material:
    if not material.scores:
        raise InputError(
            f"{entry.name} has no scores of segments; give one number a line, or a table with "
            "named columns.",
            field=entry.name,
        )
    alone = replace(material, references=(), systems=(), texts=())
    return alone.named(entry.system, entry.label)


def _base(entry: Entry) -> str:
    """The name of a file: without its folders, where it is one of this machine."""
    return os.path.basename(entry.name) if isinstance(entry.where, Path) else entry.name


_ROLES: dict[str, Callable[[Entry, Material], Material]] = {
    "anything": lambda _, material: material.of_known_role(),
    "reference": lambda _, material: replace(
        material, references=material.as_references(), systems=(), texts=(), scores=()
    ),
    "system": _system,
    "scores": _scores,
    "source": lambda _, material: replace(
        material, sources=material.as_source(), references=(), systems=(), texts=(), scores=()
    ),
    "documents": _documents,
    "labels": _documents,
}


def _require_distinct(entries: Sequence[Entry], parts: Sequence[Material]) -> None:
    """Check that no two files were given as the output of one system, even if they are equal."""
    seen: dict[str, Entry] = {}
    for entry, part in zip(entries, parts, strict=True):
        for name, _ in part.systems if entry.role == "system" else ():
            other = seen.setdefault(name, entry)
            if other is not entry and not (entry.run and other.run):
                raise InputError(
                    f"{other.name} and {entry.name} are both named {name!r}; every system needs "
                    "its own name: rename a file, or the system in it, or in the shell say "
                    "NAME=FILE.",
                    field=entry.field,
                    system=name,
                )
