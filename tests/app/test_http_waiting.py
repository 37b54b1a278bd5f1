"""Who waits for a worker keeps nobody else waiting."""

import asyncio
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import httpx
import pytest
from exchange import COMPARISONS, ServeOn, problem

from app.http import waiting
from app.settings import Settings
from workers.settings import Settings as QueueSettings
from workers.store.server import EmbeddedServer, connect
from workers.tasks.context import Context
from workers.tasks.run import run

PAIR = {"a": "A", "b": "B", "metric": "bleu", "test": "approximate_randomization"}


@pytest.fixture
def queue(tmp_path: Path) -> Iterator[QueueSettings]:
    """A server with nobody to work."""
    settings = QueueSettings(state=tmp_path)
    server = EmbeddedServer(settings)
    server.ensure()
    yield settings
    server.stop()


@pytest.fixture
def context(queue: QueueSettings) -> Iterator[Context]:
    redis = connect(queue)
    yield Context.on(redis, queue)
    redis.close()


@pytest.fixture
def client(queue: QueueSettings, serve_on: ServeOn) -> httpx.Client:
    return serve_on(Settings(), queue)


@pytest.fixture
def url(client: httpx.Client, context: Context, body: dict[str, Any]) -> str:
    """A comparison that has succeeded, and a distribution that nobody makes."""
    location = client.post(COMPARISONS, json=body).headers["location"]
    name = id_of(location)
    for entry in context.questions.progress.pieces(name).tasks(name):
        run(context, entry.task.name, [name, *entry.task.arguments])
    context.feed.drop(name)
    return f"{location}/distribution"


def id_of(url: str) -> str:
    return url.removeprefix(f"{COMPARISONS}/").partition("/")[0]


def test_fifty_who_wait_for_a_distribution_leave_room_for_others(
    client: httpx.Client, context: Context, url: str
) -> None:
    async def ask() -> tuple[list[httpx.Response], httpx.Response, int]:
        async with httpx.AsyncClient(base_url=client.base_url, timeout=60) as many:
            asking = [asyncio.create_task(many.get(url, params=PAIR)) for _ in range(50)]
            await asyncio.sleep(1)  # all of them are waiting by then
            answer = await many.get(url.removesuffix("/distribution"))
            served = sum(task.done() for task in asking)
            run(context, "distribute", [id_of(url), 0, 0, 1, 0, 0])
            return await asyncio.gather(*asking), answer, served

    waited, answer, served = asyncio.run(ask())
    assert answer.json()["status"] == "succeeded"
    assert served == 0
    assert {response.status_code for response in waited} == {200}
    assert len({response.text for response in waited}) == 1


def test_who_has_waited_long_enough_is_told_to_ask_again(
    client: httpx.Client, context: Context, url: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(waiting, "DISTRIBUTION_SECONDS", 0.1)
    told = client.get(url, params=PAIR)
    assert "ask again" in problem(told, 409, "not-ready")["detail"]
    assert int(told.headers["retry-after"]) >= 1
    assert context.feed.jobs.alive() == {f"{id_of(url)}-distribute-0-0-1-0-0"}
