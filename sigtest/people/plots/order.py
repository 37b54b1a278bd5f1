"""The order of systems in every picture, and the p-values of ordered pairs."""

from __future__ import annotations

from collections.abc import Sequence
from itertools import pairwise

from sigtest.data.choices import choose
from sigtest.errors import RecipeError
from sigtest.people.report import CriterionReport, HumanReport, JudgedSystem
from sigtest.render.plots.square import Ordered


def leading(report: HumanReport) -> str:
    """The criterion whose conclusions are the report's: `combined` where there are several."""
    return report.pairs[-1].criterion


def chosen(report: HumanReport, criterion: str | None) -> str:
    """The criterion of a picture.

    Raises:
        RecipeError: One that the report does not have.
    """
    known = list(dict.fromkeys(pair.criterion for pair in report.pairs))
    return str(choose(criterion or known[-1], known, "criterion", "criterion"))


def in_order(report: HumanReport, criterion: str) -> list[JudgedSystem]:
    """Systems from best to worst: by mean; combined conclusions by cluster and rank range first."""

    def place(system: JudgedSystem) -> tuple[float, ...]:
        own = system.criteria.get(criterion)
        if own is not None:
            return (-report.sign(criterion) * mean(own),)
        return system.cluster, sum(system.range), -report.sign(criterion) * mean(system)

    return sorted(report.systems, key=place)


def mean(own: JudgedSystem | CriterionReport) -> float:
    """What was tested, on average."""
    known = own.z if own.z is not None else own.raw
    return known if known is not None else 0.0


def openings(systems: Sequence[JudgedSystem], criterion: str) -> list[int]:
    """Places at which a new cluster begins, the first one left out.

    None where the systems are in the order of other conclusions, which mixes the clusters.
    """
    clusters = [(system.criteria.get(criterion) or system).cluster for system in systems]
    if clusters != sorted(clusters):
        return []
    return [i + 1 for i, (above, below) in enumerate(pairwise(clusters)) if below > above]


def ordered_p(report: HumanReport, criterion: str) -> Ordered:
    """For every ordered pair, the p-value of the claim that the first is better, corrected.

    The correction is known for the more likely direction only; the other one has no smaller value.
    """
    found = {}
    for pair in report.pairs:
        if pair.criterion != criterion:
            continue
        a_leads = pair.p_greater <= pair.p_less
        found[pair.a, pair.b] = pair.p_adjusted if a_leads else max(pair.p_greater, pair.p_adjusted)
        found[pair.b, pair.a] = max(pair.p_less, pair.p_adjusted) if a_leads else pair.p_adjusted
    return found


def require(known: bool, what: str) -> None:
    """Check that a report has what a picture shows.

    Raises:
        RecipeError: It has not.
    """
    if not known:
        raise RecipeError(f"This report has no {what}.", field="plot")
