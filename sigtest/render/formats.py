"""The formats: the only place that knows their names, media types and suffixes.

Options, content negotiation and the API's description are read off `FORMATS`. Nothing here imports
NumPy, so that `--help` is quick.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass
from typing import Any

from sigtest.errors import RecipeError
from sigtest.late import late
from sigtest.render import json, text
from sigtest.render.layout import Layout
from sigtest.render.model import Document, Sheet


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
            "json", "programs; every number unrounded", "application/json", "json", json.render,
            tables=False,
        ),
        Format("text", "reading on a terminal", "text/plain", "txt", _look(text.render)),
        Format("csv", "spreadsheets, unrounded", "text/csv", "csv",
               lambda presented: late("sigtest.render.csv:render")(presented.sheet()), saved=True),
        Format(
            "markdown", "issues and wikis", "text/markdown", "md",
            _look(late("sigtest.render.markdown:render")),
        ),
        Format(
            "latex", "papers: booktabs tables to \\input", "application/x-latex", "tex",
            _look(late("sigtest.render.latex:render")), TEX,
        ),
        Format(
            "bibtex", "bibliographies: the papers that the methods cite",
            "application/x-bibtex", "bib", _look(late("sigtest.render.bibtex:render")),
            ("text/x-bibtex",), tables=False,
        ),
        Format(
            "html", "one page with tables and pictures that needs nothing else", "text/html",
            "html", _look(late("sigtest.render.html:render")),
        ),
    )
}  # fmt: skip
