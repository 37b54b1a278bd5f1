"""People's judgements as columns of one file, and tables and requests that name their columns."""

from __future__ import annotations

import difflib
import re
from collections import Counter
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any

from sigtest.data.choices import choose
from sigtest.data.numbers import whole
from sigtest.errors import InputError, at_line, quoted
from sigtest.files.cells import truth
from sigtest.files.file import File
from sigtest.files.tables import fields_of, lines_below_hint, preference, read_table, role_of

SCALE = (0.0, 100.0)
BLANKS = " \u00a0"  # that people and spreadsheets leave; other white space is refused in names
Column = Sequence[str | None]
Numbers = Sequence[str | float | None]

COLUMNS = (  # of judgements, as JSON names them
    "system", "segment", "score", "z", "annotator", "kind", "criterion", "hit", "seconds",
    "document", "languages", "higher_is_better",
)  # fmt: skip
JUDGED = {"rating": "score", **{name: name for name in COLUMNS}}
PAIRED = tuple(  # two columns that name a language each
    tuple(f"{side}{what}" for side in sides for what in ("lang", "language"))
    for sides in (("source", "src"), ("target", "tgt", "trg"))
)
NEEDED = ("system", "segment")
TYPES = {name: ["number"] for name in ("score", "z", "seconds")}
TYPES["higher_is_better"] = ["boolean"]
JUDGEMENT = {
    "type": "object",
    "properties": {
        name: {
            "type": [
                *TYPES.get(name, ["string", "integer"]),
                *([] if name in NEEDED else ["null"]),
            ]
        }
        for name in COLUMNS
    },
    "required": list(NEEDED),
    "additionalProperties": False,
}
JUDGEMENTS = {"type": "array", "items": JUDGEMENT, "minItems": 1, "description": "One each."}


@dataclass
class JudgedFile:
    """Judgements of one file; columns are equally long, None where the file has no such column.

    Attributes:
        name: What to call the file in messages.
        input: Name of its format.
        rows: Rows in the file, without a header.
        line: 1-based line of each judgement.
        system: Names.
        segment: Ids.
        raw: Scores as they stand there.
        z: Scores that were standardised before.
        kind: As the file calls it.
        undecided: Errors of each judgement whose severity is undecided, and not in `raw` yet.
        higher: Whether more is better, where the file says so.
        scale: Lowest and highest score that the format allows.
        named: What to call the criterion where the file names none.
        keyed: Whether no judgement may occur twice with different scores.
        made_from: Rows behind each judgement, where that is not one.
        dropped: Rows that are no judgement, by reason.
        inline: Whether these are rows of a request.
    """

    name: str
    input: str
    rows: int
    line: Sequence[int]
    system: Column
    segment: Column
    raw: Numbers | None = None
    z: Numbers | None = None
    annotator: Column | None = None
    kind: Column | None = None
    criterion: Column | None = None
    hit: Column | None = None
    document: Column | None = None
    languages: Column | None = None
    seconds: Numbers | None = None
    judged: Numbers | None = None
    undecided: Sequence[int] | None = None
    higher: Sequence[bool | None] | None = None
    made_from: Sequence[int] | None = None
    scale: tuple[float, float] | None = None
    named: str = "score"
    keyed: bool = True
    dropped: dict[str, int] = field(default_factory=dict)
    inline: bool = False

    def refused(self, row: int, why: str, column: str = "") -> InputError:
        """A judgement that cannot be used: what, where, and why."""
        where, path = f"{self.name}, {self.place(row)}", self.name
        if self.inline:
            where = path = f"{self.place(row)}{column and '.'}{column}"
        line, system = self.line[row], self.system[row]
        end = "" if why.endswith("?") else "."
        return InputError(f"{where}: {why}{end}", field=path, line=line, system=system)

    def place(self, row: int) -> str:
        """Where a judgement stands: its line in a file, its element of a request's list."""
        line = self.line[row]
        return f"{self.name}[{line - 1}]" if self.inline else f"line {line}"


@dataclass(frozen=True)
class Ranked:
    """Rankings of one file, in which rank 1 is best; n rows.

    Attributes:
        annotator: (n,) who ranked.
        segment: (n,) ids.
        languages: (n,) pairs, where the file says so.
        outputs: (n,) systems of each ranking with their ranks, -1 for what was not ranked.
    """

    annotator: Sequence[str]
    segment: Sequence[str]
    languages: Sequence[str] | None
    outputs: Sequence[Sequence[tuple[str, int]]]


def separator_of(first: str) -> str:
    """What stands between the names of a header."""
    return max("\t,;", key=first.count)


def first_line(file: File) -> str:
    """The line that says of which format a file of judgements is."""
    lines = lines_below_hint(file)
    return lines[0] if lines else ""


def is_json(first: str) -> bool:
    """Whether a line begins an object or a list of objects."""
    return re.match(r"\s*(\{|\[\s*(\{|$))", first) is not None


def names_judgements(first: str) -> bool:
    """Whether a line is JSON, or a header that names a system, a segment and a score."""
    found = _named(fields_of(first, separator_of(first)))
    return is_json(first) or ({*NEEDED} <= {*found} and bool({"score", "z"} & {*found}))


def require_names(first: str, name: str) -> None:
    """Check that a line is no header that has some of the names that are needed, and not all.

    Raises:
        InputError: It is; the message says what it lacks.
    """
    header = fields_of(first, separator_of(first))
    found = _named(header)
    if len(found) >= len(NEEDED):
        _require(found, header, name)


def read_judged_columns(file: File) -> JudgedFile:
    """CSV, TSV or JSON with named columns; columns without a known name are passed over.

    Raises:
        InputError: A column missing, a row with more or fewer cells than the header, no object.
    """
    table = read_table(file, separator_of(first_line(file)))
    found = _named(table.header)
    _require(found, table.header, file.name)
    plain = [_letters(column) for column in table.header]
    pair = [next((plain.index(n) for n in names if n in plain), -1) for names in PAIRED]
    cells: dict[str, list[Any]] = {
        role: [row[i] if file.kind else _bare(str(row[i])) for row in table.rows]
        for role, i in found.items()
    }
    if "languages" not in found and -1 not in pair:
        both = [[_bare(str(row[i] or "")) for i in pair] for row in table.rows]
        cells["languages"] = ["-".join(names) if all(names) else None for names in both]
    inline = file.kind == "array"  # entries have places, not lines
    return _judged(cells, table.places, file.name, inline)


def judged_rows(rows: Sequence[object], name: str) -> JudgedFile:
    """Rows of a request, each an object with the names of COLUMNS.

    Raises:
        InputError: A row that is no object.
        RecipeError: A name that is unknown.
    """
    for i, row in enumerate(rows):
        if not isinstance(row, Mapping):
            raise InputError(f"{name}[{i}] must be an object.", field=f"{name}[{i}]", line=i + 1)
        for key in row:
            if key not in COLUMNS:
                choose(key, COLUMNS, f"{name}[{i}].{key}", "field of a judgement")
        for key, (expected,) in TYPES.items():
            if isinstance(row.get(key), str):
                place = f"{name}[{i}].{key}"
                raise InputError(
                    f"{place} must be a {expected}, not {quoted(row[key], 40)}.",
                    field=place,
                    line=i + 1,
                )
    found = [c for c in COLUMNS if any(c in row for row in rows)]  # type: ignore[operator]
    _require(dict.fromkeys(found, 0), found, name)
    return judged_records(rows, range(1, len(rows) + 1), name, inline=True)  # type: ignore[arg-type]


def judged_records(
    rows: Sequence[Mapping[str, Any]], places: Sequence[int], name: str, inline: bool = False
) -> JudgedFile:
    """Rows with the names of COLUMNS, and the line or the place of each."""
    found = [column for column in COLUMNS if any(column in row for row in rows)]
    return _judged({c: [row.get(c) for row in rows] for c in found}, places, name, inline)


def _named(header: Sequence[str]) -> dict[str, int]:
    """Which column stands where."""
    found: dict[str, int] = {}
    for i, column in enumerate(header):
        if not column.strip():
            continue
        role = role_of(column, JUDGED) or role_of(_letters(column), JUDGED)
        if role is not None:
            known = header[found.setdefault(role, i)]
            if preference(_letters(column), role) < preference(_letters(known), role):
                found[role] = i
    return found


def _letters(column: str) -> str:
    """A name without marks and in lower case."""
    return re.sub(r"[^a-z]", "", column.lower())


def _bare(cell: str) -> str:
    """A cell without blanks at its ends and quotation marks round it, which TSV readers leave."""
    bare = cell.strip(BLANKS)
    return bare[1:-1].strip(BLANKS) if len(bare) > 1 and bare[0] == bare[-1] == '"' else bare


def _require(found: Mapping[str, int], header: Sequence[str], name: str) -> None:
    plain = [_letters(column) for column in header]
    often = Counter(plain)
    for role, place in found.items():
        if often[plain[place]] > 1:
            alike = [
                column for column, own in zip(header, plain, strict=True) if own == plain[place]
            ]
            raise InputError(
                f"{name} has more than one column for the {role}: "
                f"{', '.join(quoted(column, 40) for column in alike)}; leave one.",
                field=name,
            )
    missing = [column for column in NEEDED if column not in found]
    if "score" not in found and "z" not in found:
        missing.append("score")
    if not missing:
        return
    near = difflib.get_close_matches(missing[0], [h.lower() for h in header[:100]], 1)
    hint = f" Is {near[0]!r} meant?" if near else ""
    shown = ", ".join(str(column)[:30] for column in header[:12]) or "none"
    raise InputError(
        f"{name}: no column {' and no column '.join(missing)}; columns are {shown}.{hint}",
        field=name,
        line=1,
    )


def _judged(
    cells: Mapping[str, list[Any]], places: Sequence[int], name: str, inline: bool
) -> JudgedFile:
    """Judgements of cells by role.

    Raises:
        InputError: No text or whole number where a name is expected; an id of a segment in two
            documents, as where ids count anew in each.
    """
    texts: dict[str, Column] = {
        role: [_text(v, name, i, role, inline) for v, i in zip(column, places, strict=True)]
        for role, column in cells.items()
        if role not in TYPES
    }
    higher = cells.get("higher_is_better")
    found = JudgedFile(
        name=name,
        input="columns",
        rows=len(places),
        line=places,
        raw=cells.get("score"),
        z=cells.get("z"),
        seconds=cells.get("seconds"),
        higher=higher
        and [
            truth(v, f"{name}, line {n}, column higher_is_better")
            for v, n in zip(higher, places, strict=True)
        ],
        scale=SCALE if "score" in cells else None,
        keyed="annotator" in cells,
        inline=inline,
        **texts,  # type: ignore[arg-type]
    )
    seen: dict[str | None, str] = {}
    pairs = zip(found.segment, found.document or (), strict=False)
    for row, (segment, document) in enumerate(pairs):
        if document is not None and (first := seen.setdefault(segment, document)) != document:
            raise found.refused(
                row,
                f"segment {segment!r} is of document {document!r}, above of {first!r}; ids that "
                "count anew in each document have to be told apart, such as "
                f"{f'{document}:{segment}'!r}",
                "segment",
            )
    return found


def _text(value: object, name: str, line: int, column: str, inline: bool) -> str | None:
    """A name or id; whole numbers are ids, too."""
    if value is None or isinstance(value, str):
        return None if value in {"", "NA"} else value
    number = whole(value)
    if number is not None:
        return str(number)
    why = f"must be text or a whole number, not {quoted(value, 40)}."
    if not inline:
        raise at_line(name, line, f"{column} {why}", field=name)
    place = f"{name}[{line - 1}].{column}"
    raise InputError(f"{place} {why}", field=place, line=line)
