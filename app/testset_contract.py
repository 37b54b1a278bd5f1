"""What FastAPI cannot read off the routes of test sets: bodies, examples, headers."""

from __future__ import annotations

from typing import Any

from app import testset_schemas as schemas
from app.fragments import HELD, header, ref
from app.negotiation import FORMATS, MEDIA_TYPES

EXAMPLES: dict[str, dict[str, Any]] = {
    "test set": {
        "summary": "A reference, two metrics, all other settings as they are by default.",
        "value": {
            "name": "nightly",
            "references": [["The cat sat on the mat .", "It is raining .", "We go home ."]],
            "documents": ["d1", "d1", "d2"],
            "metrics": ["bleu", "chrf"],
            "resamples": 999,
        },
    },
}
SYSTEM_EXAMPLES: dict[str, dict[str, Any]] = {
    "hypotheses": {
        "summary": "One line a segment.",
        "value": {"hypotheses": ["The cat sat on the mat .", "It rains .", "We go home ."]},
    },
}


def _body(model: type, examples: dict[str, Any]) -> dict[str, Any]:
    return {"application/json": {"schema": ref(model), "examples": examples}}


def _form(model: type, **more: Any) -> dict[str, Any]:
    return {"multipart/form-data": {"schema": ref(model), **more}}


LOCATION = {"Location": header("Where it is."), "ETag": header("Changes when it does.")}
PREFER = {
    "name": "Prefer",
    "in": "header",
    "description": "`wait=N` waits up to N seconds until the system is measured (RFC 7240).",
    "schema": {"type": "string", "examples": ["wait=10"]},
}
BINARY = {"schema": {"type": "string", "format": "binary"}}

CREATION: dict[str, Any] = {
    "requestBody": {
        "required": True,
        "content": {
            **_body(schemas.TestSetRequest, EXAMPLES),
            **_form(schemas.TestSetForm, encoding={"request": {"contentType": "application/json"}}),
        },
    }
}
CREATED: dict[int | str, dict[str, Any]] = {
    201: {"model": schemas.TestSetResource, "description": "Made.", "headers": LOCATION},
    200: {
        "model": schemas.TestSetResource,
        "description": "An equal test set exists.",
        "headers": LOCATION,
    },
}
FOUND: dict[int | str, dict[str, Any]] = {
    200: {"model": schemas.TestSetResource, "headers": LOCATION}
}
RAISE: dict[str, Any] = {
    "requestBody": {
        "required": True,
        "content": _body(
            schemas.RaiseRequest, {"more": {"summary": "More.", "value": {"resamples": 1999}}}
        ),
    }
}
SUBMISSION: dict[str, Any] = {
    "parameters": [PREFER],
    "requestBody": {
        "required": True,
        "content": {
            **_body(schemas.OutputRequest, SYSTEM_EXAMPLES),
            **_form(schemas.OutputForm),
            "text/plain": {"schema": {"type": "string"}},
            "application/gzip": BINARY,
        },
    },
}
SUBMITTED: dict[int | str, dict[str, Any]] = {
    202: {
        "model": schemas.SystemResource,
        "description": "Accepted; to be measured.",
        "headers": {"Location": LOCATION["Location"]},
    },
    201: {
        "model": schemas.SystemResource,
        "description": "New, and measured within the wait.",
        "headers": {"Location": LOCATION["Location"]},
    },
    200: {
        "model": schemas.SystemResource,
        "description": "The same content is there, or replaced and measured within the wait.",
        "headers": {"Location": LOCATION["Location"]},
    },
}
SYSTEM: dict[int | str, dict[str, Any]] = {200: {"model": schemas.SystemResource}}
LEADERBOARD: dict[int | str, dict[str, Any]] = {
    200: {
        "description": "The leaderboard.",
        "content": {
            MEDIA_TYPES[name]: {
                "schema": ref(schemas.LeaderboardBody) if name == "json" else {"type": "string"}
            }
            for name in FORMATS
        },
    },
    304: HELD,
}
WRITTEN_BY_HAND = (
    schemas.LeaderboardBody,
    schemas.OutputForm,
    schemas.OutputRequest,
    schemas.RaiseRequest,
    schemas.TestSetForm,
    schemas.TestSetRequest,
)
TAG = {
    "name": "leaderboards",
    "description": "Test sets with systems that arrive over time.",
}
