"""Bodies of requests about shared tasks: JSON, or the forms of pages."""

from collections.abc import Awaitable, Callable
from typing import Annotated, TypeVar

from fastapi import Depends, Request

from app.requests import bodies
from app.requests.forms import chosen_of
from sigtest.errors import InputError
from sigtest.requests.model import Request as Model
from sigtest.requests.model import options
from sigtest.requests.notes import PlainNotes
from sigtest.requests.shared_tasks import (
    SharedTaskChange,
    SharedTaskRequest,
    TeamRequest,
)

M = TypeVar("M", bound=Model)
TIMES = ("opens", "deadline", "expires")  # in the zone that the form says once
APART = (*PlainNotes.model_fields, "testsets", "published")


def _reader(model: type[M]) -> Callable[[Request], Awaitable[M]]:
    async def read(request: Request) -> M:
        async with bodies.body_of(request, bodies.JSON) as (body, work), work:
            return await work.run(_parsed, model, body)

    return read


def _parsed(model: type[M], body: bodies.Body) -> M:
    if isinstance(body, bytes):
        return model.of(bodies.parse_json(body, "body"))
    found = chosen_of(body, options(model, APART), "") | bodies.written(body)
    found |= {time: found[time] + bodies.text_of(body, "zone") for time in TIMES if time in found}
    if published := bodies.text_of(body, "published"):
        found["published"] = published == "1"
    return model.of(found | _testsets(body))


def _testsets(form: bodies.Form) -> dict[str, dict[str, str]]:
    """The boards that are ticked, each an id and a name."""
    ticked = [part.partition(" ") for part in form.getlist("testsets") if isinstance(part, str)]
    named = {name: own for own, _, name in ticked}
    if len(named) < len(ticked):
        raise InputError("Two boards have one name; rename one of them.", field="testsets")
    return {"testsets": named} if named else {}


NewTask = Annotated[SharedTaskRequest, Depends(_reader(SharedTaskRequest))]
TaskChange = Annotated[SharedTaskChange, Depends(_reader(SharedTaskChange))]
NewTeam = Annotated[TeamRequest, Depends(_reader(TeamRequest))]
