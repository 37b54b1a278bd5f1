"""The OpenAPI document: what FastAPI cannot read off the code.

Bodies are parsed by hand (see `uploads.py`), so their schemas and runnable examples are named
here.
"""

from __future__ import annotations

from typing import Any

from fastapi import FastAPI
from fastapi.openapi.utils import get_openapi
from pydantic.json_schema import models_json_schema

from app import schemas, suite_schemas, testset_contract
from app.comparison_schemas import ComparisonBody
from app.fragments import HELD, REF, header, ref
from app.negotiation import FORMATS, MEDIA_TYPES
from app.problems import MEDIA_TYPE

DESCRIPTION = """\
Tells whether one machine-translation (or other NLP) system is really better than another.
Systems' outputs and references go in; calibrated p-values, intervals and rank clusters come back.

Ask for a comparison (`POST /v1/comparisons`), follow it (`GET /v1/comparisons/{id}`, its `events`,
or `Prefer: wait=30`), read its `report`. Systems that arrive over time are put to a test set
(`POST /v1/testsets`), whose `leaderboard` is brought up to date for each. Every error is a problem
document (RFC 9457) with a stable `type`; `errors` name the field, the system and the line.
"""
TAGS = [
    {"name": "comparisons", "description": "One recipe on systems and their test sets."},
    testset_contract.TAG,
    {"name": "probes", "description": "For whoever keeps the service running."},
]
EXAMPLES = {
    "two systems": {
        "summary": "All defaults: BLEU, approximate randomization.",
        "value": {
            "references": [["The cat sat on the mat .", "It is raining .", "We go home ."]],
            "systems": [
                {
                    "name": "A",
                    "hypotheses": ["The cat sat on the mat .", "It rains .", "We go home ."],
                },
                {
                    "name": "B",
                    "hypotheses": ["A cat was on a mat .", "It is raining .", "We are home ."],
                },
            ],
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
                    "references": [["The cat sat on the mat .", "It is raining ."]],
                    "systems": [
                        {"name": "A", "hypotheses": ["The cat sat on the mat .", "It rains ."]},
                        {"name": "B", "hypotheses": ["A cat was on a mat .", "It is raining ."]},
                    ],
                },
                {
                    "name": "talk",
                    "references": [["We go home .", "So I said to them , go ."]],
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


PROBLEMS: dict[int | str, dict[str, Any]] = {
    "default": {
        "description": "A problem document; `type` says which.",
        "content": {MEDIA_TYPE: {"schema": ref(schemas.Problem)}},
    }
}
HEADERS = {
    "Location": header("Where the comparison is."),
    "Retry-After": header("Seconds after which to look again; while unfinished."),
    "Preference-Applied": header("The wait that was granted."),
    "ETag": header("Changes whenever the comparison does."),
}
PREFER = {
    "name": "Prefer",
    "in": "header",
    "description": "`wait=N` waits up to N seconds for the end (RFC 7240).",
    "schema": {"type": "string", "examples": ["wait=10"]},
}
IF_NONE_MATCH = {
    "name": "If-None-Match",
    "in": "header",
    "description": "An ETag; 304 where it is still true.",
    "schema": {"type": "string"},
}
SUBMISSION: dict[str, Any] = {
    "parameters": [PREFER],
    "requestBody": {
        "required": True,
        "content": {
            "application/json": {
                "schema": {
                    "anyOf": [ref(schemas.ComparisonRequest), ref(suite_schemas.SuiteRequest)]
                },
                "examples": EXAMPLES,
            },
            "multipart/form-data": {
                "schema": ref(schemas.FormRequest),
                "encoding": {"request": {"contentType": "application/json"}},
            },
        },
    },
}
POLLING: dict[str, Any] = {"parameters": [PREFER, IF_NONE_MATCH]}
CACHING: dict[str, Any] = {"parameters": [IF_NONE_MATCH]}
SUBMITTED: dict[int | str, dict[str, Any]] = {
    202: {
        "model": ComparisonBody,
        "description": "Accepted; to be computed.",
        "headers": HEADERS,
    },
    200: {
        "model": ComparisonBody,
        "description": "An equal comparison exists, or it has finished within the wait.",
        "headers": HEADERS,
    },
}
STATUS: dict[int | str, dict[str, Any]] = {
    200: {
        "model": ComparisonBody,
        "headers": {name: told for name, told in HEADERS.items() if name != "Location"},
    },
    304: {"description": "Nothing has changed since the ETag in If-None-Match."},
}
REPORTS = {"anyOf": [ref(schemas.ReportBody), ref(suite_schemas.SuiteReportBody)]}
REPORT: dict[int | str, dict[str, Any]] = {
    200: {
        "description": "The report.",
        "content": {
            MEDIA_TYPES[name]: {"schema": REPORTS if name == "json" else {"type": "string"}}
            for name in FORMATS
        },
    },
    304: HELD,
}
PICTURE: dict[int | str, dict[str, Any]] = {
    200: {
        "description": "The picture, as wide as a paper's column (8.5 cm) where its labels allow.",
        "content": {"image/svg+xml": {"schema": {"type": "string"}}},
    },
    304: HELD,
}
REMOVAL: dict[int | str, dict[str, Any]] = {
    200: {"model": ComparisonBody, "description": "It was unfinished and is cancelled."},
    204: {"description": "It had finished and is deleted with its texts."},
}
WRITTEN_BY_HAND = (
    schemas.ComparisonRequest,
    schemas.FormRequest,
    schemas.Problem,
    schemas.ReportBody,
    suite_schemas.SuiteReportBody,
    suite_schemas.SuiteRequest,
)


def document(app: FastAPI) -> dict[str, Any]:
    """The OpenAPI document of `app`, with the schemas that are named here."""
    if app.openapi_schema is None:
        schema = get_openapi(
            title=app.title,
            version=app.version,
            summary=app.summary,
            description=app.description,
            routes=app.routes,
            tags=app.openapi_tags,
        )
        _, named = models_json_schema(
            [(m, "validation") for m in (*WRITTEN_BY_HAND, *testset_contract.WRITTEN_BY_HAND)],
            ref_template=REF,
        )
        components = schema["components"]["schemas"]
        components.update(named["$defs"])
        schema["components"]["schemas"] = dict(sorted(components.items()))
        app.openapi_schema = schema
    return app.openapi_schema
