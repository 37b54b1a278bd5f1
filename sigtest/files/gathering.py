"""Files with what was said of them, as one material: the way in of every door.

The command line, forms and notebooks say what each file was given as; the rest its content says.
A name that was given wins over one inside. Files are bytes that were sent or paths of this machine,
of any format, alone, with gzip, in archives or folders; or a test set that sacreBLEU knows by name.
"""

import difflib
import os
import re
from collections.abc import Callable, Iterable, Mapping, Sequence
from copy import copy
from dataclasses import dataclass, replace
from pathlib import Path, PurePosixPath
from typing import TYPE_CHECKING, Any, Literal

from sigtest.data.names import check_name, is_reference, system_name
from sigtest.data.text import parse_lines
from sigtest.errors import InputError, LimitError, SigtestError, UnavailableError
from sigtest.files.file import File, Near
from sigtest.files.folders import read_tree
from sigtest.files.join import STRICT, Joining, combine, join
from sigtest.files.material import Material
from sigtest.files.registry import read_file
from sigtest.files.tree import Bounds, Meter, Tree, folder_of, opened, reader_of

if TYPE_CHECKING:
    from sacrebleu.dataset.base import Dataset


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
    return read_file(File(name, found, near, None, how.columns, how.labels))


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
        return read_tree(folder_of(place, whole.of_part(str(place))), how)
    with place.open("rb") as file:
        data = file.read(limits.text_bytes + 1)
    return read_bytes(data, str(path), limits, how, _near(place, limits), whole)


def _near(place: Path, limits: Bounds) -> Near:
    """Reads files beside one, by their names."""

    def near(wanted: Callable[[str], bool]) -> Mapping[str, bytes]:
        found = sorted(p for p in place.parent.iterdir() if wanted(p.name) and p.is_file())
        meter = Meter(str(place.parent), limits)
        readers = {PurePosixPath(file.name): reader_of(file, meter) for file in found}
        beside = Tree(readers, meter)
        return {str(place.parent / p.name): beside.read(p) for p in beside.paths}

    return near


Role = Literal["anything", "reference", "system", "scores", "source", "documents", "labels"]
COLUMNS: tuple[Role, ...] = ("documents", "labels", "source")  # what is said of each segment
ALONE: Mapping[Role, Mapping[str, Any]] = {  # what does not count beside files given as these
    "reference": {"references": ()},
    "source": {"sources": None},
    "documents": {"documents": None},
    "labels": {"labels": None},
}


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


def gather(
    entries: Sequence[Entry], how: Joining = STRICT, bounds: Bounds | None = None
) -> Material:
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
    roles = {entry.role for entry in entries}
    files: dict[str, tuple[str, ...]] = {}
    together: dict[str, list[Material]] = {}  # runs of a system at the place of the first
    for entry, part in zip(entries, parts, strict=True):
        for role in roles - {entry.role}:
            if (role, entry.role) != ("reference", "anything"):
                part = replace(part, **ALONE.get(role, {}))
        for name in part.system_names:
            files[name] = (*files.get(name, ()), entry.name)
        key = f"{entry.system}\n" if entry.run else str(len(together))
        together.setdefault(key, []).append(part)
    as_runs = replace(how, runs=True)
    try:
        material = join(
            [combine(g, as_runs) if k.endswith("\n") else g[0] for k, g in together.items()], how
        )
    except SigtestError as error:
        blamed = next((own for own in entries if own.name == error.field), None)
        if blamed is not None:
            error.field = blamed.field
            error.system = error.system or blamed.system
        raise
    return replace(material, notes=_without_folders(material.notes, entries), files=files)


def _without_folders(notes: Sequence[str], entries: Sequence[Entry]) -> tuple[str, ...]:
    """Notes that name files as uploads are named: no report depends on where its files lie."""
    paths = [entry.where for entry in entries if isinstance(entry.where, Path)]
    for path in sorted(paths, key=lambda path: -len(str(path))):  # one may lie in another
        called = os.path.basename(os.path.abspath(path)) or str(path)  # also . and ..
        spelled = re.compile(rf"(?<![^\s(]){re.escape(str(path))}(?=[/:,;)]|\.?(?:\s|$))")
        notes = [spelled.sub(called.replace("\\", r"\\"), note) for note in notes]
    return tuple(notes)


def _checked(entry: Entry, how: Joining, meter: Meter) -> Material:
    """What one entry brings; errors say which part of the request it is."""
    try:
        for name, what in ((entry.system, "system"), (entry.label, "score")):
            if name is not None:
                _check_name(name, what, entry.name)
        material = _as_role(entry, _material(entry, how, meter))
        _check_characters(material, entry, meter.bounds.characters)
        return material
    except SigtestError as error:
        if entry.field is not None and error.field not in ("select", "columns"):
            error.field = entry.field
            error.system = error.system or entry.system
        raise


def _check_characters(material: Material, entry: Entry, most: int) -> None:
    for lines in material.lines:
        if max((len(line) for line in lines if line is not None), default=0) > most:
            line, size = next((i, len(t)) for i, t in enumerate(lines, 1) if t and len(t) > most)
            raise LimitError(
                f"{entry.name}, line {line}: {size:,} characters; a segment has at most "
                f"max_characters, {most:,}.",
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
    """What a file brings; of documents and labels, lines of numbers alone are names."""
    where, names = entry.where, how.labels and entry.role in ("reference", "system")
    how = replace(how, labels=names or entry.role in ("documents", "labels"))
    if isinstance(where, Material):
        return where
    if isinstance(where, Upload):
        return read_bytes(where.data, where.name, how=how, outer=meter)
    return read_path(where, how=how, outer=meter)


def _as_role(entry: Entry, material: Material) -> Material:
    """The same as what it was given as."""
    role = entry.role
    if role == "anything":
        return material.of_known_role()
    if role == "reference":
        return material.alone(references=material.as_references())
    if role == "source":
        return material.alone(sources=material.as_source())
    if role == "system":
        return _as_system(entry, material)
    if role == "scores":
        if not material.scores:
            raise InputError(
                f"{entry.name} has no scores of segments; give one number a line, or a table with "
                "named columns.",
                field=entry.name,
            )
        return material.alone(scores=material.scores).named(entry.system, entry.label)
    column = getattr(material, role)
    if len(material.texts) == 2:  # labels and documents, as mt-metrics-eval writes them
        column = material.texts[role == "documents"]
    elif material.texts:
        column = tuple(map("\t".join, zip(*material.texts, strict=True)))
    if column is None:
        raise InputError(
            f"{entry.name} does not name the {role} of segments; give one a line.",
            field=entry.name,
        )
    columns = {role: column, "ids": material.ids, "ordered": material.ordered}
    return Material(name=material.name, **columns)


def _as_system(entry: Entry, material: Material) -> Material:
    base = os.path.basename(entry.name) if isinstance(entry.where, Path) else entry.name
    if not entry.system and material.texts and is_reference(base):
        raise InputError(
            f"{entry.name} has the name of a reference, and is given as a system. A reference is "
            f"-r {entry.name} (in a form the part references), a system NAME={entry.name}."
        )
    name = entry.system or system_name(base)
    if not entry.system and material.texts:
        _check_name(name, "system", entry.name)
    return material.as_systems(name).named(entry.system, entry.label)


def _require_distinct(entries: Sequence[Entry], parts: Iterable[Material]) -> None:
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


SETTING = "SIGTEST_ALLOW_DOWNLOADS"
NETWORK = (OSError, EOFError, SystemExit, AssertionError)  # sacreBLEU exits where a hash is wrong


def read_builtin(name: str, allow_downloads: bool) -> Material:
    """References and documents of a test set that sacreBLEU knows.

    Args:
        name: Test set and language pair, such as `wmt17/en-de`.
        allow_downloads: Whether sacreBLEU may fetch what is not on this machine.

    Raises:
        InputError: No such test set or language pair.
        UnavailableError: It would have to be downloaded and must not, or cannot be.
    """
    from sacrebleu.dataset import DATASETS  # late: only who asks for one needs them

    test_set, _, pair = name.rpartition("/")
    known: dict[str, Dataset] = DATASETS
    if not test_set:
        raise InputError(
            f"{name[:60]!r} names no language pair; ask as wmt17/en-de.", field="testset"
        )
    if test_set not in known:
        near = difflib.get_close_matches(test_set, known, 1)
        hint = f" Did you mean {near[0]!r}?" if near else ""
        raise InputError(
            f"sacreBLEU has no test set {test_set[:60]!r}; ask as wmt17/en-de.{hint}",
            field="testset",
        )
    dataset = copy(known[test_set])
    if pair not in dataset.langpairs:
        raise InputError(
            f"{test_set} has no language pair {pair[:60]!r}; it has "
            f"{', '.join(sorted(dataset.langpairs))}.",
            field="testset",
        )

    def refuse() -> None:
        raise UnavailableError(
            f"{name} is not on this machine, and downloads are not allowed; set {SETTING}=1 to "
            f"let sacreBLEU fetch it, or run `sacrebleu -t {test_set} -l {pair} --echo ref` once.",
            field="testset",
        )

    if not allow_downloads:
        dataset.maybe_download = refuse  # type: ignore[method-assign]
    try:
        references: list[str] = dataset.get_reference_files(pair)  # type: ignore[no-untyped-call]
        files: list[str] = dataset.get_files(pair)  # type: ignore[no-untyped-call]
        fields = dict(zip(dataset.fieldnames(pair), files, strict=True))
    except NETWORK as error:
        raise UnavailableError(
            f"sacreBLEU cannot fetch {name}: {error or 'see its log'}.", field="testset"
        ) from error
    texts = [tuple(parse_lines(Path(p).read_bytes(), Path(p).name)) for p in references]
    documents = Path(fields["docid"]) if "docid" in fields else None
    return Material(
        tuple(texts),
        documents=parse_lines(documents.read_bytes(), documents.name) if documents else None,
    )
