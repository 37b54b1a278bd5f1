"""Headers of answers, as the OpenAPI document tells them."""

from __future__ import annotations

from typing import Any

from app.http.observing import HEADER as REQUEST_ID
from app.schema.fragments import header

WORDS = {
    "Allow": "What this address takes (405).",
    "Connection": "`close` where the body was not read to its end (408, 413).",
    "Content-Disposition": "A name to save it under.",
    "Content-Security-Policy": "Opened in a browser, it runs nothing and loads nothing.",
    "ETag": "Changes whenever the answer does; send it as If-None-Match.",
    "Location": "Where it is.",
    "Preference-Applied": "The wait that was granted.",
    "Retry-After": "Seconds after which to ask again.",
    "WWW-Authenticate": "Which key is needed (401).",
    "X-Accel-Buffering": "Tells proxies to hand events on at once.",
}
EVERYWHERE = {
    REQUEST_ID: "Of this request: in the service's log, and in a problem that is a fault.",
    "Cache-Control": "Kept by the client alone, which asks before it uses it again.",
}
GIVEN = header(
    REQUEST_ID,
    "Of your own: up to 64 letters, digits, `.`, `_` and `-`, answered and logged.",
    required=False,
)


def headers(*names: str) -> dict[str, Any]:
    """Headers that an answer has, or has sometimes."""
    return {name: _header(WORDS[name]) for name in names}


def add_common(document: dict[str, Any]) -> None:
    """Declare what every answer has, and the id that every request may bring."""
    own = {name: _header(told) for name, told in EVERYWHERE.items()}
    document["components"]["headers"] = own
    references = {name: {"$ref": f"#/components/headers/{name}"} for name in own}
    for methods in document["paths"].values():
        for operation in methods.values():
            operation.setdefault("parameters", []).append(GIVEN)
            for response in operation["responses"].values():
                response.setdefault("headers", {}).update(references)


def _header(told: str) -> dict[str, Any]:
    return {"description": told, "schema": {"type": "string"}}
