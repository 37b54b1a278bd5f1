"""Compile every kernel once, so that no user's comparison waits for a compiler.

`make install` runs it and workers call it before they take work; with a warm disk cache it takes
a moment. A kernel that is not reached by a small comparison of all metrics is a bug here.
"""

from __future__ import annotations

import contextlib

import numpy as np

from sigtest.comparison.comparison import Comparison
from sigtest.comparison.parse import parse_comparison
from sigtest.draws.totals import alone, resample, swap_fact
from sigtest.engine import compare, measure
from sigtest.errors import UnavailableError
from sigtest.metrics import METRICS
from sigtest.metrics.scores import Supplied
from sigtest.significance import resampling_tests

SWAPS = [name for name, test in resampling_tests().items() if test.draws == "swaps"]


def warm() -> None:
    """Run small comparisons that reach every kernel."""
    words = [f"{letter}{number}" for letter in "abc" for number in range(5)]
    rng = np.random.default_rng(0)
    texts = [[" ".join(rng.permutation(words[: 4 + i % 10])) for i in range(24)] for _ in range(4)]
    systems = [{"name": name, "hypotheses": text} for name, text in zip("ab", texts, strict=False)]
    _compare(references=texts[2:3], systems=systems, metrics=_text_metrics())
    _compare(references=texts[2:4], systems=systems, metrics=_text_metrics())
    numbers = [
        {"name": name, "scores": {"x": rng.integers(0, 9, (24, 1)).tolist()}} for name in "ab"
    ]
    _compare(systems=numbers, metrics=[{"name": "scores", "of": "x"}])
    _compare(references=texts[2:3], systems=systems, correction="tukey", tests=SWAPS)
    _join(parse_comparison({"references": texts[2:3], "systems": systems, "resamples": 9}))
    with contextlib.suppress(UnavailableError):  # statistics of METEOR take a JVM; no kernels there
        meteor = METRICS["meteor"]()
        meteor.score(np.zeros((1, meteor.width)))


def _compare(**request: object) -> None:
    compare(parse_comparison({"tests": list(resampling_tests()), "resamples": 9, **request}))


def _join(comparison: Comparison) -> None:
    """Compare the first two systems as a leaderboard does."""
    (entry,), (part,) = comparison.entries, comparison.plan.parts
    first, second = (
        resample(
            alone(part, place),
            [measure(entry.testset, system, part.recipe.metrics[0])[None]],
        )
        for place, system in enumerate(entry.systems)
    )
    swap_fact(part, 0, first, second, None)


def _text_metrics() -> list[str]:
    return [
        name
        for name, metric in METRICS.items()
        if not issubclass(metric, Supplied) and name != "meteor"
    ]


if __name__ == "__main__":
    warm()
