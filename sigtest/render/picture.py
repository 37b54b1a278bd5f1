"""What a picture of a report is: one entry of a kind's registry."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from functools import partial
from typing import TYPE_CHECKING, Any, Literal

from sigtest.render.model import Figure

if TYPE_CHECKING:
    from sigtest.draws.distribution import Distribution  # needs NumPy, which --help must not load

Chosen = Mapping[str, str]


def where(fits: Callable[[Any], bool]) -> Callable[[Any], Sequence[Chosen]]:
    """What a picture shows that is not drawn of each choice, and can be drawn of some reports."""
    return lambda report: [{}] if fits(report) else []


@dataclass(frozen=True)
class Picture:
    """One way to draw a report.

    Attributes:
        name: What addresses and the command line call it.
        title: What it shows.
        plot: Makes the SVG of a report, and of what is chosen by the names in `takes`.
        shows: All choices that a report has, of which the first is drawn where nothing is chosen;
            none where it cannot be drawn of the report.
        takes: What can be chosen: `criterion`, `metric`, `alpha`...
        needs: Whether it is drawn from the report alone, or also from the distribution of a pair,
            which `plot` takes by that name.
        whole: Whether one picture shows all metrics and tests.
    """

    name: str
    title: str
    plot: Callable[..., str]
    shows: Callable[[Any], Sequence[Chosen]]
    takes: tuple[str, ...] = ()
    needs: Literal["report", "distribution"] = "report"
    whole: bool = False

    def fits(self, report: object) -> bool:
        """Whether it can be drawn of a report."""
        return bool(self.shows(report))

    def figure(self, report: object, **chosen: str) -> Figure:
        """The picture as a block of a document, drawn where a format shows it."""
        return Figure(self.title, partial(self.draw, report, chosen))

    def draw(self, report: object, chosen: Chosen, distribution: Distribution | None = None) -> str:
        """The SVG.

        Args:
            report: What to draw.
            chosen: What of it, by the names in `takes`, as far as they are named.
            distribution: Of a pair, where the picture needs one.

        Raises:
            SigtestError: The report has nothing such.
        """
        chosen = chosen or next(iter(self.shows(report)), {})
        given = {} if distribution is None else {"distribution": distribution}
        return self.plot(report, **chosen, **given)
