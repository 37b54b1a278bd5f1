"""Metric evaluations as questions: human and metric scores in, who agrees better out."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any, ClassVar

import numpy as np

from sigtest.kinds.base import About, File, Finished, Reference
from sigtest.kinds.human import with_evaluation
from sigtest.kinds.shown import Shown
from sigtest.kinds.whole import Whole, WholeKind
from sigtest.progress import Progress
from sigtest.questions.meta import Asked, MetaReport, compute, parse
from sigtest.questions.meta.brought import EVALSET, PARTS, with_files
from sigtest.questions.meta.data.scored import ScoredSet
from sigtest.questions.meta.data.sources import from_comparison
from sigtest.questions.meta.fields import schema
from sigtest.questions.meta.pictures import PICTURES
from sigtest.questions.meta.present import answer, present
from sigtest.requests.meta import MetricEvaluationRequest
from sigtest.requests.options import Option, options
from sigtest.requests.people import Judging
from sigtest.significance.exact import MOST_UNITS

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
# Seconds of one core for a cell of a metric and a resample, fitted to measured times.
SECONDS = {"spearman": 2e-8, "kendall": 6e-9}
USUAL_SECONDS = 3e-9  # of other statistics
NEAR_DIGITS = 11  # of standardised scores: what is counted there is sure to be counted here
# The same for each pair of metrics: whatever there is, for a pair of systems, for a pair of systems
# on a segment, for one exchange of systems (and by the systems), for one at random by their pairs.
PAIR_SECONDS, ORDER_SECONDS, CELL_SECONDS = 1.5e-3, 4e-7, 5e-7
PATTERN_SECONDS, PATTERN_SYSTEM_SECONDS, DRAW_SECONDS = 4e-8, 5e-9, 1.4e-8


class ShownMetaReport(Shown, MetaReport):
    """A report that shows itself: as tables when printed, with pictures in a notebook."""

    path = "metric-evaluations"


class MetricEvaluations(WholeKind[Asked]):
    """How well metrics agree with people."""

    name = "metric evaluation"
    path = "metric-evaluations"
    summary = "Which metrics agree with people, and which better than others?"
    content = Asked
    reports = (MetaReport,)
    shown = ShownMetaReport

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
        Reference((*start, *place), kind)
        for start in ((), ("sets", "*"))
        for place, kind in (
            (("human", "evaluation"), "human-evaluations"),
            (("metrics", "comparison"), "comparisons"),
        )
    )
    pictures = PICTURES
    tables = ("metrics", "pairs")
    naming = ("label", "a", "b", "baseline", "beats_baseline")

    def parse(self, request: Mapping[str, Any], files: Sequence[File] = ()) -> Whole[Asked]:
        brought = {
            part: [(file.name, file.data) for file in files if file.part == part] for part in PARTS
        }
        asked = parse(*with_files(_answered(request), brought))
        about = About(
            systems=tuple(dict.fromkeys(name for own in asked.sets for name in own.systems)),
            metrics=tuple(dict.fromkeys(m.label for own in asked.sets for m in own.metrics)),
            tests=asked.choices.tests,
            testsets=tuple(own.name for own in asked.sets) if asked.several else (),
        )
        return Whole(asked, about, _seconds(asked))

    def compute(self, asked: Whole[Asked], progress: Progress | None = None) -> MetaReport:
        return compute(asked.asked, progress)

    answer = staticmethod(answer)
    present = staticmethod(present)


def _answered(request: Mapping[str, Any]) -> Mapping[str, Any]:
    """The request with what was asked and answered in the place of finished questions."""
    sets = request.get("sets")
    if isinstance(sets, Mapping):
        return {**request, "sets": {name: _of_set(own) for name, own in sets.items()}}
    return _of_set(request)


def _of_set(body: Any) -> Any:
    if not isinstance(body, Mapping):
        return body
    filled = dict(with_evaluation(body))
    metrics = body.get("metrics")
    if isinstance(metrics, Mapping) and isinstance(metrics.get("comparison"), Finished):
        others = {label: own for label, own in metrics.items() if label != "comparison"}
        filled["metrics"] = {**from_comparison(metrics["comparison"].report), **others}
    return filled


def _seconds(asked: Asked) -> float:
    """About how long one core computes it."""
    choices = asked.choices
    segments = choices.level == "segment"
    cells = sum(
        len(own.systems) * (own.segments if segments else 1) * len(own.metrics)
        for own in asked.sets
    )
    each = sum(SECONDS.get(name, USUAL_SECONDS) for name in choices.statistics)
    comparing = sum(_comparing(own, segments, choices.resamples) for own in asked.sets)
    return 0.3 + each * cells * choices.resamples + comparing


def _comparing(own: ScoredSet, segments: bool, resamples: int) -> float:
    """To compare every pair of metrics of a set.

    Exchanges of systems are counted one by one where few systems differ, after standardisation.
    """
    size, metrics = len(own.systems), len(own.metrics)
    of_systems = size * (size - 1) / 2
    each = PAIR_SECONDS + ORDER_SECONDS * of_systems
    if segments:
        each += CELL_SECONDS * of_systems * own.segments
        return metrics * (metrics - 1) / 2 * each
    scores = own.metric_scores("system")[:, :, 0]
    centred = scores - scores.mean(axis=1, keepdims=True)
    spread = centred.std(axis=1, keepdims=True)
    even = (centred / np.where(spread > 0, spread, 1.0)).round(NEAR_DIGITS)
    total = 0.0
    for m in range(1, metrics):
        differing = (even[:m] != even[m]).sum(axis=1)
        if np.isnan(even).any():  # pairs are compared on what both have, which may be little
            differing = np.minimum(differing, MOST_UNITS)
        few = differing <= MOST_UNITS
        patterns = np.exp2(np.minimum(differing, MOST_UNITS) - 1.0)
        counting = patterns * (PATTERN_SECONDS + PATTERN_SYSTEM_SECONDS * size)
        drawing = resamples * DRAW_SECONDS * of_systems
        total += m * each + float(np.where(few, counting, drawing).sum())
    return total


KIND = MetricEvaluations()
