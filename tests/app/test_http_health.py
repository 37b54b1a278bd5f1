"""Health checks over HTTP: in reports of comparisons, and of leaderboards as systems arrive."""

from typing import Any

import httpx
import pytest
from exchange import COMPARISONS
from sentences import sentences
from service import until

TESTSETS = "/v1/testsets"
WAIT = {"Prefer": "wait=60"}
SUBJECTS = ["The old minister", "A young farmer", "My clever neighbour", "Some tired engineers"]
VERBS = ["repaired the wooden bridge", "visited a distant village", "ignored every warning"]
PLACES = ["before the storm began.", "on Monday morning.", "without telling his family.",
          "near the railway station.", "although it was raining."]  # fmt: skip
REFERENCE = [f"{s} {v} {p}" for s in SUBJECTS for v in VERBS for p in PLACES]
GOOD = [line.replace("the ", "that ").replace("a ", "one ") for line in REFERENCE]
FAIR = [line.replace("was", "is").replace("old", "aged") for line in GOOD]
SOURCE = [line.upper()[::-1] for line in REFERENCE]
SLIPPED = ["", *FAIR[:-1]]


@pytest.fixture
def board(service: httpx.Client) -> str:
    body = {"name": "healthy", "references": [REFERENCE], "source": SOURCE, "resamples": 199}
    return str(service.post(TESTSETS, json=body).raise_for_status().headers["location"])


def put(service: httpx.Client, board: str, name: str, lines: list[str]) -> None:
    answer = service.put(f"{board}/systems/{name}", json={"hypotheses": lines}, headers=WAIT)
    assert answer.json()["status"] == "measured", answer.text


def shown(service: httpx.Client, board: str, *names: str) -> list[str]:
    """Warnings of a leaderboard, once it has these systems."""

    def complete() -> dict[str, Any] | None:
        answer = service.get(f"{board}/leaderboard", headers=WAIT).raise_for_status().json()
        return answer if {system["name"] for system in answer["systems"]} == {*names} else None

    return list(sentences(until(complete, 60)))


def test_a_submission_is_looked_at_when_it_joins(service, board):
    put(service, board, "late", SLIPPED)
    said = shown(service, board, "late")
    assert [w for w in said if w.startswith("late: segment 1 has no output")]
    put(service, board, "good", GOOD)
    put(service, board, "lazy", SOURCE)
    said = shown(service, board, "late", "good", "lazy")
    assert [w for w in said if w.startswith("late: segment 1 has no output")]
    assert [w for w in said if w.startswith("lazy: 60 of 60 lines are those of the source")]
    assert not [w for w in said if w.startswith("good")]
    service.delete(f"{board}/systems/late")
    assert not [w for w in shown(service, board, "good", "lazy") if w.startswith("late")]


def test_json_and_forms_say_the_same(service):
    def told(**sent: Any) -> list[str]:
        answer = service.post(COMPARISONS, headers=WAIT, **sent).raise_for_status()
        return list(sentences(service.get(answer.json()["links"]["report"]).json()))

    def file(name: str, lines: list[str]) -> tuple[str, bytes]:
        return name, "".join(f"{line}\n" for line in lines).encode()

    outputs = {"good": GOOD, "lazy": [*SOURCE[:20], *FAIR[20:]]}
    body = {"references": REFERENCE, "systems": outputs, "source": SOURCE}
    parts = [("references", file("r", REFERENCE)), ("source", file("s", SOURCE)),
             *(("systems", file(name, lines)) for name, lines in outputs.items())]  # fmt: skip
    found = told(json=body)
    assert [w for w in found if w.startswith("lazy: 20 of 60 lines are those of the source")]
    assert told(files=parts) == found
    noted = told(json={**body, "notes": ["Read with care."]})
    assert sorted(noted) == sorted([*found, "Read with care."])
