"""Metric evaluations as questions: human and metric scores in, who agrees better out."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import replace
from typing import Any, ClassVar

from sigtest.kinds.base import Finished, FormFile, QuestionReference
from sigtest.kinds.whole import WholeKind
from sigtest.meta_evaluation import MetaReport, MetricQuestion, compute, parse
from sigtest.meta_evaluation.fields import schema
from sigtest.meta_evaluation.pictures import PICTURES
from sigtest.meta_evaluation.present import answer, present
from sigtest.meta_evaluation.sources import from_comparison
from sigtest.meta_evaluation.uploads import EVALSET, PARTS, with_files
from sigtest.people.kind import FINISHED
from sigtest.requests.meta import MetricEvaluationRequest
from sigtest.requests.options import Option, options
from sigtest.requests.people import Judging

EXAMPLES = {
    "two metrics": {
        "summary": "Scores of systems by people and by two metrics.",
        "value": {
            "human": {"scores": {"system": {"A": 0.31, "B": 0.12, "C": -0.05, "D": -0.4}}},
            "metrics": {
                "comet": {"system": {"A": 0.84, "B": 0.82, "C": 0.79, "D": 0.7}},
                "ter": {"system": {"A": 51, "B": 49.5, "C": 55, "D": 61}, "higher": False},
            },
        },
    },
}


class MetricEvaluations(WholeKind[MetricQuestion]):
    """How well metrics agree with people."""

    name = "metric evaluation"
    path = "metric-evaluations"
    summary = "Which metrics agree with people, and which better than others?"
    content = MetricQuestion
    reports = (MetaReport,)

    def schema(self) -> dict[str, Any]:
        return schema(super().schema())

    examples = EXAMPLES
    parts = PARTS
    reading = EVALSET
    command = "meta"
    request = MetricEvaluationRequest
    fields = options(MetricEvaluationRequest)
    inside: ClassVar[Mapping[str, tuple[Option, ...]]] = {"human": options(Judging)}
    named = tuple(
        replace(reference, place=(*start, *reference.place))
        for start in ((), ("sets", "*"))
        for reference in (FINISHED, QuestionReference(("metrics", "comparison"), "comparisons"))
    )
    pictures = PICTURES
    tables = ("metrics", "pairs")
    naming = ("label", "a", "b", "baseline", "beats_baseline")

    def parse(self, request: Mapping[str, Any], files: Sequence[FormFile] = ()) -> MetricQuestion:
        brought = {
            part: [(file.name, file.data) for file in files if file.part == part] for part in PARTS
        }
        return parse(*with_files(_answered(request), brought))

    compute = staticmethod(compute)
    answer = staticmethod(answer)
    present = staticmethod(present)


def _answered(request: Mapping[str, Any]) -> Mapping[str, Any]:
    """The request with scores in the place of finished comparisons."""
    sets = request.get("sets")
    if isinstance(sets, Mapping):
        return {**request, "sets": {name: _of_set(own) for name, own in sets.items()}}
    return _of_set(request)


def _of_set(body: Any) -> Any:
    metrics = body.get("metrics") if isinstance(body, Mapping) else None
    if isinstance(metrics, Mapping) and isinstance(metrics.get("comparison"), Finished):
        others = {label: own for label, own in metrics.items() if label != "comparison"}
        return {**body, "metrics": {**from_comparison(metrics["comparison"].report), **others}}
    return body


KIND = MetricEvaluations()
