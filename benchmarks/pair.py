"""Text to report, one pair, against sacreBLEU's own `PairedTest`: 2 systems, BLEU, R = 10,000.

    OPENBLAS_NUM_THREADS=1 python -m benchmarks.pair

CPU seconds of one process, imports not counted; both start from lists of lines every time.
"""

from __future__ import annotations

import statistics
import time
from collections.abc import Callable

from sacrebleu.metrics.bleu import BLEU
from sacrebleu.significance import PairedTest

from benchmarks.task import Task, read_task
from sigtest.comparison.comparison import parse_comparison
from sigtest.engine import compare

R = 10_000
RUNS = 5


def sigtest(task: Task) -> None:
    names = list(task.systems)[:2]
    systems = [{"name": name, "hypotheses": list(task.systems[name])} for name in names]
    request = {"references": [list(task.reference)], "systems": systems, "resamples": R}
    compare(parse_comparison(request))


def sacrebleu(task: Task) -> None:
    systems = [(name, list(task.systems[name])) for name in list(task.systems)[:2]]
    references = [list(task.reference)]
    PairedTest(systems, {"BLEU": BLEU(references=references)}, None, "ar", R)()


def spent(run: Callable[[Task], None], task: Task) -> float:
    """CPU seconds of one run."""
    since = time.process_time()
    run(task)
    return time.process_time() - since


def main() -> None:
    task = read_task()
    sigtest(task)
    taken = [(spent(sigtest, task), spent(sacrebleu, task)) for _ in range(RUNS)]
    mine, theirs = (statistics.median(column) for column in zip(*taken, strict=True))
    ratio = statistics.median(b / a for a, b in taken)
    print(f"{task.name}: sigtest {mine:.2f}, sacreBLEU {theirs:.2f} CPU s, ratio {ratio:.0f}")


if __name__ == "__main__":
    main()
