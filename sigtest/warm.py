"""Compile every kernel once, so that no user's comparison waits for a compiler.

`make install` and `make serve` run it and workers call it before they take work; with a warm disk
cache it takes a moment. A kernel that is not reached by a small comparison of all metrics is a bug
here.
"""

from __future__ import annotations

import contextlib
import multiprocessing
from collections.abc import Callable

import numpy as np

from sigtest.comparison.comparison import Comparison
from sigtest.comparison.parse import parse_comparison
from sigtest.data.shape import shape_of
from sigtest.draws.totals import alone, resample, swap_fact
from sigtest.engine import compare, measure
from sigtest.errors import UnavailableError
from sigtest.kinds import cost
from sigtest.metrics import METRICS
from sigtest.metrics.labels import LabelMetric
from sigtest.metrics.meteor.metric import Meteor
from sigtest.metrics.scores import Supplied
from sigtest.significance import CORRECTIONS, resampling_tests

SWAPS = [name for name, test in resampling_tests().items() if test.draws == "swaps"]
TESTS = [name for name in resampling_tests() if name not in SWAPS[1:]]  # one that swaps is enough
FEW = 8  # lines that differ, all swaps of which are counted in no time


def warm(backwards: bool = False) -> None:
    """Run small comparisons that reach every kernel, in this order or backwards."""
    for step in reversed(STEPS) if backwards else STEPS:
        step()


def meteor_options() -> tuple[str, ...]:
    """METEOR's options where a request names none; none where it is not installed."""
    with contextlib.suppress(UnavailableError):
        return Meteor().arguments
    return ()


def main() -> None:
    """Compile in two processes from opposite ends: each reads from disk what the other compiled."""
    other = multiprocessing.get_context("spawn").Process(target=warm, args=(True,))
    other.start()
    warm()
    other.join()
    if other.exitcode:
        raise SystemExit(other.exitcode)


def _measure() -> None:
    """Statistics of all metrics alone, TER first: its kernels take a third of the whole time."""
    comparison = _text_comparison()
    (entry,) = comparison.entries
    for metric in sorted(comparison.recipe.metrics, key=lambda metric: metric.name != "ter"):
        measure(entry.testset, entry.systems[0], metric)


def _compare_texts() -> None:
    compare(_text_comparison(exact="never"))
    compare(_text_comparison(references=2))


def _compare_jointly() -> None:
    for name, correction in CORRECTIONS.items():
        if correction.joint is not None:
            compare(_text_comparison(metrics=["bleu"], correction=name, tests=[correction.joint]))


def _join() -> None:
    """Compare two systems as a leaderboard does."""
    comparison = _text_comparison(metrics=["bleu"], tests=SWAPS[:1])
    (entry,), (part,) = comparison.entries, comparison.plan.parts
    first, second = (
        resample(
            alone(part, place),
            [measure(entry.testset, system, part.recipe.metrics[0])[None]],
        )
        for place, system in enumerate(entry.systems)
    )
    swap_fact(part, 0, first, second, None)


def _compare_scores() -> None:
    rng = np.random.default_rng(0)
    systems = [
        {
            "name": name,
            "scores": {"x": rng.integers(0, 9, (24, 1)).tolist(), "y": rng.random(24).tolist()},
        }
        for name in "ab"
    ]
    compare(
        parse_comparison(
            {
                "systems": systems,
                "metrics": [{"name": "scores", "of": of} for of in "xy"],
                "tests": TESTS,
                "resamples": 9,
            }
        )
    )


def _score_meteor() -> None:
    """Its statistics take a JVM; no kernels there."""
    with contextlib.suppress(UnavailableError):
        meteor = Meteor()
        meteor.score(np.zeros((1, meteor.width)))
        assert meteor.implementation  # hashes its jar


def _price() -> None:
    """Look at the texts of a comparison as a service does before it takes it."""
    comparison = _text_comparison(metrics=["bleu"], tests=SWAPS[:1])
    cost.exact_seconds(comparison.entries[0], comparison.plan.parts[0])


def _look_at_json() -> None:
    shape_of(b"{}")


STEPS: tuple[Callable[[], None], ...] = (
    _measure,
    _compare_texts,
    _compare_jointly,
    _join,
    _score_meteor,
    _compare_scores,
    _price,
    _look_at_json,
)


def _text_comparison(references: int = 1, **choices: object) -> Comparison:
    words = [f"{letter}{number}" for letter in "abc" for number in range(5)]
    rng = np.random.default_rng(0)
    texts = [[" ".join(rng.permutation(words[: 4 + i % 10])) for i in range(24)] for _ in range(4)]
    texts[1][FEW:] = texts[0][FEW:]
    return parse_comparison(
        {
            "references": texts[2 : 2 + references],
            "systems": [
                {"name": name, "hypotheses": text} for name, text in zip("ab", texts, strict=False)
            ],
            "metrics": _text_metrics(),
            "tests": TESTS,
            "resamples": 9,
            **choices,
        }
    )


def _text_metrics() -> list[str]:
    return [
        name
        for name, metric in METRICS.items()
        if not issubclass(metric, (Supplied, LabelMetric)) and name != "meteor"
    ]


if __name__ == "__main__":
    main()
