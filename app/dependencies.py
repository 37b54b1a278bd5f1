"""What routes ask for by type: settings, the queue, parameters (who asks is in `auth.py`)."""

from __future__ import annotations

from typing import Annotated

from fastapi import Depends, Query, Request
from fastapi.dependencies.models import Dependant

from app.settings import Settings
from sigtest.data.choices import choose
from sigtest.errors import RecipeError
from workers.jobs import Jobs
from workers.leaderboards import Leaderboards


async def _settings(request: Request) -> Settings:
    settings: Settings = request.state.settings
    return settings


async def _jobs(request: Request) -> Jobs:
    jobs: Jobs = request.state.jobs
    return jobs


async def _leaderboards(request: Request) -> Leaderboards:
    leaderboards: Leaderboards = request.state.leaderboards
    return leaderboards


async def refuse_unknown_parameters(request: Request) -> None:
    """Dependency of every route: a misspelt or doubled query parameter is an error, as in a body.

    Raises:
        RecipeError: A parameter that the route does not have, or one that is given twice.
    """
    route = request.scope["route"]
    known = sorted(_query_parameters(route.dependant))
    for name in request.query_params:
        if not known:
            raise RecipeError(f"{request.url.path} takes no parameters.", field=name)
        choose(name, known, name, "parameter")
        if len(request.query_params.getlist(name)) > 1:
            raise RecipeError(f"The parameter {name!r} is given twice.", field=name)


def _query_parameters(dependant: Dependant) -> set[str]:
    """Names of the query parameters of a route and of all that it depends on."""
    own = {field.alias for field in dependant.query_params}
    return own.union(*(_query_parameters(inner) for inner in dependant.dependencies))


Limits = Annotated[Settings, Depends(_settings)]
Queue = Annotated[Jobs, Depends(_jobs)]
Boards = Annotated[Leaderboards, Depends(_leaderboards)]
First = Annotated[str, Query(alias="a", description="First system of the pair.")]
Second = Annotated[str, Query(alias="b", description="Second system.")]
Values = Annotated[bool, Query(description="Every pseudo-statistic as well.")]
Cursor = Annotated[str | None, Query(max_length=200, description="Where to go on.")]
