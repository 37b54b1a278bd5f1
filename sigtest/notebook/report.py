"""A report that shows itself, and becomes a table, a data frame or a file on demand."""

from __future__ import annotations

import os
from collections.abc import Mapping
from pathlib import Path
from typing import Any

from sigtest.data.choices import choose
from sigtest.errors import RecipeError, UnavailableError
from sigtest.kinds.comparisons import KIND
from sigtest.render import html, text
from sigtest.render.comparison import SHEETS, document, present, sheet
from sigtest.render.formats import FORMATS
from sigtest.render.layout import Layout
from sigtest.render.plots import PICTURES
from sigtest.report import Report


class NotebookReport(Report):
    """A report that shows itself: as tables when printed, with pictures in a notebook."""

    def __str__(self) -> str:
        return text.render(document(self))

    def _repr_html_(self) -> str:
        return html.fragment(document(self))

    def to_pandas(self, table: str = "pairs") -> Any:
        """A data frame of the `pairs`, or of the `systems` with scores, intervals and ranks.

        Raises:
            RecipeError: No such table.
            UnavailableError: pandas is not installed.
        """
        if table not in ("pairs", "systems"):
            raise RecipeError(
                f"to_pandas takes 'pairs' or 'systems', not {table!r}.", field="table"
            )
        try:
            import pandas  # late: only those who want a data frame need it
        except ImportError as error:
            raise UnavailableError("A data frame needs pandas: pip install pandas.") from error
        records = SHEETS.get(table, sheet)(self)
        return pandas.DataFrame(list(records.rows), columns=list(records.columns))

    def to_latex(
        self,
        table: str = "systems",
        caption: str = "",
        label: str = "",
        names: Mapping[str, str] | None = None,
    ) -> str:
        r"""One table for a paper.

        Args:
            table: systems, pairs, matrix or row.
            caption: Instead of its own.
            label: For `\ref`.
            names: What to call metrics and systems; LaTeX where it has a backslash or a dollar
                sign, such as {"bleu": r"BLEU $\uparrow$"}.

        Raises:
            RecipeError: No such table, name or label.
        """
        layout = Layout(table, caption, label, _spelled(names))
        return FORMATS["latex"].render(present(self, layout))

    def to_svg(self, picture: str = "intervals", **chosen: str) -> str:
        """A picture, as `sigtest plot` draws it.

        Args:
            picture: intervals, matrix, or grid where there are several metrics.
            **chosen: `metric`, `test` and `testset`, and how it looks: `width`, `title` and `omit`;
                see docs/COMMAND_LINE.md.

        Raises:
            RecipeError: No such picture or choice.
        """
        known = {name: own for name, own in PICTURES.items() if own.needs == "report"}
        drawn = known[choose(picture, known, "picture", "picture")]
        KIND.check_chosen(picture, chosen)
        return drawn.draw(self, chosen)

    def save(
        self,
        path: str | os.PathLike[str],
        table: str | None = None,
        caption: str = "",
        label: str = "",
        names: Mapping[str, str] | None = None,
    ) -> None:
        """Write the report to a file, in the format that the suffix of its name says.

        Args:
            path: Such as `report.html`, `report.json` or `systems.tex`.
            table: The only table to write, as for `to_latex`; all there is by default.
            caption: As for `to_latex`.
            label: As for `to_latex`.
            names: As for `to_latex`.

        Raises:
            RecipeError: A suffix that no format has, or what `to_latex` refuses.
            OSError: The file cannot be written.
        """
        target = Path(path)
        suffixes = {form.suffix: form for form in FORMATS.values()}
        form = suffixes.get(target.suffix.removeprefix("."))
        if form is None:
            raise RecipeError(
                f"{target.name!r} does not say in which format: end it with one of "
                f"{', '.join(f'.{suffix}' for suffix in suffixes)}."
            )
        layout = Layout(table, caption, label, _spelled(names))
        form.check(layout)
        target.write_bytes(form.render(present(self, layout)).encode())


def _spelled(names: Mapping[str, str] | None) -> tuple[str, ...]:
    if names is not None and not isinstance(names, Mapping):
        raise RecipeError(
            f'names must be what to show by name, such as {{"bleu": "BLEU"}}, not '
            f"{type(names).__name__}.",
            field="names",
        )
    return tuple(f"{name}={shown}" for name, shown in (names or {}).items())
