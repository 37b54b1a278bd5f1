"""What a picture is that is drawn of a report alone: one entry of a kind's registry."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from typing import Any, ClassVar, Literal

Chosen = Mapping[str, str]


def where(fits: Callable[[Any], bool]) -> Callable[[Any], Sequence[Chosen]]:
    """What a picture shows that takes no choice and can be drawn of some reports."""
    return lambda report: [{}] if fits(report) else []


@dataclass(frozen=True)
class ReportPicture:
    """One way to draw a report.

    Attributes:
        name: What addresses and the command line call it.
        title: What it shows.
        plot: Makes the SVG of a report, and of what is chosen by the names in `takes`.
        shows: All choices that a report has, of which the first is drawn where nothing is chosen;
            none where it cannot be drawn of the report.
        takes: What can be chosen: `criterion`, `metric`, `alpha`...
        needs: The report alone.
    """

    name: str
    title: str
    plot: Callable[..., str]
    shows: Callable[[Any], Sequence[Chosen]]
    takes: tuple[str, ...] = ()
    needs: ClassVar[Literal["report"]] = "report"

    def fits(self, report: object) -> bool:
        """Whether it can be drawn of a report."""
        return bool(self.shows(report))

    def draw(self, report: object, chosen: Chosen) -> str:
        """The SVG."""
        chosen = chosen or next(iter(self.shows(report)), {})
        return self.plot(report, **{part: chosen.get(part) for part in self.takes})
