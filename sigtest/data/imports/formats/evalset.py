"""EvalSet trees of mt-metrics-eval: sources, references, outputs, human and metric scores."""

from __future__ import annotations

import re
from collections.abc import Sequence
from dataclasses import replace
from pathlib import PurePosixPath

from sigtest.data.imports.formats.segment_scores import read as read_scores
from sigtest.data.imports.material import WHICH, Line, Material, Scores
from sigtest.data.imports.tree import Tree
from sigtest.data.text import parse_lines
from sigtest.errors import InputError, LengthError

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


def read(tree: Tree, root: PurePosixPath, pair: str | None) -> Material:
    """Read one pair of languages.

    Args:
        tree: All files.
        root: The folder of the EvalSet.
        pair: Which; may be left out where there is one.

    Raises:
        InputError: Several pairs or not this one, scores of systems unequally long.
        LengthError: A text with another number of lines than the others.
    """
    pair = _pair(tree, root, pair)
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


def _pair(tree: Tree, root: PurePosixPath, pair: str | None) -> str:
    pairs = sorted({path.parent.name for path in tree.below(root / OUTPUTS)})
    if pair is None and len(pairs) == 1:
        return pairs[0]
    if pair in pairs and pair is not None:
        return pair
    raise InputError(
        f"{tree.name} is an EvalSet with {len(pairs)} pairs of languages ({', '.join(pairs)}); "
        f"{'' if pair is None else f'{pair[:40]!a} is none of them; '}{WHICH}"
    )


def _references(tree: Tree, root: PurePosixPath, pair: str) -> dict[str, tuple[str, ...]]:
    """Reference sets by name: `PAIR.refA.txt`."""
    pattern = re.compile(rf"{re.escape(pair)}\.(.+)\.txt(\.gz)?")
    found = {}
    for path in tree.under(root / "references"):
        if (named := pattern.fullmatch(path.name)) is not None:
            found[named[1]] = _lines(tree, path)
    return found


def _scores(tree: Tree, root: PurePosixPath, pair: str) -> list[Scores]:
    """Segment scores of people and of metrics, by the names of their files."""
    found: list[Scores] = []
    for folder in SCORE_FOLDERS:
        for path in tree.below(root / folder):
            of_pair = path.parent.name == pair or path.name.startswith(f"{pair}.")
            if of_pair and path.name.removesuffix(".gz").endswith(SUFFIX):
                found += read_scores(tree.file(path)).scores
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
