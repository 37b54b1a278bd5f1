"""What failed questions say of themselves, for people and for programs."""

from __future__ import annotations

import json

import pytest
from exchange import check, submit
from redis import Redis

from app import models
from app.http.problems import KINDS
from workers.errors import PROBLEM, SLUGS
from workers.store import server


@pytest.mark.parametrize(
    ("problem", "errors"),
    [
        ({"type": "task-timeout"}, None),
        ({"type": "error"}, None),
        (None, None),  # of an older version
        (
            {"type": "length-mismatch", "field": "systems[1]", "system": "birch"},
            [{"field": "systems[1]", "system": "birch", "message": "No."}],
        ),
    ],
)
def test_a_failed_question_has_a_type_and_a_place(service, queue, body, problem, errors):
    made = submit(service, {**body, "seed": 81}).json()
    assert not {"type", "errors"} & made.keys()
    redis: Redis = server.connect(queue)
    place, failure = f"sigtest:question:{made['id']}", {"outcome": "failed", "error": "No."}
    if problem is not None:
        told = {**problem, "type": PROBLEM + problem["type"]}
        failure["problem"] = json.dumps(told)
    redis.hset(place, mapping=failure)
    redis.close()
    failed = service.get(made["links"]["self"]).json()
    check(service, "QuestionBody", failed)
    assert (failed["status"], failed["error"]) == ("failed", "No.")
    slug = "error" if problem is None else problem["type"]
    assert failed["type"] == f"urn:sigtest:problem:{slug}"
    assert failed.get("errors") == errors
    assert f"`{slug}`" in models.TYPES
    assert service.delete(made["links"]["self"]).status_code == 204


def test_types_of_failed_questions_are_those_of_problems():
    assert {kind: KINDS[kind].slug for kind in SLUGS} == SLUGS
