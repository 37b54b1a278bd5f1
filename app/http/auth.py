"""Who asks: anybody, or the holder of one of the operator's keys."""

from __future__ import annotations

import hashlib
import hmac
from dataclasses import dataclass
from typing import Annotated

from fastapi import Depends
from fastapi.security import APIKeyHeader, HTTPAuthorizationCredentials, HTTPBearer

from app.http.errors import AuthenticationError
from app.http.state import Limits

ANONYMOUS = "anonymous"

_bearer = HTTPBearer(auto_error=False, description="Needed where SIGTEST_API_KEYS is set.")
_header = APIKeyHeader(name="X-API-Key", auto_error=False, description="The same key.")


@dataclass(frozen=True)
class Principal:
    """Who asks; comparisons belong to their caller."""

    name: str


async def authenticate(
    settings: Limits,
    bearer: Annotated[HTTPAuthorizationCredentials | None, Depends(_bearer)],
    header: Annotated[str | None, Depends(_header)],
) -> Principal:
    """Tell who asks.

    Raises:
        AuthenticationError: The service has keys, and the request has none of them.
    """
    if not settings.api_keys:
        return Principal(ANONYMOUS)
    given = _digest(bearer.credentials if bearer else header or "")
    # Every key is compared, each in constant time: answers say nothing about near misses.
    names = [name for name, key in settings.api_keys if hmac.compare_digest(_digest(key), given)]
    if not names:
        raise AuthenticationError(
            "Send a valid key, as Authorization: Bearer KEY or as X-API-Key: KEY."
        )
    return Principal(names[0])


def _digest(key: str) -> bytes:
    return hashlib.sha256(key.encode("utf-8", "surrogateescape")).digest()


Caller = Annotated[Principal, Depends(authenticate)]
