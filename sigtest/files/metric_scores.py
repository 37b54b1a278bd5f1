"""Scores of metrics and of people: tables, JSON, and EvalSets of mt-metrics-eval.

An EvalSet is a directory, or an archive of one, as the request that it stands for:

    human-scores/LP.GOLD.{sys,seg}.score        metric-scores/LP/NAME-REF.{sys,seg}.score
    references/LP.REF.txt

A line is a system and a score; the i-th line of a system in a `.seg.` file is its segment i, and
`None` a segment without a score. Files differ in the order of their systems, and references stand
among them as if they were systems.
"""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from pathlib import Path, PurePosixPath
from typing import Any

from sigtest.data.choices import choose
from sigtest.errors import InputError, at_line
from sigtest.files.assembly import SUMMARIES
from sigtest.files.cells import number, truth
from sigtest.files.file import File, loads
from sigtest.files.formats.programs import scores_of_systems
from sigtest.files.tables import fields_of, lines_below_hint, parsed, read_table, role_of
from sigtest.files.tree import Bounds, Meter, Tree, unpacked

ROLES = {
    role: role
    for role in ("metric", "languages", "testset", "system", "segment", "id", "run", "domain",
                 "score", "higher_is_better")
}  # fmt: skip
SEGMENTS = {"segment", "sid", "segid"}  # what counts segments even where no two lines share one
ALONE = SEGMENTS | {"metric", "lp", "testset", "system", "sys", "score", "higher_is_better"}
ONE_OF = {"languages": "pair of languages", "testset": "test set", "metric": "metric"}
NUMBER = re.compile(r"none|na|[-+]?[0-9.]+(?:e[-+]?[0-9]+)?")  # in lower case
LEVELS = {"system": "sys", "segment": "seg"}
HUMAN, METRICS, REFERENCES = "human-scores", "metric-scores", "references"
BOUNDS = Bounds(files=10_000)  # three pairs of languages have a thousand and more


def reads_scores(data: bytes, name: str) -> bool:
    """Whether a file has scores of systems or segments, rather than judgements."""
    first = _first(File(name, data))
    parts = [part.strip().lower() for part in _cells(first)]
    if {"score"} < {*parts}:
        return {*parts} <= ALONE
    return len(parts) == 2 and NUMBER.fullmatch(parts[1]) is not None


def read_scores(data: bytes, name: str) -> dict[str, Any]:
    """Scores of one metric or of people, by level and system, as a request has them.

    Args:
        data: Lines of system and score, a system once or once for each segment; or a table with a
            header of METRIC, LP, SYSTEM, SEGMENT, SCORE and HIGHER_IS_BETTER, as far as it has
            them; or JSON, in which numbers without a level are of systems.
        name: What to call the file in messages.

    Raises:
        InputError: A line that is malformed, or several metrics, test sets or pairs of languages.
    """
    file = File(name, data)
    if file.text.lstrip().startswith("{"):
        body = loads(file.text, name)
        named = dict(body) if isinstance(body, dict) else {}
        return named if {*LEVELS} & {*named} else {"system": named}
    if not any(map(str.strip, file.lines)):
        raise InputError(f"{name} has no scores.")
    columns, places = _columns(file)
    for role, what in ONE_OF.items():
        known = sorted({*columns.get(role, ())})
        if len(known) > 1:
            raise InputError(f"{name} has more than one {what}, {', '.join(known)}; leave one.")
    ways: dict[bool | None, int] = {}
    for cell, line in zip(columns.get("higher_is_better", ()), places, strict=False):
        ways.setdefault(truth(cell, f"{name}, line {line}"), line)
    ways.pop(None, None)
    if len(ways) > 1:
        line = max(ways.values())
        raise at_line(name, line, "another direction (higher_is_better) than above; leave one.")
    return _by_level(columns, places, name) | ({"higher": False} if False in ways else {})


def _first(file: File) -> str:
    lines = lines_below_hint(file)
    return lines[0] if lines else ""


def _separator(line: str) -> str:
    """Tabs; or commas, where blanks only follow those; or blanks."""
    listed = re.split(r",\s*", line.strip())
    plain = len(listed) > 1 and not re.search(r"[\s;]", "".join(listed))
    return "\t" if "\t" in line else "," if plain else " "


def _cells(line: str) -> list[str]:
    separator = _separator(line)
    if separator == " ":
        return [cell.strip('"') for cell in line.split()]
    return [cell.strip().strip('"') for cell in fields_of(line, separator)]


def _columns(file: File) -> tuple[dict[str, list[str]], Sequence[int]]:
    """The cells of each role, and the line of each row."""
    first = _first(file)
    separator = _separator(first)
    roles = [role_of(cell, ROLES) for cell in _cells(first)]
    if not {"system", "score"} <= {*roles}:
        rows = [*parsed(file.text, separator, file.name)]
        for line, cells in rows:
            if len(cells) != 2:
                count = f"{len(cells)} column{'' if len(cells) == 1 else 's'}"
                raise at_line(file.name, line, f"{count}; system and score are expected.")
        pairs = [[cell.strip().strip('"') for cell in cells] for _, cells in rows]
        named = {"system": [own[0] for own in pairs], "score": [own[1] for own in pairs]}
        return named, [line for line, _ in rows]
    table = read_table(file, separator)
    found: dict[str, list[str]] = {}
    for i, (column, role) in enumerate(zip(table.header, roles, strict=False)):
        name = column.strip('"').lower().replace("_", "")
        known = "id" if role == "segment" and name not in SEGMENTS else role
        if known in found and known != "id":
            raise at_line(file.name, 1, f"more than one column for the {known}; leave one.")
        if known is not None:
            found.setdefault(known, [str(row[i]).strip().strip('"') for row in table.rows])
    return found, table.places


def _by_level(
    columns: Mapping[str, Sequence[str]], places: Sequence[int], name: str
) -> dict[str, Any]:
    """Scores of systems, or of segments where a system has several or segments are named."""
    scores = [
        number(cell, f"{name}, line {line}", line)
        for cell, line in zip(columns["score"], places, strict=True)
    ]
    systems = columns["system"]
    ids = columns.get("segment")
    if ids is None and len({*columns.get("id", ())}) < len(scores):
        ids = columns.get("id")  # an id that no two lines share counts lines
    if ids is not None:
        named: dict[str, dict[str, float | None]] = {}
        for system, segment, score, line in zip(systems, ids, scores, places, strict=True):
            own = named.setdefault(system, {})
            if segment in own:
                raise at_line(name, line, f"system {system!r} has segment {segment!r} twice.")
            if segment.lower() in SUMMARIES:
                why = f"segment {segment!r} sums others up by its name; take such rows out."
                raise at_line(name, line, why)
            own[segment] = score
        return {"segment": named}
    listed: dict[str, list[float | None]] = {}
    for system, score in zip(systems, scores, strict=True):
        listed.setdefault(system, []).append(score)
    if all(len(own) == 1 for own in listed.values()):
        return {"system": {system: own[0] for system, own in listed.items()}}
    for role in ("run", "domain"):
        if role in columns:
            raise InputError(
                f"{name} has several scores of a system, each of a {role} and none of a segment; "
                "give their mean, one score a system, or name segments in a column segment."
            )
    return {"segment": listed}


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
        readers = {
            PurePosixPath(path.relative_to(folder)): path.read_bytes
            for name in (HUMAN, METRICS, REFERENCES)
            for path in (folder / name).rglob("*")
            if path.is_file()
        }
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

    def scores_in(self, *names: str) -> dict[str, dict[str, PurePosixPath]]:
        """Files of scores in a folder by name, then level; names sorted.

        Raises:
            InputError: It has none.
        """
        folder = self.root.joinpath(*names)
        files = self.tree.under(folder)
        if not files:
            raise InputError(
                f"{self.tree.named(folder)} is missing; an EvalSet holds {HUMAN} and {METRICS}/LP.",
                field="evalset",
            )
        found: dict[str, dict[str, PurePosixPath]] = {}
        for path in sorted(files):
            for level, suffix in LEVELS.items():
                if path.name.endswith(f".{suffix}.score"):
                    label = path.name.removesuffix(f".{suffix}.score")
                    found.setdefault(label, {})[level] = path
        if not found:
            raise InputError(
                f"{self.tree.named(folder)} has no files NAME.sys.score or NAME.seg.score.",
                field="evalset",
            )
        return {label: found[label] for label in sorted(found)}

    def standard_reference(self, lp: str, labels: Sequence[str]) -> str | None:
        """The reference that most metric files name; the first by name where several do."""
        names = {
            path.name.removeprefix(f"{lp}.").removesuffix(".txt")
            for path in self.tree.under(self.root / REFERENCES)
            if path.name.startswith(f"{lp}.")
        }
        used = Counter(label.rpartition("-")[2] for label in labels)
        counted = sorted((-count, name) for name, count in used.items() if name in names)
        return counted[0][1] if counted else None

    def read(self, files: Mapping[str, PurePosixPath]) -> dict[str, Any]:
        """Scores by level, then system."""
        found: dict[str, Any] = {}
        for level, path in files.items():
            file = self.tree.file(path)
            if not file.lines:
                raise InputError(f"{file.name} is empty; a system and a score a line are expected.")
            found[level] = scores_of_systems(file)
            if level == "system":
                for system, values in found[level].items():
                    if len(values) > 1:
                        raise InputError(
                            f"{file.name}: system {system!r} has {len(values)} scores, not one."
                        )
                found[level] = {system: own[0] for system, own in found[level].items()}
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
    golds: dict[str, dict[str, dict[str, PurePosixPath]]] = {}
    for label, levels in own.scores_in(HUMAN).items():
        pair, _, name = label.partition(".")
        golds.setdefault(pair, {})[name] = levels
    choose(lp, sorted(golds), "lp", "pair of languages")
    choose(gold, sorted(golds[lp]), "gold", "name of human scores")
    files = own.scores_in(METRICS, lp)
    labels = list(files)
    if metrics is not None:
        labels = [choose(name, files, "metrics", "metric") for name in metrics]
    standard = own.standard_reference(lp, list(files))
    request: dict[str, Any] = {
        "human": {"scores": own.read(golds[lp][gold])},
        "metrics": {label: own.read(files[label]) for label in labels},
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
        files = own.scores_in(METRICS, lp)
        standard = own.standard_reference(lp, list(files))
        names = {
            label.rpartition("-")[0]: label
            for label in files
            if label.rpartition("-")[2] in {standard, "src"}
        }
        wanted = list(names) if metrics is None else metrics
        labels = [names[choose(name, names, "metrics", "metric")] for name in wanted]
        body = read_evalset(own, lp, gold, labels)
        body.pop("baseline", None)
        scores = body["metrics"].values()
        sets[lp] = {**body, "metrics": dict(zip(wanted, scores, strict=True))}
    return {"sets": sets}
