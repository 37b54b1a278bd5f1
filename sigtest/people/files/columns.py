"""Tables with named columns: CSV, TSV, and JSON, one object a line or a list of them."""

from __future__ import annotations

import difflib
import re
from collections.abc import Mapping, Sequence
from typing import Any

from sigtest.data.choices import choose
from sigtest.data.numbers import whole
from sigtest.errors import InputError, quoted
from sigtest.files.cells import truth
from sigtest.files.file import loads
from sigtest.people.files.table import Table, at_line, fields_of, records

SCALE = (0.0, 100.0)
BLANKS = " \u00a0"  # that people and spreadsheets leave; other white space is refused in names

# What a column may be called, without marks and in lower case; the first is its name in JSON.
COLUMNS: dict[str, tuple[str, ...]] = {
    "system": ("system", "sys", "sysid", "systemid", "systemname", "model", "modelname", "modelid"),
    "segment": ("segment", "seg", "segid", "segmentid", "sid", "item", "itemid"),
    "score": ("score", "raw", "rawscore", "rating"),
    "z": ("z", "zscore", "zscr"),
    "annotator": ("annotator", "annotatorid", "rater", "judge", "worker", "workerid", "login"),
    "kind": ("kind", "type"),
    "criterion": ("criterion", "aspect", "dimension"),
    "hit": ("hit", "hitid", "batch"),
    "seconds": ("seconds", "time", "duration"),
    "document": ("document", "doc", "docid", "documentid"),
    "languages": ("languages", "lp", "langpair", "languagepair"),
    "higher_is_better": ("higherisbetter",),
}
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


def named(header: Sequence[str]) -> dict[str, int]:
    """Which column stands where."""
    plain = [_plain(field) for field in header]
    found = {}
    for name, spellings in COLUMNS.items():
        place = next((plain.index(s) for s in spellings if s in plain), None)
        if place is not None:
            found[name] = place
    return found


def _pair(header: Sequence[str]) -> tuple[int, ...]:
    """The columns that name the source and the target language; none where there are not two."""
    plain = [_plain(field) for field in header]
    places = [next((plain.index(n) for n in names if n in plain), -1) for names in PAIRED]
    return () if -1 in places else tuple(places)


def _languages(source: object, target: object) -> str | None:
    return f"{source}-{target}" if source and target else None


def _plain(field: str) -> str:
    """A heading without marks and in lower case."""
    return re.sub(r"[^a-z]", "", field.lower())


def delimiter(first: str) -> str:
    """What separates the fields of a header."""
    return max("\t,;", key=first.count)


def reads(first: str) -> bool:
    """Whether a header names a system, a segment and a score."""
    found = named(fields_of(first, delimiter(first)))
    return set(NEEDED) <= set(found) and bool({"score", "z"} & set(found))


def reads_json(first: str) -> bool:
    """Whether a line begins an object or a list of objects."""
    return re.match(r"\s*(\{|\[\s*(\{|$))", first) is not None


def require_names(first: str, name: str) -> None:
    """Check that a line is no header that has some of the names that are needed, and not all.

    Raises:
        InputError: It is; the message says what it lacks.
    """
    header = fields_of(first, delimiter(first))
    found = named(header)
    if len(found) >= len(NEEDED):
        _require(found, header, name)


def table(lines: Sequence[str], name: str) -> Table:
    """A CSV or TSV file with a header; columns without a known name are passed over.

    Raises:
        InputError: A column missing, a row with more or fewer fields than the header.
    """
    (header, _), *body = records(lines, name, delimiter(next(filter(str.strip, lines))))
    found = named(header)
    _require(found, header, name)
    columns: dict[str, list[Any]] = {
        column: [_bare(row[place]) for row, _ in body] for column, place in found.items()
    }
    if "languages" not in found and (pair := _pair(header)):
        columns["languages"] = [_languages(*(_bare(row[i]) for i in pair)) for row, _ in body]
    return _table(columns, [number for _, number in body], name)


def objects(lines: Sequence[str], name: str) -> Table:
    """JSON: one object a line, or one list of objects.

    Raises:
        InputError: A line that is no JSON object, or names missing.
    """
    text = "\n".join(lines)
    if text.lstrip().startswith("["):
        rows, numbers = _list(text, name), None
    else:
        rows, numbers = [], []
        for number, line in enumerate(lines, 1):
            if line.strip():
                rows.append(object_in(line, number, name))
                numbers.append(number)
    listed = numbers is None
    numbers = numbers or list(range(1, len(rows) + 1))
    header = list(dict.fromkeys(key for row in rows for key in row))
    found = named(header)
    _require(found, header, name)
    columns = _by_column(rows, {c: header[i] for c, i in found.items()})
    if "languages" not in found and (pair := _pair(header)):
        columns["languages"] = [_languages(*(row.get(header[i]) for i in pair)) for row in rows]
    return _table(columns, numbers, name, inline=listed)  # entries have places, not lines


def request_rows(rows: Sequence[object], field: str) -> Table:
    """Rows of a request, each an object with the names of COLUMNS.

    Raises:
        InputError: A row that is no object.
        RecipeError: A name that is unknown.
    """
    for i, row in enumerate(rows):
        if not isinstance(row, Mapping):
            raise InputError(f"{field}[{i}] must be an object.", field=f"{field}[{i}]", line=i + 1)
        for key in row:
            if key not in COLUMNS:
                choose(key, COLUMNS, f"{field}[{i}].{key}", "field of a judgement")
        for key, (expected,) in TYPES.items():
            if isinstance(row.get(key), str):
                place = f"{field}[{i}].{key}"
                raise InputError(
                    f"{place} must be a {expected}, not {quoted(row[key], 40)}.",
                    field=place,
                    line=i + 1,
                )
    found = [c for c in COLUMNS if any(c in row for row in rows)]  # type: ignore[operator]
    _require(dict.fromkeys(found, 0), found, field)
    return from_rows(rows, range(1, len(rows) + 1), field, inline=True)  # type: ignore[arg-type]


def from_rows(
    rows: Sequence[Mapping[str, Any]], numbers: Sequence[int], name: str, inline: bool = False
) -> Table:
    """Rows with the names of COLUMNS, and the line or the place of each."""
    found = [column for column in COLUMNS if any(column in row for row in rows)]
    return _table(_by_column(rows, {c: c for c in found}), numbers, name, inline)


def _bare(field: str) -> str:
    """A field without blanks at its ends and quotation marks round it, which TSV readers leave."""
    bare = field.strip(BLANKS)
    return bare[1:-1].strip(BLANKS) if len(bare) > 1 and bare[0] == bare[-1] == '"' else bare


def _by_column(rows: Sequence[Mapping[str, Any]], found: Mapping[str, str]) -> dict[str, list[Any]]:
    return {column: [row.get(key) for row in rows] for column, key in found.items()}


def _require(found: Mapping[str, int], header: Sequence[str], name: str) -> None:
    for column, place in found.items():
        alike = [field for field in header if _plain(field) == _plain(header[place])]
        if len(alike) > 1:
            raise InputError(
                f"{name} has more than one column for the {column}: "
                f"{', '.join(quoted(field, 40) for field in alike)}; leave one.",
                field=name,
            )
    missing = [column for column in NEEDED if column not in found]
    if "score" not in found and "z" not in found:
        missing.append("score")
    if not missing:
        return
    near = difflib.get_close_matches(missing[0], [h.lower() for h in header], 1)
    hint = f" Is {near[0]!r} meant?" if near else ""
    shown = ", ".join(str(column)[:30] for column in header[:12]) or "none"
    raise InputError(
        f"{name}: no column {' and no column '.join(missing)}; columns are {shown}.{hint}",
        field=name,
        line=1,
    )


def _table(
    columns: dict[str, list[Any]], numbers: Sequence[int], name: str, inline: bool = False
) -> Table:
    texts = {
        column: [
            _text(v, name, line, column, inline) for v, line in zip(values, numbers, strict=True)
        ]
        for column, values in columns.items()
        if column not in TYPES
    }
    higher = columns.get("higher_is_better")
    found = Table(
        name=name,
        input="columns",
        rows=len(numbers),
        line=numbers,
        system=texts["system"],
        segment=texts["segment"],
        raw=columns.get("score"),
        z=columns.get("z"),
        seconds=columns.get("seconds"),
        annotator=texts.get("annotator"),
        kind=texts.get("kind"),
        criterion=texts.get("criterion"),
        hit=texts.get("hit"),
        document=texts.get("document"),
        languages=texts.get("languages"),
        higher=higher
        and [
            truth(v, f"{name}, line {n}, column higher_is_better")
            for v, n in zip(higher, numbers, strict=True)
        ],
        scale=SCALE if "score" in columns else None,
        keyed="annotator" in columns,
        inline=inline,
    )
    _require_own_ids(found)
    return found


def _require_own_ids(table: Table) -> None:
    """Check that no id of a segment stands in two documents.

    Raises:
        InputError: One does, as where ids count anew in each document.
    """
    seen: dict[str | None, str] = {}
    rows = zip(table.segment, table.document or [None] * table.rows, strict=True)
    for row, (segment, document) in enumerate(rows):
        if document is not None and (first := seen.setdefault(segment, document)) != document:
            raise table.refused(
                row,
                f"segment {segment!r} is of document {document!r}, above of {first!r}; ids that "
                "count anew in each document have to be told apart, such as "
                f"{f'{document}:{segment}'!r}",
                "segment",
            )


def _text(value: Any, name: str, line: int, column: str, inline: bool) -> str | None:
    """A name or id; whole numbers are ids, too."""
    if value is None:
        return None
    if isinstance(value, str):
        return None if value in {"", "NA"} else value
    number = whole(value)
    if number is not None:
        return str(number)
    why = f"must be text or a whole number, not {quoted(value, 40)}."
    if not inline:
        raise at_line(name, line, f"{column} {why}")
    place = f"{name}[{line - 1}].{column}"
    raise InputError(f"{place} {why}", field=place, line=line)


def _loads(text: str, name: str, number: int | None = None) -> object:
    try:
        return loads(text, name, number)
    except InputError as error:
        error.field = name
        raise


def object_in(line: str, number: int, name: str) -> Mapping[str, Any]:
    """The JSON object that a line is.

    Raises:
        InputError: It is none.
    """
    row = _loads(line, name, number)
    if not isinstance(row, Mapping):
        raise at_line(name, number, "no JSON object.")
    return row


def _list(text: str, name: str) -> list[Mapping[str, Any]]:
    rows = _loads(text, name)
    if not isinstance(rows, list):
        raise InputError(f"{name}: no JSON list of objects.", field=name)
    for i, row in enumerate(rows, 1):
        if not isinstance(row, Mapping):
            raise InputError(f"{name}: entry {i} is no JSON object.", field=name, line=i)
    return list(rows)
