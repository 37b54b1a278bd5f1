"""Compile every kernel once, so that no user's comparison waits for a compiler.

`make install` and `make serve` run it for all kinds of questions; `make demo`, and workers before
they take work, for comparisons alone. With a warm disk cache it takes a moment. A kernel that is
not reached by a small question of each kind is a bug here.
"""

import contextlib
import multiprocessing
import sys
from collections.abc import Callable
from functools import partial
from typing import Any

import numpy as np

from sigtest.comparison.comparison import Comparison, parse_comparison
from sigtest.data.shape import shape_of
from sigtest.draws.totals import alone, resample, swap_fact
from sigtest.engine import compare, measure
from sigtest.errors import UnavailableError
from sigtest.kinds import KINDS, cost
from sigtest.metrics import METRICS
from sigtest.metrics.labels import LabelMetric
from sigtest.metrics.meteor import Meteor
from sigtest.metrics.scores import ScoreMetric
from sigtest.metrics.wer import Wer
from sigtest.significance import CORRECTIONS, resampling_tests

SWAPS = [name for name, test in resampling_tests().items() if test.draws == "swaps"]
TESTS = [name for name in resampling_tests() if name not in SWAPS[1:]]  # one that swaps is enough
FEW = 8  # lines that differ, all swaps of which are counted in no time


def warm(others: bool = False, backwards: bool = False) -> None:
    """Run small comparisons that reach every kernel, and questions of `others`; or backwards."""
    steps = (*STEPS, _ask_others) if others else STEPS
    for step in reversed(steps) if backwards else steps:
        step()


def meteor_options() -> tuple[str, ...]:
    """METEOR's options where a request names none; none where it is not installed."""
    with contextlib.suppress(UnavailableError):
        return Meteor().arguments
    return ()


def main() -> None:
    """Compile in two processes from opposite ends: each reads from disk what the other compiled."""
    others = sys.argv[1:] == ["all"]
    other = multiprocessing.get_context("spawn").Process(target=warm, args=(others, True))
    other.start()
    warm(others)
    other.join()
    if other.exitcode:
        raise SystemExit(other.exitcode)


def _measure() -> None:
    """Statistics of all metrics alone, TER first: its kernels take a third of the whole time."""
    comparison = _text_comparison()
    (entry,) = comparison.entries
    for metric in sorted(comparison.recipe.metrics, key=lambda metric: metric.name != "ter"):
        measure(entry.testset, entry.systems[0], metric)


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
    swap_fact(part, 0, first, second)


def _compare_scores() -> None:
    rng = np.random.default_rng(0)
    scores = {
        name: {"x": rng.integers(0, 9, (30, 1)).tolist(), "y": rng.random(30).tolist()}
        for name in "abc"
    }
    systems = {name: {"scores": own} for name, own in scores.items()}
    metrics = [{"name": "scores", "of": of} for of in "xy"]
    body = {"systems": systems, "metrics": metrics, "tests": TESTS, "resamples": 9}
    compare(parse_comparison(body))


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


def _ask_others() -> None:
    """Other kinds: what they have for examples, and scores of segments by people and metrics."""
    scores = np.random.default_rng(0).integers(0, 9, (3, 12, 12)).tolist()
    people, x, y = ({"segment": dict(zip("abcdefghijkl", rows, strict=True))} for rows in scores)
    request = {"human": {"scores": people}, "metrics": {"x": x, "y": y}, "resamples": 9}
    evaluations = KINDS["metric-evaluations"]
    for group in (None, "none", "item", "system"):
        level = {"level": "segment", "group": group} if group else {}
        evaluations.compute(evaluations.parse(request | level))
    for path, kind in KINDS.items():
        for example in kind.examples.values() if path != "comparisons" else ():
            kind.compute(kind.parse(example["value"]))


def _comparing(**choices: Any) -> Callable[[], object]:
    """A step that compares texts."""
    return lambda: compare(_text_comparison(**choices))


STEPS: tuple[Callable[[], object], ...] = (
    _measure,
    _comparing(exact="never"),
    _comparing(references=2),
    _comparing(metrics=["wer"], tests=["matched_pairs"]),
    *(
        _comparing(metrics=["bleu"], correction=name, tests=[correction.joint])
        for name, correction in CORRECTIONS.items()
        if correction.joint is not None
    ),
    _join,
    _score_meteor,
    _compare_scores,
    _price,
    partial(shape_of, b"{}"),
)


def _text_comparison(references: int = 1, **choices: object) -> Comparison:
    words = [f"{letter}{number}" for letter in "abc" for number in range(5)]
    rng = np.random.default_rng(0)
    texts = [[" ".join(rng.permutation(words[: 4 + i % 10])) for i in range(24)] for _ in range(4)]
    texts[1][FEW:] = texts[0][FEW:]
    return parse_comparison(
        {
            "references": texts[2 : 2 + references],
            "systems": dict(zip("ab", texts, strict=False)),
            "metrics": _text_metrics(references),
            "tests": TESTS,
            "resamples": 9,
            **choices,
        }
    )


def _text_metrics(references: int) -> list[str]:
    left_out = (ScoreMetric, LabelMetric, *([Wer] if references > 1 else []))
    return [
        name
        for name, metric in METRICS.items()
        if not issubclass(metric, left_out) and name != "meteor"
    ]


if __name__ == "__main__":
    main()
