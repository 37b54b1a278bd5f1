"""Who visits pages: the holder of a key that was signed in with, or whom the interface lets in.

Only pages take cookies.
"""

from __future__ import annotations

from typing import Annotated

from fastapi import Depends, Form, Query, Request
from starlette.responses import RedirectResponse, Response

from app.http.auth import Bearer, Door, Header, Principal, address_of, identify, require_method
from app.http.errors import AuthenticationError
from app.http.observing import EXCHANGE
from app.http.state import routing
from app.pages import site
from workers.sessions import SECONDS, Sessions

COOKIE = "sigtest_session"

router = routing(include_in_schema=False)


def _visitor(request: Request, bearer: Bearer, header: Header) -> Principal:
    """Tell who visits.

    Raises:
        AuthenticationError: Keys are needed, and neither session nor request has one.
        ForbiddenError: The key is not for this.
    """
    principal = _holder(request) or identify(request, bearer, header)
    require_method(principal, request)
    EXCHANGE.get().caller = principal.name
    return principal


def _holder(request: Request) -> Principal | None:
    """Who signed in with a key that is still valid, as pages say."""
    door: Door = request.state.door
    sessions: Sessions = request.state.sessions
    token = request.cookies.get(COOKIE)
    digest = sessions.digest(token) if token else None
    holder = door.holder(digest) if digest else None
    if holder is not None:
        request.state.signed_in = holder
    return holder


def noted(request: Request) -> Principal | None:
    """Tell who visits a page that is for everybody, if that is known; it says who is signed in."""
    holder = _holder(request)
    if holder is not None or request.state.door.closed():
        return holder
    return identify(request, None, None)


Visitor = Annotated[Principal, Depends(_visitor)]
Noted = Annotated[Principal | None, Depends(noted)]


@router.get("/sign-in", dependencies=[Depends(noted)])
def sign_in_page(request: Request, onward: Annotated[str, Query(alias="next")] = "/") -> Response:
    """Where a key is given."""
    needed = request.state.door.closed()
    return site.page(request, "sign-in.html", onward=_own(onward), needed=needed, wrong="")


@router.post("/sign-in")
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
            request, "sign-in.html", 401, onward=_own(onward), needed=True,
            wrong="No such key, or not any more.",
        )  # fmt: skip
    answer = RedirectResponse(_own(onward), 303)
    if request.state.door.closed():
        answer.set_cookie(
            COOKIE,
            request.state.sessions.begin(key.strip()),
            max_age=SECONDS,
            httponly=True,
            samesite="lax",  # a link from elsewhere may lead to a report; posts are refused anyhow
            secure=request.url.scheme == "https",
        )
    return answer


@router.post("/sign-out")
def sign_out(request: Request) -> Response:
    """End the session."""
    if token := request.cookies.get(COOKIE):
        request.state.sessions.end(token)
    answer = RedirectResponse("/sign-in", 303)
    answer.delete_cookie(COOKIE)
    return answer


def _own(address: str) -> str:
    """An address of this service, whatever was asked for: links must not lead elsewhere."""
    plain = address.startswith("/") and not address.startswith(("//", "/\\"))
    return address if plain and address.isprintable() else "/"
