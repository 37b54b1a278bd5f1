"""Webhooks over HTTP: added, told, tried, deleted; signed as a published verifier wants it."""

from collections.abc import Iterator
from typing import Any

import httpx
import pytest
from exchange import ServeOn, check, problem, submit
from service import until

from app.settings import Settings
from benchmarks.deliveries import Receiver, receiving
from sigtest.client import Client
from workers.settings import Settings as QueueSettings

WEBHOOKS = "/v1/webhooks"
KEYS = "ann:secret-a,bob:secret-b"
ANN, BOB = ({"X-API-Key": key} for key in ("secret-a", "secret-b"))
LINES = ["a b c d e", "f g h i j", "k l m n o"]
WAIT = {"Prefer": "wait=60"}


@pytest.fixture
def receiver(service: httpx.Client) -> Iterator[Receiver]:
    with receiving() as made:
        yield made
    for webhook in service.get(WEBHOOKS).json()["webhooks"]:
        service.delete(f"{WEBHOOKS}/{webhook['id']}")


def add(service: httpx.Client, receiver: Receiver, **fields: Any) -> dict[str, Any]:
    answer = service.post(WEBHOOKS, json={"url": receiver.url, **fields})
    assert answer.status_code == 201, answer.text
    made: dict[str, Any] = answer.json()
    check(service, "NewWebhookBody", made)
    receiver.secret = made.pop("secret")
    assert answer.headers["location"] == f"{WEBHOOKS}/{made['id']}"
    return made


def told(service: httpx.Client, receiver: Receiver, event: str) -> dict[str, Any]:
    """The first message of an event, held against the document's webhooks."""
    found = until(lambda: next((b for b in receiver.bodies if b["type"] == event), None))
    document = service.get("/openapi.json").json()
    body = document["webhooks"][event]["post"]["requestBody"]["content"]["application/json"]
    check(service, body["schema"], found)
    assert receiver.forged == []
    data: dict[str, Any] = found["data"]
    return data


def test_a_webhook_is_tried(service, receiver):
    made = add(service, receiver)
    url = f"{WEBHOOKS}/{made['id']}"
    assert service.post(f"{url}/test").status_code == 202
    assert told(service, receiver, "webhook.test") == {"id": made["id"]}
    until(lambda: service.get(url).json()["delivered"] == 1)
    assert service.get(url).json() == {**made, "delivered": 1}
    assert "secret" not in service.get(WEBHOOKS).text
    receiver.answers = [503]
    service.post(f"{url}/test")
    until(lambda: service.get(url).json()["delivered"] == 2)
    assert sorted(receiver.seen.values()) == [1, 2]


def test_questions_tell_how_they_ended(service, receiver, body):
    add(service, receiver)
    written = {"title": "Hooked", "tags": ["x"], "metadata": {"run": 5}, "expires": ""}
    made = submit(service, {**body, "seed": 77001, **written}).json()
    done = {"kind": "comparisons", "id": made["id"], **written}
    assert told(service, receiver, "question.succeeded") == {**done, "status": "succeeded"}
    systems = [{"name": n, "hypotheses": ["w " * 40] * 3000} for n in ("A", "B")]
    long = {"references": ["w " * 39] * 3000, "systems": systems, "resamples": 900_000}
    asked = service.post("/v1/comparisons", json={**long, "exact": "never"}).json()
    service.delete(asked["links"]["self"])
    ended = told(service, receiver, "question.cancelled")
    assert (ended["id"], ended["status"]) == (asked["id"], "cancelled")


def test_leaderboards_tell_what_they_show(service, receiver):
    add(service, receiver, events=["leaderboard.refreshed"])
    asked = {"name": "hooked", "references": LINES, "resamples": 99, "tags": ["b"]}
    url = service.post("/v1/testsets", json=asked).json()["links"]["self"]
    for name, lines in (("A", LINES), ("B", LINES[::-1])):
        service.put(f"{url}/systems/{name}", json={"hypotheses": lines}, headers=WAIT)
    first = told(service, receiver, "leaderboard.refreshed")
    assert (first["name"], first["tags"]) == ("hooked", ["b"])

    def shown() -> bool:
        board = service.get(f"{url}/leaderboard").json()
        heard = {body["data"]["comparison"] for body in receiver.bodies}  # in any order
        return not board["pending"] and board["comparison"].rpartition("/")[2] in heard

    until(shown)
    service.get(f"{url}/leaderboard", params={"alpha": 0.01}, headers=WAIT)  # tells nobody
    service.put(f"{url}/systems/C", json={"hypotheses": LINES}, headers=WAIT)
    until(shown)
    assert {b["type"] for b in receiver.bodies} == {"leaderboard.refreshed"}
    assert len({b["data"]["comparison"] for b in receiver.bodies}) <= 3  # of one, two and three
    service.delete(url)


def test_the_client_keeps_webhooks(service, receiver):
    with Client(str(service.base_url)) as client:
        made = client.add_webhook(receiver.url, ["question.failed"])
        receiver.secret = made["secret"]
        client.test_webhook(made["id"])
        until(lambda: receiver.taken)
        assert [entry["events"] for entry in client.webhooks()] == [["question.failed"]]
        client.remove_webhook(made["id"])
        assert client.webhooks() == []


def test_a_webhook_is_its_owners(serve, receiver):
    guarded = serve(
        Settings.model_validate({"SIGTEST_API_KEYS": KEYS, "SIGTEST_MAX_WEBHOOKS": "1"})
    )
    body = {"url": receiver.url}
    problem(guarded.post(WEBHOOKS, json=body), 401, "unauthorized")
    url = guarded.post(WEBHOOKS, json=body, headers=ANN).headers["location"]
    assert guarded.get(WEBHOOKS, headers=BOB).json() == {"webhooks": []}
    for method, path in (("GET", url), ("DELETE", url), ("POST", f"{url}/test")):
        problem(guarded.request(method, path, headers=BOB), 404, "not-found")
    refused = problem(guarded.post(WEBHOOKS, json=body, headers=ANN), 413, "limit-exceeded")
    assert refused["limit"] == "max_webhooks"
    assert guarded.delete(url, headers=ANN).status_code == 204
    assert guarded.post(WEBHOOKS, json=body, headers=ANN).status_code == 201
    for webhook in guarded.get(WEBHOOKS, headers=ANN).json()["webhooks"]:
        guarded.delete(f"{WEBHOOKS}/{webhook['id']}", headers=ANN)


@pytest.mark.parametrize(
    ("body", "field"),
    [
        ({}, "url"),
        ({"url": 7}, "url"),
        ({"url": "ftp://board.example/"}, "url"),
        ({"url": "http://"}, "url"),
        ({"url": "http://ann:secret@board.example/"}, "url"),
        ({"url": "http://board.example/#x"}, "url"),
        ({"url": "http://board.example:99999/"}, "url"),
        ({"url": "http://board.example:0/"}, "url"),
        ({"url": "http://board..example/"}, "url"),
        ({"url": f"http://{'b' * 64}.example/"}, "url"),
        ({"url": "http://127.0.0.1:1/"}, "url"),
        ({"url": "http://[::ffff:10.0.0.1]/"}, "url"),
        ({"url": "http://localhost/"}, "url"),
        ({"url": "http://board.example/", "events": []}, "events"),
        ({"url": "http://board.example/", "events": ["question.finished"]}, "events"),
        ({"url": "http://board.example/", "secret": "x"}, "secret"),
    ],
)
def test_what_cannot_be_told_is_refused(
    service: httpx.Client,  # whose store it is
    serve_on: ServeOn,
    queue: QueueSettings,
    body: dict[str, Any],
    field: str,
) -> None:
    closed = serve_on(Settings(), queue.model_copy(update={"webhook_networks": ()}))
    answer = closed.post(WEBHOOKS, json=body)
    assert answer.status_code == 422, answer.text
    assert answer.json()["errors"][0]["field"] == field
