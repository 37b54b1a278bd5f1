"""Means of scores computed elsewhere: against `scipy.stats.bootstrap` and COMET's own resampling.

    OPENBLAS_NUM_THREADS=1 python -m benchmarks.means

Two systems, scores of segments off any decimal grid, and right or wrong; CPU seconds of one
process, in turn, the statistics ready on all sides. sigtest's are a whole block of draws: bootstrap
scores and counts of the test, then p and intervals. SciPy's are the percentile interval of
the difference, from as many paired resamples. COMET's `compare` draws 40 % of the segments for each of
its 300 splits, all splits in one array; `one by one` is the same split after split.
"""

from __future__ import annotations

import statistics
import time
from collections.abc import Callable

import numpy as np
from scipy.stats import bootstrap

from benchmarks.task import sample_of
from sigtest.arrays import Array
from sigtest.comparison.parse import parse_comparison
from sigtest.draws.sample import Sample
from sigtest.significance.intervals import percentile_interval
from sigtest.significance.montecarlo import p_value

SEGMENTS = 2_500
SHARE = 0.4
SPLITS = 300
RUNS = 9
TIE = 0.001


def scores(kind: str) -> Array:
    """(2, n) scores of two systems that are much alike."""
    rng = np.random.default_rng(0)
    common = rng.normal(0.8, 0.1, SEGMENTS)
    values = common + rng.normal(0, 0.05, (2, SEGMENTS))
    return values if kind == "scores" else (values > 0.75).astype(np.float64)


def ready(values: Array, test: str, resamples: int) -> Sample:
    systems = [{"name": n, "scores": {"x": v.tolist()}} for n, v in zip("ab", values, strict=True)]
    return sample_of(
        parse_comparison(
            {
                "systems": systems,
                "metrics": [{"name": "scores", "of": "x"}],
                "tests": [test],
                "resamples": resamples,
            }
        )
    )
