"""Sufficient statistics: microseconds a segment, sacreBLEU (NLTK for NIST) against sigtest.

    python -m benchmarks.extraction [--runs 3] [--metrics bleu chrf ...]

Both sides read all systems of wmt12.es-en (in the folder that SIGTEST_DATA names, else the
example in this repository) against one reference, prepared once for all of them and counted in. The
runs alternate; the best of each side is shown, in CPU time of this process, so that other load on
the machine matters less. TER is timed on every 5th segment. NLTK is given tokens.

Then TER of long segments: the same text with 1, 3, 6, 10 and 30 lines joined, in milliseconds a
text and as a multiple of single lines; medians of runs in turn.
"""

import argparse
import statistics
import time
from collections.abc import Callable, Sequence

from sacrebleu.tokenizers.tokenizer_13a import Tokenizer13a

from benchmarks.task import Lines, read_task
from sigtest.data.testset import System, TestSet
from sigtest.metrics import METRICS


def run_sigtest(name: str, reference: Lines, systems: Sequence[Lines]) -> None:
    testset = TestSet.of([reference])  # new texts, so that nothing is left of an earlier run
    metric = METRICS[name]()
    for i, lines in enumerate(systems):
        metric.statistics(testset, System.of(f"system {i}", lines))


def run_sacrebleu(name: str, reference: Lines, systems: Sequence[Lines]) -> None:
    program = METRICS[name]().reference_program
    program._ref_cache = program._cache_references([reference])
    for lines in systems:
        program._extract_corpus_statistics(lines, None)


def nltk_runner(reference: Lines, systems: Sequence[Lines]) -> Callable[[], None] | None:
    try:
        from nltk.translate.nist_score import corpus_nist
    except ImportError:
        return None
    cut = Tokenizer13a()
    references = [[cut(line).split()] for line in reference]
    tokens = [[cut(line).split() for line in lines] for lines in systems[:2]]

    def run() -> None:
        for own in tokens:
            corpus_nist(references, own, n=5)

    return run


def seconds(run: Callable[[], None]) -> float:
    start = time.process_time()
    run()
    return time.process_time() - start


def joined(lines: Lines, count: int) -> Lines:
    return tuple(" ".join(lines[i : i + count]) for i in range(0, len(lines), count))


def print_joined(reference: Lines, systems: Sequence[Lines], runs: int) -> None:
    counts = (1, 3, 6, 10, 30)
    texts = {
        count: (joined(reference, count), [joined(lines, count) for lines in systems])
        for count in counts
    }
    times: dict[int, list[float]] = {count: [] for count in counts}
    for _ in range(runs):
        for count in counts:
            own = seconds(lambda: run_sigtest("ter", *texts[count]))  # noqa: B023
            times[count].append(own / len(systems) * 1e3)
    medians = {count: statistics.median(times[count]) for count in counts}
    print(f"\n{'TER, lines joined':20}" + "".join(f"{count:8}" for count in counts))
    print(f"{'CPU ms a text':20}" + "".join(f"{medians[count]:8.1f}" for count in counts))
    print(f"{'times single lines':20}" + "".join(f"{medians[c] / medians[1]:8.2f}" for c in counts))


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--runs", type=int, default=3)
    names = ["bleu", "chrf", "chrf++", "ter", "nist"]
    parser.add_argument("--metrics", nargs="+", choices=names, default=names)
    options = parser.parse_args()
    task = read_task()
    reference, systems = task.reference, list(task.systems.values())
    print(f"{task.name}: {len(systems)} systems, {len(reference)} segments, CPU us a segment")
    print(f"{'metric':8} {'reference':>10} {'sigtest':>8} {'ratio':>7}")
    for name in options.metrics:
        every = 5 if name == "ter" else 1
        sample, samples = reference[::every], [lines[::every] for lines in systems]
        run_other: Callable[[], None] | None
        if name == "nist":
            run_other, counted = nltk_runner(reference, systems), min(2, len(systems))
        else:
            run_other = lambda: run_sacrebleu(name, sample, samples)  # noqa: B023, E731
            counted = len(systems)
        if run_other is None:
            print(f"{name:8} (nltk is not installed)")
            continue
        run_sigtest(name, reference[:50], [lines[:50] for lines in systems[:1]])  # compiles
        theirs, ours = [], []
        for _ in range(options.runs):
            theirs.append(seconds(run_other) / counted / len(sample) * 1e6)
            own = seconds(lambda: run_sigtest(name, sample, samples))  # noqa: B023
            ours.append(own / len(systems) / len(sample) * 1e6)
        ratio = min(theirs) / min(ours)
        print(f"{name:8} {min(theirs):10.1f} {min(ours):8.2f} {ratio:7.1f}", flush=True)
    if "ter" in options.metrics:
        print_joined(reference, systems, max(options.runs, 3))


if __name__ == "__main__":
    main()
