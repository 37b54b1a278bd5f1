"""Plans from a notebook: how large must a test set be?"""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from types import MappingProxyType
from typing import Any, Unpack

from sigtest.kinds import KINDS
from sigtest.notebook.asking import Frame, Lines, RecipeOptions, made
from sigtest.notebook.content import Imports, request_of
from sigtest.plans.report import PlanReport
from sigtest.progress import Progress


def plan(
    references: Lines | Iterable[Lines] | Frame | None = None,
    systems: Mapping[str, Any] | Iterable[Mapping[str, Any]] | Frame = MappingProxyType({}),
    *,
    difference: float | None = None,
    units: int | None = None,
    corrected: bool = False,
    scores: Mapping[str, Any] | Frame | None = None,
    documents: Lines | None = None,
    labels: Lines | None = None,
    source: Lines | None = None,
    from_: object = (),
    missing: str = "error",
    select: str | None = None,
    progress: Progress | None = None,
    **choices: Unpack[RecipeOptions],
) -> PlanReport:
    """What test sets of other sizes would show, from a pilot, computed in this process.

        >>> import sigtest
        >>> old, new = [0.1 * (i % 7) for i in range(60)], [0.1 * (i % 5) for i in range(60)]
        >>> report = sigtest.plan(scores={"old": old, "new": new}, difference=0.05)
        >>> report.pairs[0].needed > 60
        True

    Args:
        references: Of the pilot, as for `compare`, like the next and the last ones.
        systems: Two or more, which are compared.
        difference: True difference that is to show, in units of the metric: how many units does it
            need?
        units: A number of segments, or of documents where these are resampled, to plan for besides
            the usual ones.
        corrected: Plan for the strictest level of the correction instead of alpha.
        scores: As for `compare`.
        documents: As for `compare`.
        labels: As for `compare`.
        source: As for `compare`.
        from_: As for `compare`.
        missing: As for `compare`.
        select: As for `compare`.
        progress: Called with phase, done and total.
        **choices: As for `compare`; the first metric is planned for.

    Returns:
        The report; `print(report)` shows it, and a notebook shows it as tables and pictures.

    Raises:
        SigtestError: Texts or choices that cannot be used.
    """
    imports = Imports(from_, missing, select, choices.get("metrics"))
    body = request_of(references, systems, scores, documents, labels, source, imports)
    asked = {"difference": difference, "units": units, "corrected": corrected or None}
    request = {
        "comparison": {**body, **made(choices)},
        **made(asked),
    }
    kind = KINDS["plans"]
    found: PlanReport = kind.compute(kind.parse(request), progress)
    return found
