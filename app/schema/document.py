"""The OpenAPI document: what FastAPI cannot read off the code, and what generators need.

Bodies are read by `app.requests`, so their schemas and runnable examples are named here; a test
sends each example. Schemas of reports are those of their dataclasses.
"""

from __future__ import annotations

import json
from typing import Any

from fastapi import FastAPI
from fastapi.openapi.utils import get_openapi
from pydantic.json_schema import models_json_schema

from app.http.observing import HEADER as REQUEST_ID
from app.http.problems import MEDIA_TYPE
from app.schema import models
from app.schema.models import REF, header, ref
from app.schema.reports import components
from sigtest.kinds import KINDS, Kind
from sigtest.kinds.comparisons import Comparisons
from sigtest.render.converters import PICTURE_FORMATS
from sigtest.render.formats import FORMATS
from sigtest.requests.comparisons import ComparedRequest, ComparisonRequest, SeveralRequest
from sigtest.requests.model import RequestSchema, in_sentences, schema_of
from sigtest.requests.notes import Notes
from sigtest.requests.testsets import ChangeRequest, SubmissionRequest, TestSetRequest

CAT = ["The cat sat on the mat .", "It is raining .", "We go home ."]
FIRST = ["The cat sat on the mat .", "It rains .", "We go home ."]
SECOND = ["A cat was on a mat .", "It is raining .", "We are home ."]
TALK = ["We go home .", "So I said to them , go ."]
COMPARISONS: dict[str, dict[str, Any]] = {
    "two systems": {
        "summary": "All defaults: BLEU, approximate randomization.",
        "value": {
            "references": [CAT],
            "systems": [{"name": "A", "hypotheses": FIRST}, {"name": "B", "hypotheses": SECOND}],
        },
    },
    "against a baseline": {
        "summary": "Two metrics, two tests, one-sided, scores computed elsewhere.",
        "value": {
            "references": [["a b c d e", "f g h i j", "k l m n o", "p q r s t"]],
            "systems": [
                {
                    "name": "new",
                    "hypotheses": ["a b c d e", "f g h i", "k l m n o", "p q r s"],
                    "scores": {"comet": [0.91, 0.82, 0.95, 0.7]},
                },
                {
                    "name": "baseline",
                    "hypotheses": ["a b c d", "f g h", "k l m n o", "p q s t"],
                    "scores": {"comet": [0.9, 0.78, 0.95, 0.61]},
                },
            ],
            "metrics": ["chrf", {"name": "ter", "normalized": True}, "scores:of=comet"],
            "tests": ["approximate_randomization", "bootstrap"],
            "alternative": "greater",
            "pairs": {"baseline": "baseline"},
            "resamples": 999,
            "seed": 1,
            "documents": ["d1", "d1", "d2", "d2"],
        },
    },
    "several test sets": {
        "summary": "Each by itself, all together, and one correction over all.",
        "value": {
            "testsets": [
                {
                    "name": "news",
                    "references": [CAT],
                    "systems": [
                        {"name": "A", "hypotheses": FIRST},
                        {"name": "B", "hypotheses": SECOND},
                    ],
                },
                {
                    "name": "talk",
                    "references": [TALK],
                    "systems": [
                        {"name": "A", "hypotheses": ["We go home .", "I said to them , go ."]},
                        {"name": "B", "hypotheses": ["We are home .", "So I told them to go ."]},
                    ],
                },
            ],
            "metrics": ["chrf"],
        },
    },
}
TESTSETS: dict[str, dict[str, Any]] = {
    "test set": {
        "summary": "A reference, two metrics, all other settings as they are by default.",
        "value": {
            "name": "nightly",
            "references": [CAT],
            "documents": ["d1", "d1", "d2"],
            "metrics": ["bleu", "chrf"],
            "resamples": 999,
        },
    },
}
OUTPUTS: dict[str, dict[str, Any]] = {
    "hypotheses": {
        "summary": "One line a segment.",
        "value": {"hypotheses": FIRST},
    },
}
ENVELOPES: dict[str, dict[str, Any]] = {
    "title and tags": {
        "summary": "What it is called, and what to find it by.",
        "value": {"title": "Nightly run", "tags": ["nightly", "en-de"]},
    },
}


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
REQUEST_ID_OF_CLIENT = header(
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
            operation.setdefault("parameters", []).append(REQUEST_ID_OF_CLIENT)
            for response in operation["responses"].values():
                response.setdefault("headers", {}).update(references)


def _header(told: str) -> dict[str, Any]:
    return {"description": told, "schema": {"type": "string"}}


def suit_generators(document: dict[str, Any]) -> None:
    """Change an OpenAPI document so that clients that are generated from it are right.

    A field with a default is left out of most requests, but generators read its presence as a
    promise that it is always there, and make it required: defaults are said in words. A parameter
    that is described by hand and by FastAPI is described once, by hand, and is left out or given,
    never null: orval sends the word. A constant is written as an enumeration of one:
    openapi-python-client takes a constant beside a number for all there is. A stream of events is a
    string: `itemSchema` is of OpenAPI 3.2, and no document of 3.1 may have it.
    """
    for schema in document["components"]["schemas"].values():
        _say_defaults(schema)
        _enumerate(schema)
    for methods in document["paths"].values():
        for operation in methods.values():
            if "parameters" in operation:
                once = {(told["name"], told["in"]): told for told in operation["parameters"]}
                operation["parameters"] = [*once.values()]
                for told in operation["parameters"]:
                    _never_null(told["schema"])
            for answer in operation["responses"].values():
                for content in answer.get("content", {}).values():
                    if content.pop("itemSchema", None):
                        content["schema"] = {"type": "string"}


def _never_null(schema: dict[str, Any]) -> None:
    kinds = schema.get("anyOf", [])
    if {"type": "null"} in kinds:
        (kind,) = (kind for kind in kinds if kind != {"type": "null"})
        del schema["anyOf"]
        schema.update(kind)


def _enumerate(schema: Any) -> None:
    if isinstance(schema, dict) and isinstance(schema.get("const"), str):
        schema["enum"] = [schema.pop("const")]
    for entry in schema.values() if isinstance(schema, dict) else schema:
        if isinstance(entry, dict | list):
            _enumerate(entry)


def _say_defaults(schema: Any) -> None:
    if isinstance(schema, list):
        for entry in schema:
            _say_defaults(entry)
    if not isinstance(schema, dict):
        return
    for name, field in schema.get("properties", {}).items():
        if (
            isinstance(field, dict)
            and "default" in field
            and name not in schema.get("required", ())
        ):
            default = field.pop("default")
            if default not in (None, []):
                said = field.get("description", "").rstrip()
                words = f"Default: {json.dumps(default)}."
                field["description"] = f"{said} {words}" if said else words
    for entry in schema.values():
        _say_defaults(entry)


Described = dict[int | str, dict[str, Any]]


def _answer(model: type, headers: dict[str, Any], description: str | None = None) -> dict[str, Any]:
    """An answer with a model; FastAPI describes it where nothing is said."""
    said = {} if description is None else {"description": description}
    return {"model": model, **said, "headers": headers}


def _body(content: dict[str, Any]) -> dict[str, Any]:
    """A body that a request must have, by media type."""
    return {"required": True, "content": content}


SUFFIXES = [f".{suffix}" for suffix in PICTURE_FORMATS]
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
        "content": {MEDIA_TYPE: {"schema": ref(models.Problem)}},
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
    202: _answer(models.QuestionBody, HEADERS, "Accepted, now or before; there is no report yet."),
    200: _answer(
        models.QuestionBody,
        HEADERS,
        "The report is there: it was asked before, or finished within the wait.",
    ),
}
STATUS: Described = {
    200: _answer(models.QuestionBody, FOLLOWED),
    304: {**HELD, "description": "Nothing has changed since the ETag in If-None-Match."},
}
PICTURE: Described = {
    200: {
        "description": "The picture, as wide as a paper's column (8.5 cm) where its labels allow.",
        "content": {
            media: {"schema": {"type": "string"}} if media == PICTURE_FORMATS["svg"] else BINARY
            for media in PICTURE_FORMATS.values()
        },
        "headers": OPENED,
    },
    304: HELD,
}
ENVELOPE = {"schema": ref(Notes), "examples": ENVELOPES}
DESCRIBE: dict[str, Any] = {**MATCHED, "requestBody": _body({JSON: ENVELOPE})}
DESCRIBED: Described = {200: _answer(models.QuestionBody, FOLLOWED)}
EVENTS: Described = {200: {"headers": headers("X-Accel-Buffering")}}
REMOVAL: Described = {
    200: _answer(models.QuestionBody, FOLLOWED, "It was unfinished and is cancelled."),
    204: {"description": "It had finished and is deleted with its texts."},
}

# test sets
LOCATION = headers("Location", "ETag")
CREATION: dict[str, Any] = {
    "requestBody": _body(
        {
            JSON: {"schema": ref(TestSetRequest), "examples": TESTSETS},
            FORM: {"schema": ref(models.TestSetForm), "encoding": JSON_PART},
        }
    )
}
CREATED: Described = {
    201: _answer(models.TestSetResource, LOCATION, "Made."),
    200: _answer(models.TestSetResource, LOCATION, "An equal test set exists."),
}
RAISED: Described = {200: _answer(models.TestSetResource, LOCATION)}
TESTSET: Described = {**RAISED, 304: HELD}
MORE = {"more": {"summary": "More resamples.", "value": {"resamples": 1999}}}
CHANGE = {"schema": ref(ChangeRequest), "examples": {**MORE, **ENVELOPES}}
RAISE: dict[str, Any] = {**MATCHED, "requestBody": _body({JSON: CHANGE})}
PUT: dict[str, Any] = {
    "parameters": [PREFER, IF_MATCH],
    "requestBody": _body(
        {
            JSON: {"schema": ref(SubmissionRequest), "examples": OUTPUTS},
            FORM: {"schema": ref(models.OutputForm), "encoding": JSON_PART},
            "text/plain": {"schema": {"type": "string"}},
            "application/gzip": BINARY,
        }
    ),
}
PLACED = headers("ETag", "Location", "Preference-Applied", "Retry-After")
SYSTEM_PUT: Described = {
    202: _answer(models.SystemResource, PLACED, "Accepted; to be measured."),
    201: _answer(models.SystemResource, PLACED, "New, and measured within the wait."),
    200: _answer(
        models.SystemResource,
        PLACED,
        "The same content is there, or replaced and measured within the wait.",
    ),
}
LEADERBOARD = {"$ref": REF.format(model="Leaderboard")}
SYSTEM: Described = {
    200: _answer(models.SystemResource, headers("ETag", "Retry-After")),
    304: HELD,
}
WANTED_WEBHOOK = {"schema": ref(models.WebhookRequest), "examples": models.EXAMPLES}
WEBHOOK: dict[str, Any] = {"requestBody": _body({JSON: WANTED_WEBHOOK})}
WEBHOOK_ADDED: Described = {
    201: _answer(
        models.NewWebhookBody,
        headers("Location"),
        "Added; its secret is told this once.",
    ),
}
WRITTEN_BY_HAND = (
    ComparedRequest,
    ComparisonRequest,
    Notes,
    models.FormRequest,
    SeveralRequest,
    SubmissionRequest,
    models.Problem,
    ChangeRequest,
    models.OutputForm,
    models.TestSetForm,
    TestSetRequest,
    models.WebhookRequest,
)


def submission(kind: Kind[Any]) -> dict[str, Any]:
    """What a submission of a kind takes."""
    content: dict[str, Any] = {JSON: {"schema": _enveloped(kind), "examples": kind.examples}}
    if isinstance(kind, Comparisons):
        asked = {"anyOf": [ref(ComparisonRequest), ref(SeveralRequest)]}
        content[JSON] = {"schema": asked, "examples": COMPARISONS}
        content[FORM] = {"schema": ref(models.FormRequest), "encoding": JSON_PART}
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
    texts = models.FormRequest.model_json_schema(ref_template=REF)["properties"]
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
        "schema": {
            "type": "string",
            "enum": [f"{own}{end}" for own in kind.pictures for end in ("", *SUFFIXES)],
        },
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
            webhooks=models.messages().routes,
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
        envelope = models.LeaderboardEnvelope.model_json_schema(ref_template=REF)
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
