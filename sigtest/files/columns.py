"""Tables with named columns: CSV, TSV, JSONL or a JSON array, in any order and any selection.

A row is about one segment of one system. Scores stand in a column `score`, or each metric (or each
system) has a column of its own.
"""

from __future__ import annotations

import json
from collections import Counter
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from typing import NoReturn

from sigtest.data.names import without_slash
from sigtest.data.numbers import in_digits
from sigtest.data.testset import LABEL
from sigtest.errors import InputError
from sigtest.files.assembly import ONLY_RUN, Assembly
from sigtest.files.cells import advice, blank, number, numeric, truth
from sigtest.files.file import File, Placed, entries_of, require_filled
from sigtest.files.material import Material
from sigtest.files.tables import (
    ALIASES,
    Role,
    header_of,
    is_asked,
    is_counter,
    is_index,
    is_metric,
    is_system,
    may_be_verdict,
    may_identify,
    names_columns,
    read_table,
    role_of,
)

TEXTS: tuple[Role, ...] = ("source", "reference", "hypothesis")
ABOUT: tuple[Role, ...] = ("source", "document", "domain", "testset")
KNOWN = "id, system, metric, score, run, document (or cluster), domain"


@dataclass(frozen=True)
class Layout:
    """What the columns of a table are.

    Attributes:
        single: The column of each role.
        references: Columns of reference sets.
        measured: Columns with scores besides `score`.
        measures: Whether their names are those of systems or of metrics.
        testsets: All columns that name test sets or languages.
        inferred: The column taken for the id without being called so.
        passed_over: Columns that have neither scores nor texts.
    """

    single: Mapping[Role, str]
    references: tuple[str, ...]
    measured: tuple[str, ...]
    measures: Role
    testsets: tuple[str, ...]
    inferred: str | None
    passed_over: tuple[str, ...]


def sniff(file: File) -> bool:
    """A header of known names, or a column of numbers with a name; or records of such fields."""
    if file.kind:
        return file.has_records and (names_columns(file.first) or _is_wide(file.first))
    return bool(header_of(file))


def read(file: File) -> Material:
    """Read a table.

    Raises:
        InputError: Columns whose meaning is not clear, a cell that is no number, an entry twice,
            one score a system and none a segment.
    """
    header, rows = _rows(file)
    layout = _layout(header, rows, file)
    notes = []
    if layout.inferred:
        notes.append(f"{file.name}: rows are joined by the column {layout.inferred!r}.")
    if layout.measures == "system" and "metric" not in layout.single:
        named = ", ".join(map(repr, layout.measured[:8]))
        notes.append(
            f"{file.name}: the columns {named} are read as systems, with one score a row each; if "
            "they are metrics of one system, add a column system with its name."
        )
    notes += _unknown_metrics(layout, file)
    if layout.passed_over:
        notes.append(f"{file.name}: columns passed over: {', '.join(layout.passed_over)}.")
    _require_items(rows, layout, file)
    _require_segments(rows, layout, file)
    require_read(layout.passed_over, layout.single, rows, file)
    assembly = Assembly(file.name)
    reader = _Rows(file, layout, assembly, _label(file, layout, rows))
    for row in rows:
        reader.add(row)
    unread = tuple(c for c in layout.passed_over if not _is_measured(c, rows))
    return replace(assembly.material(notes, ordered=False), unread=unread)


def _rows(file: File) -> tuple[list[str], list[Placed]]:
    """Names of the columns, and rows as records."""
    if file.kind:
        records = file.records()
        header = [*dict.fromkeys(name for row in records for name in row.record)]
        filled = sum(len(row.record) for row in records)
        require_filled(len(records), len(header), filled, file.name)
        return header, records
    table = read_table(file)
    return [*table.header], [
        Placed(f"line {line}", dict(zip(table.header, cells, strict=True)))
        for line, cells in table.rows
    ]


class _Rows:
    """Adds rows to an assembly."""

    def __init__(self, file: File, layout: Layout, assembly: Assembly, label: str) -> None:
        self._file = file
        self._layout = layout
        self._assembly = assembly
        self._label = label
        self._seen: Counter[tuple[str, str, str]] = Counter()

    def add(self, row: Placed) -> None:
        """Add all that a row says."""
        system = self._word(row, "system", self._file.stem)
        metric = self._word(row, "metric", self._label)
        run = self._word(row, "run", ONLY_RUN)
        i = self._place(row, (system, metric, run))
        higher = self._direction(row)
        self._texts(row, i, system, run)
        if "score" in self._layout.single:
            self._score(row, i, self._layout.single["score"], (system, metric, run), higher)
        for column in self._layout.measured:
            of_system = self._layout.measures == "system"
            group = (column, metric, run) if of_system else (system, column, run)
            self._score(row, i, column, group, higher)

    def _place(self, row: Placed, group: tuple[str, str, str]) -> int:
        if "id" in self._layout.single:
            return self._assembly.place_of(row.record.get(self._layout.single["id"]), row.place)
        self._seen[group] += 1
        return self._seen[group] - 1

    def _score(
        self, row: Placed, i: int, column: str, group: tuple[str, str, str], higher: bool | None
    ) -> None:
        where = f"{self._file.name}, {row.place}, column {column!r}"
        self._assembly.score(i, group, number(row.record.get(column), where), row.place, higher)

    def _texts(self, row: Placed, i: int, system: str, run: str) -> None:
        for role in ABOUT:
            if role in self._layout.single:
                value = self._text(row, self._layout.single[role])
                if value is not None and (role == "source" or not blank(value)):
                    self._assembly.about(i, role, value, row.place)
        for column in [*filter(is_asked, self._layout.passed_over)][:1]:
            if isinstance(asked := row.record.get(column), str) and not blank(asked):
                self._assembly.about(i, "key", asked, row.place)
        for column in self._layout.references:
            value = self._text(row, column)
            if value is not None:
                self._assembly.about(i, f"reference {column}", value, row.place)
        if "hypothesis" in self._layout.single:
            value = self._text(row, self._layout.single["hypothesis"])
            self._assembly.hypothesis(i, system, run, value, row.place)

    def _text(self, row: Placed, column: str) -> str | None:
        value = row.record.get(column)
        if isinstance(value, dict | list):
            raise InputError(
                f"{self._file.name}, {row.place}: {column!r} is "
                f"{'a list' if isinstance(value, list) else 'an object'}; one text is expected."
            )
        return None if value is None else _line(value)

    def _word(self, row: Placed, role: Role, default: str) -> str:
        column = self._layout.single.get(role)
        if column is None:
            return default
        value = self._text(row, column)
        if value is None or blank(value):
            raise InputError(f"{self._file.name}, {row.place}: column {column!r} is empty.")
        return without_slash(value) if role == "system" else value

    def _direction(self, row: Placed) -> bool | None:
        column = self._layout.single.get("higher_is_better")
        if column is None:
            return None
        return truth(row.record.get(column), f"{self._file.name}, {row.place}, column {column!r}")


def _layout(header: Sequence[str], rows: Sequence[Placed], file: File) -> Layout:
    by_role: dict[Role, list[str]] = {}
    for column in header:
        role = role_of(column)
        if role is not None:
            by_role.setdefault(role, []).append(column)
    references = by_role.pop("reference", [])
    if "id" not in by_role:
        _take_id(by_role)
    single = {role: min(columns, key=_preference) for role, columns in by_role.items()}
    taken = {*single.values(), *references}
    others = [c for c in header if c not in taken and not is_index(c)]
    unknown = [c for c in others if not is_metric(c)]
    inferred = None if "id" in single else identify(unknown, single, rows)
    if inferred is not None:
        single["id"] = inferred
        others.remove(inferred)
    open_to = [c for c in others if role_of(c) is None and not is_counter(c)]
    open_to = [] if "score" in single else open_to
    measured = [c for c in open_to if _is_measured(c, rows)]
    measured = [c for c in measured if is_metric(c) or not counts(c, single, rows)]
    scored = set(measured)
    layout = Layout(
        single=single,
        references=tuple(references),
        measured=tuple(measured),
        measures="system" if "metric" in single or _are_systems(measured, single) else "metric",
        testsets=tuple(by_role.get("testset", ())),
        inferred=inferred,
        passed_over=tuple(c for c in others if c not in scored),
    )
    if "score" not in single and not any(map(is_metric, measured)):
        _require_no_verdicts(layout.passed_over, rows, file)
    if measured:
        _require_meaning(layout, file)
    if not measured and not references and not {"score", *TEXTS} & set(single):
        _refuse_without_scores(header, [c for c in others if is_metric(c)], rows, file)
    return layout


def _refuse_without_scores(
    header: Sequence[str], metrics: Sequence[str], rows: Sequence[Placed], file: File
) -> NoReturn:
    """Say what is wrong with a column that has a metric's name, or that there are no scores.

    Raises:
        InputError: Always.
    """
    for column in metrics:
        for row in rows:
            number(row.record.get(column), f"{file.name}, {row.place}, column {column!r}")
    raise InputError(
        f"{file.name} is a table without scores or texts; its columns are "
        f"{', '.join(map(repr, header))}. Name the column of scores score; known are {KNOWN}, "
        "and source, reference, hypothesis."
    )


def _require_no_verdicts(columns: Sequence[str], rows: Sequence[Placed], file: File) -> None:
    """Check that no column has words for right and wrong, where no other is known to be a score.

    Raises:
        InputError: One has; the message says what to write.
    """
    for column in filter(may_be_verdict, columns):
        words = [str(cell) for row in rows if not blank(cell := row.record.get(column))]
        if words and all(map(advice, words)):
            number(words[0], f"{file.name}, column {column!r}")


def _take_id(by_role: dict[Role, list[str]]) -> None:
    """Where nothing else identifies segments, `doc_id` does: that is what evaluations call it."""
    documents = by_role.get("document", [])
    found = next((c for c in documents if c.lower() == "doc_id"), None)
    if found is not None:
        documents.remove(found)
        by_role["id"] = [found]
        if not documents:
            del by_role["document"]


def _preference(column: str) -> int:
    """The place of a column's name among those known for its role."""
    role = role_of(column)
    names = ALIASES[role] if role is not None else ()
    name = column.strip().lower().replace(" ", "_").replace("-", "_")
    return names.index(name) if name in names else len(names)


def _is_measured(column: str, rows: Sequence[Placed]) -> bool:
    """Whether a column of no known role is one of scores: most of its cells are numbers."""
    cells = [row.record.get(column) for row in rows]
    filled = [cell for cell in cells if not blank(cell)]
    numbers = sum(map(numeric, filled))
    return numbers > 0 and numbers >= 0.5 * len(filled)


def _are_systems(measured: Sequence[str], single: Mapping[Role, str]) -> bool:
    """Whether columns of scores are systems: all are named as systems are, and not as metrics."""
    alone = not {"system", "run", *TEXTS} & set(single)
    return alone and len(measured) > 1 and all(map(is_system, measured))


def _is_wide(record: Mapping[str, object]) -> bool:
    """Whether a record has several numbers: of systems, named as these are, or beside an id."""
    measured = [c for c, cell in record.items() if numeric(cell) and role_of(c) is None]
    measured = [c for c in measured if not is_counter(c)]
    known = {"id", "system", "metric"} & {role_of(column) for column in record}
    return sum(map(is_system, measured)) > 1 or (
        bool(known and measured) and len(known) + len(measured) > 2
    )


def _require_meaning(layout: Layout, file: File) -> None:
    """Check that it is clear whether columns are systems or metrics."""
    known = {"system", "metric"} & set(layout.single) or layout.measures == "system"
    if known or all(map(is_metric, layout.measured)):
        return
    if set(TEXTS) & set(layout.single) or layout.references:
        return
    raise InputError(
        f"{file.name}: nothing says whether {', '.join(map(repr, layout.measured[:8]))} are "
        "metrics of one system or systems of one metric. If they are systems, add a column "
        "metric that has the metric's name, such as accuracy, in every row; if they are metrics, "
        f"add a column system with the system's name. Or write one row a score: {KNOWN}."
    )


def _unknown_metrics(layout: Layout, file: File) -> Iterator[str]:
    """Says which columns are taken for metrics without the name of one."""
    unknown = [c for c in layout.measured if not is_metric(c)]
    if unknown and layout.measures == "metric":
        yield (
            f"{file.name}: taken for metrics, where greater is better: "
            f"{', '.join(map(repr, unknown[:8]))}; take out what is no metric, such as a length, "
            "and say higher=false of error rates."
        )


def _label(file: File, layout: Layout, rows: Sequence[Placed]) -> str:
    """What scores are called that nothing inside names: their file, if it has several systems."""
    column = layout.single.get("system")
    if column is None:
        return LABEL if layout.measures == "metric" else file.stem
    systems = {str(row.record.get(column)) for row in rows}
    return file.stem if len(systems) > 1 else LABEL


def _require_items(rows: Sequence[Placed], layout: Layout, file: File) -> None:
    """Check that rows are not test sets, with one score of each system for the whole."""
    column = layout.single.get("testset")
    if column is None or "id" in layout.single or layout.measures == "metric":
        return
    if 1 < len(rows) == len({str(row.record.get(column)) for row in rows}):
        raise InputError(
            f"{file.name} has one score of each system for each of {len(rows)} test sets or tasks, "
            "as for whole outputs; `sigtest classify --table` compares systems over these, a "
            "comparison needs one score a segment."
        )


def _require_segments(rows: Sequence[Placed], layout: Layout, file: File) -> None:
    """Check that there is more than one score of each system."""
    column = layout.single.get("system")
    if column is None or ("score" not in layout.single and not layout.measured):
        return
    if any(blank(row.record.get(column)) for row in rows):
        return  # the row that has no name is said where it is read
    names: tuple[Role, ...] = ("id",) if "id" in layout.single else ("metric", "run", "domain")
    by = [column, *(layout.single[role] for role in names if role in layout.single)]
    by += [] if "id" in layout.single else layout.testsets
    rows_of = Counter(tuple(str(row.record.get(c)) for c in by) for row in rows)
    systems = Counter(key[0] for key in rows_of)
    whole = max(systems.values()) == 1 if "id" in layout.single else max(rows_of.values()) == 1
    if len(systems) > 1 and whole:
        raise InputError(
            f"{file.name} has one score for each of {len(systems)} systems, as for whole outputs; "
            "a comparison needs one score a segment, or the outputs themselves."
        )


def _line(value: object) -> str:
    """A cell as one line of text; line breaks inside a quoted cell become blanks."""
    if isinstance(value, float) and value.is_integer():
        value = int(value)
    return " ".join(str(value).split()) if "\n" in str(value) else str(value).strip()


GROUPED: tuple[Role, ...] = ("system", "metric", "run")
FEWEST_ROWS = 3  # rows that count something


def identify(
    columns: Sequence[str], single: Mapping[Role, str], rows: Sequence[Placed]
) -> str | None:
    """The column that stands for the missing id: an id by its name, or one that counts rows.

    Args:
        columns: Those of no known role.
        single: The columns of roles.
        rows: All rows.

    Returns:
        The first one whose cells differ within each system, metric and run, and are mostly the
        same in all of them; nothing where there is none, and rows can be told by their order only.
    """
    groups = _groups(single, rows)
    named = [column for column in columns if may_identify(column)]
    counted = [column for column in columns if counts(column, single, rows)]
    return next((c for c in (*named, *counted) if _tells_apart(c, groups)), None)


def counts(column: str, single: Mapping[Role, str], rows: Sequence[Placed]) -> bool:
    """Whether a column counts the rows of each system, metric and run, so that it is no metric."""
    groups = _groups(single, rows)
    return all(_consecutive(column, group) for group in groups)


def require_read(
    passed_over: Sequence[str], single: Mapping[Role, str], rows: Sequence[Placed], file: File
) -> None:
    """Check that nothing that is not read tells rows of one segment apart.

    Raises:
        InputError: It does; the message says what to call the column.
    """
    if "id" not in single:
        return
    system = "" if "system" in single else "system, or "
    keys = [single[role] for role in ("id", *GROUPED) if role in single]
    seen = {_cells(row, keys) for row in rows}
    for column in passed_over:
        if len(seen) < len(rows) == len({_cells(row, [*keys, column]) for row in rows}):
            raise InputError(
                f"{file.name}: nothing is read from the column {column!r}, and only it tells rows "
                f"of one id apart; call it {system}run if its rows are runs of one segment, or "
                "write it into the ids if they are different segments."
            )


def _groups(single: Mapping[Role, str], rows: Sequence[Placed]) -> list[list[Placed]]:
    keys = [single[role] for role in GROUPED if role in single]
    groups: dict[tuple[str, ...], list[Placed]] = {}
    for row in rows:
        groups.setdefault(_cells(row, keys), []).append(row)
    return [*groups.values()]


def _tells_apart(column: str, groups: Sequence[Sequence[Placed]]) -> bool:
    known: set[str] = set()
    for group in groups:
        cells = [str(row.record.get(column)).strip() for row in group]
        if any(map(blank, cells)) or len(set(cells)) < len(cells):
            return False
        if known and 2 * len(known & set(cells)) < len(cells):
            return False
        known |= set(cells)
    return bool(known)


def _consecutive(column: str, group: Sequence[Placed]) -> bool:
    numbers = sorted(_whole_numbers(row.record.get(column) for row in group))
    return len(numbers) == len(group) >= FEWEST_ROWS and numbers == list(
        range(numbers[0], numbers[0] + len(numbers))
    )


def _whole_numbers(cells: Iterator[object]) -> Iterator[int]:
    for cell in cells:
        if isinstance(cell, bool) or not in_digits(str(cell).strip()):
            return
        yield int(str(cell))


def _cells(row: Placed, columns: Sequence[str]) -> tuple[str, ...]:
    return tuple(str(row.record.get(column)) for column in columns)


def sniff_split(file: File) -> bool:
    """One object with a list of names and a list of rows."""
    return (
        file.kind == "object"
        and isinstance(file.first.get("columns"), list)
        and isinstance(file.first.get("data"), list)
    )


def read_split(file: File) -> Material:
    """Read it as any table with named columns.

    Raises:
        InputError: A row that has not one cell for each name, no rows, or as of other tables.
    """
    names = [str(name) for name in entries_of(file.first.get("columns"))]
    rows = [entries_of(row) for row in entries_of(file.first.get("data"))]
    if not rows:
        raise InputError(f"{file.name} names columns and has no rows.")
    for i, row in enumerate(rows, 1):
        if len(row) != len(names):
            raise InputError(
                f"{file.name}, entry {i}: {len(row)} cells, where {len(names)} columns are named."
            )
    records = [dict(zip(names, row, strict=True)) for row in rows]
    return read(File(file.name, json.dumps(records).encode(), file.near, file.path))
