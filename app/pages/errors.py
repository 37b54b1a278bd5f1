"""Problems as pages, for those who asked for a page."""

from __future__ import annotations

import json
from collections.abc import Callable
from contextlib import suppress
from typing import Any
from urllib.parse import urlencode

from fastapi import FastAPI, Request
from fastapi.exceptions import RequestValidationError
from starlette.exceptions import HTTPException
from starlette.responses import Response

from app.http.negotiation import wants_page
from app.http.observing import EXCHANGE
from app.http.problems import PREFIX, of_error
from app.pages import site
from app.pages.visitors import noted
from sigtest.errors import SigtestError

# what another try may answer
LATER = {409, 429, 500, 503}
Handler = Callable[[Request, Exception], Response]


def install(app: FastAPI) -> None:
    """Let problems be pages where a page was asked for; call after `problems.install`."""
    for kind in (SigtestError, HTTPException, RequestValidationError, Exception):
        handler = app.exception_handlers[kind]
        app.add_exception_handler(kind, _paged(handler))  # type: ignore[arg-type]


def _paged(handler: Handler) -> Handler:
    def handle(request: Request, error: Exception) -> Response:
        answer = handler(request, error)
        of_the_interface = request.url.path.startswith(("/v1/", "/openapi"))
        if of_the_interface or not wants_page(request):
            return answer
        return of_problem(request, answer)

    return handle


def answer(request: Request, error: SigtestError) -> Response:
    """What an error becomes before a route is found: a page where a page was asked for."""
    return _paged(lambda _request, _error: of_error(error))(request, error)


def of_problem(request: Request, answer: Response) -> Response:
    """The page of a problem document."""
    _recognise(request)
    told = json.loads(bytes(answer.body))
    EXCHANGE.get().problem = told["type"].removeprefix(PREFIX)
    made = site.page(
        request,
        "problem.html",
        answer.status_code,
        problem=told,
        onward=_onward(request, answer.status_code),
        fields=_parts(told),
        posted=request.method == "POST",
        wait=int(answer.headers.get("retry-after", 0)),
    )
    kept = ("retry-after", "allow", "connection")
    made.headers.update({k: v for k, v in answer.headers.items() if k in kept})
    return made


def _recognise(request: Request) -> None:
    """Tell who is signed in, where the problem came up before anybody asked."""
    if not hasattr(request.state, "signed_in"):
        with suppress(SigtestError):  # the problem may be that the store cannot say it
            noted(request)


def _parts(told: dict[str, Any]) -> list[str]:
    """The parts of the form that a problem is about, each once; its words say which file."""
    named = ((own.get("field") or "").partition("[")[0] for own in told.get("errors", ()))
    return list(dict.fromkeys(name for name in named if name))


def _onward(request: Request, status: int) -> tuple[str, str] | None:
    """Where to go from a problem, and what that does."""
    if status == 401:
        here = request.url.path + (f"?{request.url.query}" if request.url.query else "")
        come_back = {"next": here} if request.method == "GET" else {}
        return f"/sign-in?{urlencode(come_back)}", "Sign in with a key"
    if status in {404, 410}:
        return "/", "Start a new comparison"
    again = request.method == "GET" and status in LATER
    return (f"?{request.url.query}", "Try again") if again else None
