"""Accuracy of tests as questions: texts and judgements in, how often tests are right out."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any, ClassVar

from sigtest.accuracy import AccuracyReport, Asked, compute, parse
from sigtest.accuracy.pictures import PICTURES, AccuracyPicture
from sigtest.accuracy.present import present
from sigtest.comparison.comparison import Comparison
from sigtest.draws.distribution import Distribution
from sigtest.engine import Progress
from sigtest.kinds.base import About, File, Kind, Whole
from sigtest.kinds.comparisons import ComparisonQuestion
from sigtest.render.formats import Presented
from sigtest.report import decode


class AccuracyOfTests(Kind[Whole]):
    """How often significance tests conclude what people conclude."""

    name: ClassVar[str] = "test accuracy"
    path: ClassVar[str] = "test-accuracy"
    summary: ClassVar[str] = "How often do metrics and significance tests conclude what people do?"
    reports: ClassVar[tuple[type, ...]] = (AccuracyReport,)
    parts: ClassVar[tuple[str, ...]] = ("judgements",)
    pictures: ClassVar[Mapping[str, AccuracyPicture]] = PICTURES

    def parse(self, request: Mapping[str, Any], files: Sequence[File] = ()) -> Whole:
        asked = parse(request, [(file.name, file.data) for file in files])
        return Whole(asked, _about(asked), _seconds(asked))

    def load(self, outline: Mapping[str, Any], contents: Mapping[str, Any]) -> Whole:
        return Whole(Asked.load(contents["asked"]), About(), 0.0)

    def compute(self, asked: Whole, progress: Progress | None = None) -> AccuracyReport:
        assert isinstance(asked.asked, Asked)
        return compute(asked.asked, progress)

    def read(self, body: Mapping[str, Any]) -> AccuracyReport:
        return decode(AccuracyReport, body)

    def present(self, report: AccuracyReport) -> Presented:
        return present(report)

    def draw(
        self,
        name: str,
        report: AccuracyReport,
        chosen: Mapping[str, str],
        distribution: Distribution | None = None,
    ) -> str:
        return PICTURES[name].draw(report, chosen)


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
