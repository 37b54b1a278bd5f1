"""A directory in the layout of mt-metrics-eval, as the request that it stands for.

    human-scores/LP.GOLD.{sys,seg}.score        metric-scores/LP/NAME-REF.{sys,seg}.score
    references/LP.REF.txt

A line is a system and a score; the i-th line of a system in a `.seg.` file is its segment i, and
`None` a segment without a score. Files differ in the order of their systems, and references stand
among them as if they were systems.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Sequence
from itertools import groupby
from pathlib import Path
from typing import Any

from sigtest.data.choices import choose
from sigtest.data.text import decode, split_lines
from sigtest.errors import InputError

LEVELS = {"system": "sys", "segment": "seg"}


def read_evalset(
    folder: Path, lp: str, gold: str, metrics: Sequence[str] | None = None
) -> dict[str, Any]:
    """The request of a directory's human and metric scores.

    The reference that most metric files name is the standard one. It is left out for every metric,
    also for those without a reference, since a metric would hold it against itself; other human
    translations stay, as systems.

    Args:
        folder: Of one test set; holds `human-scores` and `metric-scores`.
        lp: Pair of languages (`he-en`).
        gold: Name of the human scores (`mqm`).
        metrics: Names of metric files without level (`BLEU-refB`); all of them where none.

    Raises:
        InputError: A folder or file is missing or malformed.
        RecipeError: An unknown metric, gold or pair of languages.
    """
    human = _human_files(folder / "human-scores", lp, gold)
    files = _metric_files(folder / "metric-scores" / lp)
    labels = list(files) if metrics is None else [_chosen(name, files) for name in metrics]
    standard = _standard_reference(folder / "references", lp, list(files))
    request: dict[str, Any] = {
        "human": {"scores": _scores(human)},
        "metrics": {label: _scores(files[label]) for label in labels},
    }
    tables = [request["human"]["scores"], *request["metrics"].values()]
    if standard and f"BLEU-{standard}" in labels:
        request["baseline"] = f"BLEU-{standard}"
    if standard and any(standard in table for own in tables for table in own.values()):
        request["exclude_systems"] = [standard]
    return request


def read_evalsets(
    folder: Path, lps: Sequence[str], gold: str, metrics: Sequence[str] | None = None
) -> dict[str, Any]:
    """The request of several pairs of languages, whose metrics have the same labels.

    Metrics are those without a reference and those with the standard one of each pair of
    languages, and are called by their name alone (`BLEU` for `BLEU-refB`).

    Args:
        folder: Of one test set; see `read_evalset`.
        lps: Pairs of languages.
        gold: Name of the human scores.
        metrics: Names of metrics (`BLEU`); all of them where none.

    Raises:
        InputError: A folder or file is missing or malformed.
        RecipeError: An unknown metric, gold or pair of languages.
    """
    sets: dict[str, Any] = {}
    for lp in lps:
        files = _metric_files(folder / "metric-scores" / lp)
        standard = _standard_reference(folder / "references", lp, list(files))
        names = {
            label.rpartition("-")[0]: label
            for label in files
            if label.rpartition("-")[2] in {standard, "src"}
        }
        asked = list(names) if metrics is None else metrics
        labels = [names[choose(name, names, "metric", "metric")] for name in asked]
        own = read_evalset(folder, lp, gold, labels)
        own.pop("baseline", None)
        scores = own["metrics"].values()
        sets[lp] = {**own, "metrics": dict(zip(asked, scores, strict=True))}
    return {"sets": sets}


def _chosen(name: str, files: dict[str, dict[str, Path]]) -> str:
    return str(choose(name, files, "metric", "metric"))


def _human_files(folder: Path, lp: str, gold: str) -> dict[str, Path]:
    """Files of human scores by level."""
    known: dict[str, dict[str, dict[str, Path]]] = {}
    for level, suffix in LEVELS.items():
        for path in sorted(_directory(folder).glob(f"*.{suffix}.score")):
            pair, _, name = path.name.removesuffix(f".{suffix}.score").partition(".")
            known.setdefault(pair, {}).setdefault(name, {})[level] = path
    choose(lp, sorted(known), "lp", "pair of languages")
    choose(gold, sorted(known[lp]), "gold", "name of human scores")
    return known[lp][gold]


def _metric_files(folder: Path) -> dict[str, dict[str, Path]]:
    """Files of metric scores by label, then level; labels sorted."""
    found: dict[str, dict[str, Path]] = {}
    for level, suffix in LEVELS.items():
        for path in _directory(folder).glob(f"*.{suffix}.score"):
            found.setdefault(path.name.removesuffix(f".{suffix}.score"), {})[level] = path
    if not found:
        raise InputError(
            f"{folder} has no files NAME.sys.score or NAME.seg.score.", field="evalset"
        )
    return {label: found[label] for label in sorted(found)}


def _directory(folder: Path) -> Path:
    if not folder.is_dir():
        raise InputError(
            f"{folder} is missing; an EvalSet holds human-scores and metric-scores/LP.",
            field="evalset",
        )
    return folder


def _standard_reference(folder: Path, lp: str, labels: Sequence[str]) -> str | None:
    """The reference that most metric files name; the first by name where several do."""
    names = {
        path.name.removeprefix(f"{lp}.").removesuffix(".txt") for path in folder.glob(f"{lp}.*")
    }
    used = Counter(label.rpartition("-")[2] for label in labels)
    counted = sorted((-count, name) for name, count in used.items() if name in names)
    return counted[0][1] if counted else None


def _scores(files: dict[str, Path]) -> dict[str, Any]:
    """Scores by level, then system."""
    found: dict[str, Any] = {}
    for level, path in files.items():
        rows = _rows(path)
        if level == "segment":
            found[level] = rows
            continue
        for system, values in rows.items():
            if len(values) > 1:
                raise InputError(f"{path}: system {system!r} has {len(values)} scores, not one.")
        found[level] = {system: values[0] for system, values in rows.items()}
    return found


def _rows(path: Path) -> dict[str, list[float | None]]:
    """Scores of each system, in the order of their lines."""
    text = decode(path.read_bytes(), str(path))
    parts = text.split()
    lines = text.count("\n") + (not text.endswith("\n"))
    rows: dict[str, list[float | None]] = {}
    try:
        if len(parts) != 2 * lines:
            raise ValueError
        scores = [None if score == "None" else float(score) for score in parts[1::2]]
    except ValueError:
        raise _malformed(text, path) from None
    first = 0
    for system, run in groupby(parts[0::2]):
        last = first + sum(1 for _ in run)
        rows.setdefault(system, []).extend(scores[first:last])
        first = last
    return rows


def _malformed(text: str, path: Path) -> InputError:
    """What is wrong with a file in which some line is not a system and a score."""
    for number, line in enumerate(split_lines(text), 1):
        try:
            _, score = line.split()
            float(0 if score == "None" else score)
        except ValueError:
            return InputError(
                f"{path}, line {number}: {line.strip()[:40]!r} is not a system and a score.",
                line=number,
            )
    return InputError(f"{path} is empty; a system and a score a line are expected.")
