"""Formats of folders and archives: the layout of a shared task, EvalSets, collections of files.

The layout of a shared task is `reference*` and `systems/*`, and beside them perhaps `source*`,
`documents*` or `docids*`, and `labels*`. A text has one segment a line, or is of a format that says
where its segments are. `systems/NAME/` has a file for each training run of one system.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Sequence
from dataclasses import dataclass, replace
from pathlib import PurePosixPath

from sigtest.data.names import system_name
from sigtest.data.text import parse_lines
from sigtest.errors import InputError, LengthError
from sigtest.files.file import File
from sigtest.files.formats.evaluations import (
    is_packed_log,
    is_results,
    needed_members,
    read_packed_log,
)
from sigtest.files.formats.programs import read_seg_scores
from sigtest.files.join import STRICT, Joining, combine
from sigtest.files.material import AS_WHAT, WHICH, Line, Material, SystemScores, examples
from sigtest.files.registry import FORMATS_READ, format_of, read_file, read_lines
from sigtest.files.tree import ZIP, Tree

LAYOUT = "reference* and systems/*, or one WMT .xml"
SYSTEMS = "systems"
REFERENCE = "reference"
SOURCE = "source"
COLUMNS = {"documents": ("documents", "docids"), "labels": ("labels",)}
Outputs = tuple[tuple[str, tuple[tuple[Line, ...], ...]], ...]


def has_layout(tree: Tree) -> bool:
    """Whether some folder has references and systems."""
    return bool(_with_systems(tree) & _with_references(tree))


def read_folder(tree: Tree, testset: str | None = None) -> Material:
    """Find the layout among files, in their root or in one folder of any depth.

    Args:
        tree: All files.
        testset: Which folder to take, where several have the layout.

    Raises:
        InputError: No layout, several, a file that cannot be read, or two documents files.
    """
    root = _root(tree, testset)
    here = tree.under(root)
    columns = {
        kind: _column(tree, [path for path in here if path.name.startswith(names)])
        for kind, names in COLUMNS.items()
    }
    sources = [path for path in here if path.name.startswith(SOURCE)]
    material = Material(
        references=tuple(
            lines
            for path in here
            if path.name.startswith(REFERENCE)
            for lines in read_file(tree.file(path)).as_references()
        ),
        systems=_systems(tree, root),
        documents=columns["documents"],
        labels=columns["labels"],
        sources=read_lines(tree.file(sources[0]), "a source") if len(sources) == 1 else None,
        name=tree.name,
    )
    if testset is None or testset not in (str(root), root.name):
        return material
    return replace(material, testsets=(testset,) * len(material))


def _with_systems(tree: Tree) -> set[PurePosixPath]:
    return {
        folder.parent
        for path in tree.paths
        for folder in (path.parent, path.parent.parent)
        if folder.name == SYSTEMS
    }


def _with_references(tree: Tree) -> set[PurePosixPath]:
    return {path.parent for path in tree.paths if path.name.startswith(REFERENCE)}


def _systems(tree: Tree, root: PurePosixPath) -> Outputs:
    """Each system with the outputs of its runs, by name."""
    outputs: dict[str, list[tuple[Line, ...]]] = {}
    for path in tree.below(root / SYSTEMS):
        alone = path.parent == root / SYSTEMS
        name = system_name(path.name) if alone else path.parent.name
        if alone and name in outputs:
            files = [str(own) for own in tree.under(path.parent) if system_name(own.name) == name]
            raise InputError(
                f"{tree.name} has two systems {name[:200]!r}, {' and '.join(files)}; rename one."
            )
        outputs.setdefault(name, []).append(read_lines(tree.file(path), "an output"))
    return tuple((name, tuple(runs)) for name, runs in outputs.items())


def _root(tree: Tree, testset: str | None) -> PurePosixPath:
    """The one folder that has references and systems, the outermost of all, or the one named."""
    systems, references = _with_systems(tree), _with_references(tree)
    roots = sorted(systems & references)
    if len(roots) == 1 or PurePosixPath(".") in roots:
        return roots[0]
    if roots:
        named = [root for root in roots if testset in (str(root), root.name)]
        if len(named) == 1:
            return named[0]
        unknown = "" if testset is None else f"none of which is {testset[:80]!r}; "
        raise InputError(
            f"{tree.name} has {len(roots)} test sets ({examples(map(str, roots), 8)}); {unknown}"
            f"{WHICH}"
        )
    part = "no matching files"
    if systems or references:
        part = "no systems/*" if references else "no reference* beside systems"
    inside = examples(map(str, tree.paths))
    raise InputError(
        f"{tree.name} has {part}; expected {LAYOUT}. It has {inside}, and plain text does not say "
        f"what it is: {'unpack it and ' if tree.packed else ''}give each file of its own, "
        f"{AS_WHAT}."
    )


def _column(tree: Tree, paths: list[PurePosixPath]) -> tuple[str, ...] | None:
    if len(paths) > 1:
        raise InputError(f"{tree.name} has {paths[0].name} and {paths[1].name}; one is enough.")
    return parse_lines(tree.read(paths[0]), tree.named(paths[0])) if paths else None


OUTPUTS = "system-outputs"
SCORE_FOLDERS = ("human-scores", "metric-scores")
SUFFIX = ".seg.score"


def root_of(tree: Tree) -> PurePosixPath | None:
    """The folder that has `system-outputs/PAIR/*.txt` and something beside it."""
    found = {
        path.parent.parent.parent
        for path in tree.paths
        if path.parent.parent.name == OUTPUTS and path.suffix in {".txt", ".gz"}
    }
    return min(found) if found else None


def read_evalset(tree: Tree, pair: str | None) -> Material:
    """Read one pair of languages.

    Args:
        tree: All files.
        pair: Which; may be left out where there is one.

    Raises:
        InputError: Several pairs or not this one, scores of systems unequally long.
        LengthError: A text with another number of lines than the others.
    """
    root = root_of(tree) or PurePosixPath(".")
    pairs = sorted({path.parent.name for path in tree.below(root / OUTPUTS)})
    pair = pairs[0] if pair is None and len(pairs) == 1 else pair
    if pair is None or pair not in pairs:
        raise InputError(
            f"{tree.name} is an EvalSet with {len(pairs)} pairs of languages "
            f"({', '.join(pairs)}); "
            f"{'' if pair is None else f'{pair[:40]!a} is none of them; '}{WHICH}"
        )
    references = _references(tree, root, pair)
    documents = _optional(tree, root / "documents" / f"{pair}.docs")
    outputs = {
        path.name.removesuffix(".gz").removesuffix(".txt"): _lines(tree, path)
        for path in tree.under(root / OUTPUTS / pair)
    }
    names = set(references)
    systems = {name: lines for name, lines in outputs.items() if name not in names}
    human = sorted(set(outputs) & names)
    material = Material(
        references=tuple(references.values()),
        systems=tuple((name, (lines,)) for name, lines in systems.items()),
        documents=tuple(line.split("\t")[-1] for line in documents) if documents else None,
        labels=tuple(line.split("\t")[0] for line in documents) if documents else None,
        sources=_optional(tree, root / "sources" / f"{pair}.txt"),
        scores=tuple(s for s in _scores(tree, root, pair) if s.system in systems),
        testsets=None,
        name=tree.name,
        notes=(f"{tree.name}: references, not systems: {', '.join(human)}.",) if human else (),
    )
    _require_equal(material)
    return replace(material, testsets=(pair,) * len(material))


def _references(tree: Tree, root: PurePosixPath, pair: str) -> dict[str, tuple[str, ...]]:
    """Reference sets by name: `PAIR.refA.txt`."""
    pattern = re.compile(rf"{re.escape(pair)}\.(.+)\.txt(\.gz)?")
    found = {}
    for path in tree.under(root / "references"):
        if (named := pattern.fullmatch(path.name)) is not None:
            found[named[1]] = _lines(tree, path)
    return found


def _scores(tree: Tree, root: PurePosixPath, pair: str) -> list[SystemScores]:
    """Segment scores of people and of metrics, by the names of their files."""
    found: list[SystemScores] = []
    for folder in SCORE_FOLDERS:
        for path in tree.below(root / folder):
            of_pair = path.parent.name == pair or path.name.startswith(f"{pair}.")
            if of_pair and path.name.removesuffix(".gz").endswith(SUFFIX):
                found += read_seg_scores(tree.file(path)).scores
    return found


def _require_equal(material: Material) -> None:
    """Check that every text and every score has one entry a segment."""
    columns: list[tuple[str, Sequence[Line | object]]] = [
        (f"reference {i + 1}", lines) for i, lines in enumerate(material.references)
    ]
    columns += [(f"system {name!r}", runs[0]) for name, runs in material.systems]
    columns += [(f"{s.label} of {s.system!r}", s.values) for s in material.scores]
    columns += [
        (w, c) for w, c in (("source", material.sources), ("documents", material.documents)) if c
    ]
    for what, column in columns:
        if len(column) != len(columns[0][1]):
            raise LengthError(
                f"{material.name}: {what} has {len(column):,} lines, {columns[0][0]} has "
                f"{len(columns[0][1]):,}; an EvalSet needs one line a segment."
            )


def _optional(tree: Tree, path: PurePosixPath) -> tuple[str, ...] | None:
    return _lines(tree, path) if path in tree.paths else None


def _lines(tree: Tree, path: PurePosixPath) -> tuple[str, ...]:
    return parse_lines(tree.read(path), tree.named(path))


OFFICE = {
    "xl/workbook.xml": "an Excel workbook", "word/document.xml": "a Word document",
    "META-INF/manifest.xml": "an OpenDocument file",
    "Index/Document.iwa": "a document of Numbers, Pages or Keynote",
}  # fmt: skip
SUFFIXES = {suffix for reader in FORMATS_READ.values() for suffix in reader.suffixes}
TEXTS = ("text", "text-columns", "numbers")  # whose files say neither what nor whose they are


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
    return is_packed_log([str(path) for path in tree.paths])


def _read_inspect(tree: Tree, _: Joining) -> Material:
    names = [str(path) for path in tree.paths]
    members = {name: tree.read(PurePosixPath(name)) for name in needed_members(names)}
    return read_packed_log(members, tree.name)


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
        elif not is_results(file):  # those are read beside their samples
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
        from sigtest.files.archives import open_zip  # late: most files are no archives

        nested = open_zip(file.data, tree.meter.of_part(file.name))
        return (lambda: _read_inspect(nested, how)) if _is_inspect(nested) else None
    try:
        known = format_of(file)
    except InputError as error:
        return error
    return None if known.name in TEXTS else (lambda: known.read(file))


# fmt: off
_TREES = (
    TreeReader("shared-task", "the layout of a shared task",
               "reference* and systems/*, perhaps source*, documents*, labels*; systems/NAME/* are "
               "training runs.",
               has_layout, lambda tree, how: read_folder(tree, how.testset)),
    TreeReader("evalset", "an EvalSet tree of mt-metrics-eval",
               "Sources, references, outputs, documents, human and metric scores of segments.",
               lambda tree: root_of(tree) is not None,
               lambda tree, how: read_evalset(tree, how.testset)),
    TreeReader("inspect", "a log of Inspect AI (.eval)",
               "Scores of a model by scorer and sample, epochs as runs.",
               _is_inspect, _read_inspect),
    TreeReader("collection", "files of the formats above, joined by their ids",
               "All that they bring; plain text is passed over, since nothing says what it is.",
               lambda tree: True, _read_collection, general=True),
)
# fmt: on

TREES_READ: dict[str, TreeReader] = {reader.name: reader for reader in _TREES}
