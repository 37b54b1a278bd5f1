"""Human evaluations as questions: people's judgements in, conclusions out."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import replace
from typing import Any

from sigtest.kinds.base import About, File, Finished
from sigtest.kinds.shown import Shown
from sigtest.kinds.whole import Whole, WholeKind
from sigtest.progress import Progress
from sigtest.questions.human import HumanReport, compute, parse
from sigtest.questions.human.files.columns import JUDGEMENTS
from sigtest.questions.human.pictures import PICTURES
from sigtest.questions.human.present import answer, present
from sigtest.questions.human.rankings import Rankings
from sigtest.questions.human.request.asked import Asked
from sigtest.questions.human.statistics.paired import EXACT_FLIPS
from sigtest.render.digits import counted
from sigtest.requests.options import options
from sigtest.requests.people import HumanRequest

SECONDS = 5e-5  # for one judgement
PATTERN_SECONDS = 2e-8  # for one exchange of units of a pair, where all are counted
DRAW_SECONDS = 4e-9  # for one unit of a resample
PRODUCT_SECONDS = 5e-10  # for one unit of a resample and a pair
TESTED_SECONDS = 6e-5  # for one pair of systems, whatever the test
PAIR_SECONDS = 4e-9  # for one pair of a resample
PARTS = {
    "judgements": "Files of judgements, recognised by what is in them; perhaps `.gz`.",
}
EXAMPLES = {
    "two systems": {
        "summary": "Two annotators, one criterion.",
        "value": {
            "judgements": [
                {"annotator": who, "system": system, "segment": segment, "score": score + shift}
                for who, shift in (("w1", 0), ("w2", -12))
                for system, scores in (("A", (81, 64, 90)), ("B", (55, 60, 71)))
                for segment, score in enumerate(scores, 1)
            ],
        },
    },
}


def recognised(asked: Asked) -> tuple[str, ...]:
    """What was read in each file, and how much there is to judge by."""
    judged = asked.judgements
    what = "ranking" if isinstance(judged, Rankings) else "judgement"
    read = [
        f"{counted(source.rows, 'row')}, read as {source.input}"
        + "".join(f"; {count:,} left out: {why}" for why, count in source.dropped.items())
        + "."
        for source in asked.sources
    ]
    counts = [
        counted(len(column.names), noun)
        for noun, column in (("segment", judged.segment), ("annotator", judged.annotator))
        if column.names
    ]
    return (*read, f"{', '.join([counted(len(judged), what), *counts])}.")


class ShownHumanReport(Shown, HumanReport):
    """A report that shows itself: as tables when printed, with pictures in a notebook."""

    path = "human-evaluations"


class HumanEvaluations(WholeKind[Asked]):
    """What people's judgements say of systems."""

    name = "human evaluation"
    path = "human-evaluations"
    summary = "What do people's judgements say of systems, and do people agree?"
    content = Asked
    reports = (HumanReport,)
    shown = ShownHumanReport

    request = HumanRequest

    def schema(self) -> dict[str, Any]:
        schema = super().schema()
        return {
            **schema,
            "properties": {"judgements": JUDGEMENTS, **schema["properties"]},
            "required": ["judgements"],
        }

    examples = EXAMPLES
    parts = PARTS
    command = "human"
    fields = options(HumanRequest)
    pictures = PICTURES
    tables = ("systems", "pairs", "agreement", "gain")
    naming = ("name", "a", "b")

    def parse(self, request: Mapping[str, Any], files: Sequence[File] = ()) -> Whole[Asked]:
        asked = parse(request, [(file.name, file.data) for file in files])
        about = About(
            systems=asked.systems,
            metrics=asked.choices.criteria,
            tests=(str(asked.choices.test),),
        )
        return Whole(asked, about, _seconds(asked))

    def recognised(self, asked: Whole[Asked]) -> tuple[str, ...]:
        criteria = asked.about.metrics
        rest = replace(asked, about=replace(asked.about, metrics=()))
        judged_by = f"{'Criterion' if len(criteria) == 1 else 'Criteria'}: {', '.join(criteria)}."
        return (*recognised(asked.asked), *super().recognised(rest), judged_by)

    def compute(self, asked: Whole[Asked], progress: Progress | None = None) -> HumanReport:
        return compute(asked.asked, progress)

    answer = staticmethod(answer)
    present = staticmethod(present)


def with_evaluation(request: Mapping[str, Any]) -> Mapping[str, Any]:
    """A request with what was asked in the place of the id of a finished human evaluation."""
    human = request.get("human")
    if isinstance(human, Mapping) and isinstance(human.get("evaluation"), Finished):
        return {**request, "human": {**human, "evaluation": human["evaluation"].asked.asked}}
    return request


def _seconds(asked: Asked) -> float:
    """About how long one core computes it."""
    seconds = 0.1 + SECONDS * sum(source.rows for source in asked.sources)
    judged = asked.judgements
    systems = len(judged.names if isinstance(judged, Rankings) else judged.system.names)
    pairs = systems * (systems - 1) // 2
    if isinstance(judged, Rankings):
        return seconds + TESTED_SECONDS * pairs
    seconds += TESTED_SECONDS * pairs * len(judged.criterion.names)
    if asked.choices.test != "approximate_randomization":
        return seconds
    units = len(judged.segment.names)
    exact = pairs * PATTERN_SECONDS * 2.0 ** min(units, EXACT_FLIPS)
    each = units * (DRAW_SECONDS + pairs * PRODUCT_SECONDS) + pairs * PAIR_SECONDS
    return seconds + len(judged.criterion.names) * (exact + asked.choices.resamples * each)


KIND = HumanEvaluations()
