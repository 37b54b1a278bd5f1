"""Multidimensional quality metrics as Google publishes them: one row an error.

Tab separated without quoting: a quotation mark is part of the text. A segment's score for a rater
is the negated sum of its errors' weights.
"""

from __future__ import annotations

from collections.abc import Sequence

from sigtest.people.files.table import Table, at_line, filled, ragged, without

NEEDED = ("system", "rater", "category", "severity")
SEGMENT = ("seg_id", "globalsegid", "global_seg_id")  # of the whole test set, as years call it
IN_DOCUMENT = ("docsegid", "doc_seg_id")

# From the most specific to the least: (severity, beginning of the category, weight).
WEIGHTS: tuple[tuple[str, str, float], ...] = (
    ("major", "non-translation", 25.0),
    ("minor", "fluency/punctuation", 0.1),
    ("major", "", 5.0),
    ("minor", "", 1.0),
    ("neutral", "", 0.0),
    ("no-error", "", 0.0),
)
SHOWN = 5  # of the severities without a weight


def reads(first: str) -> bool:
    """Whether a header is that of an MQM table."""
    names = [field.strip().lower() for field in first.split("\t")]
    return {"system", "rater", "category", "severity"} <= set(names)


def weight(severity: str, category: str) -> float | None:
    """Weight of an error; nothing where the severity has none (Freitag et al. 2021, Table 4)."""
    return next(
        (
            value
            for known, beginning, value in WEIGHTS
            if severity == known and category.startswith(beginning)
        ),
        None,
    )


def judgements(lines: Sequence[str], name: str) -> Table:
    """One judgement for every (system, segment, rater).

    Raises:
        InputError: A row with more or fewer fields than the header, a column missing, a severity
            without a weight.
    """
    header = [field.strip().lower() for field in lines[0].split("\t")]
    for column in NEEDED:
        if column not in header:
            raise without(name, column)
    kept, numbers = filled(lines, 1)
    rows = [line.split("\t") for line in kept]
    for row, number in zip(rows, numbers, strict=True):
        if len(row) != len(header):
            raise ragged(name, number, len(row), len(header))
    place = {column: header.index(column) for column in header}
    segments = _segments(rows, place, name)
    weights = _weights([(r[place["severity"]], r[place["category"]]) for r in rows], numbers, name)
    return _summed(rows, segments, numbers, weights, place, name)


def _segments(rows: Sequence[Sequence[str]], place: dict[str, int], name: str) -> list[str]:
    """Id of each row's segment: of the test set, or the document and the id in it.

    A file without numbers over all documents may have one and the same number in every row.
    """
    number = next((place[column] for column in SEGMENT if column in place), None)
    part = next((place[column] for column in IN_DOCUMENT if column in place), None)
    if number is not None and (part is None or len({row[number] for row in rows}) > 1):
        return [row[number] for row in rows]
    if part is None or "doc" not in place:
        raise without(name, SEGMENT[0])
    return [f"{row[place['doc']]}.{row[part]}" for row in rows]


def _weights(errors: Sequence[tuple[str, str]], numbers: Sequence[int], name: str) -> list[float]:
    """Weight of every row; rows whose severity has none are listed together."""
    known = {error: weight(error[0].strip().lower(), error[1].strip().lower()) for error in errors}
    missing = sorted({severity for (severity, _), value in known.items() if value is None})
    if missing:
        line = next(n for error, n in zip(errors, numbers, strict=True) if known[error] is None)
        shown = ", ".join(repr(severity[:40]) for severity in missing[:SHOWN])
        more = f" and {len(missing) - SHOWN} more" if len(missing) > SHOWN else ""
        raise at_line(
            name,
            line,
            f"no weight is known for severity {shown}{more}; use Major, "
            "Minor, Neutral or No-error.",
        )
    return [known[error] or 0.0 for error in errors]


def _summed(
    rows: Sequence[Sequence[str]],
    segments: Sequence[str],
    numbers: Sequence[int],
    weights: Sequence[float],
    place: dict[str, int],
    name: str,
) -> Table:
    keys = [
        (row[place["system"]], segment, row[place["rater"]])
        for row, segment in zip(rows, segments, strict=True)
    ]
    sums: dict[tuple[str, str, str], float] = {}
    sizes: dict[tuple[str, str, str], int] = {}
    first: dict[tuple[str, str, str], int] = {}
    for i, (key, value) in enumerate(zip(keys, weights, strict=True)):
        sums[key] = sums.get(key, 0.0) + value
        sizes[key] = sizes.get(key, 0) + 1
        first.setdefault(key, i)
    documents = place.get("doc")
    return Table(
        name=name,
        input="mqm",
        named="mqm",
        rows=len(rows),
        line=[numbers[i] for i in first.values()],
        system=[system for system, _, _ in first],
        segment=[segment for _, segment, _ in first],
        annotator=[rater for _, _, rater in first],
        raw=[0.0 - sums[key] for key in first],
        document=None if documents is None else [rows[i][documents] for i in first.values()],
        made_from=[sizes[key] for key in first],
    )
