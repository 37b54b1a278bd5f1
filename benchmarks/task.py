"""The texts that are measured: wmt12.es-en where the data is, else the example; more by mixing."""

import os
import random
import statistics
import time
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from pathlib import Path

import numpy as np

from sigtest.comparison.comparison import Comparison, parse_comparison
from sigtest.comparison.plan import Plan
from sigtest.data.text import parse_lines
from sigtest.decide.facts import gather
from sigtest.decide.summary import summarise
from sigtest.draws.sample import Block, Sample
from sigtest.engine import measure
from sigtest.report import Report

ROOT = Path(__file__).parents[1]
Lines = tuple[str, ...]


@dataclass(frozen=True)
class Task:
    """A reference and systems, one line a segment."""

    name: str
    reference: Lines
    systems: dict[str, Lines]

    def comparison(self, count: int = 0, segments: int = 0, **recipe: object) -> Comparison:
        """Some or all systems; more than there are by mixing their lines."""
        names = list(self.systems)
        rng = random.Random(0)
        texts = dict(self.systems)
        while len(texts) < count:
            first, second = rng.sample(names, 2)
            mixed = (
                rng.choice(pair)
                for pair in zip(self.systems[first], self.systems[second], strict=True)
            )
            texts[f"mixed-{len(texts)}"] = tuple(mixed)
        chosen = list(texts)[: count or None]
        size = segments or len(self.reference)
        rows = [i % len(self.reference) for i in range(size)]
        return parse_comparison(
            {
                "references": [[self.reference[i] for i in rows]],
                "systems": [
                    {"name": name, "hypotheses": [texts[name][i] for i in rows]} for name in chosen
                ],
                **recipe,
            }
        )


def read_task() -> Task:
    folder = Path(os.environ.get("SIGTEST_DATA", ROOT / ".." / "shared" / "data")) / "wmt12.es-en"
    if not folder.is_dir():
        folder = ROOT / "examples" / "shared-task"
    files = sorted((folder / "systems").iterdir())
    return Task(
        folder.name,
        _lines(folder / "reference.en"),
        {file.name.removesuffix(".en"): _lines(file) for file in files},
    )


def sample_of(comparison: Comparison) -> Sample:
    tables = [
        np.stack(
            [
                measure(comparison.entries[0].testset, s, metric)
                for s in comparison.entries[0].systems
            ]
        )
        for metric in comparison.recipe.metrics
    ]
    return Sample(comparison.plan.parts[0], tables)


def seconds(run: Callable[[], object]) -> float:
    """Wall time of one run."""
    start = time.perf_counter()
    run()
    return time.perf_counter() - start


def paired(ours: Callable[[], object], theirs: Callable[[], object], runs: int) -> Sequence[float]:
    """Median seconds of ours and theirs, run in turn, and the median of the ratios."""
    ours()  # not counted: caches and first touches
    pairs = [(seconds(ours), seconds(theirs)) for _ in range(runs)]
    mine, other = zip(*pairs, strict=True)
    ratios = [b / a for a, b in pairs]
    return statistics.median(mine), statistics.median(other), statistics.median(ratios)


def _lines(path: Path) -> Lines:
    return parse_lines(path.read_bytes(), path.name)


def reduced(sample: Sample, blocks: Sequence[Block]) -> Report:
    """The report of one test set, from blocks that together hold every resample once."""
    return summarise(Plan((sample.part,)), [gather(sample, list(blocks))])
