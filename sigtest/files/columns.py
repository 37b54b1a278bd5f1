"""Texts and scores in tables with named columns, in any order and any selection.

A row is about one segment of one system. Scores stand in a column `score`, or each metric (or each
system) has a column of its own.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field, replace

from sigtest.cached import cached_property
from sigtest.data.names import without_slash
from sigtest.data.numbers import in_digits
from sigtest.data.testset import LABEL
from sigtest.errors import InputError
from sigtest.files.assembly import ONLY_RUN, Assembly
from sigtest.files.cells import advice, blank, number, numeric, truth
from sigtest.files.file import File
from sigtest.files.material import Material
from sigtest.files.tables import (
    Table,
    check_header,
    header_of,
    is_counter,
    is_index,
    is_metric,
    is_question,
    is_system,
    may_be_verdict,
    may_identify,
    names_columns,
    preference,
    read_table,
    role_of,
)

TEXTS = ("source", "reference", "hypothesis")
KNOWN = "id, system, metric, score, run, document (or cluster), domain"
FEWEST = 3  # rows that count something


def sniff(file: File) -> bool:
    """A header of known names, or a column of numbers with a name; or records of such fields."""
    if file.kind:
        return file.has_records and (names_columns(file.first) or _is_wide(file.first))
    return bool(header_of(file))


def _is_wide(record: Mapping[str, object]) -> bool:
    """Whether a record has several numbers: of systems, named as these are, or beside an id."""
    measured = [c for c, cell in record.items() if numeric(cell) and role_of(c) is None]
    measured = [c for c in measured if not is_counter(c)]
    known = {"id", "system", "metric"} & {role_of(column) for column in record}
    return sum(map(is_system, measured)) > 1 or (
        bool(known and measured) and len(known) + len(measured) > 2
    )


def read(file: File) -> Material:
    """Read a table.

    Raises:
        InputError: Columns whose meaning is not clear, a cell that is no number, an entry twice,
            one score a system and none a segment.
    """
    table = read_table(file)
    if not file.kind:
        check_header(table.header, file.name)
    layout = ColumnLayout(table, file.stem)
    layout.require_meaning()
    layout.require_segments()
    layout.require_told_apart()
    material = _assembled(layout).material(layout.notes(), ordered=False)
    unread = tuple(column for column in layout.passed_over if not layout.is_measured(column))
    return replace(material, unread=unread)


@dataclass(frozen=True)
class ColumnLayout:
    """What the columns of a table are.

    Attributes:
        table: The table.
        stem: What its file calls its system.
        single: The column of each role.
        references: Columns of reference sets.
        testsets: All columns that name test sets or languages.
        inferred: The column taken for the id without being called so.
        measured: Columns with scores besides `score`.
        passed_over: Columns that have neither scores nor texts.
    """

    table: Table
    stem: str
    single: dict[str, str] = field(init=False)
    references: list[str] = field(init=False)
    testsets: list[str] = field(init=False)
    inferred: str | None = field(init=False)
    measured: list[str] = field(init=False)
    passed_over: list[str] = field(init=False)

    def __post_init__(self) -> None:
        by_role: dict[str, list[str]] = {}
        for column in self.table.header:
            if (role := role_of(column)) is not None:
                by_role.setdefault(role, []).append(column)
        references = by_role.pop("reference", [])
        # where nothing else identifies segments, doc_id does: evaluations call it so
        items = [c for c in by_role.get("document", ()) if c.lower() == "doc_id"]
        if items and "id" not in by_role:
            by_role["id"] = items[:1]
            by_role["document"].remove(items[0])
        single = {
            role: min(columns, key=lambda c, role=role: preference(c, role))  # type: ignore[misc]
            for role, columns in by_role.items()
            if columns
        }
        taken = {*single.values(), *references}
        others = [c for c in self.table.header if c not in taken and not is_index(c)]
        known = {"single": single, "references": references, "inferred": None}
        known |= {"testsets": by_role.get("testset", [])}
        for name, value in known.items():
            object.__setattr__(self, name, value)
        if "id" not in single and (inferred := self._identify(others)):
            single["id"] = inferred
            others.remove(inferred)
            object.__setattr__(self, "inferred", inferred)
        measured = [
            column
            for column in others
            if "score" not in single
            and role_of(column) is None
            and not is_counter(column)
            and self.is_measured(column)
            and (is_metric(column) or not self._counts(column))
        ]
        object.__setattr__(self, "measured", measured)
        object.__setattr__(self, "passed_over", [c for c in others if c not in measured])

    def cells(self, column: str) -> Sequence[object]:
        """(n,) cells of a column."""
        return self.table.columns[column]

    @cached_property
    def of_systems(self) -> bool:
        """Whether columns of scores are systems: all are named as these are, and not as metrics."""
        alone = not {"system", "run", *TEXTS} & set(self.single)
        named = alone and len(self.measured) > 1 and all(map(is_system, self.measured))
        return "metric" in self.single or named

    @cached_property
    def question(self) -> str | None:
        """The column that has what was asked in an item, if it is not the id."""
        return next(filter(is_question, self.passed_over), None)

    @cached_property
    def groups(self) -> list[list[int]]:
        """Rows of each system, metric and run."""
        keys = [self.single[role] for role in ("system", "metric", "run") if role in self.single]
        found: dict[tuple[str, ...], list[int]] = {}
        for row, key in enumerate(self._keys(keys)):
            found.setdefault(key, []).append(row)
        return [*found.values()]

    def _keys(self, columns: Sequence[str]) -> list[tuple[str, ...]]:
        """(n,) cells of several columns as text."""
        cells = [[str(cell) for cell in self.cells(column)] for column in columns]
        return [*zip(*cells, strict=True)] if cells else [()] * len(self.table)

    def is_measured(self, column: str) -> bool:
        """Whether a column of no known role is one of scores: most of its cells are numbers."""
        filled = [cell for cell in self.cells(column) if not blank(cell)]
        numbers = sum(map(numeric, filled))
        return numbers > 0 and numbers >= 0.5 * len(filled)

    def _identify(self, others: Sequence[str]) -> str | None:
        """The column that stands for the missing id: an id by its name, or one that counts rows.

        The first one whose cells differ within each system, metric and run, and are mostly the
        same in all of them; nothing where rows can be told by their order only.
        """
        columns = [column for column in others if not is_metric(column)]
        candidates = [*filter(may_identify, columns), *filter(self._counts, columns)]
        return next(filter(self._tells_apart, candidates), None)

    def _tells_apart(self, column: str) -> bool:
        known: set[str] = set()
        for group in self.groups:
            cells = {str(self.cells(column)[row]).strip() for row in group}
            if any(map(blank, cells)) or len(cells) < len(group):
                return False
            if known and 2 * len(known & cells) < len(cells):
                return False
            known |= cells
        return bool(known)

    def _counts(self, column: str) -> bool:
        """Whether a column counts the rows of each system, metric and run, and is no metric."""
        for group in self.groups:
            cells = [self.cells(column)[row] for row in group]
            if any(isinstance(c, bool) or not in_digits(str(c).strip()) for c in cells):
                return False
            numbers = sorted(int(str(cell)) for cell in cells)
            if len(group) < FEWEST or numbers != [*range(numbers[0], numbers[0] + len(numbers))]:
                return False
        return True

    def require_meaning(self) -> None:
        """Check that there are scores or texts, and that it is clear what columns of scores are.

        Raises:
            InputError: There are none, or words for right and wrong, or nothing says which.
        """
        name, single, measured = self.table.name, self.single, self.measured
        if "score" not in single and not any(map(is_metric, measured)):
            for column in filter(may_be_verdict, self.passed_over):
                words = [str(cell) for cell in self.cells(column) if not blank(cell)]
                if words and all(map(advice, words)):
                    number(words[0], f"{name}, column {column!r}")
        texts = bool({*TEXTS} & {*single} or self.references)
        if not measured and not texts and "score" not in single:
            for column in filter(is_metric, self.passed_over):
                for row, cell in enumerate(self.cells(column)):
                    number(cell, self.table.where(row, column))
            raise InputError(
                f"{name} is a table without scores or texts; its columns are "
                f"{', '.join(map(repr, self.table.header))}. Name the column of scores score; "
                f"known are {KNOWN}, and source, reference, hypothesis."
            )
        clear = texts or "system" in single or self.of_systems or all(map(is_metric, measured))
        if measured and not clear:
            raise InputError(
                f"{name}: nothing says whether {', '.join(map(repr, measured[:8]))} are "
                "metrics of one system or systems of one metric. If they are systems, add a column "
                "metric that has the metric's name, such as accuracy, in every row; if they are "
                "metrics, add a column system with the system's name. Or write one row a score: "
                f"{KNOWN}."
            )

    def require_segments(self) -> None:
        """Check that there is more than one score of each system, and that rows are no test sets.

        Raises:
            InputError: There is one, as for whole outputs.
        """
        single, rows = self.single, len(self.table)
        testsets = self._keys([single["testset"]] if "testset" in single else [])
        if self.of_systems and "id" not in single and 1 < rows == len({*testsets}):
            raise InputError(
                f"{self.table.name} has one score of each system for each of {rows} test sets or "
                "tasks, as for whole outputs; `sigtest classify --table` compares systems over "
                "these, a comparison needs one score a segment."
            )
        column = single.get("system")
        if column is None or not ("score" in single or self.measured):
            return
        if any(map(blank, self.cells(column))):
            return  # the row that has no name is refused where it is read
        roles = ("id",) if "id" in single else ("metric", "run", "domain")
        by = [column, *(single[role] for role in roles if role in single)]
        by += [] if "id" in single else self.testsets
        rows_of = Counter(self._keys(by))
        systems = Counter(key[0] for key in rows_of)
        most = systems if "id" in single else rows_of
        if len(systems) > 1 and max(most.values()) == 1:
            raise InputError(
                f"{self.table.name} has one score for each of {len(systems)} systems, as for whole "
                "outputs; a comparison needs one score a segment, or the outputs themselves."
            )

    def require_told_apart(self) -> None:
        """Check that nothing that is not read tells rows of one segment apart.

        Raises:
            InputError: It does; the message says what to call the column.
        """
        single, rows = self.single, len(self.table)
        if "id" not in single:
            return
        keys = [single[role] for role in ("id", "system", "metric", "run") if role in single]
        seen = len({*self._keys(keys)})
        for column in self.passed_over:
            if seen < rows == len({*self._keys([*keys, column])}):
                raise InputError(
                    f"{self.table.name}: nothing is read from the column {column!r}, and only it "
                    f"tells rows of one id apart; call it "
                    f"{'' if 'system' in single else 'system, or '}run if its rows are runs of one "
                    "segment, or write it into the ids if they are different segments."
                )

    def notes(self) -> list[str]:
        """What was read in a way that could surprise."""
        name, notes = self.table.name, []
        listed = ", ".join(map(repr, self.measured[:8]))
        unknown = [column for column in self.measured if not is_metric(column)]
        if self.inferred:
            notes.append(f"{name}: rows are joined by the column {self.inferred!r}.")
        if self.of_systems and "metric" not in self.single:
            notes.append(
                f"{name}: the columns {listed} are read as systems, with one score a row each; if "
                "they are metrics of one system, add a column system with its name."
            )
        if unknown and not self.of_systems:
            notes.append(
                f"{name}: taken for metrics, where greater is better: "
                f"{', '.join(map(repr, unknown[:8]))}; take out what is no metric, such as a "
                "length, and say higher=false of error rates."
            )
        if self.passed_over:
            notes.append(f"{name}: columns passed over: {', '.join(self.passed_over)}.")
        return notes


def _assembled(layout: ColumnLayout) -> Assembly:
    """All that the rows of a table say."""
    table, single = layout.table, layout.single
    assembly = Assembly(table.name)
    label = layout.stem if layout.of_systems and "system" not in single else LABEL
    if "system" in single and len({str(cell) for cell in layout.cells(single["system"])}) > 1:
        label = layout.stem
    defaults = {"system": layout.stem, "metric": label, "run": ONLY_RUN}
    seen: Counter[tuple[str, str, str]] = Counter()
    for row in range(len(table)):
        words = {role: _word(layout, role, row, word) for role, word in defaults.items()}
        group = system, metric, run = words["system"], words["metric"], words["run"]
        i = seen[group]
        seen[group] += 1
        if "id" in single:
            i = assembly.place_of(layout.cells(single["id"])[row], table.place(row))
        _add_texts(assembly, layout, row, i, system, run)
        groups = {single["score"]: group} if "score" in single else {}
        for column in layout.measured:
            groups[column] = (column, metric, run) if layout.of_systems else (system, column, run)
        higher = None
        if (way := single.get("higher_is_better")) is not None:
            higher = truth(layout.cells(way)[row], table.where(row, way))
        for column, key in groups.items():
            score = number(layout.cells(column)[row], table.where(row, column))
            assembly.score(i, key, score, table.place(row), higher)
    return assembly


def _add_texts(
    assembly: Assembly, layout: ColumnLayout, row: int, i: int, system: str, run: str
) -> None:
    """What a row says besides scores."""
    place = layout.table.place(row)
    for role in ("source", "document", "domain", "testset"):
        value = _text(layout, layout.single[role], row) if role in layout.single else None
        if value is not None and (role == "source" or not blank(value)):
            assembly.about(i, role, value, place)
    if layout.question is not None:
        key = layout.cells(layout.question)[row]
        if isinstance(key, str) and not blank(key):
            assembly.about(i, "key", key, place)
    for column in layout.references:
        if (value := _text(layout, column, row)) is not None:
            assembly.about(i, f"reference {column}", value, place)
    if "hypothesis" in layout.single:
        value = _text(layout, layout.single["hypothesis"], row)
        assembly.hypothesis(i, system, run, value, place)


def _text(layout: ColumnLayout, column: str, row: int) -> str | None:
    """A cell as one line of text; line breaks inside a quoted cell become blanks."""
    value = layout.cells(column)[row]
    if isinstance(value, dict | list):
        raise InputError(
            f"{layout.table.name}, {layout.table.place(row)}: {column!r} is "
            f"{'a list' if isinstance(value, list) else 'an object'}; one text is expected."
        )
    if value is None:
        return None
    text = str(int(value) if isinstance(value, float) and value.is_integer() else value)
    return " ".join(text.split()) if "\n" in text else text.strip()


def _word(layout: ColumnLayout, role: str, row: int, default: str) -> str:
    column = layout.single.get(role)
    if column is None:
        return default
    value = _text(layout, column, row)
    if value is None or blank(value):
        where = f"{layout.table.name}, {layout.table.place(row)}"
        raise InputError(f"{where}: column {column!r} is empty.")
    return without_slash(value) if role == "system" else value
