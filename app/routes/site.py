"""Routes of the site itself: the start page, static files, signing in, the reference, and probes.

What Prometheus collects are numbers, with no text of any caller:
https://prometheus.io/docs/instrumenting/exposition_formats/ (version 0.0.4)
"""

from collections.abc import Iterator, Mapping
from itertools import accumulate
from typing import Annotated, Any

from fastapi import Depends, Form, Query, Request
from starlette.responses import RedirectResponse, Response

from app.http.auth import COOKIE, Caller, Noted, Operator, address_of, noted
from app.http.negotiation import wants_page
from app.http.problems import AuthenticationError, UnreadyError
from app.http.state import QuestionStore, routing
from app.models import EntryBody, HealthBody, ReadyBody, StorageBody
from app.pages import forms, site
from app.requests.forms import EXAMPLE, USUAL
from sigtest.metrics.sacre import lacking
from sigtest.significance import TESTS
from workers.access import SESSION_SECONDS
from workers.observing import load
from workers.store.records import Record
from workers.store.usage import BOUNDS, Durations

RECENT = 5
DURATIONS = ("task_seconds", "request_seconds")
router = routing()
hidden = routing(include_in_schema=False)


@router.get("/", tags=["probes"], response_model=EntryBody)
def entry(request: Request, caller: Noted, questions: QuestionStore) -> Response:
    """Where the description of this service is, and its collections; a page for browsers."""
    signed_in = getattr(request.state, "signed_in", None)
    if signed_in is not None and signed_in.team is not None:
        return RedirectResponse(f"/tasks/{signed_in.team.task}", 303)
    if not wants_page(request):
        return Response(EntryBody().model_dump_json(), media_type="application/json")
    recent: list[Record] = []
    if caller:
        recent, _ = questions.listing(caller.name, None, RECENT, listed="comparisons")
    return site.page(
        request,
        "new.html",
        metrics=forms.measurable(),
        lacking=lacking,
        usual=USUAL,
        tests=TESTS,
        controls=forms.controls(forms.CHOSEN),
        example=EXAMPLE.is_dir(),
        records=recent,
    )


@hidden.get("/static/{digest}/{name}")
async def static(digest: str, name: str) -> Response:
    """A static file."""
    return site.static(name)


@hidden.get("/sign-in", dependencies=[Depends(noted)])
def sign_in_page(request: Request, onward: Annotated[str, Query(alias="next")] = "/") -> Response:
    """Where a key is given."""
    needed = request.state.door.closed()
    return site.page(request, "sign-in.html", onward=_local(onward), needed=needed, wrong="")


@hidden.post("/sign-in")
def sign_in(
    request: Request,
    key: Annotated[str, Form()] = "",
    onward: Annotated[str, Form(alias="next")] = "/",
) -> Response:
    """A key in, a session out."""
    try:
        principal = request.state.door.principal(key.strip(), address_of(request))
    except AuthenticationError:
        return site.page(
            request, "sign-in.html", 401, onward=_local(onward), needed=True,
            wrong="No such key, or not any more.",
        )  # fmt: skip
    answer = RedirectResponse(_local(onward), 303)
    if request.state.door.closed() or principal.team is not None:
        answer.set_cookie(
            COOKIE,
            request.state.sessions.begin(key.strip()),
            max_age=SESSION_SECONDS,
            httponly=True,
            samesite="lax",  # a link from elsewhere may lead to a report; posts are refused anyhow
            secure=request.url.scheme == "https",
        )
    return answer


@hidden.post("/sign-out")
def sign_out(request: Request) -> Response:
    """End the session."""
    if token := request.cookies.get(COOKIE):
        request.state.sessions.end(token)
    answer = RedirectResponse("/sign-in", 303)
    answer.delete_cookie(COOKIE)
    return answer


@hidden.get("/api", dependencies=[Depends(noted)])
def reference(request: Request) -> Response:
    """The interface, described by its OpenAPI document; RapiDoc shows that, and tries calls."""
    made = site.page(request, "reference.html")
    policy = site.POLICY.replace("style-src 'self'", "style-src 'self' 'unsafe-inline'")
    made.headers["Content-Security-Policy"] = policy
    return made


def _local(address: str) -> str:
    """An address of this service, whatever was asked for: links must not lead elsewhere."""
    plain = address.startswith("/") and not address.startswith(("//", "/\\"))
    return address if plain and address.isprintable() else "/"


@router.get("/v1/storage", tags=["storage"])
def get_storage(caller: Caller, questions: QuestionStore) -> StorageBody:
    """How many bytes of the store you have, and may have for longer than the retention."""
    return StorageBody.model_validate(questions.storage(caller.name))


@router.get("/healthz", tags=["probes"])
async def healthz() -> HealthBody:
    """The process is alive."""
    return HealthBody()


@router.get("/readyz", tags=["probes"])
def readyz(questions: QuestionStore) -> ReadyBody:
    """The storage can be reached and at least one worker is there.

    Raises:
        UnreadyError: No worker is.
    """
    questions.check()
    alive = questions.workers()
    if not alive:
        raise UnreadyError("No worker process is running; questions would wait.")
    return ReadyBody(workers=alive)


@router.get("/metrics", tags=["probes"], response_class=Response)
def metrics(request: Request, operator: Operator, questions: QuestionStore) -> Response:
    """Queue, tasks, requests and predicted cost, as Prometheus reads them.

    Needs a key with the scope `admin` where there are keys.
    """
    now, requests = load(questions.context), request.state.requests
    durations = {(m, path, str(s)): v for (m, path, s), v in requests.durations.copy().items()}
    families = (
        # of the store, the same from every front end
        family("workers", "Worker processes that are alive.", {(): now.workers}),
        family("tasks_waiting", "Tasks that no worker has.", {(): now.waiting}),
        family(
            "oldest_task_seconds",
            "Seconds since the oldest waiting task began to wait.",
            {(): now.oldest},
        ),
        family("drained", "Whether an operator lets all tasks wait.", {(): int(now.drained)}),
        family(
            "cache_lookups_total",
            "Statistics that accepted comparisons found in a cache (hit), or not (miss).",
            now.looks,
            "result",
        ),
        family("task_seconds", "How long tasks took.", now.tasks, "task", "outcome"),
        family("questions_unfinished", "Questions without an outcome.", now.unfinished, "caller"),
        family(
            "predicted_seconds",
            "Seconds of one core that unfinished questions were predicted to take.",
            now.predicted,
            "caller",
        ),
        family("caller_seconds_total", "Seconds that tasks took.", now.spent, "caller"),
        # of this front end, since it was started
        family(
            "request_seconds",
            "How long requests took; streams until they end.",
            durations,
            "method",
            "path",
            "status",
        ),
        family(
            "refusals_total",
            "Problems that were told, by the end of their type.",
            requests.refusals.copy(),
            "type",
        ),
    )
    text = "".join(f"{line}\n" for lines in families for line in lines)
    return Response(text, media_type="text/plain; version=0.0.4; charset=utf-8")


def family(
    name: str, words: str, values: Mapping[Any, float | Durations], *labels: str
) -> Iterator[str]:
    """Lines of one metric: a counter where its name says so, durations, or what goes up and down.

    Args:
        name: Without its prefix.
        words: What it says.
        values: By the values of its labels.
        labels: Their names.
    """
    kind = "counter" if name.endswith("_total") else "gauge"
    kind, name = "histogram" if name in DURATIONS else kind, f"sigtest_{name}"
    yield f"# HELP {name} {words}"
    yield f"# TYPE {name} {kind}"
    for key, value in sorted(values.items()):
        named = dict(zip(labels, key if isinstance(key, tuple) else (key,), strict=True))
        if not isinstance(value, Durations):
            yield _sample(name, named, value)
            continue
        counts = list(accumulate(value.counts))
        for bound, count in zip((*map(str, BOUNDS), "+Inf"), counts, strict=True):
            yield _sample(f"{name}_bucket", {**named, "le": bound}, count)
        yield _sample(f"{name}_sum", named, value.seconds)
        yield _sample(f"{name}_count", named, counts[-1])


def _sample(name: str, labels: Mapping[str, str], value: float) -> str:
    escapes = str.maketrans({"\\": r"\\", '"': r"\"", "\n": r"\n"})
    words = ",".join(f'{label}="{text.translate(escapes)}"' for label, text in labels.items())
    return f"{name}{{{words}}} {value}" if words else f"{name} {value}"


router.routes.extend(hidden.routes)
