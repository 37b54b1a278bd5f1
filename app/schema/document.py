"""The OpenAPI document: what FastAPI cannot read off the code.

Bodies are parsed by hand (see `app.requests`), so their schemas and runnable examples are named
here. Schemas of reports are those of their dataclasses.
"""

from __future__ import annotations

from typing import Any

from fastapi import FastAPI
from fastapi.openapi.utils import get_openapi
from pydantic.json_schema import models_json_schema

from app.http.problems import MEDIA_TYPE
from app.schema import answers, examples, requests, service, testsets, webhooks
from app.schema.fragments import REF, header, ref
from app.schema.generators import suit_generators
from app.schema.headers import add_common, headers
from app.schema.reports import components
from sigtest.kinds import KINDS, Kind
from sigtest.kinds.comparisons import Comparisons
from sigtest.render.formats import FORMATS
from sigtest.requests.comparisons import ComparedRequest, ComparisonRequest, SeveralRequest
from sigtest.requests.model import RequestSchema, in_sentences, schema_of
from sigtest.requests.notes import Notes
from sigtest.requests.testsets import ChangeRequest, SubmissionRequest, TestSetRequest

Described = dict[int | str, dict[str, Any]]


def _told(model: type, headers: dict[str, Any], description: str | None = None) -> dict[str, Any]:
    """An answer with a model; FastAPI describes it where nothing is said."""
    said = {} if description is None else {"description": description}
    return {"model": model, **said, "headers": headers}


def _body(content: dict[str, Any]) -> dict[str, Any]:
    """A body that a request must have, by media type."""
    return {"required": True, "content": content}


BINARY = {"schema": {"type": "string", "format": "binary"}}
FORM = "multipart/form-data"
JSON = "application/json"
JSON_PART = {"request": {"contentType": JSON}}
DESCRIPTION = """\
Tells whether one machine-translation (or other NLP) system is really better than another.
Systems' outputs and references go in; calibrated p-values, intervals and rank clusters come back.

Ask for a comparison (`POST /v1/comparisons`), follow it (`GET /v1/comparisons/{id}`, its `events`,
or `Prefer: wait=30`), read its `report`. Systems that arrive over time are put to a test set
(`POST /v1/testsets`), whose `leaderboard` is brought up to date for each. Every error is a problem
document (RFC 9457) with a stable `type`; `errors` name the field, the system and the line.
"""
TAGS = [
    *({"name": kind.path, "description": kind.summary} for kind in KINDS.values()),
    {
        "name": "leaderboards",
        "description": "Test sets with systems that arrive over time.",
    },
    {"name": "webhooks", "description": "Messages to other services when something happens."},
    {"name": "probes", "description": "For those who keep the service running."},
]
PROBLEMS: Described = {
    "default": {
        "description": "A problem document; `type` says which.",
        "content": {MEDIA_TYPE: {"schema": ref(service.Problem)}},
        "headers": headers("Allow", "Connection", "Retry-After", "WWW-Authenticate"),
    }
}
FOLLOWED = headers("ETag", "Preference-Applied", "Retry-After")
HEADERS = {**headers("Location"), **FOLLOWED}
OPENED = headers("Content-Security-Policy", "ETag")
HELD = {
    "description": "The client has it already.",
    "headers": headers("ETag", "Retry-After"),
}
PREFER = {
    **header("Prefer", "`wait=N` waits up to N seconds for the end (RFC 7240)."),
    "schema": {"type": "string", "examples": ["wait=10"]},
}
IF_NONE_MATCH = header("If-None-Match", "An ETag; 304 where it is still true.")
IF_MATCH = header("If-Match", "An ETag; 412 where it is no longer true, and nothing is changed.")
MATCHED: dict[str, Any] = {"parameters": [IF_MATCH]}
POLLING: dict[str, Any] = {"parameters": [PREFER, IF_NONE_MATCH]}
CACHING: dict[str, Any] = {"parameters": [IF_NONE_MATCH]}
SUBMITTED: Described = {
    202: _told(answers.QuestionBody, HEADERS, "Accepted, now or before; there is no report yet."),
    200: _told(
        answers.QuestionBody,
        HEADERS,
        "The report is there: it was asked before, or finished within the wait.",
    ),
}
STATUS: Described = {
    200: _told(answers.QuestionBody, FOLLOWED),
    304: {**HELD, "description": "Nothing has changed since the ETag in If-None-Match."},
}
PICTURE: Described = {
    200: {
        "description": "The picture, as wide as a paper's column (8.5 cm) where its labels allow.",
        "content": {"image/svg+xml": {"schema": {"type": "string"}}},
        "headers": OPENED,
    },
    304: HELD,
}
ENVELOPE = {"schema": ref(Notes), "examples": examples.ENVELOPES}
DESCRIBE: dict[str, Any] = {**MATCHED, "requestBody": _body({JSON: ENVELOPE})}
DESCRIBED: Described = {200: _told(answers.QuestionBody, FOLLOWED)}
EVENTS: Described = {200: {"headers": headers("X-Accel-Buffering")}}
REMOVAL: Described = {
    200: _told(answers.QuestionBody, FOLLOWED, "It was unfinished and is cancelled."),
    204: {"description": "It had finished and is deleted with its texts."},
}

# test sets
LOCATION = headers("Location", "ETag")
CREATION: dict[str, Any] = {
    "requestBody": _body(
        {
            JSON: {"schema": ref(TestSetRequest), "examples": examples.TESTSETS},
            FORM: {"schema": ref(testsets.TestSetForm), "encoding": JSON_PART},
        }
    )
}
CREATED: Described = {
    201: _told(testsets.TestSetResource, LOCATION, "Made."),
    200: _told(testsets.TestSetResource, LOCATION, "An equal test set exists."),
}
RAISED: Described = {200: _told(testsets.TestSetResource, LOCATION)}
TESTSET: Described = {**RAISED, 304: HELD}
MORE = {"more": {"summary": "More resamples.", "value": {"resamples": 1999}}}
CHANGE = {"schema": ref(ChangeRequest), "examples": {**MORE, **examples.ENVELOPES}}
RAISE: dict[str, Any] = {**MATCHED, "requestBody": _body({JSON: CHANGE})}
PUT: dict[str, Any] = {
    "parameters": [PREFER, IF_MATCH],
    "requestBody": _body(
        {
            JSON: {"schema": ref(SubmissionRequest), "examples": examples.OUTPUTS},
            FORM: {"schema": ref(testsets.OutputForm), "encoding": JSON_PART},
            "text/plain": {"schema": {"type": "string"}},
            "application/gzip": BINARY,
        }
    ),
}
PLACED = headers("ETag", "Location", "Preference-Applied", "Retry-After")
SYSTEM_PUT: Described = {
    202: _told(testsets.SystemResource, PLACED, "Accepted; to be measured."),
    201: _told(testsets.SystemResource, PLACED, "New, and measured within the wait."),
    200: _told(
        testsets.SystemResource,
        PLACED,
        "The same content is there, or replaced and measured within the wait.",
    ),
}
LEADERBOARD = {"$ref": REF.format(model="Leaderboard")}
SYSTEM: Described = {
    200: _told(testsets.SystemResource, headers("ETag", "Retry-After")),
    304: HELD,
}
WANTED_WEBHOOK = {"schema": ref(webhooks.WebhookRequest), "examples": webhooks.EXAMPLES}
WEBHOOK: dict[str, Any] = {"requestBody": _body({JSON: WANTED_WEBHOOK})}
WEBHOOK_ADDED: Described = {
    201: _told(
        webhooks.NewWebhookBody,
        headers("Location"),
        "Added; its secret is told this once.",
    ),
}
WRITTEN_BY_HAND = (
    ComparedRequest,
    ComparisonRequest,
    Notes,
    requests.FormRequest,
    SeveralRequest,
    SubmissionRequest,
    service.Problem,
    ChangeRequest,
    testsets.OutputForm,
    testsets.TestSetForm,
    TestSetRequest,
    webhooks.WebhookRequest,
)


def submission(kind: Kind[Any]) -> dict[str, Any]:
    """What a submission of a kind takes."""
    content: dict[str, Any] = {JSON: {"schema": _enveloped(kind), "examples": kind.examples}}
    if isinstance(kind, Comparisons):
        asked = {"anyOf": [ref(ComparisonRequest), ref(SeveralRequest)]}
        content[JSON] = {"schema": asked, "examples": examples.COMPARISONS}
        content[FORM] = {"schema": ref(requests.FormRequest), "encoding": JSON_PART}
    elif kind.parts or kind.compares:
        content[FORM] = _form(kind)
    return {"parameters": [PREFER], "requestBody": _body(content)}


def _enveloped(kind: Kind[Any]) -> dict[str, Any]:
    """What a request of a kind is, with what may be written on it."""
    schema = {"type": "object", **kind.schema()}
    written = schema_of(Notes)["properties"]
    return {**schema, "properties": {**schema.get("properties", {}), **written}}


def _form(kind: Kind[Any]) -> dict[str, Any]:
    """What a form of a kind brings: the kind's own files, and perhaps texts to compare."""
    texts = requests.FormRequest.model_json_schema(ref_template=REF)["properties"]
    own: dict[str, Any] = {
        part: {
            "type": "array",
            "items": {"type": "string", "format": "binary"},
            "description": about,
        }
        for part, about in kind.parts.items()
    }
    if kind.compares:
        own |= {part: texts[part] for part in texts if part != "request"}
    whole = {"type": "object", "description": "The rest, as JSON; a field, or a file."}
    return {"schema": {"type": "object", "properties": {**own, "request": whole}},
            "encoding": JSON_PART}  # fmt: skip


def report(kind: Kind[Any]) -> Described:
    """What the report of a kind is, in every format."""
    schema = {"anyOf": [ref(model) for model in kind.reports]}
    return _in_formats(schema, "The report.")


def leaderboard() -> Described:
    """What a leaderboard is, in every format."""
    return _in_formats(LEADERBOARD, "The leaderboard.", "Preference-Applied")


def pictures(kind: Kind[Any]) -> dict[str, Any]:
    """Which pictures a kind has."""
    name = {
        "name": "picture",
        "in": "path",
        "required": True,
        "description": "; ".join(f"`{p.name}`: {p.title}" for p in kind.pictures.values()),
        "schema": {"type": "string", "enum": list(kind.pictures)},
    }
    return {"parameters": [IF_NONE_MATCH, name]}


def document(app: FastAPI) -> dict[str, Any]:
    """The OpenAPI document of `app`, with the schemas that are named here."""
    if app.openapi_schema is None:
        schema = get_openapi(
            title=app.title,
            version=app.version,
            summary=app.summary,
            description=app.description,
            routes=app.routes,
            webhooks=webhooks.messages().routes,
            tags=app.openapi_tags,
        )
        _, named = models_json_schema(
            [(model, "validation") for model in WRITTEN_BY_HAND],
            ref_template=REF,
            schema_generator=RequestSchema,
        )
        parts = schema["components"]["schemas"]
        parts.update(in_sentences(named["$defs"], {}))
        parts.update(components(*(model for kind in KINDS.values() for model in kind.reports)))
        envelope = testsets.LeaderboardEnvelope.model_json_schema(ref_template=REF)
        parts.update(envelope["$defs"])
        parts["Leaderboard"] = _leaderboard(envelope, parts["Report"])
        schema["components"]["schemas"] = dict(sorted(parts.items()))
        suit_generators(schema)
        add_common(schema)
        app.openapi_schema = schema
    return app.openapi_schema


def _leaderboard(envelope: dict[str, Any], report: dict[str, Any]) -> dict[str, Any]:
    """The report of one metric and test, and what stands beside it."""
    return {
        **report,
        "title": "Leaderboard",
        "description": "The report of one metric and test over all systems that are measured, by "
        "name, with what a leaderboard says besides.",
        "properties": {**envelope["properties"], **report["properties"]},
        "required": [*envelope["required"], *report["required"]],
    }


def _in_formats(schema: dict[str, Any], description: str, *own: str) -> Described:
    return {
        200: {
            "description": description,
            "headers": {**OPENED, **headers("Content-Disposition", "Retry-After", *own)},
            "content": {
                form.media_type: {"schema": schema if form.name == "json" else {"type": "string"}}
                for form in FORMATS.values()
            },
        },
        304: HELD,
    }
