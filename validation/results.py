"""What a part of the validation hands back: checks, tables, figures and a few sentences."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, field


@dataclass(frozen=True)
class Check:
    """One assertion and what became of it.

    Attributes:
        name: What the run's list and the mutation table call it.
        asserts: What has to hold, with the statistical reason of any tolerance.
        passed: Whether it held.
        result: What was seen, in numbers.
    """

    name: str
    asserts: str
    passed: bool
    result: str


@dataclass(frozen=True)
class Table:
    """A table of the page.

    Attributes:
        title: Says what question it answers.
        header: Column heads.
        rows: Cells, already spelled.
        note: What the reader must know to read it.
    """

    title: str
    header: tuple[str, ...]
    rows: tuple[tuple[str, ...], ...]
    note: str = ""


@dataclass(frozen=True)
class Figure:
    """A picture of the page: file name without suffix, SVG text, caption."""

    name: str
    svg: str
    caption: str


@dataclass(frozen=True)
class Part:
    """A numbered part of the validation.

    Attributes:
        number: As in the list at the top of the page.
        title: Of the section.
        question: What a doubting statistician asks and this part answers.
        checks: Its assertions.
        text: Paragraphs before the tables.
        tables: In order.
        figures: In order.
        headline: One sentence for the summary.
    """

    number: int
    title: str
    question: str
    checks: tuple[Check, ...]
    text: tuple[str, ...] = ()
    tables: tuple[Table, ...] = ()
    figures: tuple[Figure, ...] = ()
    headline: str = ""
    seconds: float = field(default=0.0, compare=False)

    @property
    def failed(self) -> tuple[Check, ...]:
        """Checks that did not hold."""
        return tuple(check for check in self.checks if not check.passed)


def all_hold(name: str, asserts: str, problems: Sequence[str], cases: int) -> Check:
    """A check over many cases, each of which may have brought a problem."""
    if not cases:
        return Check(name, asserts, False, "no case was looked at")
    shown = "; ".join(problems[:3])
    result = f"{len(problems)} of {cases:,} cases fail: {shown}" if problems else f"{cases:,} cases"
    return Check(name, asserts, not problems, result)
