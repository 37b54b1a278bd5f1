"""Who visits pages: the holder of a key that was signed in with, or whom the interface lets in.

Only pages take cookies; what changes anything on them is refused where another site sends it.
"""

from __future__ import annotations

from typing import Annotated

from fastapi import Depends, Form, Query, Request
from starlette.responses import RedirectResponse, Response

from app.http.auth import (
    Bearer,
    Door,
    Guard,
    Header,
    Principal,
    address_of,
    identify,
    require_method,
)
from app.http.errors import AuthenticationError
from app.http.observing import EXCHANGE
from app.http.state import of_state, routing
from app.pages import site
from workers.sessions import SECONDS, Sessions

COOKIE = "sigtest_session"

router = routing(include_in_schema=False)


Kept = Annotated[Sessions, of_state("sessions")]


def _visitor(
    request: Request,
    door: Guard,
    sessions: Kept,
    bearer: Bearer,
    header: Header,
) -> Principal:
    """Tell who visits.

    Raises:
        AuthenticationError: The service has keys, and neither session nor request has one.
        ForbiddenError: The key is not for this.
    """
    principal = _holder(request, door, sessions) or identify(request, door, bearer, header)
    require_method(principal, request)
    EXCHANGE.get().caller = principal.name
    return principal


def _holder(request: Request, door: Door, sessions: Sessions) -> Principal | None:
    """Who signed in with a key that is still valid, as pages say."""
    token = request.cookies.get(COOKIE)
    digest = sessions.digest(token) if token else None
    holder = door.holder(digest) if digest else None
    if holder is not None:
        request.state.signed_in = holder.name
    return holder


def noted(request: Request, door: Guard, sessions: Kept) -> Principal | None:
    """Tell who visits a page that is for everybody, if that is known; it says who is signed in."""
    holder = _holder(request, door, sessions)
    if holder is not None or door.closed():
        return holder
    return identify(request, door, None, None)


Visitor = Annotated[Principal, Depends(_visitor)]
Noted = Annotated[Principal | None, Depends(noted)]


@router.get("/sign-in", dependencies=[Depends(noted)])
def sign_in_page(
    request: Request, door: Guard, onward: Annotated[str, Query(alias="next")] = "/"
) -> Response:
    """Where a key is given."""
    return site.page(request, "sign-in.html", onward=_own(onward), needed=door.closed(), wrong="")


@router.post("/sign-in", dependencies=[site.OwnPage])
def sign_in(
    request: Request,
    door: Guard,
    sessions: Kept,
    key: Annotated[str, Form()] = "",
    onward: Annotated[str, Form(alias="next")] = "/",
) -> Response:
    """A key in, a session out."""
    try:
        known = door.principal(key.strip(), address_of(request)) is not None
    except AuthenticationError:
        return site.page(
            request, "sign-in.html", 401, onward=_own(onward), needed=True,
            wrong="No such key, or not any more.",
        )  # fmt: skip
    answer = RedirectResponse(_own(onward), 303)
    if known:
        answer.set_cookie(
            COOKIE,
            sessions.begin(key.strip()),
            max_age=SECONDS,
            httponly=True,
            samesite="lax",  # a link from elsewhere may lead to a report; posts are refused anyhow
            secure=request.url.scheme == "https",
        )
    return answer


@router.post("/sign-out", dependencies=[site.OwnPage])
def sign_out(request: Request, sessions: Kept) -> Response:
    """End the session."""
    if token := request.cookies.get(COOKIE):
        sessions.end(token)
    answer = RedirectResponse("/sign-in", 303)
    answer.delete_cookie(COOKIE)
    return answer


def _own(address: str) -> str:
    """An address of this service, whatever was asked for: links must not lead elsewhere."""
    plain = address.startswith("/") and not address.startswith(("//", "/\\"))
    return address if plain and address.isprintable() else "/"
