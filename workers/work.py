"""What a stored comparison computes, on one test set or on several.

The only module of `workers` that tells the two apart. Elsewhere a comparison has parts, one a test
set, and outputs: what its systems bring to the first test set, then to the second, and so on.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

from sigtest import engine
from sigtest.arrays import Array
from sigtest.comparison.comparison import Comparison
from sigtest.comparison.plan import Plan
from sigtest.comparison.suite import Suite
from sigtest.comparison.suite_plan import SuitePlan
from sigtest.draws.sample import Block, Sample
from sigtest.report import Report
from sigtest.report.suite_report import SuiteReport
from sigtest.suite_engine import SuiteBlock, SuiteSample, reduce_suite

Asked = Comparison | Suite
Work = Plan | SuitePlan
Blocks = tuple[Block, ...]  # of the same resamples: one a test set, and of several the whole's


def comparisons(asked: Asked) -> tuple[Comparison, ...]:
    """What is asked for on each test set."""
    return asked.comparisons if isinstance(asked, Suite) else (asked,)


def plan_of(body: Mapping[str, Any]) -> Work:
    """The plan that `as_json` wrote."""
    return SuitePlan.of(body) if "plans" in body else Plan.of(body)


def testsets(plan: Work) -> tuple[str, ...]:
    """Names of the test sets where there are several."""
    return plan.names if isinstance(plan, SuitePlan) else ()


def parts(plan: Work) -> tuple[Plan, ...]:
    """What is computed on each test set."""
    return plan.plans if isinstance(plan, SuitePlan) else (plan,)


def resampled(plan: Work) -> tuple[Plan, ...]:
    """Whatever costs resampling: each test set, and where there are several, all together."""
    return (*plan.plans, plan.whole) if isinstance(plan, SuitePlan) else (plan,)


def sample_of(plan: Work, tables: Sequence[Sequence[Array]]) -> Sample | SuiteSample:
    """All statistics, ready to be resampled.

    Args:
        plan: What is computed.
        tables: For each test set, one (S, m n, k) array a metric.
    """
    return SuiteSample(plan, tables) if isinstance(plan, SuitePlan) else Sample(plan, tables[0])


def draw(sample: Sample | SuiteSample, start: int, stop: int) -> Blocks:
    """Draw resamples `start` to `stop`."""
    drawn = sample.block(start, stop)
    return (*drawn.parts, drawn.whole) if isinstance(drawn, SuiteBlock) else (drawn,)


def reduce(sample: Sample | SuiteSample, drawn: Sequence[Blocks]) -> Report | SuiteReport:
    """The report, from what was drawn, which together holds every resample once."""
    if isinstance(sample, Sample):
        return engine.reduce(sample, [block for (block,) in drawn])
    return reduce_suite(
        sample,
        [SuiteBlock(own[0].start, own[0].stop, own[:-1], own[-1]) for own in drawn],
    )
