"""Errors to problem details (RFC 9457): the one place that knows status codes."""

import http
import json
import logging
import re
from collections.abc import Callable, Mapping
from dataclasses import dataclass, replace
from typing import Any

from fastapi import Request
from fastapi.exceptions import RequestValidationError
from starlette.exceptions import HTTPException
from starlette.requests import ClientDisconnect
from starlette.responses import Response
from starlette.routing import Match

from app.http.observing import EXCHANGE, HEADER, template_of
from app.settings import Settings
from sigtest import errors
from workers import errors as stored
from workers.process import REQUEST
from workers.questions import Status


class MalformedError(errors.InputError):
    """A body that is not the JSON or the form it claims to be."""


class AuthenticationError(errors.SigtestError):
    """No key, or an unknown one."""


class ForbiddenError(errors.SigtestError):
    """A key that is not for this."""


@dataclass(eq=False, repr=False, kw_only=True)
class BackOffError(errors.SigtestError):
    """Too many wrong keys.

    Attributes:
        seconds: How long to wait.
    """

    seconds: int


class SlowError(errors.SigtestError):
    """A body that takes too long to come."""


class StoppingError(errors.SigtestError):
    """A request that the end of the service cuts short."""


class NotAcceptableError(errors.SigtestError):
    """A representation that does not exist here."""


class PreconditionError(errors.SigtestError):
    """Something has changed since the client looked at it."""


class UnsupportedMediaError(errors.SigtestError):
    """A body of a kind that is not read."""


class UnreadyError(errors.SigtestError):
    """No worker is there."""


MEDIA_TYPE = "application/problem+json"
MAX_MESSAGE = 1000
MAX_VALUE = 40  # characters of a parameter that are repeated
KEY, KEY_WORDS = r"^[!-~]{1,255}$", "1 to 255 letters, digits and signs of ASCII, without spaces"
UNREADABLE = {
    "string_pattern_mismatch": f"Input should be {KEY_WORDS}",  # of an Idempotency-Key
    "int_parsing": "Input should be a whole number",
    "float_parsing": "Input should be a number",
    "bool_parsing": "Input should be true or false",
}
RETRY_SECONDS = 2
LIMITS = "|".join(name for name in Settings.model_fields if name.startswith("max_"))
SETTING = re.compile(rf"\b({LIMITS})\b(?!\.\w)")  # in words, not in the name of a file

log = logging.getLogger(__name__)


@dataclass(frozen=True)
class Kind:
    """A kind of problem: the stable end of its `type`, its title, and its status code."""

    slug: str
    title: str
    status: int


KINDS: dict[type[errors.SigtestError], Kind] = {
    errors.InputError: Kind("invalid-input", "The input cannot be used", 422),
    errors.LengthError: Kind("length-mismatch", "Lists that should be equally long are not", 422),
    MalformedError: Kind("malformed-body", "The body cannot be read", 400),
    errors.RecipeError: Kind("invalid-recipe", "An unknown or impossible choice", 422),
    errors.UnavailableError: Kind("unavailable", "A part that is not installed here", 422),
    errors.LimitError: Kind("limit-exceeded", "More than this service accepts", 413),
    stored.ConflictError: Kind(
        "idempotency-key-reused", "The Idempotency-Key belongs to another", 422
    ),
    AuthenticationError: Kind("unauthorized", "A valid API key is needed", 401),
    ForbiddenError: Kind("forbidden", "It is not allowed", 403),
    SlowError: Kind("slow-body", "The body takes too long", 408),
    BackOffError: Kind("wrong-keys", "Too many wrong keys", 429),
    stored.NotFoundError: Kind("not-found", "It was not found", 404),
    NotAcceptableError: Kind("not-acceptable", "No such representation", 406),
    stored.NotReadyError: Kind("not-ready", "The answer is not there (yet)", 409),
    stored.TakenError: Kind("name-taken", "Another system has this name", 409),
    stored.ScoredError: Kind("scored-otherwise", "Another score is there", 409),
    stored.CapacityError: Kind("capacity-spent", "The test set takes no further system", 409),
    stored.PhaseError: Kind("not-now", "The task does not take this now", 409),
    stored.QuotaError: Kind("quota-spent", "The team has submitted as much as it may", 409),
    stored.OnBoardError: Kind("shown-by-leaderboard", "A leaderboard shows it", 409),
    stored.GoneError: Kind("gone", "It has expired or was deleted", 410),
    PreconditionError: Kind("changed", "It is not what it was", 412),
    UnsupportedMediaError: Kind("unsupported-media-type", "A body of this kind is not read", 415),
    stored.BusyError: Kind("busy", "Too much of yours is unfinished", 429),
    stored.FullError: Kind("storage-full", "The storage is full", 503),
    stored.CostlyError: Kind("too-costly", "More work than one caller may have", 413),
    stored.BudgetError: Kind("budget-spent", "More that lasts than one caller may have", 409),
    stored.StorageError: Kind("storage-unavailable", "The storage cannot be reached", 503),
    StoppingError: Kind("stopping", "The service stops", 503),
    UnreadyError: Kind("unready", "The service is not ready", 503),
    errors.SigtestError: Kind("error", "The request failed", 500),
}
PARAMETERS = Kind("invalid-parameter", "A parameter cannot be used", 422)
INTERNAL = Kind("internal-error", "Something went wrong here", 500)
OF_TASKS = (  # of failed questions alone
    Kind("task-timeout", "One task took too long", 500),
    Kind("workers-died", "The workers of one task died", 500),
)

HEADERS = {  # a server would read on what is sent too slowly
    401: {"WWW-Authenticate": 'Bearer realm="sigtest"'},
    408: {"Connection": "close"},
}
# Limits on what is asked for; the others are sizes, over which an answer is 413.
COUNTS = {"max_metrics", "max_resamples", "max_scores", "max_rows"}


def of_error(error: errors.SigtestError) -> Response:
    """The answer to an error that was meant for the user."""
    kind = next(KINDS[base] for base in type(error).__mro__ if base in KINDS)
    extra: dict[str, Any] = {}
    headers = dict(HEADERS.get(kind.status, {}))
    unfinished = False
    if isinstance(error, errors.LimitError):
        extra["limit"] = error.limit
        headers |= {"Connection": "close"} if error.limit == "max_body_bytes" else {}
        kind = replace(kind, status=422) if error.limit in COUNTS else kind
    if isinstance(error, stored.CostlyError):
        extra["predicted"] = dict(error.predicted)
    if isinstance(error, stored.NotReadyError):
        status = None if error.record is None else error.record.status
        unfinished = status is None or not status.finished or status is Status.SUCCEEDED
        if error.record is not None:
            extra["progress"] = dict(vars(error.record.progress))
    entries = [_place(flaw) for flaw in (error, *error.others)]
    if any(entries):
        extra["errors"] = [entry for entry in entries if entry]
    if kind.status in {429, 503} or unfinished:
        headers["Retry-After"] = str(getattr(error, "seconds", RETRY_SECONDS))
    return problem(kind, _message(error), extra, headers)


def _place(error: errors.SigtestError) -> dict[str, Any]:
    """What an error is about and says; nothing where it is about no place."""
    places = {"field": error.field, "system": error.system, "line": error.line}
    named = {name: _cut(value) for name, value in places.items() if value is not None}
    return {**named, "message": _cut(_message(error))} if named else {}


def _message(error: errors.SigtestError) -> str:
    """Its message, with settings as operators set them."""
    if isinstance(error, errors.LimitError):
        return SETTING.sub(lambda found: f"SIGTEST_{found[0].upper()}", error.message)
    return error.message


def problem(
    kind: Kind,
    detail: str,
    extra: Mapping[str, Any] | None = None,
    headers: Mapping[str, str] | None = None,
) -> Response:
    """One problem document."""
    words = {"title": kind.title, "status": kind.status, "detail": _cut(detail)}
    body = {"type": stored.PROBLEM + kind.slug, **words, **(extra or {})}
    text = json.dumps(body, ensure_ascii=False)
    # What a user sent may hold half a surrogate pair, which UTF-8 cannot carry and JSON can.
    content = text.encode("utf-8", "backslashreplace")
    EXCHANGE.get().problem = kind.slug
    return Response(content, kind.status, headers, MEDIA_TYPE)


def _on_http_exception(request: Request, error: HTTPException) -> Response:
    """Routes that do not exist, methods that they do not have."""
    phrase = http.HTTPStatus(error.status_code).phrase
    slug = phrase.lower().replace(" ", "-")
    where, headers = request.url.path, dict(error.headers or {})
    detail = f"{request.method} {where}: {error.detail}"
    if error.status_code == 404:
        detail = f"There is nothing at {where}; / lists the collections, /openapi.json every path."
    elif error.status_code == 405:  # the error knows only what one route of this path takes
        taken = {
            method
            for method in ("DELETE", "GET", "PATCH", "POST", "PUT")
            for route in request.app.routes
            if route.matches({**request.scope, "method": method})[0] == Match.FULL
        }
        headers["Allow"] = ", ".join(sorted({*taken, "HEAD"} if "GET" in taken else taken))
        detail = f"{where} takes {headers['Allow']}, not {request.method}."
    return problem(Kind(slug, phrase, error.status_code), detail, headers=headers)


def _on_invalid_parameters(request: Request, error: RequestValidationError) -> Response:
    """What is wrong with parameters, with what was given, as the validator leaves it out."""
    errors = []
    for flaw in error.errors():
        words, value = UNREADABLE.get(flaw["type"], str(flaw["msg"])), flaw.get("input")
        if isinstance(value, str) and words.startswith("Input should be "):
            wanted = words.removeprefix("Input should be ")
            words = f"it must be {wanted}, not {value[:MAX_VALUE]!r}."
        errors.append({"field": ".".join(map(str, flaw["loc"][1:])), "message": words})
    detail = "; ".join(f"{entry['field']}: {entry['message']}" for entry in errors)
    return problem(PARAMETERS, detail, {"errors": errors})


def _on_bug(request: Request, error: Exception) -> Response:
    """Nothing of the error is told; its id is in the log next to the traceback."""
    identity = REQUEST.get()
    where = f"{request.method} {template_of(request.scope)}"
    log.error("problem %s at %s", identity, where, exc_info=error)
    detail = f"This is a fault of the service; its log has id {identity}."
    return problem(INTERNAL, detail, {"id": identity}, {HEADER: identity})


def _cut(value: Any) -> Any:
    """A problem never repeats more of what was sent than helps."""
    long = isinstance(value, str) and len(value) > MAX_MESSAGE
    return f"{value[:MAX_MESSAGE]}..." if long else value


# how errors are answered; a client that has gone while it was sending reads nothing
HANDLERS: dict[type[Exception], Callable[[Request, Any], Response]] = {
    errors.SigtestError: lambda _, error: of_error(error),
    HTTPException: _on_http_exception,
    RequestValidationError: _on_invalid_parameters,
    ClientDisconnect: lambda *_: Response(status_code=400),
    Exception: _on_bug,
}
