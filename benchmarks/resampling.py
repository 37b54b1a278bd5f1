"""Resampling against `sacrebleu.significance`: statistics are ready on both sides.

    OPENBLAS_NUM_THREADS=1 python -m benchmarks.resampling

sacreBLEU compares one baseline with each other system; sigtest compares all pairs in the same run.
Three rows each: the bootstrap; randomization with bootstrap intervals of scores from as many
resamples, which is what a sigtest report always has (sacreBLEU's `n_ar_confidence`); and the swaps
alone, p-values without any interval.
"""

from collections.abc import Sequence
from functools import partial
from typing import Any

import numpy as np
from sacrebleu.metrics.bleu import BLEU
from sacrebleu.significance import Result, _paired_ar_test, _paired_bs_test

from benchmarks.task import Task, paired, read_task, reduced, sample_of
from sigtest.draws.sample import Sample
from sigtest.significance.intervals import p_value

AR = "approximate_randomization"


class ReadyBleu(BLEU):
    """sacreBLEU's BLEU with its statistics already extracted."""

    def __init__(self, statistics: dict[int, list[list[int]]]) -> None:
        super().__init__()
        self._ready = statistics

    def _extract_corpus_statistics(self, hypotheses: Sequence[str], references: Any) -> Any:
        return self._ready[id(hypotheses)]


def report(sample: Sample) -> None:
    reduced(sample, [sample.block(0, sample.part.resamples)])


def swaps(sample: Sample) -> None:
    counts = np.zeros(len(sample.part.pairs), dtype=np.int64)
    for first, last in sample.swap_columns.row_blocks(0, sample.part.resamples):
        counts += sample.count_swaps(0, sample.swapped_sums(first, last)[0])
    p_value(counts, sample.part.resamples)


def sacrebleu(task: Task, count: int, row: str, resamples: int) -> None:
    texts = list(task.systems.values())[:count]
    metric = _ready(task, texts)
    base = metric._extract_corpus_statistics(texts[0], None)
    score = metric._aggregate_and_compute(base).score
    baseline = {"BLEU": (np.array(base), Result(score))}
    test = _paired_bs_test if row == "bootstrap" else _paired_ar_test
    intervals = resamples if row == "randomization" else -1
    for i, text in enumerate(texts[1:]):
        test(baseline, f"system {i}", text, None, {"BLEU": metric}, resamples, intervals, 12345)


_READY: dict[int, ReadyBleu] = {}


def _ready(task: Task, texts: list[Any]) -> ReadyBleu:
    if len(texts) not in _READY:
        program = BLEU(references=[task.reference])
        _READY[len(texts)] = ReadyBleu(
            {id(text): program._extract_corpus_statistics(text, None) for text in texts}
        )
    return _READY[len(texts)]


def main() -> None:
    task = read_task()
    everyone = len(task.systems)
    print(f"{task.name}: BLEU, {len(task.reference)} segments, seconds after extraction")
    print(f"{'row':20} {'systems':>7} {'R':>6} {'sacreBLEU':>10} {'sigtest':>8} {'ratio':>7}")
    rows = {"bootstrap": report, "randomization": report, "swaps alone": swaps}
    for count, resamples, runs in ((2, 1_000, 7), (2, 10_000, 5), (everyone, 10_000, 1)):
        for row, ours in rows.items():
            test = "bootstrap" if row == "bootstrap" else AR
            sample = sample_of(task.comparison(count, tests=[test], resamples=resamples))
            theirs = partial(sacrebleu, task, count, row, resamples)
            _ready(task, list(task.systems.values())[:count])
            mine, peer, ratio = paired(partial(ours, sample), theirs, runs)
            print(
                f"{row:20} {count:7} {resamples:6} {peer:10.2f} {mine:8.4f} {ratio:7.0f}",
                flush=True,
            )


if __name__ == "__main__":
    main()
