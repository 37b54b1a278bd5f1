"""Comparisons on a test set of the caller's: the same as with its texts spelled out."""

import gzip
import json
from typing import Any
from uuid import uuid4

import httpx
import pytest
from exchange import COMPARISONS, problem, submit

from app.settings import Settings
from sigtest.client import Client
from sigtest.comparison.comparison import parse_comparison

TESTSETS = "/v1/testsets"
TEXTS: dict[str, Any] = {
    "references": [["a b c d e", "f g h i j", "k l m n o"], ["a b c d", None, "k l m n o p"]],
    "documents": ["d1", "d1", "d2"],
    "labels": ["x", "y", "y"],
}
OUTPUTS = {
    "A": ["a b c d e", "f g h i j", "k l m n"],
    "B": ["a b c d", "f g h i j k", "x y z n o"],
}
RECIPE: dict[str, Any] = {"resamples": 99, "tests": ["bootstrap"], "stratified": True, "seed": 7,
          "unit": "segment"}  # fmt: skip
SYSTEMS = [{"name": name, "hypotheses": lines} for name, lines in OUTPUTS.items()]


def made(service: httpx.Client, headers: dict[str, str] | None = None, **fields: Any) -> str:
    """Make a test set; its id."""
    body = {"name": uuid4().hex, "resamples": 9, **(fields or TEXTS)}
    answer = service.post(TESTSETS, json=body, headers=headers)
    assert answer.status_code == 201, answer.text
    return str(answer.json()["id"])


def test_it_is_the_comparison_with_the_texts_spelled_out(service):
    named = submit(service, {"testset": made(service), "systems": SYSTEMS, **RECIPE})
    assert named.json()["status"] == "succeeded"
    spelled = submit(service, {**TEXTS, "systems": SYSTEMS, **RECIPE})
    assert spelled.json()["id"] == named.json()["id"]
    assert spelled.status_code == 200
    alone = submit(service, {"testset": made(service), "systems": SYSTEMS[::-1], **RECIPE})
    report = service.get(f"{alone.headers['location']}/report").json()
    assert report["testset"]["documents"] == 2
    assert report["testset"]["references"] == 2
    assert [system["name"] for system in report["systems"]] == ["B", "A"]


def test_a_form_names_it_in_its_request(service):
    testset = made(service)
    files = [
        ("systems", (f"{name}.txt.gz", gzip.compress("\n".join(lines).encode())))
        for name, lines in OUTPUTS.items()
    ]
    request = json.dumps({"testset": testset, **RECIPE})
    formed = service.post(COMPARISONS, files=files, data={"request": request})
    named = submit(service, {"testset": testset, "systems": SYSTEMS, **RECIPE})
    assert formed.json()["id"] == named.json()["id"]


def test_scores_alone_need_no_references(service):
    systems = [{"name": n, "scores": {"comet": [0.1 * i, 0.2, 0.3]}} for i, n in enumerate("AB")]
    rest = {"systems": systems, "metrics": ["scores:of=comet"], "resamples": 99}
    testset = made(service, segments=3, metrics=["scores:of=comet"])
    named = submit(service, {"testset": testset, **rest})
    assert named.json()["id"] == submit(service, {"segments": 3, **rest}).json()["id"]
    assert named.json()["status"] == "succeeded"


@pytest.mark.parametrize(
    ("field", "value"),
    [*TEXTS.items(), ("segments", 3), ("builtin", "wmt17/en-de"), ("segments", 0)],
)
def test_texts_besides_it_are_refused(service, stored, field, value):
    testset = made(service)
    before = stored()
    body = {"testset": testset, "systems": SYSTEMS, field: value}
    (error,) = problem(service.post(COMPARISONS, json=body), 422, "invalid-input")["errors"]
    assert error["field"] == field
    assert "testset" in error["message"]
    assert stored() == before


def test_files_besides_it_are_refused(service):
    files = [("references", ("ref.txt", b"a\nb\nc")), ("systems", ("A.txt", b"a\nb\nc"))]
    data = {"request": json.dumps({"testset": made(service)})}
    answer = service.post(COMPARISONS, files=files, data=data)
    (error,) = problem(answer, 422, "invalid-input")["errors"]
    assert error["field"] == "references"


@pytest.mark.parametrize("asked", ["0" * 32, "news", "", "\ud800", "a:b"])
def test_unknown_test_sets(service, asked):
    content = json.dumps({"testset": asked, "systems": SYSTEMS})
    headers = {"Content-Type": "application/json"}
    answer = service.post(COMPARISONS, content=content, headers=headers)
    (error,) = problem(answer, 404, "not-found")["errors"]
    assert error["field"] == "testset"


def test_what_is_no_id(service):
    answer = service.post(COMPARISONS, json={"testset": {"id": 1}, "systems": SYSTEMS})
    problem(answer, 422, "invalid-input")


def test_deleted_ones_are_gone_and_what_was_compared_stays(service):
    testset = made(service)
    body = {"testset": testset, "systems": SYSTEMS, **RECIPE, "seed": 8}
    url = submit(service, body).headers["location"]
    service.delete(f"{TESTSETS}/{testset}")
    (error,) = problem(service.post(COMPARISONS, json=body), 410, "gone")["errors"]
    assert error["field"] == "testset"
    assert service.get(f"{url}/report").status_code == 200


def test_those_of_others_are_unknown(serve):
    guarded = serve(Settings.model_validate({"SIGTEST_API_KEYS": "ann:1,bob:2"}))
    ann, bob = ({"X-API-Key": key} for key in "12")
    body = {"testset": made(guarded, ann), "systems": SYSTEMS}
    problem(guarded.post(COMPARISONS, json=body), 401, "unauthorized")
    problem(guarded.post(COMPARISONS, json=body, headers=bob), 404, "not-found")
    assert guarded.post(COMPARISONS, json=body, headers=ann).status_code == 202


def test_a_system_that_does_not_fit_it(service):
    systems = [SYSTEMS[0], {"name": "B", "hypotheses": ["a", "b"]}]
    answer = service.post(COMPARISONS, json={"testset": made(service), "systems": systems})
    (error,) = problem(answer, 422, "length-mismatch")["errors"]
    assert error["system"] == "B"


def test_limits_hold_for_it_too(service, serve):
    small = serve(Settings(max_segments=2))
    body = {
        "testset": made(service),
        "systems": [{"name": n, "hypotheses": ["a b"] * 3} for n in "AB"],
    }
    problem(small.post(COMPARISONS, json=body), 413, "limit-exceeded")


def test_the_client_may_name_it(service):
    with Client(str(service.base_url)) as client:
        named = client.compare({"testset": made(service), "systems": SYSTEMS, **RECIPE})
        spelled = client.compare(parse_comparison({**TEXTS, "systems": SYSTEMS, **RECIPE}))
    assert named == spelled
