"""A service that all tests of this folder share, and a server without workers for each test."""

from collections.abc import Iterator
from pathlib import Path

import pytest
from service import Comparisons, Service, hurry, started

from workers.queue import Context
from workers.settings import Settings
from workers.store.server import EmbeddedServer, connect


@pytest.fixture(scope="session")
def service(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Service]:
    """Two workers, for tests that leave everything as it was."""
    with started(Settings(state=tmp_path_factory.mktemp("state"), workers=2)) as service:
        hurry(service.settings)
        yield service


@pytest.fixture(scope="session")
def working(service: Service) -> Context:
    """The stores and the queue of that service."""
    return service.jobs.questions.context


@pytest.fixture
def settings(tmp_path: Path) -> Settings:
    return Settings(state=tmp_path, workers=2, block=500)


@pytest.fixture
def server(settings: Settings) -> Iterator[EmbeddedServer]:
    """A server of its own, with nobody to work."""
    server = EmbeddedServer(settings)
    server.ensure()
    hurry(settings)
    yield server
    server.stop()


@pytest.fixture
def jobs(server: EmbeddedServer, settings: Settings) -> Iterator[Comparisons]:
    """Comparisons that are submitted and stay queued."""
    jobs = Comparisons.connect(settings)
    yield jobs
    jobs.close()


@pytest.fixture
def context(server: EmbeddedServer, settings: Settings) -> Iterator[Context]:
    """What tasks work with, to run them by hand."""
    redis = connect(settings, timeout=60)
    yield Context.on(redis, settings)
    redis.close()
