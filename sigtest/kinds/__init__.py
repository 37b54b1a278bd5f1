"""The registry of kinds of questions, by the name that their path has."""

from typing import TYPE_CHECKING, Any

from sigtest.kinds.base import About, File, Finished, Kind, Question, Reference
from sigtest.kinds.comparisons import ComparisonQuestion, Comparisons

if TYPE_CHECKING:
    KINDS: dict[str, Kind[Any]]

__all__ = [
    "KINDS",
    "About",
    "ComparisonQuestion",
    "Comparisons",
    "File",
    "Finished",
    "Kind",
    "Question",
    "Reference",
]


def __getattr__(name: str) -> Any:
    """Make the registry when it is first looked at: a comparison needs no other kind's code."""
    if name != "KINDS":
        raise AttributeError(f"module {__name__!r} has no attribute {name!r}")
    from sigtest.kinds.accuracy import AccuracyOfTests  # late: see above
    from sigtest.kinds.human import HumanEvaluations
    from sigtest.kinds.meta import MetricEvaluations
    from sigtest.kinds.plans import Plans

    kinds = (
        Comparisons(),
        HumanEvaluations(),
        MetricEvaluations(),
        AccuracyOfTests(),
        Plans(),
    )
    return globals().setdefault("KINDS", {kind.path: kind for kind in kinds})
