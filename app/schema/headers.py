"""Headers of answers, as the OpenAPI document tells them."""

from __future__ import annotations

from typing import Any

from app.http.observing import HEADER as REQUEST_ID

WORDS = {
    "Allow": "What this address takes (405).",
    "Cache-Control": "Kept by the client alone, which asks before it uses it again.",
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
    "description": "Of this request: in the service's log, and in a problem that is a fault.",
    "schema": {"type": "string"},
}
GIVEN = {
    "name": REQUEST_ID,
    "in": "header",
    "required": False,
    "description": "Of your own: up to 64 letters, digits, `.`, `_` and `-`, answered and logged.",
    "schema": {"type": "string"},
}


def headers(*names: str) -> dict[str, Any]:
    """Headers that an answer has, or has sometimes."""
    return {name: {"description": WORDS[name], "schema": {"type": "string"}} for name in names}


def add_request_ids(document: dict[str, Any]) -> None:
    """Declare the id that every request may bring and every answer has."""
    components = document["components"]
    components.setdefault("headers", {})[REQUEST_ID] = EVERYWHERE
    for methods in document["paths"].values():
        for operation in methods.values():
            operation.setdefault("parameters", []).append(GIVEN)
            for response in operation["responses"].values():
                told = {"$ref": f"#/components/headers/{REQUEST_ID}"}
                response.setdefault("headers", {})[REQUEST_ID] = told
