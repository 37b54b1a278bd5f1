"""A suite in steps: resamples cut anywhere, drawn in any order, give the same report."""

from pathlib import Path

import pytest
from test_suite import request_of

from sigtest import engine
from sigtest.comparison.comparison.suite import Suite
from sigtest.comparison.comparison.suite_plan import SuitePlan
from sigtest.render import json
from sigtest.report.suite_report import SuiteReport
from sigtest.suite_engine import SuiteSample, compare_suite, reduce_suite


@pytest.mark.parametrize("alternative", ["two-sided", "less"])
@pytest.mark.parametrize("pooled", [False, True])
def test_blocks_of_any_cut_and_order_give_the_same_bytes(
    example: Path, pooled: bool, alternative: str
) -> None:
    request = request_of(example, pooled=pooled, alternative=alternative)
    suite = Suite.of(request | {"metrics": ["bleu", "nist"]})
    plan = SuitePlan.of(suite.plan.as_json())
    tables = engine.measure_all(suite.comparisons, lambda *told: None)
    runs = [(299, 300), (17, 18), (18, 256), (0, 17), (256, 299)]
    blocks = [SuiteSample(plan, tables).block(*run) for run in runs]
    cut = reduce_suite(SuiteSample(plan, tables), blocks)
    assert json.render(cut) == json.render(compare_suite(suite))


@pytest.mark.parametrize("pooled", [False, True])
def test_reports_come_back_from_json(example: Path, pooled: bool) -> None:
    report = compare_suite(Suite.of(request_of(example, pooled=pooled)))
    assert SuiteReport.from_json(report.as_json()) == report
