"""`python -m sigtest.data.imports.document docs/FORMATS.md`: lists the formats in a page.

What stands between the two marks of the page is made of the registries; the rest is by hand.
"""

from __future__ import annotations

import sys
from collections.abc import Iterable
from pathlib import Path

from sigtest.data.imports.registry import FORMATS_READ, FORMATS_REFUSED
from sigtest.data.imports.trees import TREES_READ

BEGIN, END = "<!-- formats: made of the registries -->", "<!-- formats end -->"


def tables() -> str:
    """Markdown tables of all formats: files, folders and archives, what is refused."""
    files = [
        (f"`{known.name}`", known.title, " ".join(f"`{s}`" for s in known.suffixes), known.brings)
        for known in FORMATS_READ.values()
    ]
    trees = [(f"`{known.name}`", known.title, known.brings) for known in TREES_READ.values()]
    refused = [
        (f"`{known.name}`", known.title, known.advice.partition(" Known are")[0].rstrip("."))
        for known in FORMATS_REFUSED.values()
    ]
    return "\n\n".join(
        [
            "## Files",
            _table(("name", "what it is", "usually called", "what is read"), files),
            "## Folders and archives",
            _table(("name", "what it is", "what is read"), trees),
            "## Recognised and not read",
            _table(("name", "what it is", "what to give instead"), refused),
        ]
    )


def page(text: str) -> str:
    """A page with the tables between its marks."""
    before, _, rest = text.partition(BEGIN)
    _, _, after = rest.partition(END)
    return f"{before}{BEGIN}\n\n{tables()}\n\n{END}{after}"


def _table(head: tuple[str, ...], rows: Iterable[tuple[str, ...]]) -> str:
    lines = [head, tuple("---" for _ in head), *rows]
    return "\n".join(
        f"| {' | '.join(cell.replace('*', '&ast;') for cell in row)} |" for row in lines
    )


if __name__ == "__main__":
    written = Path(sys.argv[1])
    written.write_text(page(written.read_text(encoding="utf-8")), encoding="utf-8")
