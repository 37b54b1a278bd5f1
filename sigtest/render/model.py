"""What is shown, before it has a look: paragraphs, tables of typed cells, pictures.

Every kind of answer makes a `Document`; the looks (`text`, `latex`, `html`) turn any document into
text. Only they know how names are escaped, numbers aligned and decisions marked.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field, replace
from functools import reduce
from typing import Any, Literal, get_args

from sigtest.render.words import fixed, interval, probability, short_probability, signed
from sigtest.report import Methods

Mark = Literal["best", "baseline", "significant", "undecided", "exact"]


# Cells ------------------------


@dataclass(frozen=True)
class Cell:
    """What stands in one place of a table.

    Attributes:
        marks: What else is to be seen beside it.
        pair: The two systems that it compares, where a look can lead to more about them.
    """

    marks: frozenset[Mark] = field(default=frozenset(), kw_only=True)
    pair: tuple[str, str] | None = field(default=None, kw_only=True)

    @property
    def plain(self) -> str:
        """Without any look: hyphens for minus signs, nothing escaped."""
        raise NotImplementedError

    @property
    def order(self) -> tuple[float, float, str]:
        """What tells which of two cells of a column comes first."""
        return 0, 0, self.plain.casefold()


@dataclass(frozen=True)
class Words(Cell):
    """A few words, or one line."""

    text: str

    @property
    def plain(self) -> str:
        return self.text


class Name(Words):
    """What a row is about; it may come from outside."""


@dataclass(frozen=True)
class Number(Cell):
    """A number with so many decimals, `signed` where a plus is shown."""

    value: float
    places: int = 0
    signed: bool = False

    @property
    def plain(self) -> str:
        return (signed if self.signed else fixed)(self.value, self.places)

    @property
    def order(self) -> tuple[float, float, str]:
        return self.value, 0, ""


@dataclass(frozen=True)
class Interval(Cell):
    """Its two ends, with so many decimals, `short` where there is little room."""

    low: float
    high: float
    places: int
    short: bool = False

    @property
    def plain(self) -> str:
        return interval((self.low, self.high), self.places)

    @property
    def order(self) -> tuple[float, float, str]:
        return self.low, self.high, ""


@dataclass(frozen=True)
class Range(Cell):
    """Whole numbers from the first to the last, such as places in a ranking."""

    first: int
    last: int

    @property
    def plain(self) -> str:
        return str(self.first) if self.first == self.last else f"{self.first}-{self.last}"

    @property
    def order(self) -> tuple[float, float, str]:
        return self.first, self.last, ""


@dataclass(frozen=True)
class PValue(Cell):
    """A p-value, and what was decided with it: its marks.

    Attributes:
        p: The p-value.
        alpha: Level of the decision; nothing where this p-value decides nothing.
        short: Whether three decimals are enough, where a look has no room for more.
    """

    p: float
    alpha: float | None = None
    short: bool = False

    @property
    def plain(self) -> str:
        if self.short and self.p < 0.001:
            return "<.001"
        return (short_probability if self.short else probability)(self.p, self.alpha)

    @property
    def order(self) -> tuple[float, float, str]:
        return self.p, 0, ""


# Tables ------------------------


@dataclass(frozen=True)
class Column:
    """Cells of one kind under a heading; None is an empty cell.

    Attributes:
        heading: In words; single letters are symbols.
        cells: From the first row to the last.
        detail: Whether a look with little room leaves it out.
    """

    heading: str
    cells: tuple[Cell | None, ...]
    detail: bool = False

    def holds(self, *kinds: type) -> bool:
        """Whether its cells are of one of these kinds."""
        return any(isinstance(cell, kinds) for cell in self.cells)

    @property
    def numeric(self) -> bool:
        """Whether it has numbers, which stand at the right."""
        return self.holds(Number, Range, PValue)

    @property
    def decides(self) -> bool:
        """Whether something is decided by its p-values."""
        return any(isinstance(cell, PValue) and cell.alpha is not None for cell in self.cells)

    def of_rows(self, rows: Sequence[int]) -> Column:
        """The column of only these rows."""
        return replace(self, cells=tuple(self.cells[row] for row in rows))


@dataclass(frozen=True)
class Group:
    """Columns that belong together.

    Attributes:
        heading: What they are about; empty where nothing holds them together.
        columns: From the left.
        remark: What must be known about them, such as `not calibrated`.
    """

    heading: str
    columns: tuple[Column, ...]
    remark: str = ""


@dataclass(frozen=True)
class ReportTable:
    """Rows about the same kind of thing.

    Attributes:
        caption: What it shows; also says what the title of its section says.
        remark: What must be known to read it; follows the caption.
        label: What LaTeX refers to it by.
        name: What a layout calls it, which may show it alone.
        names: Columns that say what a row is about; they stand in every part of a table that is
            parted.
        groups: All other columns.
        facts: What a table that is taken away from its document says besides.
        breaks: Rows that begin a new cluster, below a rule.
        clusters: What rules part, such as `cluster`; empty where there are none.
        notes: Sentences below it.
        parted: Whether its groups may stand in several tables below each other.
        things: What its rows are, such as `pairs`.
        minor: Rows that need not be seen.
        minor_words: Which rows these are, and how to see them.
        folded_over: Number of rows above which minor ones may be left out, or all be folded away.
        bare: Whether only the rows are wanted, to go into another table.
        of_first: Whether rules are those of the first group alone.
    """

    caption: str
    names: tuple[Column, ...]
    groups: tuple[Group, ...]
    facts: str = ""
    breaks: frozenset[int] = frozenset()
    clusters: str = ""
    notes: tuple[str, ...] = ()
    parted: bool = True
    things: str = "rows"
    minor: frozenset[int] = frozenset()
    minor_words: str = ""
    folded_over: int | None = None
    bare: bool = False
    of_first: bool = False
    remark: str = ""
    label: str = ""
    name: str = ""

    @property
    def heading(self) -> str:
        """Caption and remark."""
        return f"{self.caption}; {self.remark}" if self.remark else self.caption

    @property
    def columns(self) -> tuple[Column, ...]:
        """All columns, from the left."""
        return (*self.names, *(column for group in self.groups for column in group.columns))

    @property
    def size(self) -> int:
        """Number of rows."""
        return len(self.names[0].cells)

    @property
    def folded(self) -> bool:
        """Whether it has more rows than are seen at once."""
        return self.folded_over is not None and self.size > self.folded_over

    def rows(self) -> Iterator[tuple[Cell | None, ...]]:
        """The cells of each row."""
        return zip(*(column.cells for column in self.columns), strict=True)

    def of_rows(self, rows: Sequence[int]) -> ReportTable:
        """The table of only these rows."""
        opened = [sum(row >= first for first in self.breaks) for row in rows]
        groups = (
            replace(group, columns=tuple(column.of_rows(rows) for column in group.columns))
            for group in self.groups
        )
        return replace(
            self,
            names=tuple(column.of_rows(rows) for column in self.names),
            groups=tuple(groups),
            breaks=frozenset(i for i in range(1, len(rows)) if opened[i] != opened[i - 1]),
        )

    def part(self, room: float, width: Callable[[Group], float]) -> list[ReportTable]:
        """Tables with some of the groups each, in order: as few as fit, about equally wide.

        Args:
            room: For groups, the names apart.
            width: Of a group.
        """
        groups = self.groups
        if not self.parted or not groups:
            return [self]
        for size in range(len(groups), 0, -1):
            runs = [groups[i : i + size] for i in range(0, len(groups), size)]
            if all(sum(map(width, run)) <= room for run in runs):
                break
        even = -(-len(groups) // len(runs))
        parts = [replace(self, groups=groups[i : i + even]) for i in range(0, len(groups), even)]
        without = [replace(part, breaks=frozenset()) for part in parts[1:]]
        return [parts[0], *without] if self.of_first else parts


@dataclass(frozen=True)
class Abreast:
    """Tables about the same things, each in an order of its own.

    Looks with room for little show them as one table, in the order of the first.

    Attributes:
        tables: With the same names, one group each.
        notes: Sentences below all of them.
    """

    tables: tuple[ReportTable, ...]
    notes: tuple[str, ...] = ()

    def joined(self) -> ReportTable:
        """One table, side by side, in the order and with the rules of the first."""
        first = self.tables[0]
        order = list(zip(*(column.cells for column in first.names), strict=True))
        groups: list[Group] = []
        for table in self.tables:
            own = zip(*(column.cells for column in table.names), strict=True)
            place = {names: row for row, names in enumerate(own)}
            groups += table.of_rows([place[names] for names in order]).groups
        return replace(first, groups=tuple(groups), notes=self.notes, of_first=True)


# Documents ------------------------


@dataclass(frozen=True)
class Paragraph:
    """A sentence or several."""

    text: str


@dataclass(frozen=True)
class Figure:
    """A picture, drawn when a look shows it.

    Attributes:
        caption: What it shows.
        draw: Makes the SVG.
    """

    caption: str
    draw: Callable[[], str]


FlatBlock = Paragraph | Figure | ReportTable | Abreast


@dataclass(frozen=True)
class Section:
    """Blocks about one thing, for looks that show titles."""

    title: str
    blocks: tuple[FlatBlock, ...]


Block = FlatBlock | Section


@dataclass(frozen=True)
class Document:
    """A finished answer as people read it.

    Attributes:
        title: What it is, in a few words.
        facts: What all of it rests on, as parts of one sentence.
        blocks: In the order of reading.
        answer: What was found, in at most three sentences.
        marks: What each mark that occurs means.
        notes: Further words that the tables use, explained.
        warnings: Sentences that must not be overlooked.
        signature: The line that reproduces it.
        methods: How the numbers came about, for a paper.
        verbatim: Names and captions that are LaTeX already, longest first.
    """

    title: str
    facts: tuple[str, ...]
    blocks: tuple[Block, ...]
    answer: tuple[str, ...] = ()
    marks: Mapping[Mark, str] = field(default_factory=dict)
    notes: tuple[str, ...] = ()
    warnings: tuple[str, ...] = ()
    signature: str = ""
    methods: Methods | None = None
    verbatim: tuple[str, ...] = ()

    def flat(self) -> Iterator[FlatBlock]:
        """All blocks, those of sections among the others."""
        for block in self.blocks:
            yield from block.blocks if isinstance(block, Section) else (block,)

    def names(self) -> tuple[str, ...]:
        """What its tables are about: names of rows, headings of columns."""
        cells = [cell.text for cell in self.cells() if isinstance(cell, Name)]
        headings = [group.heading for table in self.tables() for group in table.groups]
        return tuple(dict.fromkeys(cells + headings))

    def tables(self) -> Iterator[ReportTable]:
        """All tables, each on its own."""
        for block in self.flat():
            if isinstance(block, Abreast):
                yield from block.tables
            elif isinstance(block, ReportTable):
                yield block

    def stacked(self) -> Iterator[Paragraph | ReportTable]:
        """Paragraphs and tables, for looks with room for one table beside no other."""
        for block in self.flat():
            if isinstance(block, Abreast):
                yield block.joined()
            elif not isinstance(block, Figure):
                yield block

    def cells(self) -> Iterator[Cell]:
        """The cells of all tables, but for empty ones."""
        for table in self.tables():
            yield from (c for column in table.columns for c in column.cells if c)


@dataclass(frozen=True)
class Sheet:
    """Records for a spreadsheet or a data frame.

    Attributes:
        columns: Their names.
        rows: A value for each column: numbers unrounded, None where there is none.
    """

    columns: tuple[str, ...]
    rows: Iterable[Sequence[object]]


# Columns that tables of every kind have ------------------------

Ends = tuple[float, float]
Value = str | float | Ends | Cell | None
# p-values of both claims and the corrected one; `a`, `b` or `tie`; whether that may still change
Claims = tuple[tuple[float | None, float | None, float | None], str, bool]
CLAIMS = ("p, a is better", "p, b is better", "adjusted")


def names(heading: str, texts: Iterable[str]) -> Column:
    """What rows are about."""
    return Column(heading, tuple(map(Name, texts)))


def sides(rows: Iterable[object], *fields: str) -> tuple[Column, ...]:
    """What rows are about that compare two things, `a` and `b`."""
    pairs = list(rows)
    return tuple(names(field, [getattr(pair, field) for pair in pairs]) for field in fields or "ab")


def column(
    heading: str, values: Iterable[Value], places: int = 0, signed: bool = False,
    detail: bool = False,
) -> Column:  # fmt: skip
    """Words, numbers and intervals with so many decimals; nothing where there is none."""
    return Column(heading, tuple(_cell(value, places, signed) for value in values), detail)


def plain(columns: Iterable[Column]) -> tuple[Group, ...]:
    """One group without a heading, of the columns that are not empty."""
    return (Group("", tuple(column for column in columns if any(column.cells))),)


def fields(rows: Iterable[object], *shown: Sequence[Any]) -> tuple[Column, ...]:
    """Columns of fields of some rows.

    Args:
        rows: What has the fields.
        *shown: Heading, field, perhaps one of a field, and whatever else `column` takes, of each.
    """
    every: list[Any] = [*rows]
    return tuple(
        column(heading, [reduce(_entered, path.split("."), row) for row in every], *how)
        for heading, path, *how in shown
    )


def _entered(of: Any, name: str) -> Any:
    return of and getattr(of, name)


def _cell(value: Value, places: int, signed: bool) -> Cell | None:
    match value:
        case None | Cell():
            return value
        case str():
            return Words(value)
        case (low, high):
            return Interval(low, high, places)
    return Number(value, places, signed)


def claims(pairs: Sequence[Claims], alpha: float, correction: str) -> list[Column]:
    """P-values of both claims of each pair; the corrected one decides where there is one."""
    sided = ("a", "b") if correction == "none" else ("", "", "ab")
    return [
        column(heading, (
            decided(p[i], alpha, better in side, bool(side) and unsure and (p[i] or 0) < 0.5)
            for p, better, unsure in pairs
        ))
        for i, (heading, side) in enumerate(zip(CLAIMS, sided, strict=False))
    ]  # fmt: skip


def verdict(pair: Any, better: str | None, otherwise: str) -> str:
    """Which side of a pair is better, `a` or `b`, or what is said where neither is."""
    return f"{getattr(pair, str(better))} is better" if better in {"a", "b"} else otherwise


def decided(
    p: float | None, alpha: float, significant: bool, undecided: bool = False, exact: bool = False
) -> PValue | None:
    """A p-value and what was decided with it; nothing where there is none."""
    marks = marked(significant=significant, undecided=undecided, exact=exact)
    return None if p is None else PValue(p, alpha, marks=marks)


def marked(**there: bool) -> frozenset[Mark]:
    """The marks that are there, by their names."""
    return frozenset(mark for mark in get_args(Mark) if there.get(mark))
