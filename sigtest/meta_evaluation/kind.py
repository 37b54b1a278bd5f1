"""Metric evaluations as questions: human and metric scores in, who agrees better out."""

from collections.abc import Mapping, Sequence
from dataclasses import replace
from typing import Any, ClassVar

from sigtest.kinds.base import EXAMPLES, Finished, FormFile, QuestionReference, WholeKind
from sigtest.meta_evaluation import question as questions
from sigtest.meta_evaluation.compute import compute
from sigtest.meta_evaluation.question import PARTS, MetricQuestion
from sigtest.meta_evaluation.report import MetaReport
from sigtest.meta_evaluation.show import PICTURES, SHEETS, document
from sigtest.people.kind import FINISHED
from sigtest.requests import people
from sigtest.requests.model import Option, options


class MetricEvaluations(WholeKind[MetricQuestion]):
    """How well metrics agree with people."""

    name = "metric evaluation"
    path = "metric-evaluations"
    summary = "Which metrics agree with people, and which better than others?"
    content = MetricQuestion
    reports = (MetaReport,)

    examples = EXAMPLES["metric-evaluations"]
    parts = PARTS
    reading = questions.EVALSET
    command = "meta"
    request = people.MetricEvaluationRequest
    fields = options(people.MetricEvaluationRequest, people.CONTENT)
    inside: ClassVar[Mapping[str, tuple[Option, ...]]] = {"human": options(people.Judging)}
    named = tuple(
        replace(reference, place=(*start, *reference.place))
        for start in ((), ("sets", "*"))
        for reference in (FINISHED, QuestionReference(("metrics", "comparison"), "comparisons"))
    )
    pictures = PICTURES
    tables = ("metrics", "pairs")
    naming = ("label", "a", "b", "baseline", "beats_baseline")

    def parse(self, request: Mapping[str, Any], files: Sequence[FormFile] = ()) -> MetricQuestion:
        by_part = {
            part: [(file.name, file.data) for file in files if file.part == part] for part in PARTS
        }
        sets = request.get("sets")
        if isinstance(sets, Mapping):
            request = {**request, "sets": {name: _finished(one) for name, one in sets.items()}}
        return questions.parse(*questions.with_files(_finished(request), by_part))

    compute = staticmethod(compute)
    document = staticmethod(document)
    sheets = SHEETS


def _finished(body: Any) -> Any:
    """A set, or a whole request, with scores in the place of a finished comparison."""
    metrics = body.get("metrics") if isinstance(body, Mapping) else None
    if isinstance(metrics, Mapping) and isinstance(metrics.get("comparison"), Finished):
        others = {label: spec for label, spec in metrics.items() if label != "comparison"}
        scores = questions.from_comparison(metrics["comparison"].report)
        return {**body, "metrics": {**scores, **others}}
    return body


KIND = MetricEvaluations()
