"""The committed OpenAPI document is the code's, and what it shows works."""

from pathlib import Path
from typing import Any

import pytest
from exchange import COMPARISONS, check, examples, problem, submit

from app.main import openapi_text
from app.openapi import components
from sigtest.kinds import KINDS

EXAMPLES = examples("submit comparisons")
COMMITTED = Path(__file__).parents[2] / "openapi" / "openapi.json"


def test_the_committed_document_is_the_codes():
    assert COMMITTED.read_text(encoding="utf-8") == openapi_text(), "run `make openapi`"


def test_the_service_tells_its_document(service):
    document = service.get("/openapi.json").json()
    assert set(document["paths"]) >= {
        COMPARISONS,
        COMPARISONS + "/{id}",
        COMPARISONS + "/{id}/report",
        COMPARISONS + "/{id}/distribution",
        COMPARISONS + "/{id}/events",
        COMPARISONS + "/{id}/plots/{picture}",
        "/healthz",
        "/readyz",
    }


def test_the_root_says_where_the_document_is(service):
    entry = service.get("/").json()
    paths = service.get(entry["openapi"]).json()["paths"]
    assert {entry["testsets"], *entry["questions"].values()} <= set(paths)


@pytest.mark.parametrize("path", ["/docs", "/redoc", "/docs/oauth2-redirect"])
def test_no_page_loads_scripts_from_elsewhere(service, path):
    problem(service.get(path), 404, "not-found")


def test_every_reference_leads_somewhere(service):
    document = service.get("/openapi.json").json()

    def references(value: Any) -> list[str]:
        if isinstance(value, dict):
            here = [value["$ref"]] if "$ref" in value else []
            return here + [ref for entry in value.values() for ref in references(entry)]
        if isinstance(value, list):
            return [ref for entry in value for ref in references(entry)]
        return []

    named = {
        f"#/components/{kind}/{name}"
        for kind, parts in document["components"].items()
        for name in parts
    }
    assert set(references(document)) <= named


def test_everything_is_described(service):
    document = service.get("/openapi.json").json()
    for path, methods in document["paths"].items():
        for method, operation in methods.items():
            assert operation["description"], (method, path)
            assert "default" in operation["responses"], (method, path)


def test_media_types_have_what_openapi_3_1_knows(service):
    document = service.get("/openapi.json").json()
    told = {
        name
        for methods in document["paths"].values()
        for operation in methods.values()
        for answer in operation["responses"].values()
        for content in answer.get("content", {}).values()
        for name in content
    }
    # OpenAPI 3.1.1, 4.8.14: `itemSchema` came with 3.2, and validators of 3.1 refuse it
    assert document["openapi"] == "3.1.0"
    assert told <= {"schema", "example", "examples", "encoding"}


def test_parameters_are_left_out_and_never_null(service):
    document = service.get("/openapi.json").json()
    for path, methods in document["paths"].items():
        for method, operation in methods.items():
            for parameter in operation["parameters"]:
                schema = parameter["schema"]
                assert "anyOf" not in schema, (method, path, parameter["name"])
                assert schema.keys() & {"type", "$ref"}, (method, path, parameter["name"])


def test_the_document_names_what_problems_say(service):
    told = service.get("/openapi.json").json()["components"]["schemas"]["Problem"]["properties"]
    lines = ["a b c d e f g", "h i j k l m n"] * 2000
    long = {"references": [lines], "systems": {"a": lines, "b": [*lines[1:], "h"]}}
    slow = {**long, "resamples": 999_999, "exact": "never"}
    early = service.post(COMPARISONS, json=slow).headers["location"]
    for answer in (
        service.get(COMPARISONS + "/nothing"),
        service.put(COMPARISONS),
        service.post(COMPARISONS, json={"metrics": ["blue"]}),
        service.get(early + "/report"),
    ):
        assert set(answer.json()) <= set(told)
        slug = answer.json()["type"].removeprefix("urn:sigtest:problem:")
        assert f"`{slug}`" in told["type"]["description"]
    service.delete(early)


@pytest.mark.parametrize("name", EXAMPLES)
def test_examples_run(service, name):
    response = submit(service, EXAMPLES[name]["value"])
    assert response.json()["status"] == "succeeded"


SHOWN = [(path, name) for path, kind in KINDS.items() for name in kind.examples]


@pytest.mark.parametrize(("path", "name"), SHOWN)
def test_examples_of_every_kind_run_and_are_as_their_schema_says(service, path, name):
    operation = service.get("/openapi.json").json()["paths"][f"/v1/{path}"]["post"]
    content = operation["requestBody"]["content"]
    body = content["application/json"]["examples"][name]["value"]
    check(service, content["application/json"]["schema"], body)
    response = service.post(f"/v1/{path}", json=body, headers={"Prefer": "wait=60"})
    assert response.json()["status"] == "succeeded"


def test_every_kind_has_a_schema_examples_and_the_parts_of_its_form(service):
    document = service.get("/openapi.json").json()
    for path, kind in KINDS.items():
        content = document["paths"][f"/v1/{path}"]["post"]["requestBody"]["content"]
        assert content["application/json"]["schema"].keys() & {"properties", "anyOf"}
        assert content["application/json"]["examples"]
        if kind.parts or kind.compares:
            form = content["multipart/form-data"]["schema"]["properties"]
            assert {*kind.parts, "request"} <= set(form)
            assert ("references" in form) == bool(kind.compares)


def test_records_of_all_kinds_have_names_of_their_own():
    names = components(*(report for kind in KINDS.values() for report in kind.reports))
    assert set(names) >= {report.__name__ for kind in KINDS.values() for report in kind.reports}
    assert not [name for name in names if "__" in name]  # as pydantic tells two of one name apart
