"""Real systems' segment statistics as populations to draw simulated test sets from."""

from __future__ import annotations

import hashlib
import os
import tempfile
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path

import numpy as np

import sigtest
from sigtest.arrays import Array, Counts
from sigtest.cached import cached_property
from sigtest.data.testset import System, TestSet
from sigtest.draws.product import fixed_point
from sigtest.engine import measure
from sigtest.errors import UnavailableError
from sigtest.metrics import METRICS, Metric

ROOT = Path(__file__).parent.parent
TEXT_METRICS = ("bleu", "nist", "meteor", "ter", "chrf")
SLOW_METRICS = ("meteor",)  # measured by another program, for minutes the first time
MEAN_SCORE = "mean score"
# Two systems near each other in quality and unlike in kind, which differ in most segments.
CLOSE_SYSTEMS = {
    "wmt12.es-en": ("uedin-wmt12", "onlineA"),
    "wmt22.cs-en": ("Online-A", "Online-Y"),
    "shared-task": ("aspen", "birch"),
}


@dataclass(frozen=True)
class Population:
    """Segments of real systems, measured.

    Attributes:
        name: Of the test set.
        systems: Names of the systems.
        metrics: What was measured.
        labels: What tables call each metric.
        tables: One (S, n, k) array of statistics a metric, in fixed point.
        documents: Document of each segment, or none known.
    """

    name: str
    systems: tuple[str, ...]
    metrics: tuple[Metric, ...]
    labels: tuple[str, ...]
    tables: tuple[Array, ...]
    documents: tuple[str, ...] | None

    @property
    def segments(self) -> int:
        """Number of segments."""
        return int(self.tables[0].shape[1])

    @cached_property
    def members(self) -> list[Counts]:
        """Segments of each document."""
        names = np.array(self.documents or ())
        return [np.flatnonzero(names == name) for name in dict.fromkeys(self.documents or ())]

    def of(self, systems: Sequence[int]) -> Population:
        """Only these systems."""
        return Population(
            self.name,
            tuple(self.systems[s] for s in systems),
            self.metrics,
            self.labels,
            tuple(table[list(systems)] for table in self.tables),
            self.documents,
        )

    def measured_by(self, labels: Sequence[str]) -> Population:
        """Only these metrics, as far as they are there."""
        kept = [m for m, label in enumerate(self.labels) if label in labels]
        return Population(
            self.name,
            self.systems,
            tuple(self.metrics[m] for m in kept),
            tuple(self.labels[m] for m in kept),
            tuple(self.tables[m] for m in kept),
            self.documents,
        )


@dataclass(frozen=True)
class Corpus:
    """A test set on disk.

    Attributes:
        name: Of the test set.
        folder: Where it lies.
        references: File names of its reference sets.
        suffix: Of the systems' files.
        documents: File name of the document ids, if any.
    """

    name: str
    folder: Path
    references: tuple[str, ...]
    suffix: str
    documents: str | None = None

    @property
    def systems(self) -> tuple[str, ...]:
        """Names of the systems, sorted."""
        return tuple(sorted(p.name[: -len(self.suffix)] for p in self.files))

    @property
    def files(self) -> tuple[Path, ...]:
        """The systems' files."""
        return tuple((self.folder / "systems").glob("*" + self.suffix))

    @cached_property
    def testset(self) -> TestSet:
        """References and documents."""
        documents = _lines(self.folder / self.documents) if self.documents else None
        return TestSet.of([_lines(self.folder / name) for name in self.references], documents)

    def system(self, name: str) -> System:
        """One system's output."""
        return System.of(name, _lines(self.folder / "systems" / (name + self.suffix)))


def data_folder() -> Path | None:
    """The folder of real test sets, `SIGTEST_DATA`, where there is one."""
    given = Path(os.environ.get("SIGTEST_DATA", ROOT.parent / "shared" / "data"))
    return given if (given / "wmt12.es-en").is_dir() else None


def corpora() -> tuple[Corpus, ...]:
    """The papers' test set and a recent one; without data, the example that ships with sigtest."""
    data = data_folder()
    if data is None:
        example = ROOT / "examples" / "shared-task"
        return (Corpus("shared-task", example, ("reference.en",), ".en", "documents.txt"),)
    return (
        Corpus("wmt12.es-en", data / "wmt12.es-en", ("reference.en",), ".en", "docids.txt"),
        Corpus("wmt22.cs-en", data / "wmt22.cs-en", ("reference.B.en",), ".en"),
    )


def population(corpus: Corpus, systems: Sequence[str], metrics: Sequence[str]) -> Population:
    """Measure some systems of a corpus.

    Args:
        corpus: The test set.
        systems: Names.
        metrics: Names of text metrics; those that are not installed here are left out. The mean
            of the segments' chrF, a real number as neural metrics give it, is added where chrF is.
    """
    kept: list[tuple[str, Metric, Array]] = []
    for name in metrics:
        if name not in METRICS:
            continue
        try:
            metric = METRICS[name]()
            rows = [_measured(corpus.testset, corpus.system(s), metric) for s in systems]
        except UnavailableError:
            continue
        kept.append((name, metric, np.stack(rows)))
        if name == "chrf":
            kept.append((MEAN_SCORE, METRICS["scores"](), mean_scores(metric, kept[-1][2])))
    labels, found, tables = zip(*kept, strict=True)
    return Population(corpus.name, tuple(systems), found, labels, tables, corpus.testset.documents)


def mean_scores(metric: Metric, table: Array) -> Array:
    """(S, n, 2) statistics of the mean of each segment's own score."""
    scores = metric.score(table)
    return np.stack([fixed_point(np.stack([row, np.ones_like(row)], axis=1)) for row in scores])


def _measured(testset: TestSet, system: System, metric: Metric) -> Array:
    """Statistics of one system; those of slow metrics are kept between runs."""
    if metric.name not in SLOW_METRICS:
        return measure(testset, system, metric)
    name = "|".join((_sources(), metric.signature(1), testset.sha256, system.sha256))
    path = state_folder() / (hashlib.sha256(name.encode()).hexdigest() + ".npy")
    if path.exists():
        kept: Array = np.load(path)
        return kept
    table = measure(testset, system, metric)
    path.parent.mkdir(parents=True, exist_ok=True)
    partial = path.with_suffix(f".{os.getpid()}.npy")
    np.save(partial, table)
    partial.replace(path)
    return table


def state_folder() -> Path:
    """Where statistics that take minutes are kept between runs."""
    state = os.environ.get("SIGTEST_STATE")
    return (Path(state) if state else Path(tempfile.gettempdir()) / "sigtest") / "validation"


def _sources() -> str:
    """Hash of the code that measures: statistics of other code are not these."""
    digest = hashlib.sha256()
    package = Path(sigtest.__file__).parent / "metrics"
    for path in sorted(package.rglob("*.py")):
        digest.update(path.read_bytes())
    return digest.hexdigest()


def _lines(path: Path) -> list[str]:
    """Lines of a file, split at line feeds only."""
    text = path.read_text(encoding="utf-8-sig")
    return text.removesuffix("\n").split("\n")
