"""Pictures of a leaderboard; `sigtest leaderboard --plots` draws the same bytes."""

from __future__ import annotations

from dataclasses import replace

from fastapi import APIRouter, Request
from starlette.responses import Response

from app import answers, contract
from app.boards import Shown, ShownPair
from app.dependencies import Values
from app.schemas import DistributionBody
from app.testset_answers import picture, report_of
from app.testset_schemas import PATH
from sigtest.render.plots import distribution_plot, intervals_plot, matrix_plot

router = APIRouter(
    prefix=PATH + "/{id}/leaderboard", tags=["leaderboards"], responses=contract.PROBLEMS
)


@router.get("/plots/matrix.svg", openapi_extra=contract.CACHING, responses=contract.PICTURE)
def leaderboard_matrix(request: Request, shown: Shown) -> Response:
    """Adjusted p-values of all pairs, systems ordered by score, clusters framed."""
    return picture(request, shown, matrix_plot(report_of(shown)))


@router.get("/plots/intervals.svg", openapi_extra=contract.CACHING, responses=contract.PICTURE)
def leaderboard_intervals(request: Request, shown: Shown) -> Response:
    """Scores and differences with their bootstrap intervals."""
    return picture(request, shown, intervals_plot(report_of(shown)))


@router.get("/plots/distribution.svg", openapi_extra=contract.CACHING, responses=contract.PICTURE)
def leaderboard_distribution_picture(request: Request, drawn: ShownPair) -> Response:
    """Pseudo-statistics of one pair, the observed difference, and the tail that is counted.

    A worker draws them when they are first asked for; 503 with `Retry-After` where that takes
    longer than this request.
    """
    report = report_of(drawn.shown)
    (label,) = report.metrics  # short, as there is no other metric that it could be mistaken for
    return picture(
        request,
        drawn.shown,
        distribution_plot(replace(drawn.distribution, metric=label), report),
    )


@router.get("/distribution", responses={200: {"model": DistributionBody}})
def leaderboard_distribution(drawn: ShownPair, values: Values = False) -> Response:
    """The pseudo-statistics that one pair's observed difference is held against."""
    return answers.distribution(drawn.distribution, values)
