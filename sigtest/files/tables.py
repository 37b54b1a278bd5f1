"""Tables: what a cell says, what columns mean by their names, and rows with the place of each.

CSV, TSV, semicolons, bars or blanks between cells; a header is recognised by its names, or by
numbers below a name.
"""

import csv
import io
import math
import re
from collections import Counter
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from functools import cache, lru_cache
from itertools import chain
from typing import Any, Literal

from sigtest.cached import cached_property
from sigtest.data.names import MAX_NAME
from sigtest.errors import InputError, at_line, quoted
from sigtest.files.file import HEAD, HINT, SNIFFED, File, Record, entries_of, require_filled

MISSING = {
    "", "none", "nan", "-nan", "na", "n/a", "n.a.", "#n/a", "null", "nil", "<na>", "-", "--", "?",
}  # fmt: skip
TRUTH = {"true": 1.0, "false": 0.0}
TRUTHS = TRUTH | {"1": 1.0, "0": 0.0, "1.0": 1.0, "0.0": 0.0}
NUMBER = re.compile(r"[+-]?((\d+(\.\d*)?|\.\d+)(e[+-]?\d+)?|inf(inity)?)", re.IGNORECASE)
EMPTY = "leave the cell empty if there is no score"
POINT = "write the decimal mark as a point, and thousands without"
FIXES = {  # of what was meant as a number
    r"[+-]?[1-9]\d{0,2},\d{3}": f"{POINT} a comma",
    r"[+-]?[1-9]\d{0,2}(,\d{3})+(\.\d+)?": "write it without commas",
    r"[+-]?\d*,\d+": "write the decimal mark as a point, 0.5 and not 0,5",
    r"[+-]?[1-9]\d{0,2}(\.\d{3})+,\d+": f"{POINT} one",
    r"[+-]?\d[\d.,]*\s*%": "write it without the percent sign",
    r"[+-]?[\d.]+\s*(±|\+/-|\+-).*": "leave the interval out",
    r"\d+\s*/\s*\d+": "write a fraction as a decimal number",
    r"\d{1,4}[-./]\d{1,2}[-./]\d{1,4}": "a spreadsheet has made it a date",
    r"[+-]?\d+([_' \u00a0\u202f]\d{3})+": "write it without separators",
    r"[\u2212\u2013]\s*\d[\d.]*": "write the minus sign as -",
    r"#(REF|DIV/0|VALUE|NAME|NUM)[!?]": "a spreadsheet could not compute it",
    r"[A-Za-z_][\w.]*\([+-]?[\d.]+([eE][+-]?\d+)?(,[^()]*)?\)":
        "a program printed what it calls the number; write the number alone (float(score))",
    r"\[[+-]?[\d.]+([eE][+-]?\d+)?\]": "write it without brackets",
}  # fmt: skip
WORDS = {  # which are no numbers anywhere
    r"(?i:yes|no|pass(ed)?|fail(ed)?|(in)?correct|right|wrong|[CI✓✗✔✘])":
        "write 1 for right and 0 for wrong",
    r"(?i:missing|error|unknown|undefined|skipped|not available|timeout)":
        EMPTY,
}  # fmt: skip


COMMA = re.compile(r"[+-]?\d+(,\d+)?([eE][+-]?\d+)?")
THOUSANDS = re.compile(r"[+-]?[1-9]\d{0,2},\d{3}")


def number(cell: object, where: str, line: int | None = None) -> float | None:
    """The number in a cell; nothing where it says that there is none.

    Args:
        cell: What stands there: text, or what JSON says.
        where: File and place, for messages.
        line: The line of the file, where it has lines.

    Raises:
        InputError: Something else; the message says how to write it.
    """
    if blank(cell):
        return None
    value, text = float_in(cell), str(cell).strip()
    if value is not None and math.isfinite(value):
        return value
    if value is not None:
        why = f"{text[:40]!a} is not finite, so no mean exists; {EMPTY}"
    elif isinstance(cell, str):
        why = f"{text[:40]!a} is not a number; {advice(text) or 'a score is one number'}"
    else:
        kind = "a list" if isinstance(cell, list) else "an object"
        why = f"a score is one number, not {kind} ({quoted(cell, 40)})"
    raise InputError(f"{where}: {why}.", line=line)


def float_in(cell: object) -> float | None:
    """What a cell has of a number, or of true and false; perhaps infinite, or NaN of JSON."""
    if isinstance(cell, bool | int | float):
        try:
            return float(cell)
        except OverflowError:  # an integer of JSON may be larger than any float
            return math.inf if cell > 0 else -math.inf
    if not isinstance(cell, str):
        return None
    word = cell.strip()
    return float(word) if NUMBER.fullmatch(word) else TRUTH.get(word.lower())


def advice(text: str) -> str | None:
    """How to write what is no number, where what was meant is known."""
    fixes = (fix for pattern, fix in _patterns() if pattern.fullmatch(text))
    return next(fixes, None)


def numbers(cells: Sequence[str], name: str, line_of: Callable[[int], int]) -> list[float | None]:
    """The numbers in many cells of a file.

    Args:
        cells: Text.
        name: Of the file, for messages.
        line_of: The line of one of the cells, looked up where that is no number.

    Raises:
        InputError: As `number`.
    """
    try:
        plain = [None if cell == "None" else float(cell) for cell in cells]
        known = sum(value for value in plain if value is not None)
        if math.isfinite(known) and not any("_" in cell for cell in cells):
            return plain
    except ValueError:
        pass
    values = []
    for i, cell in enumerate(cells):
        try:
            values.append(number(cell, ""))
        except InputError:
            line = line_of(i)
            values.append(number(cell, f"{name}, line {line}", line))
    return values


def numeric(cell: object) -> bool:
    """Whether a cell holds a number, or what was meant to be one."""
    if float_in(cell) is not None:
        return True
    meant = cell.strip() if isinstance(cell, str) else ""
    return any(pattern.fullmatch(meant) for pattern, _ in _patterns()[: len(FIXES)])


@cache
def _patterns() -> list[tuple[re.Pattern[str], str]]:
    """Compiled when the first cell asks: most runs read no scores."""
    return [(re.compile(pattern), fix) for pattern, fix in (FIXES | WORDS).items()]


def truth(cell: object, where: str) -> bool | None:
    """Whether a cell says yes; nothing where it says nothing.

    Args:
        cell: What stands there.
        where: File and place, for messages.

    Raises:
        InputError: Something else than true, false, 1 or 0.
    """
    if blank(cell):
        return None
    word = str(cell).strip().lower()
    if word not in TRUTHS:
        raise InputError(f"{where}: {quoted(cell, 40)} is neither true nor false.")
    return bool(TRUTHS[word])


def blank(cell: object) -> bool:
    """Whether a cell says that there is nothing."""
    if isinstance(cell, float):
        return math.isnan(cell)
    return cell is None or (isinstance(cell, str) and cell.strip().lower() in MISSING)


NAMES = {  # of columns, by what they hold; the first of two that a table has is taken
    "segment": "segment segment_id seg_id segid seg sid item item_id",
    "id": "id sample_id question_id example_id instance_id prompt_id sentence_id line line_number "
    "index idx key # qid uid",
    "system": "system sys system_id sys_id system_name sys_name model model_id model_name "
    "model_name_or_path mt_system engine submission team llm solver agent participant generator",
    "metric": "metric metric_name metric_id measure scorer",
    "rating": "raw raw_score rating",
    "score": "score value metric_value seg_score segment_score metric_score result",
    "z": "z z_score z_scr",
    "run": "run run_id seed epoch replica trial repeat attempt",
    "document": "document doc document_id docid doc_id doc_name",
    "cluster": "cluster cluster_id group talk_id passage passage_id speaker speaker_id spk spk_id "
    "conversation conversation_id",
    "domain": "domain genre stratum topic subset",
    "languages": "languages language_pair lang_pair langpair lp langs",
    "testset": "testset test_set pair task dataset benchmark",
    "source": "source src source_text src_text",
    "reference": "reference ref reference_text ref_text",
    "hypothesis": "hypothesis hyp mt translation output hypothesis_text mt_text translated_text",
    "annotator": "annotator annotator_id rater judge worker worker_id login username user user_id",
    "kind": "kind type item_type",
    "criterion": "criterion aspect dimension",
    "hit": "hit hit_id batch",
    "seconds": "seconds time duration",
    "higher_is_better": "higher_is_better",
}
ROLES = {name.replace("_", ""): role for role, names in NAMES.items() for name in names.split()}
PLACES = {name: place for place, name in enumerate(ROLES)}
SCORED = {  # what columns of texts and scores are, by what they hold
    "segment": "id", "cluster": "document", "languages": "testset",
    **{role: role for role in (
        "id", "system", "metric", "score", "run", "document", "domain", "testset", "source",
        "reference", "hypothesis", "higher_is_better",
    )},
}  # fmt: skip
NESTED = re.compile(r"(seg(ment)?_)?(metrics?|scores?|results?|eval(uation)?s?)", re.IGNORECASE)
DEEPEST = 3  # objects within one another that are fields
COUNT = r"((n|num|number_of|total|word|char|character|ref|reference)_)?"
ERRORS = re.compile(rf"{COUNT}(errors?|errs?|edits)(_counts?)?")
COUNTED = re.compile(  # sizes of references alone; a bare length may be that of an output
    rf"{COUNT}words?(_counts?)?|ref(erence)?_(words?|chars?|characters?|tokens?|length|len)"
)
REFERENCE = re.compile(r"ref(erence)?_?([a-z]|\d{1,2})")  # refA, reference_2
CAPITALS = re.compile(r"(?<=[a-z\d])(?=[A-Z][a-z])")  # segmentId, globalSegId
NUMBERED = re.compile(r"(.*_)?(id|idx|index|no|nr|num|number|key|uuid|guid|hash)|sample")
STAMP = re.compile(r"(.*_)?(t|time_?)stamp|(.*_)?(created|updated|started|completed)(_at)?|date")
VERDICT = re.compile(r"score|correct|pass|success|verdict|grade|outcome", re.IGNORECASE)
INDEX = re.compile(r"(unnamed: 0(\.\d+)*)?", re.IGNORECASE)  # what pandas calls row labels
QUESTIONS = {
    "question", "prompt", "input", "problem", "query", "sentence", "example", "instance",
    "instruction", "user_input",
}  # fmt: skip
METRIC = re.compile(
    r"(sacre|spb|f200sp|sent(ence)?_?)?bleu|chrf|ter$|hter$|nist|meteor|rouge|comet|x?comet"
    r"|cometkiwi|bleurt|bert_?score|yisi|metricx|gemba|prism|bart_?score|ma?tese|unite|kiwi"
    r"|acc(uracy)?$|exact_match|em$|f1|precision|recall|correct$|is_correct|resolved$|pass@|mae$|rmse$"
    r"|faithfulness|(answer|context|response)_(relevanc|correctness|precision|recall|similarity)"
    r"|(factual_|semantic_)?(correctness|similarity)$"
    r"|esa$|mqm$|da$|wer$|cer$|bits_per_byte|perplexity|log_?prob",
    re.IGNORECASE,
)


def role_of(column: str, roles: Mapping[str, str] = SCORED) -> str | None:
    """What a column is, judged by its name.

    Args:
        column: The name.
        roles: What columns may hold, and what each is taken for.
    """
    for name in _spellings(column):
        role = ROLES.get(name.replace("_", ""))
        if role is not None and role in roles:
            return roles[role]
        if "reference" in roles and REFERENCE.fullmatch(name):
            return roles["reference"]
    return None


@lru_cache(maxsize=1024)  # many columns of a hostile header are called alike
def _spellings(column: str) -> tuple[str, ...]:
    """A name in small letters; the same with words apart, also where only capitals begin them."""
    if not column or column.isspace() or len(column) > MAX_NAME:
        return ()
    names = (
        re.sub(r"[\s\-.]+", "_", name.strip())
        for name in (column, CAPITALS.sub("_", column.strip()))
    )
    return tuple(name.lower().removeprefix("#").lstrip("_") or name.lower() for name in names)


def preference(column: str, role: str) -> int:
    """The place of a column's name among those of its role; what is called as the role is first."""
    name = "".join(_spellings(column)[:1]).replace("_", "")
    return -1 if name == role else PLACES.get(name, len(PLACES))


def is_index(column: str) -> bool:
    """Whether a column has the name that row labels have where a program wrote and read them."""
    return INDEX.fullmatch(column.strip()) is not None


def is_counter(column: str) -> bool:
    """Whether a column has the name of a place, a number or a time, which measures nothing."""
    name = "".join(_spellings(column)[1:])
    return (NUMBERED.fullmatch(name) or STAMP.fullmatch(name)) is not None


def is_question(column: str) -> bool:
    """Whether a column has the name of what is asked in an item."""
    return not QUESTIONS.isdisjoint(_spellings(column)[1:])


def counts_of(columns: Sequence[str], name: str) -> tuple[str, ...]:
    """The column of errors and that of words among some, by their names; none without both.

    Args:
        columns: Names.
        name: What messages call the file.

    Raises:
        InputError: Several columns have such a name.
    """
    found = [
        [c for c in columns if form.fullmatch("".join(_spellings(c)[1:]))]
        for form in (ERRORS, COUNTED)
    ]
    for what, fitting in zip(("errors", "words"), found, strict=True):
        if all(found) and len(fitting) > 1:
            raise InputError(
                f"{name}: the columns {' and '.join(map(repr, fitting[:8]))} may each count "
                f"{what}; leave one, or write rates as scores."
            )
    return tuple(chain(*found)) if all(found) else ()


def may_identify(column: str) -> bool:
    """Whether a column of no known role has the name of an id, or of what is asked in an item."""
    return NUMBERED.fullmatch("".join(_spellings(column)[1:])) is not None or is_question(column)


def is_metric(column: str) -> bool:
    """Whether a column has the name of a known metric, perhaps with more after it."""
    inside = [name for name in column.strip().split(".") if not NESTED.fullmatch(name)]
    return METRIC.match(".".join(inside)) is not None


def names_columns(cells: Iterable[str]) -> bool:
    """Whether these are names of columns: two known ones, something measured or said among them.

    Words such as `line` and `result` may begin a sentence; a header is nothing but names.
    """
    cells = list(cells)
    roles, metrics = [*map(role_of, cells)], [*map(is_metric, cells)]
    known = sum(role is not None or metric for role, metric in zip(roles, metrics, strict=True))
    content = any(metrics) or not {"score", *TEXTS}.isdisjoint(roles)
    return all(len(cell) <= 60 for cell in cells) and known >= 2 and (content or known > 2)


SEPARATORS = {"\t": "tabs", ",": "commas", ";": "semicolons", "|": "bars", " ": "blanks"}
Row = tuple[int, list[str]]  # line number and cells
FEWEST = 3  # lines that make a table without a header
ABOVE = 10  # lines that may stand above a header
KNOWN = 3  # names known for columns that no line of a text has
TEXTS = ("source", "reference", "hypothesis")
OTHER_TEXTS = {"target", "tgt", "text", "sentence", "summary", "prediction", "response", "answer"}
LANGUAGE = re.compile(r"[a-z]{2}([_-][A-Z]{2})?")
ID = re.compile(r"[A-Za-z][\w.#:/-]*\d[\w.#:/-]*", re.ASCII)  # doc1, newstest2019.12#3
QUOTED_CELLS = re.compile(r'"([^"]|"")*+"([\t,;]"([^"]|"")*+")+')
WHOLLY_QUOTED = re.compile(r'"([^"]|"")*+"')
QUOTED_FIELD = re.compile(r'"[^"]*"|\S+')
ALIGNED = 0.5  # share of lines that have as many cells as the first, at least, in a table


@dataclass(frozen=True)
class Table:
    """Rows of cells under named columns, each with its place.

    Attributes:
        name: Of its file.
        header: Names of the columns, as written.
        rows: Cells of each row, as many as names: text, or what JSON says.
        places: Line of each row in its file, or number of each entry of a JSON array, from 1, and
            perhaps of which.
        unit: What places count.
    """

    name: str
    header: tuple[str, ...]
    rows: Sequence[Sequence[object]]
    places: Sequence[Any]
    unit: Literal["line", "entry"] = "line"

    @classmethod
    def of_records(
        cls,
        name: str,
        records: Sequence[Record],
        places: Sequence[Any] = (),
        unit: Literal["line", "entry"] = "entry",
    ) -> "Table":
        """Records, whose fields are columns.

        Raises:
            InputError: They hardly share a field.
        """
        header = tuple(dict.fromkeys(field for record in records for field in record))
        require_filled(len(records), len(header), sum(map(len, records)), name)
        rows = [[record.get(field) for field in header] for record in records]
        return cls(name, header, rows, places or range(1, len(rows) + 1), unit)

    def __len__(self) -> int:
        """Number of rows."""
        return len(self.rows)

    @cached_property
    def columns(self) -> dict[str, Sequence[object]]:
        """(n,) cells of each column, by its name."""
        cells = zip(*self.rows, strict=True) if self.rows else ((),) * len(self.header)
        return dict(zip(self.header, cells, strict=True))

    def place(self, row: int) -> str:
        """Where a row stands: `line 3`, `entry 3`."""
        return f"{self.unit} {self.places[row]}"

    def where(self, row: int, column: str) -> str:
        """Where a cell stands, for messages."""
        return f"{self.name}, {self.place(row)}, column {column!r}"


def read_table(file: File, separator: str | None = None) -> Table:
    """All rows of a file that has a header, or records of JSON.

    Args:
        file: CSV and the like; records, one a line or in an array; or an object that has names of
            columns apart from rows, as W&B, MLflow and pandas (`orient="split"`) write it.
        separator: What stands between its cells, where that is known.

    Raises:
        InputError: A row with more or fewer cells than the header, a quotation mark that is not
            closed, no rows; records that hardly share a field.
    """
    if file.kind:
        return _of_json(file)
    separator = separator or header_separator(file)
    if separator is None:
        raise InputError(f"{file.name} has no header that names its columns.")
    # places stay as they are
    rows = list(parsed(HINT.sub("", file.text), separator, file.name))
    # without columns at the end that have neither a name nor content
    filled = max((i for _, row in rows for i, cell in enumerate(row, 1) if cell.strip()), default=0)
    header = tuple(name.strip() for name in rows[0][1][:filled])
    if len(rows) < 2:
        raise InputError(f"{file.name} has a header and no rows.")
    body = [_fitted(row, header, separator, file.name) for row in rows[1:]]
    again = next((i for i, cells in body if tuple(map(str.strip, cells)) == header), None)
    if again is not None:
        why = (
            "the header again; files were put together, take it out, or give the files one by one."
        )
        raise at_line(file.name, again, why)
    cells = [cells for _, cells in body]
    if separator == ";":
        _point_decimals(cells)
    return Table(file.name, header, cells, [line for line, _ in body])


def _point_decimals(rows: Sequence[list[str]]) -> None:
    """Write decimal commas as points, in columns of numbers whose commas part no thousands."""
    for i, column in enumerate(zip(*rows, strict=True)):
        filled = [cell.strip() for cell in column if not blank(cell)]
        commas = [cell for cell in filled if "," in cell]
        if all(map(COMMA.fullmatch, filled)) and not all(map(THOUSANDS.fullmatch, commas)):
            for row in rows:
                row[i] = row[i].replace(",", ".")


def is_split(file: File) -> bool:
    """One object with a list of names of columns and a list of rows."""
    parts = (file.first.get("columns"), file.first.get("data"))
    return file.kind == "object" and all(isinstance(part, list) for part in parts)


def _of_json(file: File) -> Table:
    if is_split(file):
        header = tuple(str(name) for name in entries_of(file.first["columns"]))
        rows = [entries_of(row) for row in entries_of(file.first["data"])]
        if not rows:
            raise InputError(f"{file.name} names columns and has no rows.")
        for i, row in enumerate(rows, 1):
            if len(row) != len(header):
                cells = f"{len(row)} cells, where {len(header)} columns are named"
                raise InputError(f"{file.name}, entry {i}: {cells}.")
        return Table(file.name, header, rows, range(1, len(rows) + 1), "entry")
    records = file.records()
    unit: Literal["line", "entry"] = "line" if file.kind == "lines" else "entry"
    fields = [flat(row.record) for row in records]
    return Table.of_records(file.name, fields, [row.number for row in records], unit)


def flat(record: Record, path: str = "") -> Record:
    """A record whose objects of scores are fields of their own: `metrics.comet`."""
    fields: dict[str, object] = {}
    for name, value in record.items():
        inside = path.count(".") < DEEPEST if path else NESTED.fullmatch(name)
        inside = inside and len(name) <= MAX_NAME
        if isinstance(value, dict) and inside:
            fields |= flat(value, f"{path}{name}.")
        else:
            fields[f"{path}{name}"] = value
    return fields


def parsed(text: str, separator: str, name: str) -> Iterator[Row]:
    """Line number and cells of each row that is not blank.

    Args:
        text: Of a table.
        separator: Between its cells.
        name: Of its file, for messages.

    Raises:
        InputError: A quotation mark that is not closed.
    """
    if separator == " ":
        lines = enumerate(text.split("\n"), 1)
        yield from ((i, _split(line, " ")) for i, line in lines if line.strip())
        return
    loose = _has_loose_quotes(text, separator)
    reader = csv.reader(
        io.StringIO(text, newline=""),
        delimiter=separator,
        quoting=csv.QUOTE_NONE if loose else csv.QUOTE_MINIMAL,
        skipinitialspace=separator != "\t",  # else quotation marks behind a blank were text
        strict=True,
    )
    line = 1
    try:
        for cells in reader:
            if any(map(str.strip, cells)):
                yield line, cells
            line = reader.line_num + 1
    except csv.Error as error:
        why = f"{error}; close the quotation mark, and double those inside."
        raise at_line(name, line, why) from None


def require_header(file: File) -> None:
    """Check that what is no table with a header is no table without one, either.

    Raises:
        InputError: As many cells on every line, and numbers or ids throughout in one place of them;
            a header below other lines, or above rows with one cell more.
    """
    if not file.first_lines or file.labels:  # blanks only, as far as sniffing looks
        return
    _require_nothing_above(file)
    _require_no_unread_header(file)
    for separator in "\t,;|":
        rows = _first_rows(file, separator)
        width = len(rows[0])
        short = len(rows) < FEWEST and not all(numeric(cell) for row in rows for cell in row)
        if width < 2 or short or any(len(row) != width for row in rows):
            continue
        columns = enumerate(zip(*rows, strict=True), 1)
        places = [
            str(i) for i, own in columns if _holds_numbers(own) or all(map(ID.fullmatch, own))
        ]
        if places:
            raise InputError(
                f"{file.name} is a table without a header: {width} cells between "
                f"{SEPARATORS[separator]} on every line, numbers or ids in cell "
                f"{' and '.join(places)}. Name the columns in a first line, such as id, system, "
                "metric, score."
            )


def _require_nothing_above(file: File) -> None:
    """Check that no line below the first is a header, and no header lacks the name of a column."""
    for i, line in enumerate(file.first_lines[:ABOVE]):
        below = file.first_lines[i + 1 : i + 4]
        for separator in "\t,; ":
            names = [cell for cell in _split(line, separator) if cell.strip()]
            widths = {len(_split(row, separator)) for row in below}
            if len(widths) != 1 or not names_columns(names) or any(map(numeric, names)):
                continue
            if widths == {len(names) + 1}:
                raise InputError(
                    f"{file.name} is a table with a name less than it has columns, as R and pandas "
                    "print the names of rows; leave those out (row.names=FALSE, index=False) and "
                    "write CSV."
                )
            known = sum(role_of(name) is not None or is_metric(name) for name in names)
            if i and widths == {len(names)} and known >= min(len(names), KNOWN):
                raise InputError(
                    f"{file.name} is a table whose header, {line[:60]!a}, stands below other "
                    "lines; take out what stands above it."
                )


def _require_no_unread_header(file: File) -> None:
    """Check that the first line is no header in a form that is not read.

    It has the names of texts, or stands above cells between quotation marks, as only tables have.
    """
    first, *below = file.first_lines
    what = "stands above cells between quotation marks and has no known names of columns"
    wrong = len(below) > 1 and all(map(QUOTED_CELLS.fullmatch, below))
    for separator in "\t,;":
        names = [name.strip('"') for name in first.split(separator)]
        texts = any(role_of(name) in TEXTS or name.lower() in OTHER_TEXTS for name in names)
        plain = all(re.fullmatch(r"[A-Za-z][\w-]*", name, re.ASCII) for name in names)
        heading = len(names) == 1 and first != first.lower()
        languages = len(names) > 1 and all(map(LANGUAGE.fullmatch, names))
        named = (texts and plain and not heading) or languages
        wide = all(line.count(separator) >= len(names) - 1 for line in below)
        if named and wide and len(below) > 1:
            what, wrong = "names columns of text", True
        # rows that have as many cells each only because some have a separator inside
        rows = _first_rows(file, separator)
        inside = any(separator in cell for row in rows for cell in row)
        wrong |= inside and len(rows) >= FEWEST and {*map(len, rows)} == {max(2, len(rows[0]))}
    if wrong:
        why = (
            f"{first[:60]!a} {what}; name them source, reference and hypothesis, beside columns "
            "such as id, system and score, or give plain text without a header."
        )
        raise at_line(file.name, 1, why)


def header_separator(file: File) -> str | None:
    """What stands between the cells of a file that looks like a table with names of columns.

    Either the first line is nothing but names known for columns, or some column has a name and
    below it only numbers.
    """
    lines = file.first_lines
    if file.kind or not lines or lines[0].lstrip().startswith("["):
        return None
    candidates = [s for s in SEPARATORS if s in lines[0].strip()]
    for separator in candidates:
        names = [cell.strip().strip('"') for cell in _first_rows(file, separator)[0]]
        # a row may have words that are names of columns, beside its numbers
        if separator != " " and names_columns(names) and not any(map(numeric, names)):
            return separator
    return next((s for s in candidates if _is_numeric_table(file, s)), None)


def _first_rows(file: File, separator: str) -> list[list[str]]:
    """Cells of the first rows, which may go over several lines where their cells are quoted."""
    lines = file.first_lines
    plain = [_split(line, separator) for line in lines]
    if separator not in ",;" or not any('"' in line for line in lines):
        return plain
    rows: list[list[str]] = []
    stream = io.StringIO(file.head, newline="")
    try:
        for row in csv.reader(stream, delimiter=separator, strict=True):
            rows += [row] if any(map(str.strip, row)) else []
            if len(rows) == SNIFFED:
                return rows
    except csv.Error as error:  # at the end of what is looked at, a cell may be open
        return rows if rows and "end of data" in str(error) else plain
    return rows if len(file.data) <= HEAD else rows[:-1] or plain


def _is_numeric_table(file: File, separator: str) -> bool:
    """Whether the first line has no number, and a column below has nothing else."""
    header, *rows = _first_rows(file, separator)
    body = [row for row in rows if len(row) == len(header)]
    aligned = bool(body) and len(body) >= ALIGNED * len(rows) and not any(map(numeric, header))
    return aligned and any(map(_holds_numbers, zip(*body, strict=True)))


def _holds_numbers(column: Sequence[str]) -> bool:
    """Whether there is nothing but numbers in a column, and some."""
    return all(numeric(cell) or blank(cell) for cell in column) and any(map(numeric, column))


def _has_loose_quotes(text: str, separator: str) -> bool:
    """Whether quotation marks are text: TSV seldom quotes, and then only whole cells."""
    if separator != "\t" or '"' not in text:
        return False
    cells = [cell for line in text.split("\n") if '"' in line for cell in line.split("\t")]
    quoting = [cell.rstrip("\r") for cell in cells if '"' in cell]
    return not all(map(WHOLLY_QUOTED.fullmatch, quoting))


def fields_of(line: str, separator: str = ",") -> list[str]:
    """Cells of one line, perhaps quoted; none where it is no row of a table."""
    try:
        return next(csv.reader([line], delimiter=separator), [])
    except csv.Error:
        return []


def _split(line: str, separator: str) -> list[str]:
    if separator != " ":
        return line.split(separator)
    cells = QUOTED_FIELD.findall(line) if '"' in line else line.split()
    return [cell.strip('"') for cell in cells]


def check_header(header: Sequence[str], name: str) -> None:
    """Check that columns can be told apart by their names.

    Raises:
        InputError: Two have one name, or none.
    """
    lowered = Counter(map(str.lower, header))
    twice = next((column for column in header if column and lowered[column.lower()] > 1), None)
    if twice is not None:
        what = f"two columns are named {twice[:60]!a}; every column needs its own name"
        raise InputError(f"{name}: {what}.")
    if header.count("") > 1:
        what = f"{header.count('')} columns have no name; name them, or take them out"
        raise InputError(f"{name}: {what}.")


def _fitted(row: Row, header: Sequence[str], separator: str, name: str) -> Row:
    """A row that has a cell for each name; blanks at its end do not count."""
    line, cells = row
    if len(cells) == len(header):
        return row
    if len(cells) > len(header) and not any(map(str.strip, cells[len(header) :])):
        return line, cells[: len(header)]
    hint = ""
    if separator == "," and len(cells) > len(header):
        hint = "; put quotation marks around text with commas, and write 0.5 and not 0,5"
    if len(cells) == 1:
        hint = f"; cells are separated by {SEPARATORS[separator]} in the header"
    count = f"{len(cells)} cell{'' if len(cells) == 1 else 's'} between {SEPARATORS[separator]}"
    raise at_line(name, line, f"{count}, the header names {len(header)}{hint}.")
