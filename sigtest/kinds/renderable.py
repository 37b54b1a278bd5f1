"""Reports that render themselves: as a table, a data frame, a picture or a file."""

import os
from collections.abc import Mapping
from pathlib import Path
from typing import Any, ClassVar

from sigtest.data.names import choose
from sigtest.errors import RecipeError, UnavailableError
from sigtest.kinds import KINDS
from sigtest.late import late
from sigtest.render.drawing import PICTURE_FORMATS, converted
from sigtest.render.formats import FORMATS, Layout, Presented

fragment = late("sigtest.render.html:fragment")


class Renderable:
    """What reports of every kind do besides holding figures.

    Attributes:
        path: Of the kind that it is a report of.
    """

    path: ClassVar[str]

    def __str__(self) -> str:
        return FORMATS["text"].render(self._laid_out(Layout()))

    def __repr__(self) -> str:  # a shell shows it as `print` does: its fields would fill screens
        return str(self)

    def _repr_html_(self) -> str:
        html: str = fragment(self._laid_out(Layout()).document())
        return html

    def to_pandas(self, table: str | None = None) -> Any:
        """A data frame of the records that the format csv has.

        Args:
            table: Those that go with it, such as `systems`; else those of pairs, or of rows where
                there are no pairs.

        Raises:
            RecipeError: No such table, or one without records.
            UnavailableError: pandas is not installed.
        """
        try:
            import pandas  # late: only those who want a data frame need it
        except ImportError as error:
            raise UnavailableError("A data frame needs pandas: pip install pandas.") from error
        records = self._laid_out(Layout(table)).sheet()
        return pandas.DataFrame(list(records.rows), columns=list(records.columns))

    def to_latex(
        self,
        table: str | None = None,
        caption: str = "",
        label: str = "",
        names: Mapping[str, str] | None = None,
    ) -> str:
        r"""One table for a paper.

        Args:
            table: Of those that `--table` takes; the first of them by default.
            caption: Instead of its own.
            label: For `\ref`.
            names: What to call what is compared, such as metrics and systems; LaTeX where it has a
                backslash or a dollar sign, such as {"bleu": r"BLEU $\uparrow$"}.

        Raises:
            RecipeError: No such table, name or label.
        """
        first = next(iter(KINDS[self.path].tables), None)
        layout = Layout(table or first, caption, label, _spelled(names))
        return FORMATS["latex"].render(self._laid_out(layout))

    def to_svg(self, picture: str | None = None, **chosen: str) -> str:
        """A picture, as `sigtest plot` draws it.

        Args:
            picture: One that needs no more than the report; the first of its kind by default.
            **chosen: What it shows, such as `metric` and `test`, and how it looks: `width`, `title`
                and `omit`; see docs/GUIDE.md.

        Raises:
            RecipeError: No such picture or choice.
        """
        kind = KINDS[self.path]
        known = {name: made for name, made in kind.pictures.items() if made.needs == "report"}
        name = choose(picture or next(iter(known)), known, "picture", "picture")
        kind.check_chosen(name, chosen)
        return known[name].draw(self, chosen)

    def save(
        self,
        path: str | os.PathLike[str],
        table: str | None = None,
        caption: str = "",
        label: str = "",
        names: Mapping[str, str] | None = None,
        picture: str | None = None,
        **choice: str,
    ) -> None:
        """Write the report or a picture to a file, in the format that the suffix of its name says.

        Args:
            path: Such as `report.html`, `report.json`, `systems.tex`; of a picture, `matrix.pdf`.
            table: The only table to write, as for `to_latex`; all there is by default.
            caption: As for `to_latex`.
            label: As for `to_latex`.
            names: As for `to_latex`.
            picture: As for `to_svg`.
            **choice: As for `to_svg`.

        Raises:
            RecipeError: A suffix that no format has, what `to_latex` or `to_svg` refuses, or what
                is about the other one.
            UnavailableError: A picture in a format whose converter is not installed.
            OSError: The file cannot be written.
        """
        target = Path(path)
        suffix = target.suffix.removeprefix(".")
        suffixes = {form.suffix: form for form in FORMATS.values()}
        layout = Layout(table, caption, label, _spelled(names))
        if suffix in PICTURE_FORMATS:
            if layout != Layout():
                raise RecipeError(f"{target.name!r} is a picture, which has no table.")
            target.write_bytes(converted(self.to_svg(picture, **choice), suffix))
            return
        form = suffixes.get(suffix)
        if form is None:
            raise RecipeError(
                f"{target.name!r} does not say in which format: end it with one of "
                f"{', '.join(f'.{own}' for own in (*suffixes, *PICTURE_FORMATS))}."
            )
        if picture is not None or choice:
            known = ", ".join(f".{own}" for own in PICTURE_FORMATS)
            raise RecipeError(f"{target.name!r} is no picture: end it with one of {known}.")
        form.check(layout)
        target.write_bytes(form.render(self._laid_out(layout)).encode())

    def _laid_out(self, layout: Layout) -> Presented:
        return KINDS[self.path].lay_out(self, layout)


def _spelled(names: Mapping[str, str] | None) -> tuple[str, ...]:
    if names is not None and not isinstance(names, Mapping):
        raise RecipeError(
            f'names must be what to show by name, such as {{"bleu": "BLEU"}}, not '
            f"{type(names).__name__}.",
            field="names",
        )
    return tuple(f"{name}={spelling}" for name, spelling in (names or {}).items())
