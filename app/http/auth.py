"""Who asks: the holder of a key, or anybody of this machine where there are no keys."""

from __future__ import annotations

import hmac
import ipaddress
from dataclasses import dataclass
from typing import Annotated

from fastapi import Depends, Request
from fastapi.security import APIKeyHeader, HTTPAuthorizationCredentials, HTTPBearer
from starlette.concurrency import run_in_threadpool

from app.http.backoff import BackOff
from app.http.errors import AuthenticationError, ForbiddenError
from app.http.observing import EXCHANGE
from app.settings import Settings
from workers.access import SCOPES, Access, digest_of
from workers.store.keys import ANONYMOUS

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
    """

    name: str
    scopes: tuple[str, ...] = SCOPES
    budget: int | None = None

    def require(self, scope: str) -> None:
        """Check that the caller may do something.

        Raises:
            ForbiddenError: It may not.
        """
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
        key, there = self._access.known(given)
        if key is not None:  # cannot be guessed, so it need not wait for those who guess
            return Principal(key.name, key.scopes, key.budget)
        if not there and not self._needed:
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
        key, _ = self._access.known(digest)
        if key is not None:
            return Principal(key.name, key.scopes, key.budget)
        own = self._settings.api_keys
        return next((Principal(name) for name, known in own if known == digest), None)

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
    """Tell who asks.

    Raises:
        AuthenticationError: Keys are needed, and the request has none of them.
    """
    door: Door = request.state.door
    secret = bearer.credentials if bearer else header or ""
    principal = door.principal(secret, address_of(request))
    EXCHANGE.get().caller = principal.name
    return principal


async def authenticate(request: Request, bearer: Bearer, header: Header) -> Principal:
    """Tell who asks, and that the method is allowed to them.

    Few dependencies on purpose, here and in the routes that are asked most: FastAPI goes through
    each of them wherever it is named, and many took longer than what they were for.

    Raises:
        ForbiddenError: The key is not for this.
    """
    principal = await run_in_threadpool(identify, request, bearer, header)
    require_method(principal, request)
    return principal


def address_of(request: Request) -> str:
    """Where a request comes from, by which wrong keys are counted."""
    return request.client.host if request.client else ""


def require_method(principal: Principal, request: Request) -> None:
    """Check that the caller may use the method of a request.

    Raises:
        ForbiddenError: The key is not for this.
    """
    principal.require("read" if request.method == "GET" else "submit")


async def operate(request: Request, bearer: Bearer, header: Header) -> Principal:
    """Tell who asks for what is the operator's.

    Raises:
        ForbiddenError: The key has not the scope `admin`.
    """
    principal = await run_in_threadpool(identify, request, bearer, header)
    principal.require("admin")
    return principal


Caller = Annotated[Principal, Depends(authenticate)]
Operator = Annotated[Principal, Depends(operate)]
