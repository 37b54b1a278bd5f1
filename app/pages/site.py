"""What all pages share: templates, headers, static files, who visits, problems as pages."""

from __future__ import annotations

import hashlib
import json
from collections.abc import Callable
from contextlib import suppress
from datetime import UTC, datetime
from functools import cache
from pathlib import Path
from typing import Any
from urllib.parse import urlencode

from fastapi import FastAPI, Request
from fastapi.exceptions import RequestValidationError
from jinja2 import Environment, FileSystemLoader, StrictUndefined
from markupsafe import Markup, escape
from starlette.exceptions import HTTPException
from starlette.responses import Response

from app.http.auth import Door, noted
from app.http.negotiation import wants_page
from app.http.observing import EXCHANGE
from app.http.problems import PREFIX, of_error
from sigtest.data.choices import choose
from sigtest.errors import SigtestError
from sigtest.kinds import KINDS, About
from sigtest.render import html
from sigtest.render.digits import whole
from sigtest.render.drawing import darkening
from sigtest.render.names import JOINERS, printable
from sigtest.version import __version__
from workers.errors import NotFoundError, StorageError
from workers.questions import Record, Status
from workers.store.records import Filter

FOLDER = Path(__file__).parent
STATIC = FOLDER / "static"
MEDIA_TYPES = {
    ".css": "text/css",
    ".js": "text/javascript",
    ".svg": "image/svg+xml",
    ".txt": "text/plain",
}
# Everything comes from here, nothing is written into the page itself, and no other page frames it.
POLICY = (
    "default-src 'none'; script-src 'self'; style-src 'self'; img-src 'self'; connect-src 'self'; "
    "form-action 'self'; base-uri 'none'; frame-ancestors 'none'"
)
HEADERS = {
    "Content-Security-Policy": POLICY,
    "Referrer-Policy": "same-origin",
    "Vary": "Accept, Cookie",
}
LISTED = 6  # names in a line
LONGEST = 120  # characters of a segment that are quoted
PHASES = {
    "statistics": "Measuring the outputs",
    "resampling": "Drawing resamples",
    "report": "Writing the report",
}
YEAR = 31_536_000  # seconds; addresses of static files change with their content


def page(request: Request, template: str, status: int = 200, **shown: object) -> Response:
    """A page.

    Args:
        request: What it answers.
        template: Name of its template.
        status: Status code.
        shown: What the template speaks of.
    """
    made = _templates().get_template(template)
    content = made.render(
        address=str(request.url),
        closed=_closed(request),
        kinds=KINDS,
        path_now=request.url.path,
        signed_in=getattr(request.state, "signed_in", None),
        version=__version__,
        **shown,
    )
    return Response(content, status, dict(HEADERS), "text/html")


def _closed(request: Request) -> bool:
    """Whether there is something to sign in to."""
    try:
        door: Door = request.state.door
        return door.closed()
    except StorageError:
        return False  # the page that is made may be the one that says so


def static(name: str) -> Response:
    """A static file.

    Raises:
        NotFoundError: There is none of this name.
    """
    files = _files()
    if name not in files:
        raise NotFoundError(f"There is no file {name[:100]!r}.")
    headers = {"Cache-Control": f"public, max-age={YEAR}, immutable"}
    media = MEDIA_TYPES[Path(name).suffix]
    return Response(files[name], 200, headers, media)


def static_path(name: str) -> str:
    """The address of a static file, which changes when its content does."""
    digest = hashlib.sha256(_files()[choose(name, _files(), "name", "file")]).hexdigest()[:12]
    return f"/static/{digest}/{name}"


def _finalize(value: object) -> object:
    """Text from outside with its control characters visible."""
    if isinstance(value, Markup) or not isinstance(value, str):
        return value
    return printable(value, kept=JOINERS)


@cache
def _templates() -> Environment:
    environment = Environment(
        loader=FileSystemLoader(FOLDER / "templates"),
        autoescape=True,
        undefined=StrictUndefined,
        finalize=_finalize,
        trim_blocks=True,
        lstrip_blocks=True,
    )
    environment.globals["static"] = static_path
    environment.filters.update(
        about=_about,
        breakable=lambda text: Markup("|<wbr>").join(
            escape(printable(part)) for part in text.split("|")
        ),  # signatures may go on in a new line after each part
        duration=_duration,
        excerpt=lambda line: segment(line if len(line) <= LONGEST else f"{line[:LONGEST]}…"),
        further=_further,
        isolated=lambda text, names: Markup(html.isolated(text, tuple(filter(None, names)))),
        lines=lambda text: Markup("\n").join(escape(printable(line)) for line in text.split("\n")),
        moment=moment,
        phase=_phase,
        sentence=lambda thing: (thing.__doc__ or "").strip().partition("\n")[0],
        size=_size,
        whole=whole,
    )
    return environment


@cache
def _files() -> dict[str, bytes]:
    """What lies in the folder, and how pictures that stand in a page look in the dark."""
    dark = darkening(".sigtest figure svg ")
    made = {
        "pictures.css": f"@media screen and (prefers-color-scheme: dark) {{\n{dark}\n}}\n".encode()
    }
    return made | {
        path.name: path.read_bytes() for path in STATIC.iterdir() if path.suffix in MEDIA_TYPES
    }


def moment(seconds: float) -> str:
    """A time as everybody reads it alike."""
    return datetime.fromtimestamp(seconds, UTC).strftime("%Y-%m-%d %H:%M UTC")


def _duration(seconds: float) -> str:
    """How long something takes, roughly."""
    if seconds < 1:
        return "less than a second"
    if seconds < 100:
        return f"{seconds:.0f} s"
    return f"{whole(round(seconds / 60))} min"


def _size(size: int) -> str:
    """Bytes, as files are listed."""
    for unit in ("B", "kB", "MB"):
        if size < 1000:
            return f"{size:.0f} {unit}"
        size = round(size / 1000)
    return f"{size} GB"


def _about(about: About) -> str:
    """What a question is about, in one line."""
    names = list(about.systems)
    shown = ", ".join(names[:LISTED]) + (f" and {len(names) - LISTED} more" * (len(names) > LISTED))
    parts = [shown, ", ".join(about.metrics[:LISTED])]
    if about.testsets:
        parts.append(f"{len(about.testsets)} test sets")
    return "; ".join(part for part in parts if part)


def _further(wanted: Filter, cursor: str) -> str:
    """The query of the page of a listing that follows."""
    chosen = [("title", wanted.title), *(("tag", tag) for tag in wanted.tags)]
    chosen += [("status", status) for status in wanted.statuses]
    return urlencode([*((name, value) for name, value in chosen if value), ("cursor", cursor)])


def _phase(record: Record) -> tuple[str, str]:
    """What is done to a question in words, and how much of it is done."""
    progress = record.progress
    if record.status is Status.QUEUED and progress.done == 0:
        return "It waits for its turn.", ""
    words = PHASES.get(progress.phase, progress.phase)
    return words, f": {whole(progress.done)} of {whole(progress.total)}."


def segment(text: str) -> Markup:
    """Text of a segment as it is, but for what would turn other text round or break the line."""
    return escape(printable(text, kept=JOINERS))


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
        return of_problem(request, answer) if wants_page(request) else answer

    return handle


def answer(request: Request, error: SigtestError) -> Response:
    """What an error becomes before a route is found: a page where a page was asked for."""
    return _paged(lambda _request, _error: of_error(error))(request, error)


def of_problem(request: Request, answer: Response) -> Response:
    """The page of a problem document."""
    _recognise(request)
    told = json.loads(bytes(answer.body))
    EXCHANGE.get().problem = told["type"].removeprefix(PREFIX)
    made = page(
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
