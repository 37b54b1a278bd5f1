"""Tables of what people judge, and of scores of metrics and of people, of systems or segments.

Columns are named by their roles; a request has judgements as rows with the same names.
"""

import difflib
import re
from collections import Counter
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from itertools import combinations
from typing import Any

from sigtest.data.names import choose
from sigtest.data.text import whole
from sigtest.errors import InputError, at_line, quoted
from sigtest.files import tables
from sigtest.files.file import File, loads
from sigtest.files.material import SUMMARIES

SCALE = (0.0, 100.0)
BLANKS = " \u00a0"  # that people and spreadsheets leave; other white space is refused in names

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
        name: {"type": TYPES.get(name, ["string", "integer"]) + ["null"] * (name not in NEEDED)}
        for name in COLUMNS
    },
    "required": list(NEEDED),
    "additionalProperties": False,
}
COMPARED_LABELS = ("item", "judge", "cluster", "criterion", "languages")
COMPARED = ("a", "b", "winner", "preference", "weight", *COMPARED_LABELS)
COMPARISONS = ("a", "b", "share", "weight", "ranking", *COMPARED_LABELS)  # once they are read
SIDES = {side: {"type": "string"} for side in "ab"}
COMPARISON = {
    "type": "object",
    "properties": {name: {"type": ["string", "number", "null"]} for name in COMPARED} | SIDES,
    "required": ["a", "b"],
    "additionalProperties": False,
}


@dataclass
class JudgedFile:
    """Judgements of one file: scores of systems, or comparisons of two.

    Attributes:
        name: What to call the file in messages.
        input: Name of its format.
        line: 1-based line, or place in a list, of each judgement.
        columns: Equally long columns by role, as far as there are any: those of COLUMNS, `judged`
            (how many judgements are in each), `undecided` (its errors whose severity is undecided,
            and which are not in the score yet) and `made_from` (rows behind it); or COMPARISONS.
        rows: Rows in the file, without a header.
        scale: Lowest and highest score that the format allows.
        named: What to call the criterion where the file names none.
        keyed: Whether no judgement may occur twice with different scores.
        dropped: Rows that are no judgement, by reason.
        inline: Whether these are entries of a list.
        placed: Whether the first of two systems is the one that stood first.
    """

    name: str
    input: str
    line: Sequence[int]
    columns: Mapping[str, Sequence[Any]]
    rows: int = 0
    scale: tuple[float, float] | None = None
    named: str = "score"
    keyed: bool = True
    dropped: Mapping[str, int] = field(default_factory=dict)
    inline: bool = False
    placed: bool = True

    def __post_init__(self) -> None:
        self.rows = self.rows or len(self.line) + sum(self.dropped.values())

    @property
    def compares(self) -> bool:
        """Whether these are comparisons."""
        return "a" in self.columns

    def refused(self, row: int, why: str, column: str = "") -> InputError:
        """A judgement that cannot be used: what, where, and why."""
        system = self.columns["system"][row] if "system" in self.columns else None
        return refused(self.name, self.line[row], why, column, self.inline, system)

    def place(self, row: int) -> str:
        """Where a judgement stands: its line in a file, its element of a request's list."""
        line = self.line[row]
        return f"{self.name}[{line - 1}]" if self.inline else f"line {line}"


def refused(
    name: str, line: int, why: str, column: str, inline: bool, system: str | None = None
) -> InputError:
    """What cannot be used at a line of a file, or in an element of a request's list."""
    where = path = f"{name}[{line - 1}]{column and '.'}{column}"
    if not inline:
        where, path = f"{name}, line {line}", name
    end = "" if why.endswith("?") else "."
    return InputError(f"{where}: {why}{end}", field=path, line=line, system=system)


def first_line(file: File) -> str:
    """The line that says of which format a file of judgements is."""
    return next(iter(file.first_lines), "")


def separator_of(first: str) -> str:
    """What stands between the names of a header."""
    return max("\t,;", key=first.count)


def judged_roles(file: File) -> set[str]:
    """What a header names of judgements; all that is needed where it is JSON."""
    first = first_line(file)
    is_json = re.match(r"\s*(\{|\[\s*(\{|$))", first) is not None
    names = (*NEEDED, "score") if is_json else tables.fields_of(first, separator_of(first))
    return {*_named(names)}


def sniff_judged_columns(file: File) -> bool:
    """JSON, or a header that names a system, a segment and a score."""
    return any(judged_roles(file) >= {*NEEDED, scored} for scored in ("score", "z"))


def read_judged_columns(file: File) -> JudgedFile:
    """CSV, TSV or JSON with named columns; columns without a known name are passed over.

    Raises:
        InputError: A column missing, a row with more or fewer cells than the header, no object.
    """
    table = tables.read_table(file, separator_of(first_line(file)))
    roles = _named(table.header)
    _require(roles, table.header, file.name)
    plain = [_letters(column) for column in table.header]
    pair = [next((plain.index(n) for n in names if n in plain), -1) for names in PAIRED]
    cells: dict[str, list[Any]] = {
        role: [row[i] if file.kind else _bare(row[i]) for row in table.rows]
        for role, i in roles.items()
    }
    if "languages" not in roles and -1 not in pair:
        both = [[_bare(row[i] or "") for i in pair] for row in table.rows]
        cells["languages"] = ["-".join(names) if all(names) else None for names in both]
    return _judged(cells, table.places, file.name, inline=file.kind == "array")


def judged_rows(rows: Sequence[object], name: str) -> JudgedFile:
    """Rows of a request, each an object with the names of COLUMNS.

    Raises:
        InputError: A row that is no object.
        RecipeError: A name that is unknown.
    """
    records = checked_rows(rows, name, COLUMNS, "field of a judgement")
    for line, row in enumerate(records, 1):
        for key, (expected,) in TYPES.items():
            if isinstance(row.get(key), str):
                why = f"{quoted(row[key], 40)} is text, not a {expected}"
                raise refused(name, line, why, key, inline=True)
    known = [column for column in COLUMNS if any(column in row for row in records)]
    _require(dict.fromkeys(known, 0), known, name)
    return judged_records(records, range(1, len(rows) + 1), name, inline=True)


def checked_rows(
    rows: Sequence[object], name: str, known: Sequence[str], what: str
) -> list[Mapping[str, Any]]:
    """Rows of a request that are objects with known names."""
    records = []
    for i, row in enumerate(rows):
        if not isinstance(row, Mapping):
            raise InputError(f"{name}[{i}] must be an object.", field=f"{name}[{i}]", line=i + 1)
        for key in row:
            choose(key, known, f"{name}[{i}].{key}", what)
        records.append(row)
    return records


def judged_records(
    rows: Sequence[Mapping[str, Any]], places: Sequence[int], name: str, **about: Any
) -> JudgedFile:
    """Rows with the names of COLUMNS, the line or the place of each, and what else is known."""
    known = [c for c in COLUMNS if c in NEEDED or any(c in row for row in rows)]
    cells = {column: [row.get(column) for row in rows] for column in known}
    return _judged(cells, places, name, **about)


def compared_records(
    records: Sequence[tuple[Any, ...]], places: Sequence[int], name: str, **about: Any
) -> JudgedFile:
    """Records whose values are those of COMPARISONS, likewise."""
    columns = dict(zip(COMPARISONS, zip(*records, strict=True), strict=True)) if records else {}
    columns = columns or dict.fromkeys(COMPARISONS, ())
    return JudgedFile(name, about.pop("input", "preferences"), places, columns, **about)


def ranked_pairs(
    ranked: Sequence[tuple[str, int]], **about: str | None
) -> Iterator[tuple[Any, ...]]:
    """Every two outputs of a ranking, in which rank 1 is best, with what is known of it."""
    labels = [str(ranked), *map(about.get, COMPARED_LABELS)]
    for (a, first), (b, second) in combinations(ranked, 2):
        share = (1 + (second > first) - (second < first)) / 2
        yield a, b, share, 1.0, *labels


def _named(header: Sequence[str]) -> dict[str, int]:
    """Which column stands where."""
    roles: dict[str, int] = {}
    for i, column in enumerate(header):
        role = tables.role_of(column, JUDGED) or tables.role_of(_letters(column), JUDGED)
        if role is not None and column.strip():
            known = header[roles.setdefault(role, i)]
            if tables.preference(_letters(column), role) < tables.preference(_letters(known), role):
                roles[role] = i
    return roles


def _letters(column: str) -> str:
    """A name without marks and in lower case."""
    return re.sub(r"[^a-z]", "", column.lower())


def _bare(cell: object) -> str:
    """A cell without blanks at its ends and quotation marks round it, which TSV readers leave."""
    bare = str(cell).strip(BLANKS)
    return bare[1:-1].strip(BLANKS) if len(bare) > 1 and bare[0] == bare[-1] == '"' else bare


def _require(roles: Mapping[str, int], header: Sequence[str], name: str) -> None:
    plain = [_letters(column) for column in header]
    often = Counter(plain)
    for role, place in roles.items():
        if often[plain[place]] > 1:
            alike = [c for c, own in zip(header, plain, strict=True) if own == plain[place]]
            raise InputError(
                f"{name} has more than one column for the {role}: "
                f"{', '.join(quoted(column, 40) for column in alike)}; leave one.",
                field=name,
            )
    missing = [column for column in NEEDED if column not in roles]
    if "score" not in roles and "z" not in roles:
        missing.append("score")
    if missing:
        raise lacking(missing, header, name)


def lacking(missing: Sequence[str], header: Sequence[str], name: str) -> InputError:
    """A table without some columns: which, what it has, and what may be meant."""
    near = difflib.get_close_matches(missing[0], [h.lower() for h in header[:100]], 1)
    hint = f" Is {near[0]!r} meant?" if near else ""
    listed = ", ".join(str(column)[:30] for column in header[:12]) or "none"
    return InputError(
        f"{name}: no column {' and no column '.join(missing)}; columns are {listed}.{hint}",
        field=name,
        line=1,
    )


def _judged(
    cells: Mapping[str, list[Any]],
    places: Sequence[int],
    name: str,
    *,
    inline: bool = False,
    **about: Any,
) -> JudgedFile:
    """Judgements of cells by role.

    Raises:
        InputError: No text or whole number where a name is expected; an id of a segment in two
            documents, as where ids count anew in each.
    """
    columns: dict[str, Sequence[Any]] = dict(cells)
    for role, column in cells.items():
        if role == "higher_is_better":
            where = f"{name}, line {{}}, column {role}"
            columns[role] = [
                tables.truth(v, where.format(i)) for v, i in zip(column, places, strict=True)
            ]
        elif role not in TYPES:
            pairs = zip(column, places, strict=True)
            columns[role] = [_text(v, name, i, role, inline) for v, i in pairs]
    table = JudgedFile(
        name,
        about.pop("input", "columns"),
        places,
        columns,
        scale=SCALE if "score" in cells else None,
        keyed="annotator" in cells,
        inline=inline,
        **about,
    )
    seen: dict[str | None, str] = {}
    for row, (segment, document) in enumerate(
        zip(columns["segment"], columns.get("document", ()), strict=False)
    ):
        if document is not None and (first := seen.setdefault(segment, document)) != document:
            why = (
                f"segment {segment!r} is of document {document!r}, above of {first!r}; ids that "
                "count anew in each document have to be told apart, such as "
                f"{f'{document}:{segment}'!r}"
            )
            raise table.refused(row, why, "segment")
    return table


def _text(value: object, name: str, line: int, column: str, inline: bool) -> str | None:
    """A name or id; whole numbers are ids, too."""
    if value is None or isinstance(value, str):
        return None if value in {"", "NA"} else value
    if (count := whole(value)) is not None:
        return str(count)
    why = f"{quoted(value, 40)} is no {column}, which is text or a whole number"
    raise refused(name, line, why, column, inline)


SCORED = {
    role: role
    for role in ("metric", "languages", "testset", "system", "segment", "id", "run", "domain",
                 "score", "higher_is_better")
}  # fmt: skip
SEGMENTS = {"segment", "sid", "segid"}  # what counts segments even where no two lines share one
ALONE = SEGMENTS | {"metric", "lp", "testset", "system", "sys", "score", "higher_is_better"}
ONE_OF = {"languages": "pair of languages", "testset": "test set", "metric": "metric"}
SCORE = re.compile(r"none|na|[-+]?[0-9.]+(?:e[-+]?[0-9]+)?")  # in lower case


def reads_scores(data: bytes, name: str) -> bool:
    """Whether a file has scores of systems or segments, rather than judgements."""
    _, cells = _split(first_line(File(name, data)))
    parts = [part.strip().lower() for part in cells]
    if {"score"} < {*parts}:
        return {*parts} <= ALONE
    return len(parts) == 2 and SCORE.fullmatch(parts[1]) is not None


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
        return named if {"system", "segment"} & {*named} else {"system": named}
    if not any(map(str.strip, file.lines)):
        raise InputError(f"{name} has no scores.")
    columns, places = _columns(file)
    for role, what in ONE_OF.items():
        known = sorted({*columns.get(role, ())})
        if len(known) > 1:
            raise InputError(f"{name} has more than one {what}, {', '.join(known)}; leave one.")
    ways: dict[bool | None, int] = {}
    for cell, line in zip(columns.get("higher_is_better", ()), places, strict=False):
        ways.setdefault(tables.truth(cell, f"{name}, line {line}"), line)
    ways.pop(None, None)
    if len(ways) > 1:
        why = "another direction (higher_is_better) than above; leave one."
        raise at_line(name, max(ways.values()), why)
    return _by_level(columns, places, name) | ({"higher": False} if False in ways else {})


def _split(line: str) -> tuple[str, list[str]]:
    """What stands between cells, tabs, commas that only blanks follow, or blanks; and the cells."""
    listed = re.split(r",\s*", line.strip())
    plain = len(listed) > 1 and not re.search(r"[\s;]", "".join(listed))
    separator = "\t" if "\t" in line else "," if plain else " "
    cells = line.split() if separator == " " else tables.fields_of(line, separator)
    return separator, [cell.strip().strip('"') for cell in cells]


def _columns(file: File) -> tuple[dict[str, list[str]], Sequence[int]]:
    """The cells of each role, and the line of each row."""
    separator, header = _split(first_line(file))
    roles = [tables.role_of(name, SCORED) for name in header]
    if not {"system", "score"} <= {*roles}:
        rows = [*tables.parsed(file.text, separator, file.name)]
        for line, row in rows:
            if len(row) != 2:
                count = f"{len(row)} column{'' if len(row) == 1 else 's'}"
                raise at_line(file.name, line, f"{count}; system and score are expected.")
        systems, scores = ([row[i].strip().strip('"') for _, row in rows] for i in range(2))
        return {"system": systems, "score": scores}, [line for line, _ in rows]
    table = tables.read_table(file, separator)
    columns: dict[str, list[str]] = {}
    for i, (column, role) in enumerate(zip(table.header, roles, strict=False)):
        name = column.strip('"').lower().replace("_", "")
        known = "id" if role == "segment" and name not in SEGMENTS else role
        if known in columns and known != "id":
            raise at_line(file.name, 1, f"more than one column for the {known}; leave one.")
        if known is not None:
            columns.setdefault(known, [str(row[i]).strip().strip('"') for row in table.rows])
    return columns, table.places


def _by_level(
    columns: Mapping[str, Sequence[str]], places: Sequence[int], name: str
) -> dict[str, Any]:
    """Scores of systems, or of segments where a system has several or segments are named."""
    scores = [
        tables.number(cell, f"{name}, line {line}", line)
        for cell, line in zip(columns["score"], places, strict=True)
    ]
    systems, ids = columns["system"], columns.get("segment")
    if ids is None and len({*columns.get("id", ())}) < len(scores):
        ids = columns.get("id")  # an id that no two lines share counts lines
    scored: dict[str, dict[str, float | None]] = {}
    for row, (system, score) in enumerate(zip(systems, scores, strict=True)):
        own = scored.setdefault(system, {})
        segment = ids[row] if ids else str(len(own))
        if segment in own:
            raise at_line(name, places[row], f"system {system!r} has segment {segment!r} twice.")
        if segment.lower() in SUMMARIES:
            why = f"segment {segment!r} sums others up by its name; take such rows out."
            raise at_line(name, places[row], why)
        own[segment] = score
    if ids:
        return {"segment": scored}
    if all(len(own) == 1 for own in scored.values()):
        return {"system": {system: own["0"] for system, own in scored.items()}}
    for role in ("run", "domain"):
        if role in columns:
            raise InputError(
                f"{name} has several scores of a system, each of a {role} and none of a segment; "
                "give their mean, one score a system, or name segments in a column segment."
            )
    return {"segment": {system: [*own.values()] for system, own in scored.items()}}
