"""A suite in steps: resamples cut anywhere, drawn in any order, give the same report."""

from pathlib import Path

import pytest
from test_suite import request_of

from sigtest import engine
from sigtest.comparison.parse import parse_comparison
from sigtest.comparison.plan import Plan
from sigtest.draws.samples import Samples
from sigtest.render import json
from sigtest.report import Report


@pytest.mark.parametrize("alternative", ["two-sided", "less"])
@pytest.mark.parametrize("pooled", [False, True])
def test_blocks_of_any_cut_and_order_give_the_same_bytes(
    example: Path, pooled: bool, alternative: str
) -> None:
    request = request_of(example, pooled=pooled, alternative=alternative)
    suite = parse_comparison(request | {"metrics": ["bleu", "nist"]})
    plan = Plan.of(suite.plan.as_json())
    tables = engine.measure_all(suite, lambda *told: None)
    runs = [(299, 300), (17, 18), (18, 256), (0, 17), (256, 299)]
    blocks = [Samples(plan, tables).block(*run) for run in runs]
    cut = engine.reduce(Samples(plan, tables), blocks)
    assert json.render(cut) == json.render(engine.compare(suite))


@pytest.mark.parametrize("pooled", [False, True])
def test_reports_come_back_from_json(example: Path, pooled: bool) -> None:
    report = engine.compare(parse_comparison(request_of(example, pooled=pooled)))
    assert Report.from_json(report.as_json()) == report
