"""Plans as questions: a pilot in, what test sets of other sizes would show out."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

from sigtest.comparison.comparison import Comparison
from sigtest.kinds.base import FormFile
from sigtest.kinds.comparisons import FINISHED
from sigtest.kinds.whole import WholeKind
from sigtest.plans import PlanQuestion, PlanReport, compute, parse
from sigtest.plans.pictures import PICTURES
from sigtest.plans.present import answer, present
from sigtest.requests.options import options
from sigtest.requests.plans import PlanRequest

EXAMPLES = {
    "scores": {
        "summary": "How many segments show a difference of .1?",
        "value": {
            "comparison": {
                "systems": {
                    "A": {"scores": {"comet": [.81, .84, .77, .9, .62, .71, .85, .8, .79, .88]}},
                    "B": {"scores": {"comet": [.8, .79, .78, .83, .64, .6, .84, .82, .7, .81]}},
                },
                "metrics": ["scores"],
            },
            "difference": 0.1,
        },
    },
}  # fmt: skip


class Plans(WholeKind[PlanQuestion]):
    """Which differences test sets of other sizes would show."""

    name = "plan"
    path = "plans"
    summary = "How many segments or documents show a difference, from a pilot?"
    content = PlanQuestion
    reports = (PlanReport,)
    request = PlanRequest
    examples = EXAMPLES
    command = "plan"
    fields = options(PlanRequest, without=("comparison",))
    compares = "comparison"
    named = (FINISHED,)
    pictures = PICTURES
    tables = ("pairs",)
    naming = ("a", "b", "metric")

    def parse(self, request: Mapping[str, Any], files: Sequence[FormFile] = ()) -> PlanQuestion:
        return parse(request)

    def comparison(self, question: PlanQuestion) -> Comparison | None:
        return question.pilot

    compute = staticmethod(compute)
    answer = staticmethod(answer)
    present = staticmethod(present)


KIND = Plans()
