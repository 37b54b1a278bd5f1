"""The layout of a shared task: `reference*` and `systems/*`, and what may lie beside them.

That is `source*`, `documents*` or `docids*`, and `labels*`. A text has one segment a line, or is of
a format that says where its segments are, alone or compressed with gzip. `systems/NAME/` has a file
for each training run of one system.
"""

from __future__ import annotations

from dataclasses import replace
from pathlib import PurePosixPath

from sigtest.data.imports.material import AS_WHAT, WHICH, Line, Material, examples
from sigtest.data.imports.registry import read_file, read_lines
from sigtest.data.imports.tree import Tree
from sigtest.data.names import system_name
from sigtest.data.text import parse_lines
from sigtest.errors import InputError

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
