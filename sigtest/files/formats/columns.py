"""Files of no program's format: tables with named columns, numbers a line, lines of text.

A row of a table is about one segment of one system, in any order. Scores stand in a column `score`,
or each metric (or each system) has a column of its own.
"""

import io
import json
import re
from collections import Counter
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import replace
from itertools import takewhile

from sigtest.cached import cached_property
from sigtest.data.names import MEANS, system_name, without_slash
from sigtest.data.testset import LABEL
from sigtest.data.text import in_digits
from sigtest.errors import InputError, at_line
from sigtest.files import tables
from sigtest.files.file import File, entries_of, loads, require_filled
from sigtest.files.material import ONLY_RUN, Assembly, Group, Material, SystemScores, Value

ERROR_RATE = "error_rate"  # errors over words
KNOWN = "id, system, metric, score, run, document (or cluster), domain"
FEWEST = 3  # rows that count something


def sniff(file: File) -> bool:
    """A header of known names, or a column of numbers with a name; or records of such fields."""
    if file.kind:
        first = tables.flat(file.first) if file.has_records else {}
        return tables.names_columns(first) or _is_wide(first)
    return tables.header_separator(file) is not None


def _is_wide(record: Mapping[str, object]) -> bool:
    """Whether a record has several numbers, beside an id."""
    roles = {column: tables.role_of(column) for column in record}
    unknown = [c for c, role in roles.items() if role is None and not tables.is_counter(c)]
    measured = [column for column in unknown if tables.numeric(record[column])]
    known = {"id", "system", "metric"} & {*roles.values()}
    return bool(known and measured) and len(known) + len(measured) > 2


def read(file: File) -> Material:
    """Read a table.

    Raises:
        InputError: Columns whose meaning is not clear, a cell that is no number, an entry twice,
            one score a system and none a segment.
    """
    return read_columns_of(tables.read_table(file), file.stem, file.columns)


def read_columns_of(table: tables.Table, stem: str, meant: str | None = None) -> Material:
    """What the rows of a table bring.

    Args:
        table: The table.
        stem: What its file calls its system.
        meant: What columns of scores are, where that was said.

    Raises:
        InputError: As `read`.
    """
    turned = meant == "tasks" and tables.role_of(table.header[0]) == "system"
    table = _turned(table) if turned else table
    tables.check_header(table.header, table.name)
    columns = ColumnLayout(table, stem, meant)
    columns.require_meaning()
    columns.require_segments()
    columns.require_told_apart()
    material = columns.assembled().material(columns.notes(), ordered=False)
    unread = tuple(column for column in columns.passed_over if not columns.is_measured(column))
    return replace(material, unread=unread, tasks=bool(columns.naming))


def _turned(table: tables.Table) -> tables.Table:
    """A board whose rows are systems: its columns of numbers as rows, each a task."""
    names, *columns = zip(*table.rows, strict=True)
    tasks = [
        own
        for own in zip(table.header[1:], *zip(*columns, strict=True), strict=True)
        if any(map(tables.numeric, own[1:])) and own[0].lower() not in MEANS  # of the tasks
    ]
    return tables.Table(
        table.name, ("task", *map(str, names)), tasks, range(1, len(tasks) + 1), "entry"
    )


class ColumnLayout:
    """What the columns of a table are.

    Args:
        table: The table.
        stem: What its file calls its system.
        meant: What columns of scores are, where that was said: systems, also of tasks, or metrics.

    Attributes:
        single: The column of each role.
        references: Columns of reference sets.
        inferred: The column taken for the id without being called so.
        counts: Columns of errors and of words, where there are both.
        measured: Columns with scores besides `score`.
        passed_over: Columns that have neither scores nor texts.
        naming: Columns that together name each row of a table of systems.
    """

    def __init__(self, table: tables.Table, stem: str, meant: str | None = None) -> None:
        self.table = table
        self.meant = meant
        self.name = table.name
        self.stem = stem
        by_role: dict[str, list[str]] = {}
        for column in table.header:
            if (role := tables.role_of(column)) is not None:
                by_role.setdefault(role, []).append(column)
        self.references = by_role.pop("reference", [])
        self._testsets = by_role.get("testset", [])
        # where nothing else identifies segments, doc_id does: evaluations call it so
        items = [c for c in by_role.get("document", ()) if c.lower() == "doc_id"]
        if items and "id" not in by_role:
            by_role["id"] = items[:1]
            by_role["document"].remove(items[0])
        self.single = {
            role: min(columns, key=lambda c, role=role: tables.preference(c, role))  # type: ignore[misc]
            for role, columns in by_role.items()
            if columns
        }
        taken = {*self.single.values(), *self.references}
        self.naming = self._naming()
        labels = [c for c in table.header[: 1 if self.naming else None] if tables.is_index(c)]
        others = [c for c in table.header if c not in taken and c not in labels]
        self.inferred = None if "id" in self.single or self.naming else self._identify(others)
        if self.inferred is not None:
            self.single["id"] = self.inferred
        others = [c for c in others if c not in (self.inferred, *self.naming)]
        scored = "score" in self.single
        told = scored or "metric" in self.single
        self.counts = () if told else tables.counts_of(others, self.name)
        others = [c for c in others if c not in self.counts]
        self.measured = [c for c in others if not scored and self._is_score(c)]
        self.passed_over = [column for column in others if column not in self.measured]

    def _is_score(self, column: str) -> bool:
        """Whether a column has scores: numbers that count nothing, where nothing else says it."""
        plain = (
            tables.role_of(column) is None
            and not tables.is_counter(column)
            and self.is_measured(column)
        )
        return plain and (bool(self.naming) or tables.is_metric(column) or not self._counts(column))

    def cells(self, column: str) -> Sequence[object]:
        """(n,) cells of a column."""
        return self.table.columns[column]

    @cached_property
    def of_systems(self) -> bool:
        """Whether columns of scores are systems: one names the metric, or so it was said."""
        return "metric" in self.single or bool(
            self.meant in ("systems", "tasks") and "system" not in self.single
        )

    @cached_property
    def question(self) -> str | None:
        """The column that has what was asked in an item, if it is not the id."""
        return next(filter(tables.is_question, self.passed_over), None)

    @cached_property
    def groups(self) -> list[list[int]]:
        """Rows of each system, metric and run."""
        keys = self._keyed("system", "metric", "run")
        rows: dict[tuple[str, ...], list[int]] = {}
        for row, key in enumerate(self._keys(keys)):
            rows.setdefault(key, []).append(row)
        return [*rows.values()]

    def _keys(self, columns: Sequence[str]) -> list[tuple[str, ...]]:
        """(n,) cells of several columns as text."""
        cells = [map(str, self.cells(column)) for column in columns]
        return [*zip(*cells, strict=True)] if cells else [()] * len(self.table)

    def is_measured(self, column: str) -> bool:
        """Whether a column of no known role is one of scores: most of its cells are numbers."""
        filled = [cell for cell in self.cells(column) if not tables.blank(cell)]
        numbers = sum(map(tables.numeric, filled))
        return numbers > 0 and numbers >= 0.5 * len(filled)

    def _identify(self, others: Sequence[str]) -> str | None:
        """The column that stands for the missing id: an id by its name, or one that counts rows.

        The first one whose cells differ within each system, metric and run, and are mostly the
        same in all of them; nothing where rows can be told by their order only.
        """
        columns = [column for column in others if not tables.is_metric(column)]
        candidates = [*filter(tables.may_identify, columns), *filter(self._counts, columns)]
        return next(filter(self._tells_apart, candidates), None)

    def _naming(self) -> Sequence[str]:
        """Columns before those of scores where columns are systems and rows are test sets.

        That they are was said, or one is called so and most rows have names of their own: a second
        row of one name is then refused.
        """
        start = tables.is_index(self.table.header[0]) and self.is_measured(self.table.header[0])
        before = takewhile(lambda c: not self.is_measured(c), self.table.header[start:])
        columns = [column for column in before if tables.role_of(column) != "metric"]
        own = len({*self._keys([*columns, *self._keyed("metric")])})
        few = self._keyed("id", "system") or 2 * own <= len(self.table)
        named = {"testset"} <= {*map(tables.role_of, columns)} <= {
            None,
            "testset",
            "domain",
        } and not few
        return columns if self.meant == "tasks" or (self.meant == "systems" and named) else ()

    def _keyed(self, *roles: str) -> list[str]:
        """The columns of some roles."""
        return [self.single[role] for role in roles if role in self.single]

    def _tells_apart(self, column: str) -> bool:
        known: set[str] = set()
        for group in self.groups:
            cells = {str(self.cells(column)[row]).strip() for row in group}
            if any(map(tables.blank, cells)) or len(cells) < len(group):
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
        single, measured = self.single, self.measured
        if self.meant == "tasks" and not (self.naming and measured):
            raise InputError(
                f"{self.name}: rows are test sets, so that the first column names each of them and "
                "the others have numbers, one column a system; its columns are "
                f"{', '.join(map(repr, self.table.header[:8]))}."
            )
        metrics = [*map(tables.is_metric, measured)]
        if "score" not in single and not any(metrics):
            for column in filter(tables.VERDICT.search, self.passed_over):
                words = [str(cell) for cell in self.cells(column) if not tables.blank(cell)]
                if words and all(map(tables.advice, words)):
                    tables.number(words[0], f"{self.name}, column {column!r}")
        texts = bool({*tables.TEXTS} & {*single} or self.references or self.counts)
        if not measured and not texts and "score" not in single:
            for column in filter(tables.is_metric, self.passed_over):
                for row, cell in enumerate(self.cells(column)):
                    tables.number(cell, self.table.where(row, column))
            raise InputError(
                f"{self.name} is a table without scores or texts; its columns are "
                f"{', '.join(map(repr, self.table.header))}. Name the column of scores score; "
                f"known are {KNOWN}, and source, reference, hypothesis."
            )
        known = texts or self.meant or self.of_systems or "system" in single or all(metrics)
        if measured and not known:
            raise InputError(
                f"{self.name}: nothing says whether {', '.join(map(repr, measured[:8]))} are "
                "metrics of one system or systems of one metric. If they are systems, add a column "
                "metric that has the metric's name, such as accuracy, in every row; if they are "
                "metrics, add a column system with the system's name. Or say it with columns "
                "(--columns systems or metrics in the shell), or write one row a score: "
                f"{KNOWN}.",
                field="columns",
            )

    def require_segments(self) -> None:
        """Check that there is more than one score of each system, and that rows are no test sets.

        Raises:
            InputError: There is one, as for whole outputs.
        """
        single, rows = self.single, len(self.table)
        testsets = {*self._keys([single["testset"]])} if "testset" in single else ()
        if self.of_systems and not ("id" in single or self.naming) and 1 < rows == len(testsets):
            raise InputError(
                f"{self.name} has one score of each system for each of {rows} test sets or "
                "tasks, as for whole outputs; `sigtest board` compares systems over these, a "
                "comparison needs one score a segment."
            )
        column = single.get("system")
        if column is None or not ("score" in single or self.measured or self.counts):
            return
        if any(map(tables.blank, self.cells(column))):
            return  # the row that has no name is refused where it is read
        roles = ("id",) if "id" in single else ("metric", "run", "domain")
        by = [column, *(single[role] for role in roles if role in single)]
        rows_of = Counter(self._keys(by if "id" in single else [*by, *self._testsets]))
        systems = Counter(key[0] for key in rows_of)
        most = systems if "id" in single else rows_of
        if len(systems) > 1 and max(most.values()) == 1:
            tasks = " If columns are tasks, `sigtest board --columns tasks` compares over these."
            raise InputError(
                f"{self.name} has one score for each of {len(systems)} systems, as for whole "
                "outputs; a comparison needs one score a segment, or the outputs themselves."
                f"{tasks * (len(self.measured) > 1)}"
            )

    def require_told_apart(self) -> None:
        """Check that nothing that is not read tells rows of one segment apart.

        Raises:
            InputError: It does; the message says what to call the column.
        """
        single, rows = self.single, len(self.table)
        if "id" not in single:
            return
        keys = self._keyed("id", "system", "metric", "run")
        seen = len({*self._keys(keys)})
        for column in self.passed_over:
            if seen < rows == len({*self._keys([*keys, column])}):
                raise InputError(
                    f"{self.name}: nothing is read from the column {column!r}, and only it "
                    f"tells rows of one id apart; call it "
                    f"{'' if 'system' in single else 'system, or '}run if its rows are runs of one "
                    "segment, or write it into the ids if they are different segments."
                )

    def notes(self) -> list[str]:
        """What was read in a way that could surprise."""
        notes = []
        unknown = ", ".join([repr(c) for c in self.measured if not tables.is_metric(c)][:8])
        if self.counts:
            notes.append(
                f"{self.name}: {' and '.join(self.counts)} are read as {ERROR_RATE}, the ratio of "
                "their sums, where lower is better."
            )
        if self.inferred:
            notes.append(f"{self.name}: rows are joined by the column {self.inferred!r}.")
        if unknown and not self.of_systems:
            notes.append(
                f"{self.name}: taken for metrics, where greater is better: {unknown}; take out "
                "what is no metric, such as a length, and say higher=false of error rates."
            )
        if passed := [column for column in self.passed_over if column != self.question]:
            notes.append(f"{self.name}: columns passed over: {', '.join(passed)}.")
        return notes

    def assembled(self) -> Assembly:
        """All that the rows say."""
        table, single = self.table, self.single
        assembly = Assembly(self.name)
        label = self.stem if self.of_systems and not ("system" in single or self.naming) else LABEL
        if "system" in single and len({*map(str, self.cells(single["system"]))}) > 1:
            label = self.stem
        defaults = {"system": self.stem, "metric": label, "run": ONLY_RUN}
        seen: Counter[Group] = Counter()
        for row in range(len(table)):
            place = table.place(row)
            system, metric, run = (self._word(role, row, word) for role, word in defaults.items())
            group = (without_slash(system) if "system" in single else system, metric, run)
            system, i = group[0], seen[group]
            seen[group] += 1
            if "id" in single:
                i = assembly.place_of(self.cells(single["id"])[row], place)
            elif self.naming:
                words = (self._text(column, row) or "" for column in self.naming)
                i = assembly.place_of(", ".join(words), place)
            assembly.describe(i, self._described(row), place)
            if "hypothesis" in single:
                text = self._text(single["hypothesis"], row)
                assembly.hypothesis(i, system, run, text, place)
            groups = {single["score"]: group} if "score" in single else {}
            for column in self.measured:
                own = (without_slash(column), metric, run)
                groups[column] = own if self.of_systems else (system, column, run)
            way, higher = single.get("higher_is_better"), None
            if way is not None:
                higher = tables.truth(self.cells(way)[row], table.where(row, way))
            for column, key in groups.items():
                score = tables.number(self.cells(column)[row], table.where(row, column))
                assembly.score(i, key, score, place, higher)
            if self.counts:
                both = [self._count(row, column) for column in self.counts]
                value = None if None in both else tuple(n for n in both if n is not None)
                assembly.metrics[ERROR_RATE] = "ratio"
                assembly.score(i, (system, ERROR_RATE, run), value, place, False)
        return assembly

    def _count(self, row: int, column: str) -> float | None:
        found = tables.number(self.cells(column)[row], self.table.where(row, column))
        if found is not None and not (found >= 0 and found.is_integer()):
            raise InputError(
                f"{self.table.where(row, column)}: {found:g} counts no {column}; where these are "
                "rates, write them as scores."
            )
        return found

    def _described(self, row: int) -> dict[str, str | None]:
        """What a row says of its segment, whatever the system."""
        columns: dict[str, str | None] = {}
        for role in ("source", "document", "domain", "testset"):
            column = self.single.get(role)
            value = self._text(column, row) if column and column not in self.naming else None
            columns[role] = value if role == "source" or not tables.blank(value) else None
        key = self.cells(self.question)[row] if self.question is not None else None
        columns["key"] = key if isinstance(key, str) and not tables.blank(key) else None
        return columns | {f"reference {c}": self._text(c, row) for c in self.references}

    def _text(self, column: str, row: int) -> str | None:
        """A cell as one line of text; line breaks inside a quoted cell become blanks."""
        value = self.cells(column)[row]
        if isinstance(value, dict | list):
            kind = "a list" if isinstance(value, list) else "an object"
            where = f"{self.name}, {self.table.place(row)}"
            raise InputError(f"{where}: {column!r} is {kind}; one text is expected.")
        if value is None:
            return None
        text = str(int(value) if isinstance(value, float) and value.is_integer() else value)
        return " ".join(text.split()) if "\n" in text else text.strip()

    def _word(self, role: str, row: int, default: str) -> str:
        column = self.single.get(role)
        value = self._text(column, row) if column is not None else default
        if column is not None and tables.blank(value):
            where = f"{self.name}, {self.table.place(row)}"
            raise InputError(f"{where}: column {column!r} is empty.")
        return value or default


# anchored: searched from every place of a long line, it would take the square of its length
TAG_ONLY = re.compile(r"^\s*</?[A-Za-z][^<>]*>\s*$|</(seg|tr|td|p|div|row|tu|target)>\s*$", re.I)
TAGGED = re.compile(r"^\s*<[A-Za-z][\w-]*(\s[^<>]*)?>")
RECORD = re.compile(r'^\s*[\[{]"[^"]*":[^\r]*[\]}],?\s*$')
# of numbers and what stands for none, perhaps cut; not `[1] Smith said`
ARRAY = re.compile(
    r"\[\s*(?=[-\dnNtf])([\s\d.,eE+-]|null|[Nn]a[Nn]|true|false|-?Infinity)*+\w*+\s*\]?"
)
NUMBERS_SHARE = 0.5
MARKUP_SHARE = 0.3
PRECISE = 4  # decimals with which a number is hardly ever a mean by chance
TABULAR = 3  # lines that have tabs before they are columns


def sniff_numbers(file: File) -> bool:
    """Numbers, or words for missing ones, on most lines."""
    lines = file.first_lines
    if not lines or file.kind or file.labels:
        return False
    if lines[0].lstrip().startswith("["):
        return all(map(_is_list, lines)) or _is_number_array(file)
    rows = [_cells(line) for line in lines]
    good = [row for row in rows if all(tables.numeric(c) or tables.blank(c) for c in row)]
    some = any(tables.numeric(cell) for row in good for cell in row) or len(good) == len(lines)
    return some and len(good) >= NUMBERS_SHARE * len(lines)


PLACE = re.compile(rb"""\br\s*=\s*["']([A-Za-z]{0,4})(\d+)["']""")  # of a row, or of a cell
COUNT = re.compile(rb"""uniqueCount\s*=\s*["']([^"']*)""")  # for which calamine makes room
CELL = re.compile(rb"<(?:\w+:)?c[\s/>]")


def read_workbook(data: bytes, parts: Iterable[bytes], name: str, meant: str | None) -> Material:
    """Read the sheet of an Excel workbook that has rows.

    Args:
        data: The workbook.
        parts: All files in it, which say how large its sheets would be laid out.
        name: What messages call it.
        meant: What columns of scores are, where that was said.

    Raises:
        InputError: A damaged workbook, no sheet with rows or several, cells far apart; no
            python-calamine.
    """
    try:
        import python_calamine  # late: few files are workbooks
    except ImportError:
        raise InputError(
            f"{name} is an Excel workbook, which needs python-calamine: pip install "
            "python-calamine; or save it as CSV (UTF-8)."
        ) from None
    for part in parts:
        _require_places(part, name)
    try:
        with python_calamine.load_workbook(io.BytesIO(data)) as book:
            read = {own: book.get_sheet_by_name(own).to_python(False) for own in book.sheet_names}
    except (KeyboardInterrupt, MemoryError, SystemExit):
        raise
    except BaseException as error:  # what panics in Rust is no Exception
        raise InputError(f"{name} is no whole Excel workbook: {error}") from None
    sheets = [rows for rows in read.values() if len(rows) > 1]
    if len(sheets) != 1:
        raise InputError(
            f"{name} has {len(sheets)} sheets with a header and rows; leave one, or save it as CSV."
        )
    (_, header), *body = (own for own in enumerate(sheets[0], 1) if {*own[1]} != {""})
    # a spreadsheet has made some numbers dates
    cells = [[c if isinstance(c, str | int | float) else str(c)[:10] for c in r] for _, r in body]
    table = tables.Table(name, tuple(str(c).strip() for c in header), cells, [i for i, _ in body])
    return read_columns_of(table, system_name(name.rpartition("/")[2]), meant)


def _require_places(part: bytes, name: str) -> None:
    """Check that cells say where they are, not far apart, and that nothing counts what is not."""
    places = PLACE.findall(part)
    lettered = [letters.upper() for letters, _ in places if letters]
    counted = all(own.isdigit() and float(own) <= len(part) for own in COUNT.findall(part))
    if len(CELL.findall(part)) > len(lettered) or not counted:
        what = "cells that do not say where they are" if counted else "a count of what is not there"
        raise InputError(f"{name} has {what}; save it as CSV (UTF-8).")
    rows = max((int(row[:10]) for _, row in places), default=0)
    columns = max((int.from_bytes(bytes(c - 64 for c in own)) for own in lettered), default=0)
    require_filled(rows, columns, len(places), name)


def read_numbers(file: File) -> Material:
    """Scores of one system, named by its file, and perhaps by a name in the first line.

    Raises:
        InputError: A line that is no number, nothing or one line only, unequal tuples, lines that
            are numbered.
    """
    filled = max((i for i, line in enumerate(file.lines, 1) if line.strip()), default=0)
    label = _label(file.lines[:filled])
    values: list[Value | None] = []
    if _is_number_array(file):
        entries = entries_of(loads(file.text, file.name))
        values += [
            tables.number(entry, f"{file.name}, entry {i}") for i, entry in enumerate(entries, 1)
        ]
    else:
        for i, line in enumerate(file.lines[:filled], 1):
            if i > 1 or label is None:
                values.append(_value(line, file.name, i))
    if len(values) < 2:
        raise InputError(
            f"{file.name} has one line of numbers, as for the score of a whole output; give one "
            "line a segment."
        )
    _require_tuples(values, file.name)
    scores = SystemScores(file.stem, label or LABEL, (tuple(values),))
    return Material(scores=(scores,), name=file.name, notes=tuple(_summaries(values, file.name)))


def read_columns(file: File) -> Material:
    """Several texts side by side, as sacreBLEU takes systems or references.

    Raises:
        InputError: A line with more or fewer columns, a table of numbers without a header.
    """
    tables.require_header(file)
    rows = [line.split("\t") for line in file.lines]
    if file.labels and len({*map(len, rows)}) > 1:  # some names have tabs
        rows = [[line] for line in file.lines]
    for i, row in enumerate(rows, 1):
        if len(row) != len(rows[0]):
            why = f"line 1 has {len(rows[0])}; every segment needs all of them"
            raise at_line(file.name, i, f"{len(row)} columns, {why}.")
    return Material(texts=tuple(zip(*rows, strict=True)), name=file.name)


def is_json(file: File) -> bool:
    """JSON that no reader of a format has recognised, perhaps below other lines."""
    unseen = not file.kind and file.matches(RECORD, MARKUP_SHARE)
    return unseen or file.kind in {"object", "array", "lines"}


def read_text(file: File) -> Material:
    """The lines of a text.

    Raises:
        InputError: Nothing in it, not UTF-8, damaged JSON, a table without a header, lines that end
            as no line does.
    """
    if not file.lines:
        raise InputError(f"{file.name} is empty; one line a segment is expected.", field=file.name)
    if file.kind == "broken":
        loads(file.text, file.name)
    tables.require_header(file)
    return Material(texts=(file.lines,), name=file.name)


def _cells(line: str) -> list[str]:
    """Cells between tabs, else between blanks, where R quotes the names of rows."""
    if "\t" in line:
        return line.split("\t")
    return [part.strip('"') for part in line.split()] or [""]


def _value(line: str, name: str, i: int) -> Value | None:
    """The number or numbers of a line; nothing where it says that there is none."""
    where, cells = f"{name}, line {i}", _cells(line)
    entries: list[object] = [*cells]
    if line.lstrip().startswith("["):
        entries = entries_of(loads(line, name, i))
    elif "\t" not in line and not all(tables.numeric(cell) or tables.blank(cell) for cell in cells):
        entries = [line]  # what reads as one number with blanks inside stays whole
    values = [tables.number(entry, where) for entry in entries]
    numbers = [value for value in values if value is not None]
    if numbers and len(numbers) < len(values):
        raise InputError(f"{where}: some of its {len(values)} numbers are missing.")
    if len(numbers) < len(values):
        return None
    return numbers[0] if len(numbers) == 1 else tuple(numbers)


def _require_tuples(values: Sequence[Value | None], name: str) -> None:
    """Check that lines have numbers, equally many, the first of which do not count lines."""
    tuples = {
        i: v if isinstance(v, tuple) else (v,) for i, v in enumerate(values, 1) if v is not None
    }
    if not tuples:
        raise InputError(f"{name} has no score at all: every line says that it is missing.")
    size = len(next(iter(tuples.values())))
    for i, own in tuples.items():
        if len(own) != size:
            above = f"where the lines above have {size}"
            raise at_line(name, i, f"{len(own)} number{'' if len(own) == 1 else 's'}, {above}.")
    firsts, count = [own[0] for own in tuples.values()], len(tuples)
    if size > 1 and count >= TABULAR and firsts in ([*range(count)], [*range(1, count + 1)]):
        raise InputError(
            f"{name} is a table without a header: the first numbers of its lines count them. Name "
            "the columns in a first line, such as id, score, or leave these numbers out."
        )


def _summaries(values: Sequence[Value | None], name: str) -> Iterator[str]:
    """Whether the first or last number is the mean of the others, to the digits that it has."""
    known = [value for value in values if isinstance(value, float)]
    if len(known) < len(values):
        return
    for where, mean, others in (("first", known[0], known[1:]), ("last", known[-1], known[:-1])):
        decimals = len(str(mean).partition(".")[2])
        gap = abs(sum(others) / len(others) - mean)
        rounded = gap < 0.51 * 10.0**-decimals + 1e-12 * abs(mean)
        if decimals >= PRECISE and rounded and min(others) < max(others):
            yield (
                f"{name}: the {where} number is the mean of the others; if it is the score of the "
                "whole output, take it out."
            )


def _label(lines: Sequence[str]) -> str | None:
    """The name that the first line gives to the numbers below; nothing where it is a score."""
    name = lines[0].strip().strip('"') if len(lines) > 1 else ""
    if (
        tables.numeric(name)
        or tables.blank(name)
        or not all(tables.numeric(line) or tables.blank(line) for line in lines[1:])
    ):
        return None
    return LABEL if tables.role_of(name) == "score" else name if tables.is_metric(name) else None


def _is_list(line: str) -> bool:
    try:
        entries = json.loads(line)
    except (ValueError, RecursionError):
        return False
    return isinstance(entries, list) and bool(entries) and all(map(tables.numeric, entries))


def _is_number_array(file: File) -> bool:
    """Whether all of the file is one JSON array of numbers."""
    one = sum(line.count("[") for line in file.first_lines) == 1
    return one and ARRAY.fullmatch(file.head.strip()) is not None
