"""The kinds of questions, by the name that their path has.

A kind says how a request becomes a question, and a question a report. Everything else is written
once for all kinds: submission, ids, queueing, progress, waiting, events, listing, formats,
pictures, deletion, the command line's `--server` and the client.
"""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any, ClassVar, Generic, Protocol, TypeVar

from sigtest import engine
from sigtest.comparison.comparison import Comparison, Entry
from sigtest.comparison.parse import parse_comparison
from sigtest.comparison.plan import Part, Plan
from sigtest.data.testset import System, TestSet
from sigtest.draws.distribution import Distribution
from sigtest.engine import Progress
from sigtest.render.comparison import present
from sigtest.render.formats import Presented
from sigtest.render.plots import PICTURES, Picture, view
from sigtest.report import Report, ReportOnSeveral
from sigtest.significance import TESTS

# Seconds of one core, fitted to measured times; right within a third.
MEASURE_SECONDS = 15e-6  # for one segment, system and metric


class Finished(Protocol):
    """A report of any kind."""

    def as_json(self) -> dict[str, Any]:
        """The report as JSON has it."""


@dataclass(frozen=True)
class About:
    """What a listing tells of a question.

    Attributes:
        systems: Names of what is compared.
        metrics: Labels of the metrics, or of what else is measured.
        tests: Names of the significance tests.
        testsets: Names of the test sets, where there are several.
    """

    systems: tuple[str, ...] = ()
    metrics: tuple[str, ...] = ()
    tests: tuple[str, ...] = ()
    testsets: tuple[str, ...] = ()


class Question(Protocol):
    """Something that was asked for, checked completely."""

    @property
    def key(self) -> str:
        """Hash of everything the report is a function of: content, choices and versions."""

    @property
    def about(self) -> About:
        """What a listing tells of it."""

    @property
    def seconds(self) -> float:
        """About how long one core computes it."""

    def contents(self) -> Mapping[str, Any]:
        """What was brought, as JSON values by name; what `outline` does not have."""

    def outline(self) -> Mapping[str, Any]:
        """What workers must know without reading the contents, as a JSON object."""


Asked = TypeVar("Asked", bound=Question)


class Kind(ABC, Generic[Asked]):
    """One kind of question.

    Attributes:
        name: What a single one is called.
        path: What all are called, in paths of the service and in the registry.
        summary: What is asked, in one sentence.
        reports: The dataclasses that a report may be, which its JSON schema is read off.
        schema: JSON schema of a request.
        examples: Requests that work as they stand, as OpenAPI has them.
        pictures: By name.
    """

    name: ClassVar[str]
    path: ClassVar[str]
    summary: ClassVar[str]
    reports: ClassVar[tuple[type, ...]]
    schema: ClassVar[Mapping[str, Any]] = {}
    examples: ClassVar[Mapping[str, Any]] = {}
    pictures: ClassVar[Mapping[str, Picture]] = {}

    @abstractmethod
    def parse(self, request: Mapping[str, Any]) -> Asked:
        """The question that a JSON request asks.

        Raises:
            SigtestError: The request cannot be used; says what, where, and what would be right.
        """

    @abstractmethod
    def load(self, outline: Mapping[str, Any], contents: Mapping[str, Any]) -> Asked:
        """The question that was stored; it is not checked again."""

    @abstractmethod
    def compute(self, asked: Asked, progress: Progress | None = None) -> Finished:
        """The report, a function of the question and the version alone."""

    @abstractmethod
    def read(self, body: Mapping[str, Any]) -> Any:
        """The report that `as_json` wrote."""

    @abstractmethod
    def present(self, report: Any) -> Presented:
        """A report for any format."""

    def draw(
        self,
        name: str,
        report: Any,
        metric: str | None = None,
        test: str | None = None,
        testset: str | None = None,
        distribution: Distribution | None = None,
    ) -> str:
        """One of the pictures of a report, as SVG.

        Args:
            name: Of the picture.
            report: What to draw.
            metric: The first where none is named.
            test: The first that keeps its level where none is named.
            testset: One of several; all together where none is named.
            distribution: Of a pair, where the picture needs one.

        Raises:
            SigtestError: The report has nothing such.
        """
        shown = view(report, metric, test, testset, distribution)
        return self.pictures[name].draw(shown)


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
        plan = self.comparison.plan
        measuring = sum(measuring_seconds(part) for part in plan.parts)
        return measuring + sum(resampling_seconds(part) for part in plan.all_parts)

    def contents(self) -> Mapping[str, Any]:
        """Test sets, and outputs: what every system brings to the first test set, the next..."""
        entries = self.comparison.entries
        outputs = [system.as_json() for entry in entries for system in entry.systems]
        testsets = {testset_field(t): e.testset.as_json() for t, e in enumerate(entries)}
        return testsets | {output_field(i): output for i, output in enumerate(outputs)}

    def outline(self) -> Mapping[str, Any]:
        """The plan."""
        return self.comparison.plan.as_json()


class Comparisons(Kind[ComparisonQuestion]):
    """Systems compared by metrics; a worker can compute it piece by piece."""

    name: ClassVar[str] = "comparison"
    path: ClassVar[str] = "comparisons"
    summary: ClassVar[str] = "Is one system better than another? One recipe on test sets."
    reports: ClassVar[tuple[type, ...]] = (Report, ReportOnSeveral)
    pictures: ClassVar[Mapping[str, Picture]] = PICTURES

    def parse(self, request: Mapping[str, Any]) -> ComparisonQuestion:
        return ComparisonQuestion(parse_comparison(request))

    def load(self, outline: Mapping[str, Any], contents: Mapping[str, Any]) -> ComparisonQuestion:
        plan = Plan.of(outline)
        size = len(plan.systems)
        entries = tuple(
            Entry(
                TestSet.load(contents[testset_field(t)]),
                tuple(
                    System.load(name, contents[output_field(t * size + s)])
                    for s, name in enumerate(plan.systems)
                ),
            )
            for t in range(len(plan.parts))
        )
        return ComparisonQuestion(Comparison(entries, plan.recipe, plan.names, plan.pooled))

    def compute(self, asked: ComparisonQuestion, progress: Progress | None = None) -> Report:
        return engine.compare(asked.comparison, progress)

    def read(self, body: Mapping[str, Any]) -> Report:
        return Report.from_json(body)

    def present(self, report: Report) -> Presented:
        return present(report)


KINDS: dict[str, Kind[Any]] = {kind.path: kind for kind in (Comparisons(),)}


def about(plan: Plan) -> About:
    """What a listing tells of a comparison."""
    return About(plan.systems, plan.recipe.labels, plan.recipe.tests, plan.names)


def testset_field(number: int) -> str:
    """What a comparison's contents call a test set: its references, documents and labels."""
    return f"testset-{number}"


def output_field(number: int) -> str:
    """What a comparison's contents call an output: what one system brings to one test set."""
    return f"output-{number}"


def measuring_seconds(part: Part) -> float:
    """About how long one core measures all systems."""
    outputs = len(part.systems) * part.replicas
    return MEASURE_SECONDS * part.segments * outputs * len(part.recipe.metrics)


def resampling_seconds(part: Part) -> float:
    """About how long one core resamples."""
    swaps = any(TESTS[test].draws == "swaps" for test in part.recipe.tests)
    tables = 1 + part.replicas if swaps else 1  # each replica has swaps of its own
    pairs = len(part.pairs) if swaps else 0
    width = sum(metric.width for metric in part.recipe.metrics)
    columns = width * len(part.systems)
    drawing = tables * part.units * (5.5e-10 + 1.8e-11 * columns)
    scoring = 1.3e-9 * columns + 3.8e-9 * width * pairs
    return part.resamples * (drawing + scoring + 1e-7)
