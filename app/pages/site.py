"""What all pages share: templates, headers, static files, who visits, problems as pages."""

import hashlib
import json
from contextlib import suppress
from datetime import UTC, datetime
from functools import cache
from pathlib import Path
from urllib.parse import urlencode

from fastapi import FastAPI, Request
from jinja2 import Environment, FileSystemLoader, StrictUndefined
from markupsafe import Markup, escape
from starlette.responses import Response

from app.http.auth import noted
from app.http.negotiation import wants_page
from app.http.problems import HANDLERS
from sigtest.errors import SigtestError
from sigtest.kinds import KINDS, About
from sigtest.render import html
from sigtest.render.drawing import darkening
from sigtest.render.words import JOINERS, printable, whole
from sigtest.requests.notes import LAST
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
    closed = False
    with suppress(StorageError):  # the page may be the one that says so
        closed = request.state.door.closed()
    content = (
        _templates()
        .get_template(template)
        .render(
            address=str(request.url),
            closed=closed,
            kinds=KINDS,
            path_now=request.url.path,
            signed_in=getattr(request.state, "signed_in", None),
            version=__version__,
            **shown,
        )
    )
    return Response(content, status, dict(HEADERS), "text/html")


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


@cache
def _templates() -> Environment:
    environment = Environment(
        loader=FileSystemLoader(FOLDER / "templates"),
        autoescape=True,
        undefined=StrictUndefined,
        # text from outside, with its control characters visible
        finalize=lambda value: (
            printable(value, kept=JOINERS)
            if isinstance(value, str) and not isinstance(value, Markup)
            else value
        ),
        trim_blocks=True,
        lstrip_blocks=True,
    )
    digests = {name: hashlib.sha256(data).hexdigest()[:12] for name, data in _files().items()}
    # addresses of static files, which change when their content does
    environment.globals["static"] = lambda name: f"/static/{digests[name]}/{name}"
    environment.filters.update(
        about=_about,
        breakable=lambda text: Markup("|<wbr>").join(
            escape(printable(part)) for part in text.split("|")
        ),  # signatures may go on in a new line after each part
        duration=_duration,
        excerpt=lambda line: segment(line if len(line) <= LONGEST else f"{line[:LONGEST]}…"),
        further=_further,
        kinds=lambda names: len(set(names or ())),
        isolated=lambda text, names: Markup(html.isolated(text, tuple(filter(None, names)))),
        lasting=lambda seconds: (
            "for good" if seconds >= LAST / 1000 else f"until {moment(seconds)}"
        ),
        lines=lambda text: Markup("\n").join(escape(printable(line)) for line in text.split("\n")),
        clock=lambda when: f"{when:%Y-%m-%d %H:%M} UTC{when.isoformat()[-6:]}" if when else "",
        local=lambda when: "" if when is None else f"{when:%Y-%m-%dT%H:%M}",
        moment=moment,
        phase=_phase,
        sentence=lambda thing: (thing.__doc__ or "").strip().partition("\n")[0],
        size=_size,
        whole=whole,
        zone=lambda when: "-12:00" if when is None else when.isoformat()[-6:],
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


def install(app: FastAPI) -> None:
    """Let every error be answered with a problem document, or a page where one was asked for."""
    for kind, handler in HANDLERS.items():
        app.add_exception_handler(kind, lambda r, e, own=handler: _paged(r, own(r, e)))


def _paged(request: Request, answer: Response) -> Response:
    """A problem document, or a page of it where a page was asked for."""
    if not wants_page(request):
        return answer
    if not hasattr(request.state, "signed_in"):  # the problem came up before anybody asked
        with suppress(SigtestError):  # it may be that the store cannot say who is
            noted(request)
    told = json.loads(bytes(answer.body))
    # the parts of the form that it is about, each once; its words say which file
    named = ((own.get("field") or "").partition("[")[0] for own in told.get("errors", ()))
    made = page(
        request,
        "problem.html",
        answer.status_code,
        problem=told,
        onward=_onward(request, answer.status_code),
        fields=list(dict.fromkeys(name for name in named if name)),
        posted=request.method == "POST",
        wait=int(answer.headers.get("retry-after", 0)),
    )
    kept = ("retry-after", "allow", "connection")
    made.headers.update({k: v for k, v in answer.headers.items() if k in kept})
    return made


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
