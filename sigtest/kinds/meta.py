"""Metric evaluations as questions: human and metric scores in, who agrees better out."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any, ClassVar

from sigtest.draws.distribution import Distribution
from sigtest.engine import Progress
from sigtest.kinds.base import About, File, Kind, Whole
from sigtest.meta import Asked, MetaReport, compute, parse
from sigtest.meta.pictures import PICTURES, MetaPicture
from sigtest.meta.present import present
from sigtest.render.formats import Presented
from sigtest.report import decode

# Seconds of one core, fitted to measured times.
SECONDS = 2e-9  # for a cell of a metric, resample and test


class MetricEvaluations(Kind[Whole]):
    """How well metrics agree with people."""

    name: ClassVar[str] = "metric evaluation"
    path: ClassVar[str] = "metric-evaluations"
    summary: ClassVar[str] = "Which metrics agree with people, and which better than others?"
    reports: ClassVar[tuple[type, ...]] = (MetaReport,)
    parts: ClassVar[tuple[str, ...]] = ("judgements",)
    pictures: ClassVar[Mapping[str, MetaPicture]] = PICTURES

    def parse(self, request: Mapping[str, Any], files: Sequence[File] = ()) -> Whole:
        asked = parse(request, [(file.name, file.data) for file in files])
        about = About(
            systems=tuple(dict.fromkeys(name for own in asked.sets for name in own.systems)),
            metrics=tuple(dict.fromkeys(m.label for own in asked.sets for m in own.metrics)),
            tests=asked.choices.tests,
            testsets=tuple(own.name for own in asked.sets) if asked.several else (),
        )
        return Whole(asked, about, _seconds(asked))

    def load(self, outline: Mapping[str, Any], contents: Mapping[str, Any]) -> Whole:
        return Whole(Asked.load(contents["asked"]), About(), 0.0)

    def compute(self, asked: Whole, progress: Progress | None = None) -> MetaReport:
        assert isinstance(asked.asked, Asked)
        return compute(asked.asked, progress)

    def read(self, body: Mapping[str, Any]) -> MetaReport:
        return decode(MetaReport, body)

    def present(self, report: MetaReport) -> Presented:
        return present(report)

    def draw(
        self,
        name: str,
        report: MetaReport,
        chosen: Mapping[str, str],
        distribution: Distribution | None = None,
    ) -> str:
        return PICTURES[name].draw(report, chosen)


def _seconds(asked: Asked) -> float:
    """About how long one core computes it."""
    choices = asked.choices
    work = sum(
        len(own.systems) * max(own.segments, 1) * len(own.metrics) * len(choices.statistics)
        for own in asked.sets
    )
    return 0.1 + SECONDS * work * choices.resamples
