"""What is open while the service runs, what routes ask for by type, and whose turn it is."""

import asyncio
import re
from collections.abc import AsyncIterator, Callable
from contextlib import asynccontextmanager
from typing import Annotated, Any, ParamSpec, TypeVar, get_args, get_origin
from weakref import WeakValueDictionary

from fastapi import APIRouter, Depends, Query, Request
from fastapi.dependencies.models import Dependant
from pydantic import BeforeValidator
from pydantic_core import PydanticCustomError
from starlette.concurrency import run_in_threadpool

from app.http.observing import EXCHANGE
from app.settings import Settings
from sigtest.data.names import choose
from sigtest.errors import RecipeError
from sigtest.kinds import KINDS, Kind
from workers.questions import Questions
from workers.races import Races
from workers.shared_tasks import SharedTasks
from workers.testsets import TestSets
from workers.webhooks import Webhooks

AT_ONCE = 2  # of one caller

P = ParamSpec("P")
T = TypeVar("T")


# by loop and caller, as long as somebody has a turn or waits for one
_turns: WeakValueDictionary[tuple[asyncio.AbstractEventLoop, str], asyncio.Semaphore]
_turns = WeakValueDictionary()


@asynccontextmanager
async def turn() -> AsyncIterator[None]:
    """Wait for a turn of who asks the request, which lasts as long as the block."""
    own = asyncio.get_running_loop(), EXCHANGE.get().caller
    async with _turns.setdefault(own, asyncio.Semaphore(AT_ONCE)):
        yield


async def in_turn(work: Callable[P, T], *args: P.args, **kwargs: P.kwargs) -> T:
    """Run in a thread what takes long, when it is its turn."""
    async with turn():
        return await run_in_threadpool(work, *args, **kwargs)


WHOLE = re.compile(r"-?(0|[1-9][0-9]*)(\.0+)?")


async def kind_of(request: Request) -> Kind[Any]:
    """The kind whose path was asked for, of the interface or of a page."""
    return KINDS[request.url.path.removeprefix("/v1").split("/")[1]]


def of_state(name: str) -> Any:
    """A dependency: what `app.main` has open under this name."""

    async def opened(request: Request) -> Any:
        return getattr(request.state, name)

    return Depends(opened)


async def refuse_unknown_parameters(request: Request) -> None:
    """Dependency of every route: a misspelt or doubled query parameter is an error, as in a body.

    Raises:
        RecipeError: A parameter that the route does not have, or one that is given twice.
    """
    if not request.query_params:
        return
    route = request.scope["route"]
    parameters = _query_parameters(route.dependant)
    known = sorted(parameters)
    for name in request.query_params:
        if not known:
            raise RecipeError(f"{request.url.path} takes no parameters.", field=name)
        choose(name, known, name, "parameter")
        if len(request.query_params.getlist(name)) > 1 and not parameters[name]:
            raise RecipeError(f"The parameter {name!r} is given twice.", field=name)


def routing(**common: Any) -> APIRouter:
    """Where routes of this service are written down.

    They are taken over from here as they are: what a route takes is read off its function, which
    is done once more where a router is included, and takes as long as loading all else does.

    Args:
        common: What FastAPI is told of all of them.
    """
    return APIRouter(
        responses={"default": {"description": "A problem document; `type` says which."}},
        dependencies=[Depends(refuse_unknown_parameters)],
        generate_unique_id_function=lambda route: route.name,
        **common,
    )


def _query_parameters(dependant: Dependant) -> dict[str, bool]:
    """Query parameters of a route and of all that it depends on, and which may be repeated."""
    opened = {
        field.alias: any(get_origin(kind) in (list, tuple) for kind in (own, *get_args(own)))
        for field in dependant.query_params
        for own in [field.field_info.annotation]
    }
    for inner in dependant.dependencies:
        opened |= _query_parameters(inner)
    return opened


def _spelled(value: object) -> object:
    """A number as JSON spells it, which is what the OpenAPI document says; Python reads others."""
    if isinstance(value, str) and not WHOLE.fullmatch(value):
        raise PydanticCustomError("int_parsing", "Input should be a valid integer")
    return value


InDigits = BeforeValidator(_spelled)  # behind bounds, which the document would not have else
# a form sends what was left empty, too
LeftEmpty = BeforeValidator(lambda value: None if value == "" else value)
OfKind = Annotated[Kind[Any], Depends(kind_of)]
Limits = Annotated[Settings, of_state("settings")]
QuestionStore = Annotated[Questions, of_state("questions")]
Boards = Annotated[TestSets, of_state("testsets")]
RaceStore = Annotated[Races, of_state("races")]
TaskStore = Annotated[SharedTasks, of_state("tasks")]
WebhookStore = Annotated[Webhooks, of_state("webhooks")]
Cursor = Annotated[
    str | None, Query(max_length=200, description="`next_cursor` of the page before.")
]
Limit = Annotated[
    int,
    Query(ge=1, description="Entries a page; no page has more than the service's `max_page`."),
    InDigits,
]
