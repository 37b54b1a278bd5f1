"""One sample of each thing that the project says can be added with one class and one line."""

from __future__ import annotations

import hashlib
import math
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any, ClassVar

import numpy as np

from sigtest.arrays import Array, Flags
from sigtest.data.testset import System, TestSet
from sigtest.files.file import File as ImportedFile
from sigtest.files.material import Material, SystemScores
from sigtest.files.registry import FORMATS_READ, Reader
from sigtest.kinds import KINDS, About, FormFile
from sigtest.kinds.base import WholeKind, WholeQuestion
from sigtest.kinds.renderable import Renderable
from sigtest.metrics import METRICS, Fraction, Metric
from sigtest.progress import Progress
from sigtest.render.formats import FORMATS, Format, Presented
from sigtest.render.model import Document, Paragraph, Sheet
from sigtest.render.pictures import PAIRED, PICTURES, VIEW, Picture
from sigtest.report import Methods, Report, Warnings
from sigtest.requests.model import Real, Request
from sigtest.significance import CORRECTIONS, TESTS, Alternative
from sigtest.significance.base import Draws, ResamplingTest, UnitP, UnitsTest, reaching
from sigtest.significance.corrections import Correction


@dataclass(frozen=True)
class Length(Metric):
    """Tokens of the hypothesis in percent of the tokens of the first reference."""

    times: int = 1

    name: ClassVar[str] = "length"
    fraction: ClassVar[Fraction | None] = Fraction(0, 1)

    @property
    def width(self) -> int:
        return 2

    @property
    def implementation(self) -> str:
        return "sample:1"

    def statistics(self, testset: TestSet, system: System) -> Array:
        hypotheses = self.hypotheses(system)
        references = testset.references[0].lines
        return np.array(
            [
                [self.times * len(line.split()), len((reference or "").split())]
                for line, reference in zip(hypotheses.lines, references, strict=True)
            ],
            dtype=np.float64,
        )

    def formula(self, sums: Array) -> Array:
        return 100.0 * sums[0] / np.maximum(sums[1], 1.0)


class Halfway(ResamplingTest):
    """Counts draws that go at least half as far as the observed difference."""

    name: ClassVar[str] = "halfway"
    draws: ClassVar[Draws] = "swaps"
    null: ClassVar[str] = "exchangeable outputs"

    def extreme(
        self, observed: Array, null: Array, tolerance: Array, alternative: Alternative
    ) -> Flags:
        return reaching(observed / 2, null, tolerance, alternative)

    def limits(self, observed: float, alternative: Alternative) -> tuple[float, ...]:
        return (observed / 2, -observed / 2)


class Constant(UnitsTest):
    """Finds the same p-value everywhere."""

    name: ClassVar[str] = "constant"
    null: ClassVar[str] = "nothing at all"

    def p(self, metric: Metric, a: Array, b: Array, alternative: Alternative) -> UnitP:
        return UnitP.of_log10(math.log10(0.0125), exact=True, statistic=None)


def thrice(p: Array) -> Array:
    """Three times the p-values, whatever the size of the family; a sample."""
    return np.minimum(3 * p, 1.0)


@dataclass(frozen=True, repr=False)
class SumReport(Renderable):
    """The sum of some numbers.

    Attributes:
        total: The sum.
        signature: What it was computed of.
    """

    path = "sums"

    total: float
    signature: str
    warnings: Warnings = ()
    methods: Methods | None = None


@dataclass(frozen=True)
class Numbers(WholeQuestion):
    """Numbers to add up."""

    numbers: tuple[float, ...]

    @property
    def key(self) -> str:
        return hashlib.sha256(repr(self.numbers).encode()).hexdigest()

    @property
    def about(self) -> About:
        return About(systems=("numbers",))

    @property
    def seconds(self) -> float:
        return 0.01


class SumRequest(Request):
    """Numbers to add up."""

    numbers: tuple[Real, ...]


class Sums(WholeKind[Numbers]):
    """Adds numbers up."""

    name: ClassVar[str] = "sum"
    path: ClassVar[str] = "sums"
    summary: ClassVar[str] = "What do numbers add up to?"
    content: ClassVar[type[Numbers]] = Numbers
    reports: ClassVar[tuple[type, ...]] = (SumReport,)
    request: ClassVar[type[Request]] = SumRequest

    def parse(self, request: Mapping[str, Any], files: Sequence[FormFile] = ()) -> Numbers:
        return Numbers(SumRequest.of(request).numbers)

    def compute(self, question: Numbers, progress: Progress | None = None) -> SumReport:
        numbers = question.numbers
        return SumReport(sum(numbers), f"sum of {len(numbers)}")

    sheets: ClassVar = {"sum": lambda report: Sheet(("total",), [(report.total,)])}

    def document(self, report: SumReport) -> Document:
        return Document("Sum", (), (Paragraph(f"The sum is {report.total:g}."),))


def _bars(report: Report, **chosen: str) -> str:
    """One bar a system."""
    bars = "".join(f"<rect><title>{s.name}</title></rect>" for s in report.systems)
    return f'<svg xmlns="http://www.w3.org/2000/svg">{bars}</svg>\n'


def _shout(presented: Presented) -> str:
    return repr(sorted(presented.as_json())).upper() + "\n"


def _is_tally(file: ImportedFile) -> bool:
    return file.head.startswith("tally of ")


def _read_tally(file: ImportedFile) -> Material:
    """`tally of SYSTEM`, and a line of strokes for each segment."""
    head, *strokes = file.lines
    values = tuple(float(len(line)) for line in strokes)
    scores = SystemScores(head.removeprefix("tally of "), "strokes", (values,))
    return Material(scores=(scores,), name=file.name)


def plug_in() -> None:
    """Add the line of each to its registry."""
    METRICS["length"] = Length
    TESTS["halfway"] = Halfway()
    TESTS["constant"] = Constant()
    CORRECTIONS["thrice"] = Correction("thrice", "three times", thrice)
    FORMATS["shout"] = Format("shout", "a sample", "text/x-shout", "shout", _shout)
    PICTURES["bars"] = Picture("bars", "Bars", _bars, PAIRED, VIEW)
    KINDS["sums"] = Sums()
    FORMATS_READ["tally"] = Reader("tally", "a tally", _is_tally, _read_tally, (".tally",))
