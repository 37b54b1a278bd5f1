"""Bodies of requests about shared tasks: JSON, or the forms of pages."""

from collections.abc import Awaitable, Callable
from typing import Annotated, Any, TypeVar

from fastapi import Depends, Request
from starlette.datastructures import FormData

from app.requests import bodies
from sigtest.errors import InputError
from sigtest.requests.model import Request as Model
from sigtest.requests.shared_tasks import (
    SharedTaskChange,
    SharedTaskRequest,
    TeamRequest,
)

M = TypeVar("M", bound=Model)
COUNTS = ("grace", "systems", "per_day")
TIMES = ("opens", "deadline", "expires")
WORDS = ("name", "scores", "family", "overall")


def _reader(model: type[M]) -> Callable[[Request], Awaitable[M]]:
    async def read(request: Request) -> M:
        async with bodies.body_of(request, bodies.JSON) as (body, work), work:
            return await work.run(_parsed, model, body)

    return read


def _parsed(model: type[M], body: bodies.Body) -> M:
    if isinstance(body, bytes):
        return model.of(bodies.parse_json(body, "body"))
    return model.of(_of_form(body))


def _of_form(form: FormData) -> dict[str, Any]:
    """What the form of a page says; what was left empty is not said."""
    found: dict[str, Any] = bodies.written(form)
    texts = {field: bodies.text_of(form, field) for field in (*WORDS, *TIMES, *COUNTS)}
    found |= {field: texts[field] for field in WORDS if texts[field]}
    for field in COUNTS:
        if texts[field]:
            number = int(texts[field]) if texts[field].isdecimal() else texts[field]
            found[field] = number
    for field in TIMES:
        if texts[field]:
            found[field] = texts[field] + bodies.text_of(form, "zone")
    if form.get("published") is not None:
        found["published"] = bodies.text_of(form, "published") == "1"
    testsets = [part.partition(" ") for part in form.getlist("testsets") if isinstance(part, str)]
    names = [name for _, _, name in testsets]
    if len({*names}) < len(names):
        raise InputError("Two boards have one name; rename one of them.", field="testsets")
    return found | ({"testsets": {name: own for own, _, name in testsets}} if testsets else {})


NewTask = Annotated[SharedTaskRequest, Depends(_reader(SharedTaskRequest))]
TaskChange = Annotated[SharedTaskChange, Depends(_reader(SharedTaskChange))]
NewTeam = Annotated[TeamRequest, Depends(_reader(TeamRequest))]
