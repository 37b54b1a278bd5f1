"""What is published stays: `expires` of questions and test sets, within a budget of bytes."""

import os
from collections.abc import Iterator
from datetime import UTC, datetime, timedelta
from typing import Any

import httpx
import pytest
from exchange import COMPARISONS, problem, submit
from redis import Redis
from service import until

from app.settings import Settings
from workers.settings import Settings as QueueSettings
from workers.store import keys, server

ABSENT = -2  # as the store says of a key that is not there
NEVER = "9999-12-31T00:00:00Z"
LINES = ["a b c d e", "f g h i j", "k l m n o"]
WAIT = {"Prefer": "wait=60"}


@pytest.fixture
def redis(queue: QueueSettings, service: httpx.Client) -> Iterator[Redis]:
    client = server.connect(queue)
    yield client
    client.close()


def board(service: httpx.Client, **more: Any) -> str:
    asked = {"name": f"lasting {os.urandom(6).hex()}", "references": LINES, "resamples": 99}
    answer = service.post("/v1/testsets", json={**asked, **more})
    assert answer.status_code == 201, answer.text
    return str(answer.headers["location"])


def ends(redis: Redis, url: str) -> set[int]:
    """Whole days in which what is stored of a thing expires."""
    path, _, name = url.rpartition("/")
    parts = keys.OF_TESTSET if path.endswith("testsets") else keys.OF_QUESTION
    found = [int(redis.pexpiretime(keys.key(part, name))) for part in parts]
    return {end // 86_400_000 for end in found if end != ABSENT}


def days(told: str) -> int:
    return int(datetime.fromisoformat(told).timestamp()) // 86_400


def lasting(service: httpx.Client) -> int:
    return int(service.get("/v1/storage").json()["lasting"])


@pytest.mark.parametrize(
    ("said", "canonical", "until"),
    [
        ("never", "never", NEVER),
        ("2090-06-30", "2090-06-30T00:00:00Z", "2090-06-30T00:00:00Z"),
        ("2090-06-30T12:00:00+02:00", "2090-06-30T10:00:00Z", "2090-06-30T10:00:00Z"),
    ],
)
def test_a_question_lasts_as_long_as_is_said(service, body, redis, said, canonical, until):
    before = lasting(service)
    seed = int.from_bytes(os.urandom(4))
    made = submit(service, {**body, "seed": seed, "expires": said}).json()
    assert (made["expires"], made["expires_at"]) == (canonical, until)
    assert ends(redis, made["links"]["self"]) == {days(until)}
    size = service.get(made["links"]["self"]).json()["size"]
    assert lasting(service) - before == size > 500
    usual = service.patch(made["links"]["self"], json={"expires": ""}).json()
    left = datetime.fromisoformat(usual["expires_at"]) - datetime.now(UTC)
    assert timedelta(days=6.9) < left < timedelta(days=7.1)
    assert ends(redis, made["links"]["self"]) == {days(usual["expires_at"])}
    assert lasting(service) == before
    again = service.patch(made["links"]["self"], json={"expires": said}).json()
    assert again["expires_at"] == until
    assert service.delete(made["links"]["self"]).status_code == 204
    assert lasting(service) == before


def test_an_earlier_end_is_the_retention(service, body):
    soon = (datetime.now(UTC) + timedelta(days=1)).isoformat()
    made = submit(service, {**body, "seed": 71, "expires": soon}).json()
    left = datetime.fromisoformat(made["expires_at"]) - datetime.now(UTC)
    assert left > timedelta(days=6.9)


def test_what_came_later_does_not_take_a_question_from_its_listing(service, body, redis):
    submit(service, {**body, "seed": 72, "expires": "never"})
    submit(service, {**body, "seed": 73})
    listings = map(redis.pexpiretime, redis.scan_iter("sigtest:listing:*:comparisons"))
    assert max(map(int, listings)) // 86_400_000 == days(NEVER)


def test_changes_of_a_test_set_never_shorten_it(service, redis):
    url = board(service)
    service.put(f"{url}/systems/a", json={"hypotheses": LINES}, headers=WAIT)
    before, size = lasting(service), service.get(url).json()["size"]
    told = service.patch(url, json={"expires": "never", "title": "Kept"}).json()
    assert (told["expires"], told["expires_at"], told["title"]) == ("never", NEVER, "Kept")
    assert size > 500
    other = {"hypotheses": [*LINES[:2], "x y"]}
    service.put(f"{url}/systems/b", json=other, headers=WAIT)
    service.patch(url, json={"resamples": 199, "title": "Again"})
    service.delete(f"{url}/systems/b")
    shown = service.get(f"{url}/leaderboard", headers=WAIT).json()["comparison"]
    assert ends(redis, url) == ends(redis, shown) == {days(NEVER)}
    assert lasting(service) > before + size
    usual = service.patch(url, json={"expires": ""}).json()
    assert ends(redis, url) == ends(redis, shown) == {days(usual["expires_at"])}
    assert lasting(service) == before
    service.delete(url)


def test_a_system_that_comes_to_a_board_that_lasts_is_measured(service):
    """Every change moves the end of other boards, by which workers see that there was one."""
    url = board(service, expires="never")
    for number in range(6):
        lines = {"hypotheses": [*LINES[:2], "k l m n o p q r s"[: 3 + 2 * number]]}
        service.put(f"{url}/systems/s{number}", json=lines)
    until(lambda: not service.get(f"{url}/leaderboard", headers=WAIT).json()["pending"])
    service.delete(url)


@pytest.mark.parametrize(
    "said", [7, None, "soon", "2027-13-01", "2090-06-30T12:00:00", "10000-01-01", "2020-01-01"]
)
def test_an_end_that_is_none_is_refused(service, body, said):
    url = board(service)
    for asked in (
        service.post(COMPARISONS, json={**body, "expires": said}),
        service.patch(url, json={"expires": said}),
    ):
        told = problem(asked, 422, "invalid-input")
        assert told["errors"][0]["field"] == "expires"


def test_no_system_expires_by_itself(service):
    url = board(service)
    said = {"hypotheses": LINES, "expires": "never"}
    problem(service.put(f"{url}/systems/a", json=said), 422, "invalid-recipe")


def test_more_than_the_budget_is_refused_with_both_numbers(serve_on, queue, service, body):
    own = lasting(service)
    client = serve_on(Settings(), queue.model_copy(update={"lasting": own + 20_000}))
    texts = {**body, "references": [[os.urandom(9_000).hex() for _ in range(3)]], "seed": 1}
    told = problem(submit(client, {**texts, "expires": "never"}), 409, "budget-spent")
    assert f"{own:,}" in told["detail"]
    assert f"{own + 20_000:,}" in told["detail"]
    assert told["errors"][0]["field"] == "expires"
    assert told["limit"] == "SIGTEST_LASTING"
    made = submit(client, texts).json()
    url = made["links"]["self"]
    problem(client.patch(url, json={"expires": "never"}), 409, "budget-spent")
    small = submit(client, {**body, "seed": 74, "expires": "never"})
    assert small.json()["expires_at"] == NEVER
    assert client.get("/v1/storage").json()["budget"] == own + 20_000
    # what lasts already is not counted twice
    assert client.patch(small.json()["links"]["self"], json={"expires": "never"}).is_success
    assert submit(client, {**body, "seed": 74, "expires": "never"}).status_code == 200
    kept = board(client, expires="never")
    big = {"hypotheses": [os.urandom(9_000).hex() for _ in range(3)]}
    problem(client.put(f"{kept}/systems/a", json=big), 409, "budget-spent")
    assert client.put(f"{kept}/systems/a", json={"hypotheses": LINES}).is_success
    for gone in (url, kept, small.json()["links"]["self"]):
        assert client.delete(gone).status_code == 204


def test_a_failed_question_that_is_asked_again_lasts_as_it_did(service, body, redis):
    asked = {**body, "seed": 75, "resamples": 999_999, "metrics": ["chrf"]}
    made = submit(service, {**asked, "expires": "never"}, wait=0).json()
    cancelled = service.delete(made["links"]["self"])
    if cancelled.status_code == 200:  # it was not finished yet
        again = submit(service, asked, wait=0).json()
        assert (again["expires"], again["expires_at"]) == ("never", NEVER)
        assert ends(redis, made["links"]["self"]) == {days(NEVER)}
        service.delete(made["links"]["self"])
    service.delete(made["links"]["self"])


def test_pages_say_until_when_and_let_it_be_changed(service, pages, body):
    key = submit(service, {**body, "seed": 76}).json()["id"]
    here = f"/comparisons/{key}"
    form = {"title": "T", "tags": "", "expires": "never"}
    same = {"Sec-Fetch-Site": "same-origin"}
    assert pages.post(f"{here}/describe", data=form, headers=same).status_code == 303
    assert "kept for good" in pages.get(here).text
    assert 'name="expires" value="never"' in pages.get(here).text
    url = board(service)
    there = f"/boards/{url.rpartition('/')[2]}"
    dated = {**form, "expires": "2090-06-30"}
    assert pages.post(f"{there}/describe", data=dated, headers=same).status_code == 303
    assert "kept until 2090-06-30 00:00 UTC" in pages.get(there).text
    assert "until 2090-06-30" in pages.get("/boards").text
