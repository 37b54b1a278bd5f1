"""Accuracy of tests as questions: texts and judgements in, how often tests are right out."""

from collections.abc import Mapping, Sequence
from typing import Any, ClassVar

from sigtest.accuracy_of_tests.compute import compute
from sigtest.accuracy_of_tests.question import AccuracyQuestion, parse
from sigtest.accuracy_of_tests.report import AccuracyReport
from sigtest.accuracy_of_tests.show import PICTURES, SHEETS, document
from sigtest.comparison.comparison import Comparison
from sigtest.kinds import comparisons
from sigtest.kinds.base import EXAMPLES, FormFile, WholeKind
from sigtest.people.kind import FINISHED
from sigtest.people.kind import recognised as judged
from sigtest.people.question import HumanQuestion
from sigtest.requests import people
from sigtest.requests.model import Option, options

PARTS = {
    "judgements": "Files of judgements by people, recognised by what is in them.",
}


class AccuracyOfTests(WholeKind[AccuracyQuestion]):
    """How often significance tests conclude what people conclude."""

    name = "test accuracy"
    path = "test-accuracy"
    summary = "How often do metrics and significance tests conclude what people do?"
    content = AccuracyQuestion
    reports = (AccuracyReport,)

    examples = EXAMPLES["test-accuracy"]
    parts = PARTS
    command = "accuracy"
    request = people.AccuracyRequest
    fields = options(people.AccuracyRequest, ("human", "comparison"))
    inside: ClassVar[Mapping[str, tuple[Option, ...]]] = {"human": options(people.Judging)}
    compares = "comparison"
    named = (FINISHED, comparisons.FINISHED)
    pictures = PICTURES
    tables = ("correct", "errors", "agreement")
    naming = ("metric",)

    def parse(self, request: Mapping[str, Any], files: Sequence[FormFile] = ()) -> AccuracyQuestion:
        return parse(request, [(file.name, file.data) for file in files])

    def recognised(self, question: AccuracyQuestion) -> tuple[str, ...]:
        people = question.people
        read = judged(people) if isinstance(people, HumanQuestion) else ()
        return (*read, *super().recognised(question))

    def comparison(self, question: AccuracyQuestion) -> Comparison | None:
        compared = question.comparison
        return compared if isinstance(compared, Comparison) else None

    compute = staticmethod(compute)
    document = staticmethod(document)
    sheets = SHEETS


KIND = AccuracyOfTests()
