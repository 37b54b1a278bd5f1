"""The whole job, text to report, in process on one core, and the product against sgemm's peak.

    OPENBLAS_NUM_THREADS=1 python -m benchmarks.whole

12 systems x BLEU, chrF, TER, NIST x three tests x all pairs x 9,999 resamples. sacreBLEU's side is
put together from measured shares of its own functions and said to be so: extraction of one system
(TER on every 20th segment), scoring of 2,000 sums, and its resampling of one pair.
"""

import numpy as np
from sacrebleu.metrics.bleu import BLEU
from sacrebleu.metrics.chrf import CHRF
from sacrebleu.metrics.ter import TER

from benchmarks.task import Task, read_task, sample_of, seconds
from sigtest.engine import compare
from sigtest.resampling.weights import bootstrap_counts
from sigtest.sample import Sample

R = 9_999
RECIPE = {
    "metrics": ["bleu", "chrf", "ter", "nist"],
    "tests": ["approximate_randomization", "bootstrap", "paired_bootstrap"],
    "resamples": R,
}


def sacrebleu_seconds(task: Task) -> float:
    """What sacreBLEU's functions would take for BLEU, chrF and TER; it has no NIST."""
    texts = list(task.systems.values())
    pairs = len(texts) * (len(texts) - 1) // 2
    total = 0.0
    for kind, every in ((BLEU, 1), (CHRF, 1), (TER, 20)):
        text, reference = texts[0][::every], [task.reference[::every]]
        program = kind(references=reference)
        found: list[list[float]] = []
        taken = seconds(lambda: found.extend(program._extract_corpus_statistics(text, None)))  # noqa: B023
        extraction = taken * every * len(texts)
        table = np.array(found, dtype=np.float32)
        sums = np.repeat(table.sum(axis=0)[None], 2_000, axis=0)
        one = seconds(lambda: [program._compute_score_from_stats(list(s)) for s in sums]) / 2_000  # noqa: B023
        rows = np.random.default_rng(0).integers(len(text), size=(100, len(text)))
        gather = seconds(lambda: [table[row].sum(0) for row in rows]) / 100 * every  # noqa: B023
        # paired bootstrap: both systems' sums and scores; randomization: two products and scores
        total += extraction + pairs * R * (2 * (gather + one) + 2 * one)
        print(
            f"  {kind.__name__:5} extraction {extraction:7.1f} s, one resampled sum "
            f"{gather * 1e6:6.1f} us, one score {one * 1e6:5.1f} us"
        )
    return total


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
    ours = sorted(seconds(lambda c=c: compare(c)) for c in fresh)
    print(f"{task.name}: {len(task.systems)} systems, text to report: median {ours[2]:.2f} s")
    theirs = sacrebleu_seconds(task)
    print(f"sacreBLEU's functions, extrapolated: {theirs:.0f} s; ratio {theirs / ours[2]:.0f}")
    rate, peak = product_share(sample_of(comparison))
    print(f"product {rate:.0f} GFLOP/s, sgemm {peak:.0f} GFLOP/s: {100 * rate / peak:.0f} %")


if __name__ == "__main__":
    main()
