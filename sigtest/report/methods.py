"""What a report says for the methods section of a paper."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass, replace
from typing import TYPE_CHECKING, TypeVar

from sigtest.papers import Reference, papers
from sigtest.version import __version__

if TYPE_CHECKING:
    from _typeshed import DataclassInstance

Told = TypeVar("Told", bound="DataclassInstance")


@dataclass(frozen=True)
class Methods:
    """How the numbers came about, in the words of a paper.

    Attributes:
        text: What was measured and how, tests, correction, intervals and version, with citations;
            of comparisons also the metrics' signatures, alternative, resamples and unit.
        references: What it cites, in the order of the text.
    """

    text: str
    references: tuple[Reference, ...]


class Sources:
    """Papers in the order in which they are first cited."""

    def __init__(self) -> None:
        self.cited: dict[str, Reference] = {}

    def cite(self, *keys: str) -> str:
        """`(Papineni et al., 2002; Post, 2018)`, with a space in front; nothing without keys.

        The second paper of the same authors and year is `2014b`.
        """
        for key in keys:
            paper = papers()[key]
            same = sum(papers()[own].cited == paper.cited for own in self.cited if own != key)
            cited = f"{paper.cited}{'abcdef'[same]}" if same else paper.cited
            self.cited.setdefault(key, replace(paper, cited=cited))
        return f" ({'; '.join(self.cited[key].cited for key in keys)})" if keys else ""

    def methods(self, sentences: Iterable[str]) -> Methods:
        """The sentences, last of all the software, and what they cite."""
        software = f"All numbers were computed with sigtest {__version__}{self.cite('sigtest')}."
        return Methods(" ".join([*sentences, software]), tuple(self.cited.values()))


def with_methods(report: Told, sentences: Callable[[Told, Sources], Iterable[str]]) -> Told:
    """A report with what a paper says of it.

    Args:
        report: With a field `methods`.
        sentences: What a paper says of such a report; cites the sources that it is given.
    """
    sources = Sources()
    return replace(report, methods=sources.methods(sentences(report, sources)))


def listed(parts: Sequence[str]) -> str:
    """`a, b and c`."""
    *first, last = parts
    return f"{', '.join(first)} and {last}" if first else last
