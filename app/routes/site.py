"""Routes of the site itself: the start page, static files, signing in, the reference of the API."""

from __future__ import annotations

from typing import Annotated

from fastapi import Depends, Form, Query, Request
from starlette.responses import RedirectResponse, Response

from app.http.auth import COOKIE, Noted, address_of, noted
from app.http.negotiation import wants_page
from app.http.problems import AuthenticationError
from app.http.state import QuestionStore, routing
from app.pages import forms, site
from app.pages.forms import EXAMPLE
from app.schema.document import PROBLEMS
from app.schema.models import EntryBody
from sigtest.metrics.sacre import lacking
from sigtest.significance import ALTERNATIVES, CORRECTIONS, TESTS
from workers.access import SESSION_SECONDS

RECENT = 5
router = routing()
hidden = routing(include_in_schema=False)


@router.get("/", tags=["probes"], response_model=EntryBody, responses=PROBLEMS)
def entry(request: Request, caller: Noted, questions: QuestionStore) -> Response:
    """Where the description of this service is, and its collections; a page for browsers."""
    if not wants_page(request):
        return Response(EntryBody().model_dump_json(), media_type="application/json")
    recent, _ = (
        questions.listing(caller.name, "comparisons", None, RECENT) if caller else ([], None)
    )
    return site.page(
        request,
        "new.html",
        metrics=forms.measurable(),
        lacking=lacking,
        usual=forms.USUAL,
        tests=TESTS,
        corrections=CORRECTIONS,
        alternatives=ALTERNATIVES,
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
        request.state.door.principal(key.strip(), address_of(request))
    except AuthenticationError:
        return site.page(
            request, "sign-in.html", 401, onward=_local(onward), needed=True,
            wrong="No such key, or not any more.",
        )  # fmt: skip
    answer = RedirectResponse(_local(onward), 303)
    if request.state.door.closed():
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


router.routes.extend(hidden.routes)
