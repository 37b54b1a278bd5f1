"""Accuracy of tests as questions: texts and judgements in, how often tests are right out."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any, ClassVar

from sigtest.comparison.comparison import Comparison
from sigtest.kinds.base import About, File, Reference
from sigtest.kinds.comparisons import ComparisonQuestion, with_comparison
from sigtest.kinds.human import recognised as judged
from sigtest.kinds.human import with_evaluation
from sigtest.kinds.shown import Shown
from sigtest.kinds.whole import Whole, WholeKind
from sigtest.progress import Progress
from sigtest.questions.accuracy import AccuracyReport, Asked, compute, parse
from sigtest.questions.accuracy.fields import schema
from sigtest.questions.accuracy.pictures import PICTURES
from sigtest.questions.accuracy.present import answer, present
from sigtest.questions.human import Asked as HumanAsked
from sigtest.requests.accuracy import AccuracyRequest
from sigtest.requests.options import Option, options
from sigtest.requests.people import Judging

PARTS = {
    "judgements": "Files of judgements by people, recognised by what is in them.",
}
EXAMPLES = {
    "three systems": {
        "summary": "Texts, and what people say of each pair.",
        "value": {
            "human": {
                "pairs": [
                    {"a": "A", "b": "B", "p_greater": 0.02, "p_less": 0.98},
                    {"a": "A", "b": "C", "p_greater": 0.0004, "p_less": 1.0},
                    {"a": "B", "b": "C", "p_greater": 0.2, "p_less": 0.8},
                ]
            },
            "comparison": {
                "references": ["The cat sat on the mat .", "It is raining .", "We go home ."],
                "systems": {
                    "A": ["The cat sat on the mat .", "It rains .", "We go home ."],
                    "B": ["A cat was on the mat .", "It is raining .", "We are home ."],
                    "C": ["Cats sit .", "Rain .", "Home ."],
                },
                "metrics": ["bleu", "chrf"],
                "tests": ["approximate_randomization", "paired_bootstrap"],
                "resamples": 999,
            },
        },
    },
}


class ShownAccuracyReport(Shown, AccuracyReport):
    """A report that shows itself: as tables when printed, with pictures in a notebook."""

    path = "test-accuracy"


class AccuracyOfTests(WholeKind[Asked]):
    """How often significance tests conclude what people conclude."""

    name = "test accuracy"
    path = "test-accuracy"
    summary = "How often do metrics and significance tests conclude what people do?"
    content = Asked
    reports = (AccuracyReport,)
    shown = ShownAccuracyReport

    def schema(self) -> dict[str, Any]:
        return schema(super().schema())

    examples = EXAMPLES
    parts = PARTS
    command = "accuracy"
    request = AccuracyRequest
    fields = options(AccuracyRequest)
    inside: ClassVar[Mapping[str, tuple[Option, ...]]] = {"human": options(Judging)}
    compares = "comparison"
    named = (
        Reference(("human", "evaluation"), "human-evaluations"),
        Reference(("comparison", "id"), "comparisons"),
    )
    pictures = PICTURES
    tables = ("correct", "errors", "agreement")
    naming = ("metric",)

    def parse(self, request: Mapping[str, Any], files: Sequence[File] = ()) -> Whole[Asked]:
        asked = parse(
            with_comparison(with_evaluation(request)), [(file.name, file.data) for file in files]
        )
        return Whole(asked, _about(asked), _seconds(asked))

    def recognised(self, asked: Whole[Asked]) -> tuple[str, ...]:
        people = asked.asked.people
        told = judged(people) if isinstance(people, HumanAsked) else ()
        return (*told, *super().recognised(asked))

    def comparison(self, asked: Whole[Asked]) -> Comparison | None:
        made = asked.asked.comparison
        return made if isinstance(made, Comparison) else None

    def compute(self, asked: Whole[Asked], progress: Progress | None = None) -> AccuracyReport:
        return compute(asked.asked, progress)

    answer = staticmethod(answer)
    present = staticmethod(present)


def _about(asked: Asked) -> About:
    compared = asked.comparison
    if isinstance(compared, Comparison):
        return ComparisonQuestion(compared).about
    return About(compared.systems, compared.metrics, compared.tests)


def _seconds(asked: Asked) -> float:
    """The comparison for two claims, and what people say."""
    compared = asked.comparison
    if isinstance(compared, Comparison):
        return 0.2 + 2 * ComparisonQuestion(compared).seconds
    return 0.2


KIND = AccuracyOfTests()
