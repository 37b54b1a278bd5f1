"""What programs that score translations print: sacreBLEU, COMET, METEOR, mt-metrics-eval."""

from __future__ import annotations

import re
from collections import defaultdict
from collections.abc import Collection, Mapping, Sequence
from functools import partial
from itertools import count

from sigtest.data.names import check_name, system_name, without_slash
from sigtest.errors import InputError, at_line
from sigtest.files.assembly import ONLY_RUN, Assembly
from sigtest.files.cells import blank, number, numbers, numeric
from sigtest.files.file import File, entries_of, require_filled
from sigtest.files.material import Material, SystemScores

LINE = re.compile(r"^(?P<metric>[\w+]+)\|(?P<signature>\S+) = (?P<score>\S+)")


def sniff_sentences(file: File) -> bool:
    """`BLEU|nrefs:1|... = 20.1 ...`, on more lines than one of each metric."""
    names = [found["metric"] for line in file.first_lines if (found := LINE.match(line))]
    return len(names) == len(file.first_lines) and len(names) > len(set(names))


def read_sentences(file: File) -> Material:
    """Read the scores of one system, each metric's i-th line being segment i.

    Raises:
        InputError: Another line, metrics with unequal numbers of lines.
    """
    assembly = Assembly(file.name)
    for i, line in enumerate(file.lines, 1):
        found = LINE.match(line)
        if found is None:
            if line.strip():
                raise at_line(file.name, i, f"{line[:40]!a} is no line of sacrebleu -sl.")
            continue
        metric = found["metric"]
        group = (file.stem, f"sentence {metric}", ONLY_RUN)
        value = number(found["score"], f"{file.name}, line {i}")
        assembly.score(
            assembly.next_of(group), group, value, f"line {i}", higher=metric not in {"TER", "WER"}
        )
    note = (
        f"{file.name}: scores of sentences, rounded by sacreBLEU; their mean is not the score of "
        "the output. Give the output itself to compare by that."
    )
    return assembly.material([note])


def sniff_corpus(file: File) -> bool:
    """JSON, text or table with the scores of whole outputs."""
    first = file.first
    if file.kind in {"object", "array"}:
        of_one = {"name", "score", "signature"} <= set(first)
        values = [value for name, value in first.items() if name != "system"]
        of_many = "system" in first and bool(values) and all(map(_is_score, values))
        return of_one or of_many
    if any(LINE.match(line) for line in file.first_lines):
        return True
    return any(re.match(r"[│╒╞]", line) and "System" in file.head for line in file.first_lines[:3])


def _is_score(value: object) -> bool:
    """A number printed as text with one or two decimals, or `{score, p_value, mean, ci}`."""
    if isinstance(value, dict):
        return {"score", "p_value"} <= set(value)
    return isinstance(value, str) and re.fullmatch(r"-?\d+\.\d{1,8}", value) is not None


PAIR = re.compile(r"^[a-z]{2,3}(_[A-Za-z]{2,4})?-[a-z]{2,3}(_[A-Za-z]{2,4})?\.")
SUFFIX = re.compile(r"\.(seg|sys|domain)\.score(\.txt)?$|\.scr$|\.(txt|tsv)$", re.IGNORECASE)
PAIRS = re.compile(r"(?:[^\t\n]+\t[^\t\n]*\n)*")  # a cell, a tab, a cell on every line
NAMED = re.compile(r"\.seg\.score$", re.IGNORECASE)
FRACTION = re.compile(r"[.,]\d+([eE][-+]?\d+)?\s*$")
LEVEL = re.compile(r"\.(sys|domain)\.score$", re.IGNORECASE)


def sniff_seg_scores(file: File) -> bool:
    """`system<TAB>score`: a name that is no number, then a number or a word for none.

    Where no tab and not the file's name say it, `aspen 0.5` is a score and `Chapter 1` is text.
    """
    if not _rows_are(file, 2) or LEVEL.search(file.base):
        return False
    said = NAMED.search(file.base) is not None or "\t" in file.first_lines[0]
    return said or file.matches(FRACTION, 0.5)


def read_seg_scores(file: File) -> Material:
    """Read scores of several systems by one metric, which the file's name names.

    The i-th line of a system is segment i; higher is better, as mt-metrics-eval stores all.

    Raises:
        InputError: A line of other columns, systems with unequal numbers of lines, no number.
    """
    values = scores_of_systems(file)
    require_equal(values, file)
    label = label_of(file.base)
    scores = [
        SystemScores(check_name(without_slash(system)), label, (tuple(own),), higher_is_better=True)
        for system, own in values.items()
    ]
    return Material(scores=tuple(scores), name=file.name)


def scores_of_systems(file: File) -> dict[str, list[float | None]]:
    """The scores of each system, in order.

    Raises:
        InputError: A line of other columns, or a score that is no number.
    """

    def where(system: str, k: int) -> tuple[str, int | None]:
        lines = [i for i, line in enumerate(file.lines, 1) if pair_of(line)[0].strip() == system]
        return f"{file.name}, line {lines[k]}", lines[k]

    return {
        system: numbers(cells, partial(where, system))
        for system, cells in cells_of_systems(file).items()
    }


def cells_of_systems(file: File) -> dict[str, list[str]]:
    """The scores of each system as they stand there, in order.

    Raises:
        InputError: A line of other columns.
    """
    cells: defaultdict[str, list[str]] = defaultdict(list)
    if PAIRS.fullmatch(file.text):
        flat = file.text.replace("\t", "\n").split("\n")
        for system, cell in zip(flat[0:-1:2], flat[1::2], strict=True):
            cells[system].append(cell)
        return {system.strip(): column for system, column in cells.items()}
    for i, line in enumerate(file.lines, 1):
        parts = pair_of(line)
        if line.strip() and len(parts) != 2:
            raise at_line(
                file.name,
                i,
                f"{len(parts)} column{'' if len(parts) == 1 else 's'}; "
                "system and score are expected.",
            )
        if line.strip():
            cells[parts[0].strip()].append(parts[1])
    return cells


def pair_of(line: str) -> list[str]:
    """Cells between tabs, or between plain blanks; other spaces are part of a cell."""
    return line.split("\t") if "\t" in line else [cell for cell in line.split(" ") if cell]


def require_equal(
    cells: Mapping[str, Sequence[object]], file: File, what: str = "a comparison"
) -> None:
    """Check that every system has as many lines as the first, and more than one.

    Raises:
        InputError: One has not; `what` needs one a segment.
    """
    (first, column), *others = cells.items()
    for system, other in others:
        if len(other) != len(column):
            raise InputError(
                f"{file.name}: system {system!r} has {len(other):,} lines, {first!r} has "
                f"{len(column):,}; the i-th line of each is segment i, so all need equally many "
                "(None where there is no score)."
            )
    if len(column) == 1:
        raise InputError(
            f"{file.name} has one score a system, as for whole outputs; {what} needs one "
            "score a segment: give the .seg.score file."
        )


def label_of(base: str) -> str:
    """The metric that a file's name names: without the pair of languages and suffixes."""
    name = SUFFIX.sub("", base.removesuffix(".gz"))
    return PAIR.sub("", name) or name


def sniff_meteor(file: File) -> bool:
    """`set<TAB>system<TAB>document<TAB>segment<TAB>score`."""
    rows = [pair_of(line) for line in file.first_lines]
    return (
        _rows_are(file, 5)
        and "\t" in file.first_lines[0]
        and len({row[0] for row in rows}) == 1
        and all(row[3].strip().isdecimal() for row in rows if len(row) == 5)
    )


def read_meteor(file: File) -> Material:
    """Read METEOR's or mteval's scores of segments.

    Raises:
        InputError: A line of other columns or without a number, a segment twice.
    """
    assembly = Assembly(file.name)
    label = file.base.split("-")[0].split(".")[0]
    for i, line in enumerate(file.lines, 1):
        cells = line.split("\t")
        if len(cells) != 5:
            raise at_line(
                file.name,
                i,
                f"{len(cells)} columns; set, system, document, segment and score are expected.",
            )
        testset, system, document, segment, score = (cell.strip() for cell in cells)
        place = assembly.place_of(f"{document}#{segment}", f"line {i}")
        assembly.about(place, "document", document, f"line {i}")
        assembly.about(place, "testset", testset, f"line {i}")
        value = number(score, f"{file.name}, line {i}")
        assembly.score(place, (system, label, ONLY_RUN), value, f"line {i}")
    return assembly.material()


def _rows_are(file: File, columns: int) -> bool:
    """Whether nearly all lines have so many cells, the last a number and the first a word.

    The first line must have as many, or it is a header. The first cell may be a number where the
    file's name says what the lines are.
    """
    if file.kind or not file.first_lines:
        return False
    rows = [pair_of(line) for line in file.first_lines]
    fitting = [
        row
        for row in rows
        if len(row) == columns
        and (NAMED.search(file.base) is not None or not numeric(row[0]))
        and not blank(row[0])
        and not row[0].rstrip().endswith((":", "="))
        and (numeric(row[-1]) or blank(row[-1]))
    ]
    return len(rows[0]) == columns and len(fitting) >= 0.9 * len(rows)


COMET = "COMET"
SEGMENT = re.compile(
    r"^(?:(?P<file>[^\t]+)\t)?Segment (?P<segment>\d{1,9})\s+score: *(?P<score>\S+)$"
)
SYSTEM = re.compile(r"^(?:(?P<file>[^\t]+)\t)?(?:System )?score:\s*(?P<score>\S+)$")
SAVED = re.compile(r"^Predictions saved in: ")
TEXTS = ("src", "mt", "ref")
ROUNDED = 1e-4  # four decimals of the mean, and of the numbers it is compared with


def sniff_comet_text(file: File) -> bool:
    """`FILE<TAB>Segment 0<TAB>score: 0.9254`."""
    return any(SEGMENT.match(line) for line in file.first_lines)


def read_comet_text(file: File) -> Material:
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
            assembly.score(place, (system, COMET, ONLY_RUN), value, f"line {i}", higher=True)
        elif value is not None:
            means[system] = value
    last = max(max(segments) for segments in seen.values())
    for system, segments in seen.items():
        if len(segments) <= last:
            i = next(i for i in count() if i not in segments)
            raise InputError(f"{file.name}: system {system!r} has no line for Segment {i}.")
    note = f"{file.name}: scores of four decimals; comet-score --to_json writes all of them."
    material = assembly.material([note])
    for scores in material.scores:
        mean = means.get(scores.system)
        values = [value for value in scores.values if isinstance(value, float)]
        own = sum(values) / max(1, len(values))
        if mean is not None and abs(own - mean) > ROUNDED:
            raise InputError(
                f"{file.name}: the {len(values):,} segments of {scores.system!r} have the mean "
                f"{own:.4f}, its own line says {mean:.4f}; lines are missing or changed."
            )
    return material


def sniff_comet_json(file: File) -> bool:
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


def read_comet_json(file: File) -> Material:
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


def sniff_comet_compare(file: File) -> bool:
    """An object with `translations` of `{name, mt, scores}`."""
    return file.kind == "object" and {"statistical_results", "translations"} <= set(file.first)


def read_comet_compare(file: File) -> Material:
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
            assembly.score(i, (system, COMET, ONLY_RUN), value, place, higher=True)
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
