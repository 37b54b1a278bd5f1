"""The OpenAPI document.

FastAPI reads paths, parameters and models off the code, `operations.json` has what it cannot know:
bodies, which are read by hand, headers, examples, and the words of each answer. What follows from
registries (kinds, formats, pictures, reports) is added here.
"""

import inspect
import json
import re
from collections.abc import Mapping
from pathlib import Path
from typing import Any, Literal

from fastapi import FastAPI
from fastapi.dependencies.models import Dependant
from fastapi.routing import APIRoute
from pydantic import TypeAdapter
from pydantic.json_schema import GenerateJsonSchema, JsonSchemaValue, models_json_schema
from pydantic_core.core_schema import DataclassSchema, TupleSchema

from app import models
from sigtest.documented import described
from sigtest.kinds import KINDS, Kind
from sigtest.render.drawing import PICTURE_FORMATS
from sigtest.render.formats import FORMATS
from sigtest.report import adapter
from sigtest.requests import comparisons
from sigtest.requests.model import RequestSchema, in_sentences, schema_of
from sigtest.requests.notes import Notes
from sigtest.requests.races import ObservationsRequest, RaceRequest
from sigtest.requests.shared_tasks import SharedTaskChange, SharedTaskRequest, TeamRequest
from workers.store.webhooks import EVENTS

Schema = dict[str, Any]

BESIDES: Schema = json.loads(Path(__file__).with_name("operations.json").read_text("utf-8"))
SCHEMAS, HEADERS = "#/components/schemas/", "#/components/headers/"
REF = SCHEMAS + "{model}"
TEXT, BINARY = {"schema": {"type": "string"}}, {"schema": models.BINARY}
DESCRIPTION = """\
Tells whether one machine-translation (or other NLP) system is really better than another.
Systems' outputs and references go in; calibrated p-values, intervals and rank clusters come back.

Ask for a comparison (`POST /v1/comparisons`), follow it (`GET /v1/comparisons/{id}`, its `events`,
or `Prefer: wait=30`), read its `report`. Systems that arrive over time are put to a test set
(`POST /v1/testsets`), whose `leaderboard` is brought up to date for each. Every error is a problem
document (RFC 9457) with a stable `type`; `errors` name the field, the system and the line.
"""
TAGS = [{"name": kind.path, "description": kind.summary} for kind in KINDS.values()]
TAGS += BESIDES["tags"]
REQUESTS = (
    comparisons.ComparedRequest,
    comparisons.ComparisonRequest,
    Notes,
    models.FormRequest,
    comparisons.SeveralRequest,
    comparisons.SubmissionRequest,
    models.Problem,
    comparisons.ChangeRequest,
    models.OutputForm,
    models.TestSetForm,
    comparisons.TestSetRequest,
    models.LinkRequest,
    RaceRequest,
    ObservationsRequest,
    models.ScoresForm,
    models.WebhookRequest,
    SharedTaskRequest,
    SharedTaskChange,
    TeamRequest,
)


def document(app: FastAPI) -> Schema:
    """The OpenAPI document of `app`."""
    if app.openapi_schema is None:
        made = FastAPI.openapi(app)
        made["webhooks"] = _webhooks()
        made["components"]["schemas"] = dict(sorted(_schemas().items()))
        made["components"]["headers"] = {k: _header(v) for k, v in BESIDES["everywhere"].items()}
        for route in app.routes:
            if isinstance(route, APIRoute) and route.include_in_schema:
                method = next(iter(route.methods or ()))
                _complete(made["paths"][route.path_format][method.lower()], route)
    return app.openapi_schema or {}


def _complete(operation: Schema, route: APIRoute) -> None:
    """Add what FastAPI cannot know of an operation.

    A parameter that is described by hand and by FastAPI is described once, by hand.
    """
    kind = KINDS.get(str(route.tags[0]), KINDS["comparisons"])
    name, known = route.endpoint.__name__, BESIDES["operations"]
    besides: Schema = {**known.get(name, {}), **known.get(f"{name} {kind.path}", {})}
    besides |= known.get(route.name, {})
    if name == "submit" and "requestBody" not in besides:
        besides["requestBody"] = _submission(kind)
    if "requestBody" in besides:
        operation["requestBody"] = besides["requestBody"]
    words = _words(route.dependant)
    for own in operation.get("parameters", ()):
        own.setdefault("description", words.get(own["name"]))
    parameters = [BESIDES["parameters"][own] for own in besides.get("parameters", ())]
    if route.path.endswith("/{picture}"):
        parameters.append(_picture_name(kind))
    declared = {own["name"] for own in (*operation.get("parameters", ()), *parameters)}
    for place in re.findall(r"{(\w+)", route.path_format):
        if place not in declared:  # read off the path by who asks for it
            parameters.append(BESIDES["parameters"][place])
    every = [*operation.get("parameters", ()), *parameters, BESIDES["parameters"]["X-Request-Id"]]
    operation["parameters"] = [*{(own["name"], own["in"]): own for own in every}.values()]
    for parameter in operation["parameters"]:
        _never_null(parameter["schema"])
    answers = {
        **(besides.get("responses") or operation["responses"]),
        "default": BESIDES["problem"],
    }
    operation["responses"] = {code: _answer(own) for code, own in answers.items()}
    content = _formats(route.path, kind)
    if name == "listing":
        content = {"application/json": {"schema": _ref(models.LISTINGS[kind.path])}}
    if content:
        operation["responses"]["200"]["content"] = content


def _words(dependant: Dependant) -> dict[str, str]:
    """What the docstrings of options say of the parameters of a route."""
    words = described(dependant.call) if isinstance(dependant.call, type) else {}
    for inner in dependant.dependencies:
        words |= _words(inner)
    return words


def _answer(words: Mapping[str, Any]) -> Schema:
    """An answer with the schemas of its headers, those of every answer among them.

    A stream of events is a string: `itemSchema` is of OpenAPI 3.2, and no document of 3.1 has it.
    """
    named = {name: _header(BESIDES["headers"][name]) for name in words.get("headers", ())}
    always = {name: {"$ref": HEADERS + name} for name in BESIDES["everywhere"]}
    return {**words, "headers": {**named, **always}}


def _header(words: str) -> Schema:
    return {"description": words, **TEXT}


def _formats(path: str, kind: Kind[Any]) -> Schema:
    """What a report, a leaderboard, a picture or a stream of events is, by media type."""
    if path.endswith("/events"):
        return {"text/event-stream": TEXT}
    if path.endswith("/{picture}"):
        return {m: TEXT if s == "svg" else BINARY for s, m in PICTURE_FORMATS.items()}
    if not path.endswith(("/report", "/leaderboard")):
        return {}
    report: Schema = {"anyOf": [_ref(model) for model in kind.reports]}
    if path.endswith("/leaderboard"):
        report = {"$ref": SCHEMAS + "Leaderboard"}
    return {
        form.media_type: {"schema": report} if form.name == "json" else TEXT
        for form in FORMATS.values()
    }


def _picture_name(kind: Kind[Any]) -> Schema:
    """The parameter that says which picture of a kind is asked for."""
    suffixes = ("", *(f".{suffix}" for suffix in PICTURE_FORMATS))
    return {
        "name": "picture",
        "in": "path",
        "required": True,
        "description": "; ".join(f"`{own.name}`: {own.title}" for own in kind.pictures.values()),
        "schema": {"type": "string", "enum": [n + end for n in kind.pictures for end in suffixes]},
    }


def _submission(kind: Kind[Any]) -> Schema:
    """What a submission of a kind takes: a request, and perhaps a form with the kind's files."""
    schema = {"type": "object", **schema_of(kind.request)}
    notes = schema_of(Notes)["properties"]
    asked = {**schema, "properties": {**schema.get("properties", {}), **notes}}
    content: Schema = {"application/json": {"schema": asked, "examples": kind.examples}}
    parts: Schema = {
        part: {"type": "array", "items": models.BINARY, "description": about}
        for part, about in kind.parts.items()
    }
    if kind.compares:
        texts = models.FormRequest.model_json_schema(ref_template=REF)
        _say_defaults(texts)
        parts |= {part: own for part, own in texts["properties"].items() if part != "request"}
    if parts:
        whole = {"type": "object", "description": "The rest, as JSON; a field, or a file."}
        content["multipart/form-data"] = {
            "schema": {"type": "object", "properties": {**parts, "request": whole}},
            "encoding": {"request": {"contentType": "application/json"}},
        }
    return {"required": True, "content": content}


def _webhooks() -> Schema:
    """What receivers are sent, as operations that receivers have, not this service."""
    found = {}
    for event, model in models.message_models().items():
        body = {"content": {"application/json": {"schema": _ref(model)}}, "required": True}
        operation = {
            "summary": event.replace(".", " ").title(),
            "description": EVENTS.get(event, "A webhook is tried."),
            "operationId": event.replace(".", "_"),
            "requestBody": body,
            **BESIDES["webhook"],
        }
        found[event] = {"post": operation}
    return found


# schemas


def _ref(model: type) -> Schema:
    return {"$ref": SCHEMAS + model.__name__}


def _schemas() -> Schema:
    """Schemas of requests, answers, messages and reports, by name, as generators take them right.

    A field with a default is left out of most requests, but generators read its presence as a
    promise that it is always there, and make it required: defaults are said in words. A constant is
    written as an enumeration of one: openapi-python-client takes a constant beside a number for all
    there is.
    """
    answers = (*models.Body.__subclasses__(), models.NewWebhookBody, *models.LISTINGS.values())
    given: list[Any] = [(model, "serialization") for model in answers]
    given += [(model, "validation") for model in models.message_models().values()]
    _, plain = models_json_schema(given, ref_template=REF)
    _, asked = models_json_schema(
        [(model, "validation") for model in REQUESTS],
        ref_template=REF,
        schema_generator=RequestSchema,
    )
    schemas: Schema = {**plain["$defs"], **in_sentences(asked["$defs"], {})}
    schemas |= components(*(model for kind in KINDS.values() for model in kind.reports))
    envelope, report = schemas.pop("LeaderboardEnvelope"), schemas["Report"]
    schemas["Leaderboard"] = {
        **report,
        "title": "Leaderboard",
        "description": "The report of one metric and test over all systems that are measured, by "
        "name, with what a leaderboard says besides.",
        "properties": {**envelope["properties"], **report["properties"]},
        "required": [*envelope["required"], *report["required"]],
    }
    for schema in schemas.values():
        _say_defaults(schema)
    return schemas


def _never_null(schema: Schema) -> None:
    """A parameter is left out or given, never null: orval sends the word."""
    kinds = [kind for kind in schema.get("anyOf", ()) if kind != {"type": "null"}]
    if len(kinds) == 1:
        del schema["anyOf"]
        schema.update(kinds[0])


def _say_defaults(schema: Any) -> None:
    """Write defaults in words, and constants as enumerations, here and in what is inside."""
    if isinstance(schema, dict):
        if isinstance(schema.get("const"), str):
            schema["enum"] = [schema.pop("const")]
        properties, required = schema.get("properties", {}), schema.get("required", ())
        for name, field in properties.items():
            if isinstance(field, dict) and "default" in field and name not in required:
                default = field.pop("default")
                if default not in (None, []):
                    words = f"{field.get('description', '')} Default: {json.dumps(default)}."
                    field["description"] = words.strip()
    for entry in schema.values() if isinstance(schema, dict) else schema:
        if isinstance(entry, dict | list):
            _say_defaults(entry)


class ReportSchema(GenerateJsonSchema):
    """Of JSON that leaves out what has its default: such a field is never null."""

    def field_title_should_be_set(self, schema: Any) -> bool:
        return False

    def dataclass_schema(self, schema: DataclassSchema) -> JsonSchemaValue:
        made, kind = super().dataclass_schema(schema), schema["cls"]
        made["description"] = inspect.cleandoc(kind.__doc__ or "").partition("\n")[0]
        made["additionalProperties"] = False
        words, needed = described(kind), made.get("required", ())
        made["properties"] = {
            name: _described(about if name in needed else _present(about), words.get(name))
            for name, about in made["properties"].items()
        }
        return made

    def tuple_schema(self, schema: TupleSchema) -> JsonSchemaValue:
        made = super().tuple_schema(schema)
        if "prefixItems" in made:  # which generators of clients do not know; all are alike
            made["items"] = made.pop("prefixItems")[0]
        return made


def _present(schema: JsonSchemaValue) -> JsonSchemaValue:
    """What is left of a field where it is not left out."""
    parts = [part for part in schema.get("anyOf", ()) if part != {"type": "null"}]
    bare = {name: value for name, value in schema.items() if name != "default"}
    return parts[0] if len(parts) == 1 else bare


def _described(schema: JsonSchemaValue, words: str | None) -> JsonSchemaValue:
    if words is None:
        return schema
    return {**({"allOf": [schema]} if "$ref" in schema else schema), "description": words}


def components(*kinds: type) -> Schema:
    """Schemas of these records and of all that they hold, by name."""
    mode: Literal["serialization"] = "serialization"
    inputs = [(kind.__name__, mode, adapter(kind)) for kind in kinds]
    _, made = TypeAdapter.json_schemas(inputs, ref_template=REF, schema_generator=ReportSchema)
    return made["$defs"]
