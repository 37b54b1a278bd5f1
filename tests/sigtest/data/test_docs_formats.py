"""docs/FORMATS.md lists what the registries have; as a program (`make formats`), this writes it.

What stands between the two marks of the page is made of the registries, but for what is read of a
format: the last column says that by hand, as the rest of the page is.
"""

from pathlib import Path

from sigtest.files.folders import TREES_READ
from sigtest.files.registry import FORMATS_READ, FORMATS_REFUSED

PAGE = Path(__file__).parents[3] / "docs" / "FORMATS.md"
TO_WRITE = "TO WRITE: what is read of it."
BEGIN, END = "<!-- formats: made of the registries -->", "<!-- formats end -->"


def tables(text):
    """Markdown tables of all formats: files, folders and archives, what is refused."""
    lines = [line.strip("| ").split(" | ") for line in text.splitlines() if line.startswith("| `")]
    said = {tuple(cells[:2]): cells[-1] for cells in lines if len(cells) > 2}

    def read(known):
        return said.get((f"`{known.name}`", known.title), TO_WRITE)

    rows = ["## Files\n", *table("name", "what it is", "usually called", "what is read")]
    for known in FORMATS_READ.values():
        called = " ".join(f"`{suffix}`" for suffix in known.suffixes)
        rows.append(row(f"`{known.name}`", known.title, called, read(known)))
    rows += ["\n## Folders and archives\n", *table("name", "what it is", "what is read")]
    rows += [row(f"`{own.name}`", own.title, read(own)) for own in TREES_READ.values()]
    rows += ["\n## Recognised and not read\n", *table("name", "what it is", "what to give instead")]
    for known in FORMATS_REFUSED.values():
        advice = known.advice.partition(" Known are")[0].rstrip(".")
        rows.append(row(f"`{known.name}`", known.title, advice))
    return "\n".join(rows)


def table(*head):
    return row(*head), row(*("---" for _ in head))


def row(*cells):
    return f"| {' | '.join(cell.replace('*', '&ast;') for cell in cells)} |"


def page(text):
    """A page with the tables between its marks."""
    before, _, rest = text.partition(BEGIN)
    return f"{before}{BEGIN}\n\n{tables(text)}\n\n{END}{rest.partition(END)[2]}"


def test_the_page_lists_the_formats_that_there_are():
    text = PAGE.read_text(encoding="utf-8")
    assert page(text) == text  # else: make formats
    assert TO_WRITE not in text
    for known in (*FORMATS_READ.values(), *TREES_READ.values(), *FORMATS_REFUSED.values()):
        assert f"| `{known.name}` | {known.title} |" in text


if __name__ == "__main__":
    PAGE.write_text(page(PAGE.read_text(encoding="utf-8")), encoding="utf-8")
