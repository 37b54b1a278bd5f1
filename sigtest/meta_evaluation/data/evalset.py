"""A directory in the layout of mt-metrics-eval, as the request that it stands for.

    human-scores/LP.GOLD.{sys,seg}.score        metric-scores/LP/NAME-REF.{sys,seg}.score
    references/LP.REF.txt

A line is a system and a score; the i-th line of a system in a `.seg.` file is its segment i, and
`None` a segment without a score. Files differ in the order of their systems, and references stand
among them as if they were systems.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from itertools import groupby
from pathlib import Path, PurePosixPath
from typing import Any

from sigtest.data.choices import choose
from sigtest.data.text import decode, split_lines
from sigtest.errors import InputError, at_line
from sigtest.files.tree import Bounds, Meter, Tree, unpacked

LEVELS = {"system": "sys", "segment": "seg"}
HUMAN, METRICS, REFERENCES = "human-scores", "metric-scores", "references"
BOUNDS = Bounds(files=10_000)  # three pairs of languages have a thousand and more


@dataclass(frozen=True)
class EvalSet:
    """A directory, or an archive of one.

    Attributes:
        tree: Its files, perhaps among others.
        root: The folder that has `human-scores`.
    """

    tree: Tree
    root: PurePosixPath = field(default_factory=PurePosixPath)

    @classmethod
    def of_folder(cls, folder: Path) -> EvalSet:
        """The files of a directory that are read here."""
        found = [
            path
            for name in (HUMAN, METRICS, REFERENCES)
            for path in (folder / name).rglob("*")
            if path.is_file()
        ]
        readers = {PurePosixPath(path.relative_to(folder)): path.read_bytes for path in found}
        return cls(Tree(readers, Meter(str(folder), BOUNDS), packed=False))

    @classmethod
    def of_archive(cls, data: bytes, name: str) -> EvalSet:
        """The files of a zip, tar or tar.gz.

        Raises:
            InputError: No archive, a damaged one, or one without human scores.
        """
        tree = unpacked(data, name, BOUNDS)
        roots = {path.parent.parent for path in tree.paths if path.parent.name == HUMAN}
        if not roots:
            raise InputError(
                f"{name} has no folder {HUMAN}; an EvalSet holds {HUMAN} and {METRICS}/LP."
            )
        return cls(tree, min(roots))

    def under(self, *names: str) -> dict[str, PurePosixPath]:
        """Files in a folder, by their names."""
        folder = self.root.joinpath(*names)
        return {path.name: path for path in self.tree.under(folder)}

    def needed(self, *names: str) -> dict[str, PurePosixPath]:
        """Files in a folder that must have some.

        Raises:
            InputError: It has none.
        """
        found = self.under(*names)
        if not found:
            raise InputError(
                f"{self.tree.named(self.root.joinpath(*names))} is missing; an EvalSet holds "
                f"{HUMAN} and {METRICS}/LP.",
                field="evalset",
            )
        return found


def read_evalset(
    own: EvalSet, lp: str, gold: str, metrics: Sequence[str] | None = None
) -> dict[str, Any]:
    """The request of human and metric scores.

    The reference that most metric files name is the standard one. It is left out for every metric,
    also for those without a reference, since a metric would hold it against itself; other human
    translations stay, as systems.

    Args:
        own: Of one test set.
        lp: Pair of languages (`he-en`).
        gold: Name of the human scores (`mqm`).
        metrics: Names of metric files without level (`BLEU-refB`); all of them where none.

    Raises:
        InputError: A folder or file is missing or malformed.
        RecipeError: An unknown metric, gold or pair of languages.
    """
    human = _human_files(own, lp, gold)
    files = _metric_files(own, lp)
    labels = list(files)
    if metrics is not None:
        labels = [choose(name, files, "metrics", "metric") for name in metrics]
    standard = _standard_reference(own, lp, list(files))
    request: dict[str, Any] = {
        "human": {"scores": _scores(own, human)},
        "metrics": {label: _scores(own, files[label]) for label in labels},
    }
    tables = [request["human"]["scores"], *request["metrics"].values()]
    if standard and f"BLEU-{standard}" in labels:
        request["baseline"] = f"BLEU-{standard}"
    if standard and any(standard in table for levels in tables for table in levels.values()):
        request["exclude_systems"] = [standard]
    return request


def read_evalsets(
    own: EvalSet, lps: Sequence[str], gold: str, metrics: Sequence[str] | None = None
) -> dict[str, Any]:
    """The request of several pairs of languages, whose metrics have the same labels.

    Metrics are those without a reference and those with the standard one of each pair of
    languages, and are called by their name alone (`BLEU` for `BLEU-refB`).

    Args:
        own: Of one test set.
        lps: Pairs of languages.
        gold: Name of the human scores.
        metrics: Names of metrics (`BLEU`); all of them where none.

    Raises:
        InputError: A folder or file is missing or malformed.
        RecipeError: An unknown metric, gold or pair of languages.
    """
    sets: dict[str, Any] = {}
    for lp in lps:
        files = _metric_files(own, lp)
        standard = _standard_reference(own, lp, list(files))
        names = {
            label.rpartition("-")[0]: label
            for label in files
            if label.rpartition("-")[2] in {standard, "src"}
        }
        asked = list(names) if metrics is None else metrics
        labels = [names[choose(name, names, "metrics", "metric")] for name in asked]
        body = read_evalset(own, lp, gold, labels)
        body.pop("baseline", None)
        scores = body["metrics"].values()
        sets[lp] = {**body, "metrics": dict(zip(asked, scores, strict=True))}
    return {"sets": sets}


def _human_files(own: EvalSet, lp: str, gold: str) -> dict[str, PurePosixPath]:
    """Files of human scores by level."""
    known: dict[str, dict[str, dict[str, PurePosixPath]]] = {}
    for file, path in own.needed(HUMAN).items():
        for level, suffix in LEVELS.items():
            if file.endswith(f".{suffix}.score"):
                pair, _, name = file.removesuffix(f".{suffix}.score").partition(".")
                known.setdefault(pair, {}).setdefault(name, {})[level] = path
    choose(lp, sorted(known), "lp", "pair of languages")
    choose(gold, sorted(known[lp]), "gold", "name of human scores")
    return known[lp][gold]


def _metric_files(own: EvalSet, lp: str) -> dict[str, dict[str, PurePosixPath]]:
    """Files of metric scores by label, then level; labels sorted."""
    found: dict[str, dict[str, PurePosixPath]] = {}
    for file, path in own.needed(METRICS, lp).items():
        for level, suffix in LEVELS.items():
            if file.endswith(f".{suffix}.score"):
                found.setdefault(file.removesuffix(f".{suffix}.score"), {})[level] = path
    if not found:
        folder = own.tree.named(own.root / METRICS / lp)
        raise InputError(
            f"{folder} has no files NAME.sys.score or NAME.seg.score.", field="evalset"
        )
    return {label: found[label] for label in sorted(found)}


def _standard_reference(own: EvalSet, lp: str, labels: Sequence[str]) -> str | None:
    """The reference that most metric files name; the first by name where several do."""
    names = {
        file.removeprefix(f"{lp}.").removesuffix(".txt")
        for file in own.under(REFERENCES)
        if file.startswith(f"{lp}.")
    }
    used = Counter(label.rpartition("-")[2] for label in labels)
    counted = sorted((-count, name) for name, count in used.items() if name in names)
    return counted[0][1] if counted else None


def _scores(own: EvalSet, files: Mapping[str, PurePosixPath]) -> dict[str, Any]:
    """Scores by level, then system."""
    found: dict[str, Any] = {}
    for level, path in files.items():
        name = own.tree.named(path)
        rows = _rows(decode(own.tree.read(path), name), name)
        if level == "segment":
            found[level] = rows
            continue
        for system, values in rows.items():
            if len(values) > 1:
                raise InputError(f"{name}: system {system!r} has {len(values)} scores, not one.")
        found[level] = {system: values[0] for system, values in rows.items()}
    return found


def _rows(text: str, name: str) -> dict[str, list[float | None]]:
    """Scores of each system, in the order of their lines."""
    parts = text.split()
    lines = text.count("\n") + (not text.endswith("\n"))
    rows: dict[str, list[float | None]] = {}
    try:
        if len(parts) != 2 * lines:
            raise ValueError
        scores = [None if score == "None" else float(score) for score in parts[1::2]]
    except ValueError:
        raise _malformed(text, name) from None
    first = 0
    for system, run in groupby(parts[0::2]):
        last = first + sum(1 for _ in run)
        rows.setdefault(system, []).extend(scores[first:last])
        first = last
    return rows


def _malformed(text: str, name: str) -> InputError:
    """What is wrong with a file in which some line is not a system and a score."""
    for number, line in enumerate(split_lines(text), 1):
        try:
            _, score = line.split()
            float(0 if score == "None" else score)
        except ValueError:
            return at_line(name, number, f"{line.strip()[:40]!r} is not a system and a score.")
    return InputError(f"{name} is empty; a system and a score a line are expected.")
