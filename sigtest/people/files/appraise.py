"""What Appraise exports: ESA and MQM campaigns, 12 columns, no header.

    login, system, item, TGT or BAD, source language, target language, score, document,
    whole document, spans (JSON), start, end

`item` is the 0-based line of the test set in WMT24, and the place in the login's batch where
documents are named `name#system`; a segment is then a document and a place in it.
"""

from __future__ import annotations

import json
import re
from collections import defaultdict
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

from sigtest.errors import InputError, quoted
from sigtest.people.files.table import Table, at_line, fields_of, records

FIELDS = 12
SCALE = (0.0, 100.0)
KINDS = {"TGT": "SYSTEM", "BAD": "BAD_REF"}
WEIGHTS = {"minor": 1.0, "major": 5.0}
UNDECIDED = "undecided"  # severity of a span that its annotator marked and did not judge
LONGEST = 100_000  # characters, more than any segment has
PUNCTUATION = 0.1  # whatever its severity

_TUTORIAL = re.compile(r"tutorial\d*$")
_COPY = re.compile(r"^(bad|dup|duplicate)\d*$")
_CAMPAIGN = re.compile(r"^wmt\d\d\.")


@dataclass
class Row:
    """One row of the export.

    Attributes:
        line: 1-based.
        login: Of the annotator.
        system: As it stands there.
        item: Number.
        kind: TGT or BAD.
        languages: Pair.
        score: As it stands there.
        document: Name without marks.
        marks: What follows `#` in the document's name, without the system.
        placed: Whether the document names the system, so that items are places in a batch.
        spans: Marked errors.
        start: Seconds since 1970.
        end: Likewise.
    """

    line: int
    login: str
    system: str
    item: int
    kind: str
    languages: str
    score: str
    document: str
    marks: tuple[str, ...]
    placed: bool
    spans: list[dict[str, Any]]
    start: float
    end: float

    @property
    def again(self) -> bool:
        """Whether it is part of a document shown a second time."""
        return any(mark.startswith("dup") for mark in self.marks)


def reads(first: str) -> bool:
    """Whether a line is a row of an export."""
    fields = fields_of(first)
    return len(fields) == FIELDS and fields[3] in KINDS and fields[8] in {"True", "False"}


def judgements(lines: Sequence[str], name: str) -> Table:
    """ESA: the score is the judgement. MQM, where every score is 0: the spans are.

    Tutorials are left out; of several rows of one login and item the one that ended last stays.
    A document shown again is there for control only and does not enter segment scores, as in the
    organisers' own.

    Raises:
        InputError: A row of another form, a span that begins after its end or before the text, a
            severity without a weight in an MQM campaign.
    """
    rows = [_row(fields, line, name) for fields, line in records(lines, name, width=FIELDS)]
    judged = [row for row in rows if not _TUTORIAL.search(row.system)]
    latest = _latest(judged)
    mqm = all(row.score.strip() in {"0", "0.0"} for row in latest) and any(
        span.get("error_type") for row in latest for span in row.spans
    )
    segments = _segments(latest)
    penalties, undecided = _penalties(latest, name) if mqm else ([], [])
    return Table(
        name=name,
        input="esa",
        named="mqm" if mqm else "esa",
        rows=len(rows),
        line=[row.line for row in latest],
        system=[row.system for row in latest],
        segment=segments,
        undecided=undecided if mqm else None,
        raw=penalties if mqm else [row.score for row in latest],
        annotator=[row.login for row in latest],
        kind=[
            "DUPLICATE" if row.again and row.kind == "TGT" else KINDS[row.kind] for row in latest
        ],
        document=[row.document for row in latest],
        languages=[row.languages for row in latest],
        seconds=[row.end - row.start if row.end > row.start else None for row in latest],
        scale=None if mqm else SCALE,
        keyed=False,  # of several rows the latest has been kept
        dropped={"tutorial": len(rows) - len(judged), "superseded": len(judged) - len(latest)},
    )


def _row(fields: Sequence[str], line: int, name: str) -> Row:
    try:
        item, start, end = int(fields[2]), float(fields[10]), float(fields[11])
        spans = json.loads(fields[9])
    except (ValueError, RecursionError) as error:
        raise at_line(
            name, line, f"item, start, end and spans must be numbers and JSON ({error})."
        ) from None
    if fields[3] not in KINDS:
        raise at_line(name, line, f"unknown kind {fields[3][:40]!r}; use TGT or BAD.")
    document, *marks = fields[7].split("#")
    bare = {fields[1], _CAMPAIGN.sub("", fields[1])}
    placed = bool(marks) and marks[0] in bare
    return Row(
        line=line,
        login=fields[0],
        system=fields[1],
        item=item,
        kind=fields[3],
        languages=f"{fields[4]}-{fields[5]}",
        score=fields[6],
        document=document,
        marks=tuple(marks[1:] if placed else marks),
        placed=placed,
        spans=checked_spans(spans, line, name),
        start=start,
        end=end,
    )


def checked_spans(
    spans: object, line: int, name: str, length: int = LONGEST
) -> list[dict[str, Any]]:
    """Spans whose ends are places in the text, or both the word `missing`: an omission.

    Args:
        spans: As they stand there.
        line: 1-based.
        name: Of the file.
        length: Of the text; the export has no texts, so that longer ones than any do not exist.

    Raises:
        InputError: Something else.
    """
    if not isinstance(spans, list) or not all(isinstance(span, dict) for span in spans):
        raise InputError(f"{name}, line {line}: spans must be a list of objects.", line=line)
    for span in spans:
        ends = span.get("start_i"), span.get("end_i")
        if ends == ("missing", "missing"):
            continue
        numbers = [e for e in ends if isinstance(e, int) and not isinstance(e, bool)]
        if len(numbers) < 2 or not 0 <= numbers[0] <= numbers[1] <= length:
            raise at_line(
                name,
                line,
                f"a span from {quoted(ends[0], 20)} to {quoted(ends[1], 20)} lies "
                f"outside its text; both ends are places from 0 to {length:,}, or both "
                "`missing`.",
            )
    return spans


def _latest(rows: Sequence[Row]) -> list[Row]:
    """Of what one login judged several times, the judgement that ended last."""
    kept: dict[tuple[object, ...], Row] = {}
    for row in rows:
        key = (row.login, row.system, row.item, row.kind, row.document, row.marks)
        if key not in kept or row.end >= kept[key].end:
            kept[key] = row
    return sorted(kept.values(), key=lambda row: row.line)


def _penalties(rows: Sequence[Row], name: str) -> tuple[list[float], list[int]]:
    """Negated sum of the weights of each row's spans, and how many are to be weighed yet."""
    scores, undecided = [], [0] * len(rows)
    for i, row in enumerate(rows):
        total = 0.0
        for span in row.spans:
            if "Punctuation" in str(span.get("error_type")):
                total += PUNCTUATION
            elif (severity := str(span.get("severity"))) in WEIGHTS:
                total += WEIGHTS[severity]
            elif severity == UNDECIDED:
                undecided[i] += 1
            else:
                raise at_line(
                    name,
                    row.line,
                    f"no weight is known for severity "
                    f"{quoted(span.get('severity'), 40)}; use minor, major or undecided.",
                )
        scores.append(0.0 - total)
    return scores, undecided


def _segments(rows: Sequence[Row]) -> list[str]:
    """The segment of each row: its item, or its document and its place in it."""
    parts: dict[tuple[str, ...], list[Row]] = defaultdict(list)
    for row in rows:
        if row.placed:
            parts[row.login, row.system, row.document, *row.marks, row.kind].append(row)
    offsets = _offsets(parts)
    places: dict[int, str] = {}
    for (login, system, document, *_), part in parts.items():
        start = offsets[login, system, document]
        # rows of one item are one segment, whichever marks its document bears
        items = {item: i for i, item in enumerate(sorted({row.item for row in part}), 1)}
        for row in part:
            places[row.line] = f"{document}.{start + items[row.item]}"
    return [places.get(row.line, str(row.item)) for row in rows]


def _offsets(parts: dict[tuple[str, ...], list[Row]]) -> dict[tuple[str, str, str], int]:
    """Where in its document each login began.

    The end of one login's batch may cut a document; the next login has the rest.
    """
    sizes: dict[tuple[str, str, str], int] = {}
    for (login, system, document, *marks, kind), part in parts.items():
        if kind == "TGT" and not any(_COPY.match(mark) for mark in marks):
            sizes[login, system, document] = len({row.item for row in part})
    whole: dict[str, int] = {}
    for (_, _, document), size in sizes.items():
        whole[document] = max(size, whole.get(document, 0))
    offsets: defaultdict[tuple[str, str, str], int] = defaultdict(int)
    judged: dict[tuple[str, str], int] = defaultdict(int)
    for login, system, document in sorted(sizes):
        before = judged[system, document]
        if before + sizes[login, system, document] > whole[document]:
            before = 0  # another annotator of the same document
        offsets[login, system, document] = before
        judged[system, document] = before + sizes[login, system, document]
    return offsets
