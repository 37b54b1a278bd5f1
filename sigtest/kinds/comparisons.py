"""Comparisons as questions: a worker can compute them piece by piece."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from operator import attrgetter
from typing import Any

from sigtest import engine
from sigtest.cached import cached_property
from sigtest.comparison.comparison import Comparison, ComparisonEntry, parse_comparison
from sigtest.comparison.plan import Plan
from sigtest.data.testset import System, TestSet
from sigtest.decide.summary import decided
from sigtest.kinds import cost
from sigtest.kinds.base import About, FormFile, Kind, QuestionReference
from sigtest.kinds.renderable import Renderable
from sigtest.progress import Progress
from sigtest.render.comparison import TABLES, present
from sigtest.render.formats import Layout, Presented
from sigtest.render.pictures import PICTURES
from sigtest.report import Report, ReportOnSeveral


@dataclass(frozen=True)
class ComparisonQuestion:
    """A comparison as a question; its plan is its outline.

    Attributes:
        comparison: What is asked for.
    """

    comparison: Comparison

    @property
    def key(self) -> str:
        """See `Plan.key`."""
        return self.comparison.plan.key

    @property
    def about(self) -> About:
        """Names and labels."""
        return about(self.comparison.plan)

    @property
    def seconds(self) -> float:
        """Measuring and resampling."""
        return self.measuring + self.resampling

    @cached_property
    def measuring(self) -> float:
        """About how long one core measures all outputs."""
        comparison = self.comparison
        pairs = zip(comparison.entries, comparison.plan.parts, strict=True)
        return sum(cost.measuring_seconds(entry, part) for entry, part in pairs)

    @cached_property
    def resampling(self) -> float:
        """About how long one core draws, counts and decides."""
        comparison = self.comparison
        pairs = zip(comparison.entries, comparison.plan.parts, strict=True)
        return self.drawing + sum(cost.exact_seconds(entry, part) for entry, part in pairs)

    @cached_property
    def drawing(self) -> float:
        """The part of that which can be cut into blocks."""
        return sum(cost.resampling_seconds(part) for part in self.comparison.plan.all_parts)

    @property
    def loading(self) -> float:
        """About how long each block takes before anything is drawn."""
        return sum(map(cost.loading_seconds, self.comparison.plan.all_parts))

    def contents(self) -> Mapping[str, Any]:
        """Test sets, and outputs: what every system brings to the first test set, the next..."""
        entries = self.comparison.entries
        outputs = [system.as_json() for entry in entries for system in entry.systems]
        testsets = {testset_field(t): e.testset.as_json() for t, e in enumerate(entries)}
        return testsets | {output_field(i): output for i, output in enumerate(outputs)}

    def outline(self) -> Mapping[str, Any]:
        """The plan."""
        return self.comparison.plan.as_json()


class ComparisonReport(Renderable, Report):
    """A report that renders itself: as tables when printed, with pictures in a notebook."""

    path = "comparisons"


class Comparisons(Kind[ComparisonQuestion]):
    """Systems compared by metrics; a worker can compute it piece by piece."""

    name = "comparison"
    path = "comparisons"
    summary = "Is one system better than another, or can the test set not tell?"
    reports = (Report, ReportOnSeveral)
    command = "compare"
    pictures = PICTURES
    tables = tuple(TABLES)
    decides = True

    def parse(
        self, request: Mapping[str, Any], files: Sequence[FormFile] = ()
    ) -> ComparisonQuestion:
        return ComparisonQuestion(parse_comparison(request))

    def comparison(self, question: ComparisonQuestion) -> Comparison:
        return question.comparison

    def load(self, outline: Mapping[str, Any], contents: Mapping[str, Any]) -> ComparisonQuestion:
        plan = Plan.of(outline)
        size = len(plan.systems)
        entries = tuple(
            ComparisonEntry(
                TestSet.load(contents[testset_field(t)]),
                tuple(
                    System.load(name, contents[output_field(t * size + s)])
                    for s, name in enumerate(plan.systems)
                ),
            )
            for t in range(len(plan.parts))
        )
        return ComparisonQuestion(Comparison(entries, plan.recipe, plan.names, plan.pooled))

    def compute(self, question: ComparisonQuestion, progress: Progress | None = None) -> Report:
        return engine.compare(question.comparison, progress)

    def read(self, body: Mapping[str, Any]) -> ComparisonReport:
        return ComparisonReport(**vars(Report.from_json(body)))

    present = staticmethod(present)

    def lay_out(self, report: Report, layout: Layout) -> Presented:
        return present(report, layout)

    def decided(self, report: Report, alpha: float | None, correction: str | None) -> Report:
        return decided(report, alpha, correction)


def about(plan: Plan) -> About:
    """What a listing tells of a comparison."""
    return About(plan.systems, plan.recipe.labels, plan.recipe.tests, plan.names)


def testset_field(number: int) -> str:
    """What a comparison's contents call a test set: its references, documents and labels."""
    return f"testset-{number}"


def output_field(number: int) -> str:
    """What a comparison's contents call an output: what one system brings to one test set."""
    return f"output-{number}"


KIND = Comparisons()
FINISHED = QuestionReference(("comparison", "id"), "comparisons", attrgetter("question.comparison"))
