"""`calibrated`, what it follows from, and that no warning of a report speaks against it."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest
from hypothesis import example, given, settings
from hypothesis import strategies as st

from sigtest.comparison.comparison import parse_comparison
from sigtest.decide.summary import decided
from sigtest.engine import compare
from sigtest.report import PairReport, Report

TESTS = [
    "approximate_randomization",
    "bootstrap",
    "paired_bootstrap",
    "bootstrap_t",
    "riezler_maxwell_bootstrap",
    "sign_test",
    "signed_rank",
    "paired_t",
]
# what these warn of is that tests reject too often: those that they name, or all
TOO_OFTEN = {"few-units", "small-strata", "skewed", "dependent-segments"}
LEGACY = "riezler_maxwell_bootstrap"


def contradictions(report: Report) -> list[tuple[str, PairReport]]:
    """Calibrated pairs of tests of which a warning says that they reject too often."""
    found = []
    for warning in report.warnings:
        every = warning.code == "dependent-segments"
        if warning.code not in TOO_OFTEN and warning.tests != (LEGACY,):
            continue
        for pair in report.pairs:
            named = every or pair.test in warning.tests
            named &= not warning.pairs or (pair.a, pair.b) in warning.pairs
            named &= not warning.metrics or pair.metric in warning.metrics
            if pair.calibrated and named:
                found.append((warning.code, pair))
    return found


def compared(columns: dict[str, Any], **fields: Any) -> Report:
    systems = [{"name": name, "scores": scores} for name, scores in columns.items()]
    request = {"systems": systems, "resamples": 199, "tests": TESTS, **fields}
    return compare(parse_comparison(request))


def moved(shape: str, n: int, rng: np.random.Generator) -> np.ndarray:
    """By how much a system differs on each of n units."""
    if shape == "normal":
        return rng.normal(size=n)
    if shape == "ties":
        return rng.integers(0, 2, n).astype(float)
    if shape == "skewed":
        return rng.exponential(size=n) ** 3
    return 9.0 * (np.arange(n) % max(2, n // 3) == 1) * (shape == "rare")


SHAPES = st.sampled_from(["normal", "ties", "skewed", "rare", "equal"])


DRAWN = {
    "n": st.sampled_from([6, 30, 120, 299, 300, 400, 700]),
    "seed": st.integers(0, 99),
    "shapes": st.tuples(SHAPES, SHAPES, SHAPES, SHAPES),
    "unit": st.sampled_from([None, "auto", "segment", "document"]),
    "pieces": st.sampled_from([2, 3, 40, 1000]),
    "rare": st.sampled_from([None, 0, 2, 6, 180]),
    "alternative": st.sampled_from(["two-sided", "greater", "less"]),
}


# another pair is skewed in each metric
SKEWED_OTHERWISE = {
    "n": 400, "seed": 0, "shapes": ("normal", "rare", "rare", "normal"), "unit": None,
    "pieces": 40, "rare": 180, "alternative": "two-sided",
}  # fmt: skip


@pytest.mark.parametrize("examples", [12, pytest.param(80, marks=pytest.mark.slow)])
def test_no_warning_speaks_against_what_is_calibrated(examples):
    seen = example(**SKEWED_OTHERWISE)(nothing_speaks_against)
    settings(max_examples=examples)(given(**DRAWN)(seen))()


def nothing_speaks_against(n, seed, shapes, unit, pieces, rare, alternative):
    """Few units or many, even, tied, skewed, of few units; documents as units or not; strata."""
    rng = np.random.default_rng(seed)
    base = {label: rng.normal(size=n) for label in ("s", "t")}
    columns: dict[str, Any] = {"base": {label: own.tolist() for label, own in base.items()}}
    for name, of in zip("ab", (shapes[:2], shapes[2:]), strict=True):
        columns[name] = {
            label: (base[label] + moved(shape, n, rng)).tolist()
            for label, shape in zip(base, of, strict=True)
        }
    fields: dict[str, Any] = {"metrics": ["s", "t"], "alternative": alternative}
    long = max(1, n // pieces)
    if unit is not None:
        fields |= {"documents": [f"d{i // long}" for i in range(n)], "unit": unit}
    if rare is not None:  # a document lies in one stratum
        rare = min(rare // long * long, n)
        fields |= {"labels": ["x"] * rare + ["y"] * (n - rare), "stratified": True}
    report = compared(columns, **fields)
    assert contradictions(report) == []
    assert contradictions(decided(report, 0.2, "none")) == []
    for pair in report.pairs:
        assert pair.calibration is not None
        assert pair.calibrated == (pair.calibration.reason is None)
        assert 0 < pair.calibration.evenness <= 1
        assert pair.interval_agrees in (True, False)


def pair_of(**fields: Any) -> PairReport:
    rng = np.random.default_rng(1)
    n = fields.pop("n", 400)
    shift = fields.pop("shift", 0.0)
    a = rng.normal(size=n)
    b = a + rng.normal(size=n) + shift
    columns = {"a": {"s": a.tolist()}, "b": {"s": b.tolist()}}
    fields = {"metrics": ["s"], "tests": ["bootstrap"], "resamples": 9_999, **fields}
    return compared(columns, **fields).pairs[0]


@pytest.mark.parametrize(
    ("fields", "reason", "units"),
    [
        ({}, None, 400),
        ({"n": 299}, "few-units", 299),
        ({"tests": [LEGACY]}, "test", 400),
        ({"documents": [f"d{i // 2}" for i in range(400)], "unit": "segment"}, "dependent-segments",
         400),
        ({"documents": [f"d{i // 2}" for i in range(400)], "unit": "segment",
          "tests": ["approximate_randomization"]}, "dependent-segments", 400),
        ({"documents": [f"d{i // 2}" for i in range(400)]}, "few-units", 200),
        # two strata of 381 and 19: 399 degrees of freedom would be 398.something
        ({"labels": ["x"] * 19 + ["y"] * 381, "stratified": True}, "small-strata", None),
        ({"labels": ["x"] * 20 + ["y"] * 380, "stratified": True}, None, None),
        ({"labels": ["x"] * 19 + ["y"] * 381, "stratified": True, "tests": ["bootstrap_t"]}, None,
         None),
        # one document of 200 segments, 320 of one
        ({"n": 520, "documents": [*["d"] * 200, *map(str, range(320))]}, "unequal-units", None),
    ],
)  # fmt: skip
def test_what_is_not_calibrated_says_why(fields, reason, units):
    pair = pair_of(**fields)
    assert pair.calibration is not None
    assert (pair.calibrated, pair.calibration.reason) == (reason is None, reason)
    assert units is None or pair.calibration.units == pytest.approx(units)


def test_evenness_is_what_kish_says():
    """(sum w)^2 / sum w^2 of 321 documents, one of which has 200 segments."""
    pair = pair_of(n=520, documents=[*["d"] * 200, *map(str, range(320))])
    assert pair.calibration is not None
    weights = np.array([200.0, *[1.0] * 320])
    effective = weights.sum() ** 2 / (weights**2).sum()
    assert pair.calibration.evenness == pytest.approx(effective / 321, abs=1e-6)
    assert pair.calibration.units == pytest.approx(effective, abs=1e-5)


def test_skewness_is_that_of_the_mean():
    """Third central moment of the mean of n over its standard deviation cubed: g / sqrt(n)."""
    rng = np.random.default_rng(5)
    a = rng.normal(size=900)
    b = a + rng.exponential(size=900)
    columns = {"a": {"s": b.tolist()}, "b": {"s": a.tolist()}}
    pair = compared(columns, metrics=["s"], tests=["bootstrap"], resamples=9_999).pairs[0]
    d = b - a
    g = ((d - d.mean()) ** 3).mean() / d.std() ** 3
    assert pair.calibration is not None
    assert pair.calibration.skewness == pytest.approx(g / 30, abs=0.08)


@pytest.mark.parametrize(
    ("shift", "alternative", "higher"),
    [
        (0.0, "two-sided", True),  # neither sees anything
        (-0.5, "two-sided", True),
        (-0.5, "greater", True),  # a is better, and claimed to be
        (-0.5, "less", True),  # the interval excludes 0 on the other side
        (-0.5, "greater", False),
        (-0.5, "less", False),
    ],
)
def test_intervals_agree_with_decisions(shift, alternative, higher):
    metric = "s" if higher else "scores:of=s,higher=false"
    pair = pair_of(shift=shift, alternative=alternative, metrics=[metric])
    assert pair.interval_agrees
    claimed = (alternative == "less") != higher
    assert pair.significant == (shift != 0 and (alternative == "two-sided" or claimed))


def test_intervals_may_disagree_with_corrected_decisions():
    """At .04 before correction, of three pairs: the interval of one pair excludes 0."""
    rng = np.random.default_rng(0)
    base, noise = rng.normal(size=400), rng.normal(size=400)
    d = 2.1 * noise.std() / 20 + noise - noise.mean()  # z = 2.1
    columns = {
        name: {"s": (base + own).tolist()}
        for name, own in {"a": 0 * d, "b": d, "c": rng.normal(size=400) / 9}.items()
    }
    report = compared(columns, metrics=["s"], tests=["bootstrap"], resamples=9_999)
    pair = report.pairs[0]
    assert (pair.ci[1] < 0, pair.significant, pair.interval_agrees) == (True, False, False)
    plain = decided(report, correction="none").pairs[0]
    assert (plain.significant, plain.interval_agrees) == (True, True)
