"""Pictures of a comparison; `sigtest plot` and `sigtest compare --plots` draw the same bytes."""

from __future__ import annotations

import json
from typing import Annotated

from fastapi import APIRouter, Depends, Query, Request
from starlette.concurrency import run_in_threadpool
from starlette.responses import Response

from app import answers, contract
from app.auth import Caller
from app.comparison_schemas import PATH
from app.dependencies import First, Queue, Second
from app.routes.comparisons import Found
from app.waiting import Watch
from sigtest.draws.distribution import Distribution
from sigtest.render.layout import leading_test
from sigtest.render.plots import distribution_plot, intervals_plot, matrix_plot
from sigtest.render.plots.distribution import find_pair
from sigtest.report import Report

router = APIRouter(prefix=PATH + "/{id}/plots", tags=["comparisons"], responses=contract.PROBLEMS)

Metric = Annotated[
    str | None, Query(description="What the report calls the metric; the first by default.")
]
Test = Annotated[
    str | None,
    Query(description="Significance test; by default the first that keeps its level."),
]


def _report(found: Found, caller: Caller, jobs: Queue) -> Report:
    found.require_one_testset()
    return Report.from_json(json.loads(jobs.report(found.id, caller.name)))


Reported = Annotated[Report, Depends(_report)]


async def _drawn(
    caller: Caller,
    watch: Watch,
    found: Found,
    report: Reported,
    a: First,
    b: Second,
    metric: Metric = None,
    test: Test = None,
) -> Distribution:
    label, name = metric or next(iter(report.metrics)), test or leading_test(report)
    await run_in_threadpool(find_pair, report, a, b, label, name)  # before a worker is troubled
    return await watch.distribution(found, caller.name, a, b, label, name)


Drawn = Annotated[Distribution, Depends(_drawn)]


@router.get("/matrix.svg", openapi_extra=contract.CACHING, responses=contract.PICTURE)
def matrix_picture(
    request: Request, report: Reported, metric: Metric = None, test: Test = None
) -> Response:
    """Adjusted p-values of all pairs, systems ordered by score, clusters framed."""
    return answers.picture(request, matrix_plot(report, metric, test))


@router.get("/intervals.svg", openapi_extra=contract.CACHING, responses=contract.PICTURE)
def intervals_picture(
    request: Request, report: Reported, metric: Metric = None, test: Test = None
) -> Response:
    """Scores and differences with their bootstrap intervals."""
    return answers.picture(request, intervals_plot(report, metric, test))


@router.get("/distribution.svg", openapi_extra=contract.CACHING, responses=contract.PICTURE)
def distribution_picture(request: Request, report: Reported, drawn: Drawn) -> Response:
    """Pseudo-statistics of one pair, the observed difference, and the tail that is counted.

    A worker draws them when they are first asked for; 409 with `Retry-After` where that takes
    longer than this request.
    """
    return answers.picture(request, distribution_plot(drawn, report))
