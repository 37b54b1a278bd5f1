"""The notebook's function `plan` asks what the service is asked."""

import random

import pytest

import sigtest
from sigtest.errors import SigtestError
from sigtest.plans.compute import PlanReport, compute, parse
from sigtest.report import encode

RNG = random.Random(5)
SCORES = {name: {"comet": [RNG.random() for _ in range(80)]} for name in ("a", "b", "c")}


def test_a_plan_is_that_of_the_same_request():
    report = sigtest.plan(scores=SCORES, difference=0.1, units=500, corrected=True, seed=3)
    systems = {name: {"scores": own} for name, own in SCORES.items()}
    comparison = {"systems": systems, "metrics": [{"name": "scores", "of": "comet"}], "seed": 3}
    request = {"comparison": comparison, "difference": 0.1, "units": 500, "corrected": True}
    assert encode(report) == encode(compute(parse(request)))
    assert isinstance(report, PlanReport)
    assert "What test sets of other sizes show: comet" in str(report)
    assert "<svg" in report._repr_html_()


def test_what_cannot_be_planned_is_one_sentence():
    with pytest.raises(SigtestError, match="difference"):
        sigtest.plan(scores=SCORES, difference=-1)
