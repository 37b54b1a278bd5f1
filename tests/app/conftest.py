"""A running service for all tests of the front end: real Valkey, real workers, real HTTP."""

import contextlib
import os
from collections.abc import Iterator
from functools import cache
from pathlib import Path
from typing import Any

import httpx
import pytest
from exchange import Serve, ServeOn, Stored
from lent import Lent, end_spare
from service import hurry, launched
from warmed import warmed

from app.main import create_app
from app.requests.reading import ReadingProcess
from app.routes import questions
from app.settings import Settings
from benchmarks.answering import answering
from benchmarks.deliveries import LOOPBACK
from workers.settings import Settings as QueueSettings
from workers.store import server

BOOKKEEPING = tuple(
    f"sigtest:{name}"
    # tasks of what was cancelled may come a moment later, and go when it is their turn
    for name in ("erase", "holding", "joining", "probe", "tallies", "tasks", "waiting", "worker")
)


@pytest.fixture(scope="session")
def queue(tmp_path_factory: pytest.TempPathFactory) -> QueueSettings:
    return QueueSettings(
        state=tmp_path_factory.mktemp("state"),
        workers=2,
        webhook_timeout=2,
        webhook_pause=1,
        webhook_longest=1,
        webhook_networks=LOOPBACK,
    )


@pytest.fixture(scope="session")
def service(queue: QueueSettings) -> Iterator[httpx.Client]:
    """A client of a service that all tests share."""
    with launched(queue) as (_, url), httpx.Client(base_url=url, timeout=120) as client:
        hurry(queue)
        yield client


@pytest.fixture(scope="session")
def programs(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Path]:
    """A folder with `sigtest`, which starts quickly."""
    with warmed(tmp_path_factory.mktemp("programs"), os.environ) as folder:
        yield folder


@pytest.fixture
def serve(service: httpx.Client, queue: QueueSettings, serve_on: ServeOn) -> Serve:
    """Start further front ends, with other settings, on the same queue and workers."""
    return lambda settings: serve_on(settings, queue)


@pytest.fixture(scope="session")
def reading() -> Iterator[type[ReadingProcess]]:
    """What reads large bodies for the front ends of the tests' process, which share routes."""
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(questions, "router_of", cache(questions.router_of))
        yield Lent
    end_spare()


@pytest.fixture
def serve_on(reading: type[ReadingProcess]) -> Iterator[ServeOn]:
    """Start front ends on any queue, in threads of the tests' process."""
    with contextlib.ExitStack() as stack:

        def start(
            settings: Settings, queue: QueueSettings, host: str = "127.0.0.1"
        ) -> httpx.Client:
            app = create_app(settings, queue)
            app.state.reading = reading(settings.max_reading_seconds)
            url = stack.enter_context(answering(app, host))
            client = httpx.Client(base_url=url, timeout=60)
            return stack.enter_context(client)

        yield start


@pytest.fixture
def stored(queue: QueueSettings, service: httpx.Client) -> Iterator[Stored]:
    """What is stored at the moment, apart from the queue's own bookkeeping."""
    redis = server.connect(queue)

    def names() -> set[str]:
        keys = {key.decode() for key in redis.scan_iter("sigtest:*", count=1000)}
        return {key for key in keys if not key.startswith(BOOKKEEPING)}

    yield names
    redis.close()


@pytest.fixture
def body() -> dict[str, Any]:
    """The JSON of a comparison that takes no time."""
    return {
        "references": [["a b c d e", "f g h i j", "k l m n o"]],
        "systems": [
            {"name": "A", "hypotheses": ["a b c d e", "f g h i j", "k l m n"]},
            {"name": "B", "hypotheses": ["a b c d", "f g h i j k", "x y z n o"]},
        ],
        "resamples": 99,
    }


@pytest.fixture
def pages(service: httpx.Client) -> Iterator[httpx.Client]:
    """A client that asks for pages, as browsers do."""
    headers = {"Accept": "text/html,application/xhtml+xml,*/*;q=0.8"}
    with httpx.Client(base_url=service.base_url, timeout=120, headers=headers) as client:
        yield client
