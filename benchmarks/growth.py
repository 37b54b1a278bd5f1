"""How time grows with segments, resamples and systems.

OPENBLAS_NUM_THREADS=1 python -m benchmarks.growth
"""

from functools import partial

from benchmarks.task import Task, read_task, reduced, sample_of, seconds
from sigtest.draws.sample import Sample
from sigtest.engine import compare

RECIPE = {"metrics": ["bleu"], "tests": ["approximate_randomization"], "resamples": 9_999}


def resampling(sample: Sample) -> float:
    """Best of three runs after extraction."""
    return min(
        seconds(lambda: reduced(sample, [sample.block(0, sample.part.resamples)])) for _ in range(3)
    )


def pair_share(task: Task, systems: int) -> tuple[float, float]:
    """Seconds, text to report, and the share of it that comparing pairs takes."""
    recipe = {**RECIPE, "tests": ["approximate_randomization", "bootstrap", "paired_bootstrap"]}
    recipe["metrics"] = ["bleu", "chrf", "ter"]
    comparison = task.comparison(systems, **recipe)
    baseline = task.comparison(
        systems, **recipe, pairs={"baseline": comparison.entries[0].systems[0].name}
    )
    compare(baseline)
    taken = [
        (seconds(partial(compare, comparison)), seconds(partial(compare, baseline)))
        for _ in range(3)
    ]
    whole, alone = (min(column) for column in zip(*taken, strict=True))
    return whole, 1 - alone / whole


def main() -> None:
    task = read_task()
    print(f"{task.name}: BLEU, approximate randomization, seconds after extraction")
    for segments in (1_500, 3_000, 6_000):
        sample = sample_of(task.comparison(12, segments, **RECIPE))
        print(f"  n = {segments}: {resampling(sample):.3f}")
    for resamples in (5_000, 10_000, 20_000):
        sample = sample_of(task.comparison(12, **{**RECIPE, "resamples": resamples}))
        print(f"  R = {resamples}: {resampling(sample):.3f}")
    for systems in (15, 30, 60):
        sample = sample_of(task.comparison(systems, **RECIPE))
        print(f"  k = {systems}: {resampling(sample):.3f}, {len(sample.part.pairs)} pairs")
    for systems in (15, 30, 60):
        whole, share = pair_share(task, systems)
        print(
            f"  k = {systems}, BLEU + chrF + TER, three tests, from text: {whole:.2f}, "
            f"pairs take {100 * share:.0f} %"
        )


if __name__ == "__main__":
    main()
