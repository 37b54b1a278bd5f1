"""The whole job, text to report, on one core and on two, and the product against sgemm's peak.

    OPENBLAS_NUM_THREADS=1 python -m benchmarks.whole

12 systems x BLEU, chrF, TER, NIST x three tests x all pairs x 9,999 resamples. sacreBLEU's side is
extrapolated from measured shares of its own functions: the extraction of one system (of TER, every
20th segment), and its randomization and bootstrap of one pair with 1,000 resamples. It has no NIST,
which counts for nothing here, and one bootstrap; a third test means another run of it.
"""

import time
from functools import partial

import numpy as np
from sacrebleu.metrics.bleu import BLEU
from sacrebleu.metrics.chrf import CHRF
from sacrebleu.metrics.ter import TER
from sacrebleu.significance import Result, _paired_ar_test, _paired_bs_test

from benchmarks.task import Task, read_task, sample_of, seconds
from sigtest.draws.sample import Sample
from sigtest.draws.weights import bootstrap_counts
from sigtest.engine import compare

R = 9_999
SHARE = 1_000  # resamples that are measured of sacreBLEU
RECIPE = {
    "metrics": ["bleu", "chrf", "ter", "nist"],
    "tests": ["approximate_randomization", "bootstrap", "paired_bootstrap"],
    "resamples": R,
}


def sacrebleu_seconds(task: Task) -> tuple[float, float]:
    """Seconds for two tests and for three, of BLEU, chrF and TER."""
    texts = list(task.systems.values())
    pairs = len(texts) * (len(texts) - 1) // 2
    extraction = swaps = bootstrap = 0.0
    for kind, every in ((BLEU, 1), (CHRF, 1), (TER, 20)):
        reference = [task.reference[::every]]
        program = kind(references=reference)
        tables = []
        for text in (texts[0], texts[1]):
            start = time.perf_counter()
            rows = program._extract_corpus_statistics(text[::every], None)
            extraction += (time.perf_counter() - start) * every * len(texts) / 2
            tables.append((rows * every)[: len(text)])
        program._extract_corpus_statistics = lambda h, r, ready=tables[1]: ready
        score = program._aggregate_and_compute(tables[0]).score
        baseline = {"m": (np.array(tables[0]), Result(score))}
        for test in (_paired_ar_test, _paired_bs_test):
            run = partial(test, baseline, "b", texts[1], None, {"m": program}, SHARE, -1, 1)
            taken = seconds(run) * pairs * R / SHARE
            swaps, bootstrap = (
                (swaps + taken, bootstrap)
                if test is _paired_ar_test
                else (swaps, bootstrap + taken)
            )
    print(
        f"  sacreBLEU: extraction {extraction:.0f} s, randomization {swaps:.0f} s, "
        f"bootstrap {bootstrap:.0f} s"
    )
    return extraction + swaps + bootstrap, extraction + swaps + 2 * bootstrap


def product_share(sample: Sample) -> tuple[float, float]:
    """Rate of the product, in GFLOP/s, and sgemm's rate measured in turn with it."""
    columns = sample.columns
    single = columns._single
    weights = [bootstrap_counts(0, r, r + 256, sample.units) for r in range(0, 2560, 256)]
    square = np.ones((2048, 2048), dtype=np.float32)
    rates, peaks = [], []
    for _ in range(7):
        taken = seconds(lambda: [w @ single for w in weights])
        rates.append(2 * single.shape[1] * sample.units * 2560 / taken / 1e9)
        peaks.append(2 * 2048**3 / seconds(lambda: square @ square) / 1e9)
    return float(np.median(rates)), float(np.median(peaks))


def main() -> None:
    task = read_task()
    comparison = task.comparison(**RECIPE)
    compare(comparison)
    fresh = [task.comparison(**{**RECIPE, "seed": i}) for i in range(5)]
    ours = {
        jobs: sorted(seconds(lambda c=c, jobs=jobs: compare(c, jobs=jobs)) for c in fresh)[2]
        for jobs in (1, 2)
    }
    print(f"{task.name}: {len(task.systems)} systems, text to report, medians of five:")
    two, three = sacrebleu_seconds(task)
    print(f"  extrapolated: {two:.0f} s for two tests, {three:.0f} s for three")
    for jobs, taken in ours.items():
        print(
            f"  sigtest on {jobs} core{'s' if jobs > 1 else ''}: {taken:.2f} s, "
            f"ratios {two / taken:.0f} and {three / taken:.0f}"
        )
    rate, peak = product_share(sample_of(comparison))
    print(f"product {rate:.0f} GFLOP/s, sgemm {peak:.0f} GFLOP/s: {100 * rate / peak:.0f} %")


if __name__ == "__main__":
    main()
