"""Many systems: what `auto` costs over 9,999 resamples, and reports on 200 systems.

    OPENBLAS_NUM_THREADS=1 python -m benchmarks.many

Two metrics and three tests; CPU seconds of one process. More systems than there are, by mixing.
"""

from __future__ import annotations

import gzip
import time
from collections.abc import Callable
from typing import TypeVar

from benchmarks.task import Task, read_task
from sigtest.engine import compare, reduce, sampled
from sigtest.render.records import render_json

T = TypeVar("T")
R = 9_999
METRICS = ("bleu", "chrf")
TESTS = ("approximate_randomization", "bootstrap", "paired_bootstrap")
SYSTEMS = 200
BLOCK = 2048
LEVEL = 9  # of gzip, as the service sends


def spent(run: Callable[[], T]) -> tuple[float, T]:
    """CPU seconds of one run, and what it gives."""
    since = time.process_time()
    found = run()
    return time.process_time() - since, found


def auto(task: Task, count: int) -> None:
    fixed, free = (
        task.comparison(count, metrics=["bleu"], resamples=resamples) for resamples in (R, "auto")
    )
    compare(fixed)
    pairs = [(spent(lambda: compare(fixed))[0], spent(lambda: compare(free))[0]) for _ in range(3)]
    ratios = sorted(b / a for a, b in pairs)
    print(f"{count} systems: auto draws {free.plan.resamples:,}, {ratios[1]:.2f} times as long")


def many(task: Task) -> None:
    asked = task.comparison(SYSTEMS, metrics=METRICS, tests=TESTS, resamples=R)
    extraction, samples = spent(lambda: sampled(asked))
    starts = range(0, R, BLOCK)
    drawing, blocks = spent(lambda: [samples.block(s, min(s + BLOCK, R)) for s in starts])
    reducing, report = spent(lambda: reduce(samples, blocks))
    writing, text = spent(lambda: render_json(report).encode())
    print(
        f"{SYSTEMS} systems, {len(task.reference):,} segments: statistics {extraction:.1f}, "
        f"resampling {drawing:.1f}, report {reducing:.1f}, its JSON {writing:.1f} CPU s: report "
        f"and JSON {(reducing + writing) / drawing:.2f} times the resampling; "
        f"{len(text) / 1e6:.0f} MB, {len(gzip.compress(text, LEVEL)) / 1e6:.1f} MB compressed"
    )


def main() -> None:
    task = read_task()
    for count in (12, 19):
        auto(task, count)
    many(task)


if __name__ == "__main__":
    main()
