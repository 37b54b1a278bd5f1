"""docs/FORMATS.md lists what the registries have."""

from pathlib import Path

from sigtest.data.imports import FORMATS_READ, FORMATS_REFUSED, TREES_READ
from sigtest.data.imports.document import page

PAGE = Path(__file__).parents[3] / "docs" / "FORMATS.md"


def test_the_page_lists_the_formats_that_there_are():
    text = PAGE.read_text(encoding="utf-8")
    assert page(text) == text  # else: make formats
    for known in (*FORMATS_READ.values(), *TREES_READ.values(), *FORMATS_REFUSED.values()):
        assert f"| `{known.name}` | {known.title} |" in text
