"""What a report says for the methods section of a paper."""

from __future__ import annotations

from dataclasses import dataclass


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


@dataclass(frozen=True)
class Methods:
    """How the numbers came about, in the words of a paper.

    Attributes:
        text: Metrics with their signatures, test, alternative, resamples, unit, correction,
            intervals and version, with citations.
        references: What it cites, in the order of the text.
    """

    text: str
    references: tuple[Reference, ...]
