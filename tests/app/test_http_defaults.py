"""Requests as a client sends them that spells out every field that the document has."""

from typing import Any

from exchange import COMPARISONS, submit
from pydantic import BaseModel

from sigtest.requests.comparisons import (
    ComparisonRequest,
    OutputRequest,
    SeveralRequest,
    TestSetRequest,
)


def spelled(model: type[BaseModel], content: dict[str, Any]) -> dict[str, Any]:
    """A request with every default, null where there is none."""
    return model.model_validate(content).model_dump()


def test_a_comparison(service, body):
    plain = submit(service, body).json()
    answer = service.post(COMPARISONS, json=spelled(ComparisonRequest, body))
    assert answer.json().get("id") == plain["id"], answer.text


def test_several_test_sets(service, body):
    texts = {field: body.pop(field) for field in ("references", "systems")}
    suite = {"testsets": [{"name": name, **texts} for name in ("one", "two")], **body}
    plain = submit(service, suite).json()
    answer = service.post(COMPARISONS, json=spelled(SeveralRequest, suite))
    assert answer.json().get("id") == plain["id"], answer.text


def test_a_test_set_and_a_system(service, body):
    texts = {"name": "spelled", "references": body["references"], "resamples": 99}
    plain = service.post("/v1/testsets", json=texts).json()
    answer = service.post("/v1/testsets", json=spelled(TestSetRequest, texts))
    assert answer.json().get("id") == plain["id"], answer.text
    output = spelled(OutputRequest, {"hypotheses": body["systems"][0]["hypotheses"]})
    answer = service.put(
        f"{answer.headers['location']}/systems/A", json=output, headers={"Prefer": "wait=60"}
    )
    assert answer.json().get("status") == "measured", answer.text
