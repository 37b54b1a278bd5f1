"""The papers that metrics, tests and corrections come from, by their keys in `papers.bib`."""

import re
import unicodedata
from dataclasses import dataclass
from functools import cache
from pathlib import Path

from sigtest.version import __version__

_ACCENTS = {"'": "\N{COMBINING ACUTE ACCENT}", "v": "\N{COMBINING CARON}"}


@dataclass(frozen=True)
class Reference:
    """A paper to cite.

    Attributes:
        key: What LaTeX cites it by.
        cited: Authors and year, as they stand in `Methods.text`.
        bibtex: Its entry in a bibliography.
    """

    key: str
    cited: str
    bibtex: str


@cache
def papers() -> dict[str, Reference]:
    """All entries, by key."""
    text = (Path(__file__).parent / "papers.bib").read_text(encoding="utf-8")
    entries = text.replace("VERSION", __version__).strip().split("\n\n")
    return {paper.key: paper for paper in map(_paper, entries)}


def _paper(entry: str) -> Reference:
    key = entry[entry.index("{") + 1 : entry.index(",")]
    authors = [_plain(name.partition(", ")[0]) for name in _field(entry, "author").split(" and ")]
    named = f"{authors[0]} et al." if len(authors) > 2 else " and ".join(authors)
    year = _field(entry, "year")
    return Reference(key, f"{named}, {year}" if year else named, entry)


def _field(entry: str, name: str) -> str:
    found = re.search(rf"^  {name} = \{{(.*)\}},?$", entry, re.M)
    return found[1] if found else ""


def _plain(text: str) -> str:
    r"""`Popovi{\'c}` as `Popović`."""
    accented = re.sub(r"\{\\(['v])\{?(\w)\}?\}", lambda m: m[2] + _ACCENTS[m[1]], text)
    return unicodedata.normalize("NFC", accented).strip("{}")
