"""Which requests come in at all: one check before every route, of pages and of the interface alike.

A browser speaks to this service in the name of its user, whoever wrote the page that makes it do
so. Fetch Metadata and `Origin` say which site a request comes from; `Host` says by which name the
service was found, which its owner may let lead here (DNS rebinding). Where there are keys, a page
that was found by such a name has none of them, and no cookie.
"""

from __future__ import annotations

import re
from collections.abc import Callable

from starlette.concurrency import run_in_threadpool
from starlette.requests import Request
from starlette.responses import Response
from starlette.types import ASGIApp, Receive, Scope, Send

from app.http.auth import Door, is_loopback
from app.http.errors import ForbiddenError
from app.settings import Settings
from sigtest.errors import SigtestError

# what its owner made public, what everybody may know, and what both are shown with
PUBLIC = re.compile(r"/(healthz|readyz|(shared|static)/.*)")
HOST = re.compile(r"(\[[0-9a-fA-F:.]+\]|[^:\[\]]+)(:[0-9]*)?")
FORWARDED = ("forwarded", "x-forwarded-for", "x-forwarded-host", "x-real-ip")  # by a proxy


class Gate:
    """Middleware that refuses what comes from pages of other sites, by another name, from afar.

    Args:
        app: What is behind it.
        settings: Names of the service, origins that may ask, whether everybody may.
        answer: How an error is answered to a request.
    """

    def __init__(
        self, app: ASGIApp, settings: Settings, answer: Callable[[Request, SigtestError], Response]
    ) -> None:
        self.app = app
        self.settings = settings
        self.answer = answer

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        """Let a request in, or say why not; its body is not looked at."""
        app = self.app
        if scope["type"] == "http":
            try:
                await self._check(Request(scope))
            except SigtestError as error:
                app = await run_in_threadpool(self.answer, Request(scope), error)
        await app(scope, receive, send)

    async def _check(self, request: Request) -> None:
        """Check where a request comes from.

        Raises:
            ForbiddenError: From where none is answered.
        """
        if request.method in ("GET", "HEAD") and PUBLIC.fullmatch(request.scope["path"]):
            return
        if self._foreign(request):
            raise ForbiddenError(
                "This was sent by a page of another site; open it here. The operator may let an "
                "origin ask with SIGTEST_CORS_ORIGINS."
            )
        named = self._named(request)
        if named and (self.settings.open or _local(request)):
            return
        door: Door = request.state.door
        if (named or not self.settings.hosts) and await run_in_threadpool(door.closed):
            return
        if named:
            raise ForbiddenError(
                "This service has no keys and answers on this machine only. Make a key with "
                "`sigtest-admin keys add NAME`, or set SIGTEST_OPEN=1 to let everybody in."
            )
        raise ForbiddenError(
            f"This service is not called {request.headers.get('host', '')!r}; ask it as localhost, "
            "or have the name added to SIGTEST_HOSTS."
        )

    def _foreign(self, request: Request) -> bool:
        """Whether a browser sends it for a page of another site that may not ask."""
        headers = request.headers
        site, origin = headers.get("sec-fetch-site"), headers.get("origin")
        own = f"{request.scope['scheme']}://{headers.get('host')}"
        if site in ("same-origin", "none") if site is not None else origin in (None, own):
            return False
        asked = headers.get("sec-fetch-mode"), headers.get("sec-fetch-dest")
        if request.method == "GET" and asked == ("navigate", "document"):
            return False  # a link: its reader sees what opens, the page that it was on does not
        # cookies open pages, and an origin that may ask with keys may not change anything there
        changes = request.method not in ("GET", "HEAD", "OPTIONS")
        if changes and not request.scope["path"].startswith("/v1/"):
            return True
        return not {"*", origin}.intersection(self.settings.cors_origins)

    def _named(self, request: Request) -> bool:
        """Whether the service was asked by one of its names, or by the address that it has."""
        found = HOST.fullmatch(request.headers.get("host", ""))
        name = found[1].lower().strip("[]").removesuffix(".") if found else ""
        server = request.scope.get("server") or ("", None)
        own = (server[0].removeprefix("::ffff:"), "0.0.0.0", *self.settings.hosts)
        return "*" in own or (name != "" and (name in own or is_loopback(name)))


def _local(request: Request) -> bool:
    """Whether a request comes from this machine, and no proxy says that it handed it on."""
    server = request.scope.get("server")
    here = server is None or server[1] is None or is_loopback(server[0])  # None: a unix socket
    return here and not any(name in request.headers for name in FORWARDED)
