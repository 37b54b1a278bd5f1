"""The formats, and what of a report they show: the only place that knows their names and suffixes.

Options, content negotiation and the API's description are read off `FORMATS`. Nothing here imports
NumPy, so that `--help` is quick.
"""

import re
from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass, replace
from typing import Any

from sigtest.data.names import choose
from sigtest.errors import RecipeError
from sigtest.late import late
from sigtest.render import text
from sigtest.render.model import Document, ReportTable, Sheet
from sigtest.render.records import csv, render_json

LABEL = re.compile(r"[A-Za-z0-9:._/+-]+")


@dataclass(frozen=True)
class Layout:
    r"""What of a report is shown, and how it is called.

    Attributes:
        table: The only table to show; nothing shows all there is.
        caption: Of that table, instead of its own.
        label: Of that table, for LaTeX's `\ref`.
        names: What to call metrics and systems, such as `bleu=BLEU $\uparrow$`.
        every_pair: Whether nothing is folded, however many pairs there are.

    Raises:
        RecipeError: A caption or a label without a table, or a label that LaTeX cannot take.
    """

    table: str | None = None
    caption: str = ""
    label: str = ""
    names: tuple[str, ...] = ()
    every_pair: bool = False

    def __post_init__(self) -> None:
        for what in ("caption", "label"):
            if getattr(self, what) and self.table is None:
                raise RecipeError(f"A {what} is for one table: name it with table.", field=what)
        if self.label and not LABEL.fullmatch(self.label):
            raise RecipeError(
                f"A label has letters, digits and : . _ / + - only, not {self.label!r}.",
                field="label",
            )

    @property
    def bare_caption(self) -> str:
        """The caption without the full stop, which looks add."""
        return self.caption.strip().removesuffix(".")

    def called(self, table: ReportTable, number: int, of: int) -> ReportTable:
        """A table with the caption and the label that are asked for.

        Args:
            table: One of those that are shown.
            number: Which of them, from 1; it tells their labels apart.
            of: How many are shown; several keep their own captions behind the one asked for.
        """
        label = self.label if number == 1 or not self.label else f"{self.label}-{number}"
        own = f"{self.bare_caption}. {table.caption}" if of > 1 else self.bare_caption
        return replace(table, caption=own if self.caption else table.caption, label=label)

    def arranged(self, document: Document, known: Sequence[str] = ()) -> Document:
        """A document with nothing but the table that is asked for, if one is.

        Args:
            document: With all its tables.
            known: Names of tables that others of its kind may have.

        Raises:
            RecipeError: It has no such table.
        """
        if self.table is None:
            return document
        tables = [
            block for block in document.flat() if isinstance(block, ReportTable) and block.name
        ]
        names = list(dict.fromkeys(table.name for table in tables))
        if self.table in known and self.table not in names:
            raise RecipeError(
                f"This report has nothing for the table {self.table}; it has {', '.join(names)}.",
                field="table",
            )
        choose(self.table, names, "table", "table")
        found = [replace(own, folded_over=None) for own in tables if own.name == self.table]
        blocks = tuple(self.called(own, i, len(found)) for i, own in enumerate(found, 1))
        return replace(document, blocks=blocks)

    def new_names(self, known: Iterable[str]) -> dict[str, str]:
        """What to show instead of some of the names that a report knows.

        Raises:
            RecipeError: A name that it does not know, one without another, one that is named twice.
        """
        known = tuple(known)
        longest_first = sorted(known, key=len, reverse=True)
        shown: dict[str, str] = {}
        for entry in self.names:
            # a metric's label may have = in it, and so may what is shown
            name = next((own for own in longest_first if entry.startswith(f"{own}=")), None)
            if name is None:
                choose(entry.partition("=")[0], known, "names", "metric or system")
                raise RecipeError(f"names takes NAME=SHOWN, not {entry!r}.", field="names")
            if name in shown:
                raise RecipeError(f"names has {name!r} twice.", field="names")
            shown[name] = entry.removeprefix(f"{name}=").strip()
            if not shown[name]:
                raise RecipeError(f"names shows nothing for {name!r}.", field="names")
        return shown


def verbatim(texts: Iterable[str]) -> tuple[str, ...]:
    """What LaTeX takes as it stands, because it has a backslash or a dollar sign; longest first."""
    found = {text for text in texts if "\\" in text or "$" in text}
    return tuple(sorted(found, key=len, reverse=True))


@dataclass(frozen=True)
class Presented:
    """A finished answer to a question of any kind, as formats need it; each makes what it needs.

    Attributes:
        as_json: All of it.
        document: It as people read it.
        sheets: Its records, by the table that they go with; the first where none is asked for.
        table: The only one that is asked for, if any.
    """

    as_json: Callable[[], dict[str, Any]]
    document: Callable[[], Document]
    sheets: Mapping[str, Callable[[], Sheet]]
    table: str | None = None

    def sheet(self) -> Sheet:
        """Records of the table that is asked for.

        Raises:
            RecipeError: It has none.
        """
        chosen = self.sheets.get(self.table or next(iter(self.sheets)))
        if chosen is None:
            raise RecipeError(
                f"There are no records of table {self.table}; take {' or '.join(self.sheets)}, or "
                "another format.",
                field="table",
            )
        return chosen()


@dataclass(frozen=True)
class Format:
    """One way to write a report.

    Attributes:
        name: What `--format` and `?format=` take.
        title: What it is for, in a few words.
        media_type: Without parameters; all are UTF-8.
        suffix: Of files, without a dot.
        render: Writes a report of any kind.
        aliases: Further media types that mean it.
        saved: Whether a browser saves it rather than shows it.
        tables: Whether it has any, which a layout is about.
    """

    name: str
    title: str
    media_type: str
    suffix: str
    render: Callable[[Presented], str]
    aliases: tuple[str, ...] = ()
    saved: bool = False
    tables: bool = True

    @property
    def media_types(self) -> tuple[str, ...]:
        """All that mean it, its own first."""
        return self.media_type, *self.aliases

    def check(self, layout: Layout) -> None:
        """Check that there is something to lay out.

        Raises:
            RecipeError: A layout was asked for, and there are no tables.
        """
        for what in ("table", "caption", "label", "names"):
            if getattr(layout, what) and not self.tables:
                others = ", ".join(own.name for own in FORMATS.values() if own.tables)
                raise RecipeError(
                    f"{self.name} has no tables; leave {what} out, or take {others}.", field=what
                )


def _look(render: Callable[[Document], str]) -> Callable[[Presented], str]:
    return lambda presented: render(presented.document())


TEX = ("application/x-tex", "text/x-tex", "text/x-latex")

# Where a client of the service has no preference it gets the first.
FORMATS: dict[str, Format] = {
    entry.name: entry
    for entry in (
        Format(
            "json", "programs; every number unrounded", "application/json", "json", render_json,
            tables=False,
        ),
        Format("text", "reading on a terminal", "text/plain", "txt", _look(text.render)),
        Format(
            "csv", "spreadsheets, unrounded", "text/csv", "csv",
            lambda presented: csv(presented.sheet()), saved=True,
        ),
        Format(
            "markdown", "issues and wikis", "text/markdown", "md",
            _look(text.markdown),
        ),
        Format(
            "latex", "papers: booktabs tables to \\input", "application/x-latex", "tex",
            _look(late("sigtest.render.latex:render")), TEX,
        ),
        Format(
            "bibtex", "bibliographies: the papers that the methods cite",
            "application/x-bibtex", "bib", _look(late("sigtest.render.latex:bibliography")),
            ("text/x-bibtex",), tables=False,
        ),
        Format(
            "html", "one page with tables and pictures that needs nothing else", "text/html",
            "html", _look(late("sigtest.render.html:render")),
        ),
    )
}  # fmt: skip
