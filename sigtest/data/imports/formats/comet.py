"""What `comet-score` and `comet-compare` print, and what they write with `--to_json`."""

from __future__ import annotations

import re
from collections.abc import Collection, Mapping, Sequence
from itertools import count

from sigtest.data.imports.assembly import ONLY_RUN, Assembly
from sigtest.data.imports.file import File, entries_of, require_filled
from sigtest.data.imports.formats.cells import number, numeric
from sigtest.data.imports.material import Material, Scores
from sigtest.data.names import system_name
from sigtest.errors import InputError, at_line

LABEL = "COMET"
SEGMENT = re.compile(
    r"^(?:(?P<file>[^\t]+)\t)?Segment (?P<segment>\d{1,9})\s+score: *(?P<score>\S+)$"
)
SYSTEM = re.compile(r"^(?:(?P<file>[^\t]+)\t)?(?:System )?score:\s*(?P<score>\S+)$")
SAVED = re.compile(r"^Predictions saved in: ")
TEXTS = ("src", "mt", "ref")
ROUNDED = 1e-4  # four decimals of the mean, and of the numbers it is compared with


def sniff_text(file: File) -> bool:
    """`FILE<TAB>Segment 0<TAB>score: 0.9254`."""
    return any(SEGMENT.match(line) for line in file.first_lines)


def read_text(file: File) -> Material:
    """Read the lines of segments; those of systems must agree with their means.

    Raises:
        InputError: Other lines, a segment that is missing or stands twice, a mean that differs.
    """
    assembly = Assembly(file.name)
    means: dict[str, float] = {}
    seen: dict[str, set[int]] = {}
    for i, line in enumerate(file.lines, 1):
        found = SEGMENT.match(line) or SYSTEM.match(line)
        if found is None:
            if line.strip() and not SAVED.match(line):
                raise at_line(
                    file.name, i, f"{line[:40]!a} is no line of comet-score; take it out."
                )
            continue
        system = name_of(found["file"] or file.base)
        value = number(found["score"], f"{file.name}, line {i}")
        if "segment" in found.groupdict():
            place = int(found["segment"])  # counted from 0
            seen.setdefault(system, set()).add(place)
            assembly.score(place, (system, LABEL, ONLY_RUN), value, f"line {i}", higher=True)
        elif value is not None:
            means[system] = value
    _require_all(seen, file)
    note = f"{file.name}: scores of four decimals; comet-score --to_json writes all of them."
    material = assembly.material([note])
    for scores in material.scores:
        _check(scores, means.get(scores.system), file)
    return material


def _require_all(seen: Mapping[str, set[int]], file: File) -> None:
    """Check that every system has every segment."""
    last = max(max(segments) for segments in seen.values())
    for system, segments in seen.items():
        if len(segments) <= last:
            i = next(i for i in count() if i not in segments)
            raise InputError(f"{file.name}: system {system!r} has no line for Segment {i}.")


def _check(scores: Scores, mean: float | None, file: File) -> None:
    """Check that scores are unchanged: their mean is what comet-score printed."""
    values = [value for value in scores.values if isinstance(value, float)]
    own = sum(values) / max(1, len(values))
    if mean is not None and abs(own - mean) > ROUNDED:
        raise InputError(
            f"{file.name}: the {len(values):,} segments of {scores.system!r} have the mean "
            f"{own:.4f}, its own line says {mean:.4f}; lines are missing or changed."
        )


def sniff_json(file: File) -> bool:
    """An object of files, each with a list of `{src, mt, ref, COMET}`."""
    if file.kind != "object":
        return False
    lists = [entries for entries in file.first.values() if isinstance(entries, list)]
    entries = [entry for own in lists for entry in own[:1]]
    return (
        bool(entries)
        and len(lists) == len(file.first)
        and all(isinstance(entry, dict) and "mt" in entry for entry in entries)
    )


def read_json(file: File) -> Material:
    """Read sources, references, outputs and scores.

    Raises:
        InputError: Files without segments or of unequal lengths, segments with different sources,
            something else where the others have a number.
    """
    assembly = Assembly(file.name)
    for path, listed in file.first.items():
        system, entries = name_of(path), entries_of(listed)
        if not entries:
            raise InputError(f"{file.name}: no segments of {path[:80]!a}; take it out.")
        labels = _labels(entries)
        filled = sum(len(entry) for entry in entries if isinstance(entry, dict))
        require_filled(len(entries), len(labels), filled, file.name)
        for i, entry in enumerate(entries):
            place = f"entry {i + 1} of {path[:80]!a}"
            if not isinstance(entry, dict):
                raise InputError(f"{file.name}, {place}: an object with mt is expected.")
            _add(assembly, i, system, entry, place, file)
            for label in labels:
                value = number(entry.get(label), f"{file.name}, {place}, {label!r}")
                assembly.score(i, (system, label, ONLY_RUN), value, place, higher=True)
    return assembly.material()


def _labels(entries: Sequence[object]) -> Collection[str]:
    """Names of what is a number in some entry."""
    return dict.fromkeys(
        label
        for entry in entries
        if isinstance(entry, dict)
        for label, cell in entry.items()
        if label not in TEXTS and numeric(cell)
    )


def _add(
    assembly: Assembly, i: int, system: str, entry: Mapping[str, object], place: str, file: File
) -> None:
    """The texts of one segment."""
    for field, column in (("src", "source"), ("ref", "reference")):
        if isinstance(text := entry.get(field), str):
            assembly.about(i, column, _line(text), place)
    if not isinstance(output := entry.get("mt"), str):
        raise InputError(f"{file.name}, {place}: no text mt.")
    assembly.hypothesis(i, system, ONLY_RUN, _line(output), place)


def sniff_compare(file: File) -> bool:
    """An object with `translations` of `{name, mt, scores}`."""
    return file.kind == "object" and {"statistical_results", "translations"} <= set(file.first)


def read_compare(file: File) -> Material:
    """Read the texts and scores that `comet-compare --to_json` writes beside its own results.

    Raises:
        InputError: Lists of unequal lengths, something that is no list.
    """
    assembly = Assembly(file.name)
    for column in ("source", "reference"):
        for i, text in enumerate(_list(file.first.get(column, []), column, file)):
            assembly.about(i, column, _line(str(text)), f"{column} {i + 1}")
    for entry in _list(file.first["translations"], "translations", file):
        if not isinstance(entry, dict) or not {"name", "mt", "scores"} <= set(entry):
            raise InputError(f"{file.name}: translations need name, mt and scores.")
        system = name_of(str(entry["name"]))
        texts = _list(entry["mt"], "mt", file)
        scores = _list(entry["scores"], "scores", file)
        for i, text in enumerate(texts):
            assembly.hypothesis(i, system, ONLY_RUN, _line(str(text)), f"mt {i + 1}")
        for i, score in enumerate(scores):
            place = f"score {i + 1} of {system!r}"
            value = number(score, f"{file.name}, {place}")
            assembly.score(i, (system, LABEL, ONLY_RUN), value, place, higher=True)
    return assembly.material()


def name_of(path: str) -> str:
    """The system whose output a file holds: the file's name without folders and suffix."""
    return system_name(path.strip().replace("\\", "/").rpartition("/")[2])


def _list(value: object, field: str, file: File) -> list[object]:
    if not isinstance(value, list):
        raise InputError(f"{file.name}: {field} is no list.")
    return value


def _line(text: str) -> str:
    return text.replace("\n", " ")
