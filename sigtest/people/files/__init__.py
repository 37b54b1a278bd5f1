"""Files of judgements that people have: formats by name, recognised by their first line."""

from __future__ import annotations

import re
from collections.abc import Callable, Sequence
from dataclasses import dataclass

from sigtest.data.choices import choose
from sigtest.data.text import decode, lines_of, parse_lines
from sigtest.errors import InputError, LimitError
from sigtest.files.tables import HINT
from sigtest.people.files import (
    appraise,
    columns,
    direct_assessment,
    mqm,
    mtme,
    rankings,
    wmt25,
)
from sigtest.people.files.table import Table
from sigtest.people.judgements import Rankings

MAX_ROWS = 1_000_000


@dataclass(frozen=True)
class Input:
    """One format.

    Attributes:
        name: As `--input` and the request call it.
        title: What it is.
        reads: Whether a first line is of this format.
        read: Lines and the file's name to a table.
    """

    name: str
    title: str
    reads: Callable[[str], bool]
    read: Callable[[Sequence[str], str], Table | Rankings]


def _columns(lines: Sequence[str], name: str) -> Table:
    return (columns.objects if columns.reads_json(lines[0]) else columns.table)(lines, name)


def _reads_columns(first: str) -> bool:
    return columns.reads_json(first) or columns.reads(first)


INPUTS: dict[str, Input] = {
    known.name: known
    for known in (
        Input(
            "wmt_da",
            "WMT direct assessment, raw or standardised (HITId WorkerId ... score time)",
            direct_assessment.reads_judgements,
            direct_assessment.judgements,
        ),
        Input(
            "wmt_da_segments",
            "WMT direct assessment, means by segment (SYS SID RAW.SCR Z.SCR N)",
            direct_assessment.reads_segments,
            direct_assessment.segments,
        ),
        Input("mqm", "MQM, one row an error (Google's TSV)", mqm.reads, mqm.judgements),
        Input("rnk", "WMT rankings of outputs (CSV)", rankings.reads, rankings.rankings),
        Input("esa", "Appraise export, ESA or MQM (CSV)", appraise.reads, appraise.judgements),
        Input("mtme", "mt-metrics-eval .seg.score", mtme.reads, mtme.segments),
        Input("wmt25", "human evaluation of WMT25 (JSON Lines)", wmt25.reads, wmt25.judgements),
        Input("columns", "CSV, TSV or JSON with named columns", _reads_columns, _columns),
    )
}

# Files that lie beside judgements and are none: what their first line looks like.
_OTHERS: tuple[tuple[str, str], ...] = (
    (r"RAW\.SCR Z\.SCR N SYS.*", "means by system; give the judgements or the means by segment"),
    (r'\[\d+\] ".*"', "means of annotators as R prints them; give the judgements"),
    (r"( \S+){3,}", "a published matrix of p-values or differences; give the judgements"),
    (r"-?[\d.]+ -?[\d.]+ \d+ \d+ \S+", "a published ranking; give the judgements"),
    (
        r"([^,]+,){2,3}\d+,(TGT|BAD|REF|CHK),.*",
        "rows of Appraise that are not those of ESA or MQM, which have 12 fields in one line; "
        "write them as CSV with the columns system, segment, score, annotator and kind",
    ),
)


def read(data: bytes, name: str, input: str | None = None) -> Table | Rankings:  # noqa: A002
    """Judgements of one file.

    Args:
        data: Its bytes.
        name: What to call it in messages.
        input: Name of its format; recognised by the first line where none is given.

    Raises:
        InputError: A format that is not known, or what its reader refuses.
        LimitError: More than a million rows.
    """
    rows = data.count(b"\n")
    if rows > MAX_ROWS + 1:
        raise LimitError(
            f"{name} has {rows:,} lines; at most {MAX_ROWS:,} judgements are accepted.",
            limit="judgements",
            field=name,
        )
    lines = _without_hint(parse_lines(data, name))
    if input is not None:
        return INPUTS[choose(input, INPUTS, "input", "format of judgements")].read(lines, name)
    known = _recognised(_first(lines))
    if known is None:
        raise _unknown(_first(lines), name)
    return known.read(lines, name)


def is_judged(data: bytes, name: str) -> bool:
    """Whether a file is in a format of judgements."""
    return _recognised(_first(_without_hint(lines_of(decode(data, name), name)))) is not None


def _without_hint(lines: Sequence[str]) -> Sequence[str]:
    """Lines of a table, the first blank where it tells spreadsheets the separator."""
    return ("", *lines[1:]) if lines and HINT.fullmatch(lines[0].strip()) else lines


def _first(lines: Sequence[str]) -> str:
    """The line that says which format it is."""
    return next((line for line in lines[:2] if line), "")


def _recognised(first: str) -> Input | None:
    """The format of a file with this first line."""
    return next((known for known in INPUTS.values() if known.reads(first)), None)


def _unknown(first: str, name: str) -> InputError:
    """What to say of a file whose first line begins no format.

    Raises:
        InputError: The header of a table that lacks a column.
    """
    if mtme.reads_domains(first):
        said = "scores by domain; give the scores by segment (the file that ends in .seg.score)"
    else:
        said = next((what for form, what in _OTHERS if re.fullmatch(form, first.rstrip())), "")
    if said:
        return InputError(f"{name} holds {said}.", field=name)
    columns.require_names(first, name)
    known = "; ".join(f"{entry.name}: {entry.title}" for entry in INPUTS.values())
    return InputError(
        f"{name} is in no format of judgements that is known ({known}). Its first line is "
        f"{first[:60]!r}.",
        field=name,
        line=1,
    )
