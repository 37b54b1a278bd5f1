"""Who is let in, and who asks: one check before every route, then the holder of a key.

A browser speaks to this service in the name of its user, whoever wrote the page that makes it do
so. Fetch Metadata and `Origin` say which site a request comes from; `Host` says by which name the
service was found, which its owner may let lead here (DNS rebinding). Where there are keys, a page
that was found by such a name has none of them, and no cookie.
"""

import hmac
import ipaddress
import re
import threading
import time
from collections import OrderedDict
from dataclasses import dataclass
from typing import Annotated, Self

from fastapi import Depends, Request
from fastapi.security import APIKeyHeader, HTTPAuthorizationCredentials, HTTPBearer
from starlette.concurrency import run_in_threadpool
from starlette.types import ASGIApp, Receive, Scope, Send

from app.http.negotiation import shows_pages
from app.http.observing import EXCHANGE, Middleware
from app.http.problems import AuthenticationError, BackOffError, ForbiddenError
from app.settings import Settings
from workers.access import SCOPES, TEAM_PREFIX, Access, ApiKey, Sessions, digest_of
from workers.errors import NotFoundError
from workers.store.keys import ANONYMOUS
from workers.store.shared_tasks import Team

FREE = 10  # wrong keys that cost nothing
LONGEST = 60  # seconds
FORGIVEN = 600.0  # seconds without a wrong key
ADDRESSES = 10_000  # that are remembered


COOKIE = "sigtest_session"


class BackOff:
    """Wrong keys by address; each beyond the first ones doubles the time to wait."""

    def __init__(self) -> None:
        self._seen: OrderedDict[str, tuple[int, float]] = OrderedDict()  # how many, the last time
        self._lock = threading.Lock()

    def check(self, address: str) -> None:
        """Let an address try another key.

        Raises:
            BackOffError: It has to wait; says for how long.
        """
        with self._lock:
            count, last = self._seen.get(_place(address), (0, 0.0))
        wait = min(LONGEST, 2 ** min(count - FREE, 10)) if count >= FREE else 0
        left = last + wait - time.monotonic()
        if left > 0:
            seconds = int(left) + 1
            raise BackOffError(
                f"{count:,} wrong keys came from your address; wait {seconds} s before the next.",
                seconds=seconds,
            )

    def note(self, address: str) -> None:
        """Count a wrong key."""
        now, place = time.monotonic(), _place(address)
        with self._lock:
            count, last = self._seen.pop(place, (0, 0.0))
            self._seen[place] = (count + 1 if now - last < FORGIVEN else 1, now)
            if len(self._seen) > ADDRESSES:
                self._seen.popitem(last=False)


def _place(address: str) -> str:
    """What is counted as one: of IPv6 a network of 64 bits, which one customer has."""
    try:
        network = ipaddress.ip_network(f"{address}/64", strict=False)
    except ValueError:  # no address of IPv6
        return address
    return str(network)


_bearer = HTTPBearer(auto_error=False, description="Needed where the service has keys.")
_header = APIKeyHeader(name="X-API-Key", auto_error=False, description="The same key.")


@dataclass(frozen=True)
class Principal:
    """Who asks; questions belong to their caller.

    Attributes:
        name: Of the caller.
        scopes: What the caller may do.
        budget: Seconds of one core that the caller's unfinished questions may be predicted to
            take; nothing for the service's own.
        team: Of a shared task of the caller, whose token was sent; that opens the task alone.
    """

    name: str
    scopes: tuple[str, ...] = SCOPES
    budget: int | None = None
    team: Team | None = None

    @classmethod
    def of(cls, known: ApiKey | Team) -> Self:
        """The holder of a key, or a team."""
        if isinstance(known, Team):
            return cls(known.caller, (), team=known)
        return cls(known.name, known.scopes, known.budget)

    def require(self, scope: str) -> None:
        """Check that the caller may do something.

        Raises:
            ForbiddenError: It may not.
        """
        if self.team is not None:
            raise ForbiddenError(
                f"A team's token opens its task, /v1/tasks/{self.team.task}, and nothing else."
            )
        if scope not in self.scopes:
            raise ForbiddenError(
                f"This needs a key with the scope {scope}; the key of {self.name} has "
                f"{', '.join(self.scopes) or 'none'}."
            )


class Door:
    """Lets callers in.

    Args:
        settings: The keys of the environment, and whether keys are needed without any.
        access: The keys of the store.
    """

    def __init__(self, settings: Settings, access: Access) -> None:
        self._settings = settings
        self._access = access
        self._needed = settings.keys_required or bool(settings.api_keys)
        self._backoff = BackOff()

    def principal(self, secret: str, address: str) -> Principal:
        """Whose key this is; anybody's, whom the gate let in, where none is needed.

        Args:
            secret: The key as it was sent; empty where none was.
            address: Where the request comes from; wrong keys are counted by it.

        Raises:
            AuthenticationError: Keys are needed, and this is none of them.
            BackOffError: Too many wrong keys came from this address.
        """
        given = digest_of(secret)
        known, there = self._access.known(given)
        if known is not None:  # cannot be guessed, so it need not wait for those who guess
            return Principal.of(known)
        if not there and not self._needed and not secret.startswith(TEAM_PREFIX):
            return Principal(ANONYMOUS)
        self._backoff.check(address)
        # Every key is compared, each in constant time: answers say nothing about near misses.
        names = [n for n, digest in self._settings.api_keys if hmac.compare_digest(digest, given)]
        if names:
            return Principal(names[0])
        if secret:
            self._backoff.note(address)
        raise AuthenticationError(
            "Send a valid key, as Authorization: Bearer KEY or as X-API-Key: KEY; the command "
            "sigtest takes it from SIGTEST_API_KEY."
        )

    def holder(self, digest: str) -> Principal | None:
        """Who holds the key with this hash, where it is valid."""
        known, _ = self._access.known(digest)
        if known is not None:
            return Principal.of(known)
        names = (name for name, own in self._settings.api_keys if own == digest)
        return next(map(Principal, names), None)

    def closed(self) -> bool:
        """Whether keys are needed, so that strangers are refused."""
        return self._needed or self._access.known("")[1]


def is_loopback(host: str) -> bool:
    """Whether only this machine can speak to an address."""
    try:
        address = ipaddress.ip_address(host)
    except ValueError:
        return host == "localhost"
    mapped = address.ipv4_mapped if isinstance(address, ipaddress.IPv6Address) else None
    return (mapped or address).is_loopback


Bearer = Annotated[HTTPAuthorizationCredentials | None, Depends(_bearer)]
Header = Annotated[str | None, Depends(_header)]


def identify(request: Request, bearer: Bearer, header: Header) -> Principal:
    """Tell who asks; a session counts for pages alone.

    Raises:
        AuthenticationError: Keys are needed, and the request has none of them.
    """
    door: Door = request.state.door
    secret = bearer.credentials if bearer else header or ""
    holder = signed_in(request) if shows_pages(request) else None
    principal = holder or door.principal(secret, address_of(request))
    EXCHANGE.get().caller = principal.name
    return principal


def signed_in(request: Request) -> Principal | None:
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
    holder = signed_in(request)
    if holder is None and not request.state.door.closed():
        holder = identify(request, None, None)
    return None if holder is None or holder.team is not None else holder


def authenticate(request: Request, bearer: Bearer, header: Header) -> Principal:
    """Tell who asks, and that the method is allowed to them.

    Few dependencies on purpose, here and in the routes that are asked most: FastAPI goes through
    each of them wherever it is named, and many took longer than what they were for.

    Raises:
        ForbiddenError: The key is not for this.
    """
    principal = identify(request, bearer, header)
    principal.require("read" if request.method == "GET" else "submit")
    return principal


def enter(request: Request, bearer: Bearer, header: Header) -> Principal:
    """Tell who asks for a shared task: its owner, or one of its teams.

    Raises:
        NotFoundError: A team of another task, or of none.
        ForbiddenError: The key is not for this.
    """
    principal = identify(request, bearer, header)
    task_id = request.path_params["id"]
    if principal.team is None:
        principal.require("read" if request.method == "GET" else "submit")
    elif principal.team.task != task_id:
        raise NotFoundError(f"There is no task {task_id}.")
    return principal


def address_of(request: Request) -> str:
    """Where a request comes from, by which wrong keys are counted."""
    return request.client.host if request.client else ""


def operate(request: Request, bearer: Bearer, header: Header) -> Principal:
    """Tell who asks for what is the operator's.

    Raises:
        ForbiddenError: The key has not the scope `admin`.
    """
    principal = identify(request, bearer, header)
    principal.require("admin")
    return principal


Caller = Annotated[Principal, Depends(authenticate)]
Entrant = Annotated[Principal, Depends(enter)]
Noted = Annotated[Principal | None, Depends(noted)]
Operator = Annotated[Principal, Depends(operate)]


# what its owner made public, what everybody may know, and what both are shown with
PUBLIC = re.compile(r"/(healthz|readyz|(shared|static)/.*)")
HOST = re.compile(r"(\[[0-9a-fA-F:.]+\]|[^:\[\]]+)(:[0-9]*)?")
# by a proxy; also `x-forwarded-for`, `cf-connecting-ip` and their like
FORWARDED = re.compile(r"via|cdn-loop|(x-)?(original-)?forwarded.*|.+-(ip|address)")


class Gate(Middleware):
    """Middleware that refuses what comes from pages of other sites, by another name, from afar.

    Args:
        app: What is behind it.
        settings: Names of the service, origins that may ask, whether everybody may.
    """

    def __init__(self, app: ASGIApp, settings: Settings) -> None:
        super().__init__(app)
        self.settings = settings

    async def serve(self, scope: Scope, receive: Receive, send: Send) -> None:
        """Let a request in, or raise why not; its body is not looked at."""
        await self._check(Request(scope))
        await self.app(scope, receive, send)

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
        server = request.scope.get("server")
        here = server is None or server[1] is None or is_loopback(server[0])  # None: a unix socket
        local = here and not any(map(FORWARDED.fullmatch, request.headers))  # by no proxy
        if named and (self.settings.open or local):
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
