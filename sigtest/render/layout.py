"""How a reader wants a report laid out: which table, under which caption and names."""

from __future__ import annotations

import re
from collections.abc import Iterable, Sequence
from dataclasses import dataclass, replace

from sigtest.data.choices import choose
from sigtest.errors import RecipeError
from sigtest.render.model import Document, Table

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
    def own_caption(self) -> str:
        """The caption without the full stop, which looks add."""
        return self.caption.strip().removesuffix(".")

    def called(self, table: Table, number: int, of: int) -> Table:
        """A table with the caption and the label that are asked for.

        Args:
            table: One of those that are shown.
            number: Which of them, from 1; it tells their labels apart.
            of: How many are shown; several keep their own captions behind the one asked for.
        """
        label = self.label if number == 1 or not self.label else f"{self.label}-{number}"
        own = f"{self.own_caption}. {table.caption}" if of > 1 else self.own_caption
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
        tables = [block for block in document.flat() if isinstance(block, Table) and block.name]
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

    def shown_names(self, known: Iterable[str]) -> dict[str, str]:
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
