"""Human evaluations as questions: people's judgements in, conclusions out."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any, ClassVar

from sigtest.data.fields import Field, object_schema
from sigtest.draws.distribution import Distribution
from sigtest.engine import Progress
from sigtest.human import HumanReport, compute, parse
from sigtest.human.files.columns import COLUMNS, NEEDED, NUMERIC
from sigtest.human.pictures import PICTURES, HumanPicture
from sigtest.human.present import present
from sigtest.human.request.asked import Asked
from sigtest.human.request.choices import FIELDS
from sigtest.kinds.base import About, File, Kind, Whole
from sigtest.render.formats import Presented
from sigtest.report import decode

SECONDS = 5e-5  # for one judgement
JUDGEMENT = {
    "type": "object",
    "properties": {
        name: {"type": ["number", "null"] if name in NUMERIC else ["string", "integer", "null"]}
        for name in COLUMNS
    },
    "required": list(NEEDED),
    "additionalProperties": False,
}

JUDGEMENTS = {"type": "array", "items": JUDGEMENT, "description": "One each."}
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


class HumanEvaluations(Kind[Whole]):
    """What people's judgements say of systems."""

    name: ClassVar[str] = "human evaluation"
    path: ClassVar[str] = "human-evaluations"
    summary: ClassVar[str] = "What do people's judgements say of systems, and do people agree?"
    reports: ClassVar[tuple[type, ...]] = (HumanReport,)
    schema: ClassVar[Mapping[str, Any]] = object_schema(FIELDS, {"judgements": JUDGEMENTS})
    examples: ClassVar[Mapping[str, Any]] = EXAMPLES
    parts: ClassVar[Mapping[str, str]] = PARTS
    command: ClassVar[str] = "human"
    fields: ClassVar[tuple[Field, ...]] = FIELDS
    pictures: ClassVar[Mapping[str, HumanPicture]] = PICTURES

    def parse(self, request: Mapping[str, Any], files: Sequence[File] = ()) -> Whole:
        asked = parse(request, [(file.name, file.data) for file in files])
        about = About(
            systems=asked.systems,
            metrics=asked.choices.criteria,
            tests=(str(asked.choices.test),),
        )
        return Whole(asked, about, SECONDS * sum(source.rows for source in asked.sources) + 0.1)

    def load(self, outline: Mapping[str, Any], contents: Mapping[str, Any]) -> Whole:
        return Whole(Asked.load(contents["asked"]), About(), 0.0)

    def compute(self, asked: Whole, progress: Progress | None = None) -> HumanReport:
        assert isinstance(asked.asked, Asked)
        return compute(asked.asked, progress)

    def read(self, body: Mapping[str, Any]) -> HumanReport:
        return decode(HumanReport, body)

    def present(self, report: HumanReport) -> Presented:
        return present(report)

    def draw(
        self,
        name: str,
        report: HumanReport,
        chosen: Mapping[str, str],
        distribution: Distribution | None = None,
    ) -> str:
        return PICTURES[name].draw(report, chosen.get("criterion"))
