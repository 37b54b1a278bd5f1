"""Formats of folders and archives, by name: several files that belong together."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, replace
from pathlib import PurePosixPath

from sigtest.data.imports.bounds import ZIP
from sigtest.data.imports.file import File
from sigtest.data.imports.folder import has_layout, read_folder
from sigtest.data.imports.formats import evalset, inspect_logs, lm_eval
from sigtest.data.imports.join import STRICT, Joining, combine
from sigtest.data.imports.material import Material, examples
from sigtest.data.imports.registry import FORMATS_READ, format_of
from sigtest.data.imports.tree import Tree
from sigtest.errors import InputError

OFFICE = {
    "xl/workbook.xml": "an Excel workbook", "word/document.xml": "a Word document",
    "META-INF/manifest.xml": "an OpenDocument file",
    "Index/Document.iwa": "a document of Numbers, Pages or Keynote",
}  # fmt: skip
SUFFIXES = {suffix for reader in FORMATS_READ.values() for suffix in reader.suffixes}
TEXT = ("text", "text-columns", "numbers")  # whose files say neither what nor whose they are


@dataclass(frozen=True)
class TreeReader:
    """A format of several files, in a folder or an archive.

    Attributes:
        name: What tests call it.
        title: What messages and pages call it.
        brings: One sentence: what is taken from it.
        sniff: Whether files are of this format.
        read: Reads them; the second argument says what to do where they do not match.
        general: Whether it takes what no other format recognises.
    """

    name: str
    title: str
    brings: str
    sniff: Callable[[Tree], bool]
    read: Callable[[Tree, Joining], Material]
    general: bool = False


def read_tree(tree: Tree, how: Joining = STRICT) -> Material:
    """What a folder or archive brings.

    Args:
        tree: Its files.
        how: Which test set to read, and what to do where files do not match.

    Raises:
        InputError: Nothing that can be used; files that do not belong together.
    """
    if not tree.paths:
        raise InputError(f"{tree.name} is a folder or archive without any file.", field=tree.name)
    return format_of_tree(tree).read(tree, how)


def format_of_tree(tree: Tree) -> TreeReader:
    """The format of a folder or archive."""
    return next(reader for reader in TREES_READ.values() if reader.sniff(tree))


def _is_inspect(tree: Tree) -> bool:
    return inspect_logs.is_packed([str(path) for path in tree.paths])


def _read_inspect(tree: Tree, _: Joining) -> Material:
    names = [str(path) for path in tree.paths]
    members = {name: tree.read(PurePosixPath(name)) for name in inspect_logs.needed(names)}
    return inspect_logs.read_packed(members, tree.name)


def _read_evalset(tree: Tree, how: Joining) -> Material:
    root = evalset.root_of(tree)
    return evalset.read(tree, root or PurePosixPath("."), how.testset)


def _read_collection(tree: Tree, how: Joining) -> Material:
    """All files that say what they are, joined; the others are passed over, which a note says."""
    for name, title in OFFICE.items():
        if PurePosixPath(name) in tree.paths:
            raise InputError(
                f"{tree.name} is not read: it is {title}; save it as CSV (UTF-8) or plain text."
            )
    parts: list[Material] = []
    passed: list[str] = []
    refusals: list[InputError] = []
    for path in tree.paths:
        file = tree.file(path)
        reader = _reader_of(file, tree, how)
        if callable(reader):
            parts.append(reader())
        elif not lm_eval.is_results(file):  # those are read beside their samples
            passed.append(str(path))
        if isinstance(reader, InputError):
            refusals.append(reader)
    if not parts and refusals:
        raise refusals[0]
    if not parts:
        return read_folder(tree)  # which says what is missing
    note = (f"{tree.name}: files passed over: {examples(passed, 8)}.",) if passed else ()
    joined = combine(parts, how)
    return replace(joined, name=tree.name, notes=(*joined.notes, *note))


def _reader_of(file: File, tree: Tree, how: Joining) -> Callable[[], Material] | InputError | None:
    """What reads a file; why it is not read; or nothing where it does not say what it is."""
    if not file.data.strip() and PurePosixPath(file.path).suffix in SUFFIXES:
        raise InputError(f"{file.name} is empty.")
    if file.data.startswith(ZIP):
        from sigtest.data.imports.unpacking import open_zip  # late: most files are no archives

        nested = open_zip(file.data, tree.meter.of_part(file.name))
        return (lambda: _read_inspect(nested, how)) if _is_inspect(nested) else None
    try:
        known = format_of(file)
    except InputError as error:
        return error
    return None if known.name in TEXT else (lambda: known.read(file))


# fmt: off
_TREES = (
    TreeReader("shared-task", "the layout of a shared task",
               "reference* and systems/*, perhaps source*, documents*, labels*; systems/NAME/* are "
               "training runs.",
               has_layout, lambda tree, how: read_folder(tree, how.testset)),
    TreeReader("evalset", "an EvalSet tree of mt-metrics-eval",
               "Sources, references, outputs, documents, human and metric scores of segments.",
               lambda tree: evalset.root_of(tree) is not None, _read_evalset),
    TreeReader("inspect", "a log of Inspect AI (.eval)",
               "Scores of a model by scorer and sample, epochs as runs.",
               _is_inspect, _read_inspect),
    TreeReader("collection", "files of the formats above, joined by their ids",
               "All that they bring; plain text is passed over, since nothing says what it is.",
               lambda tree: True, _read_collection, general=True),
)
# fmt: on

TREES_READ: dict[str, TreeReader] = {reader.name: reader for reader in _TREES}
