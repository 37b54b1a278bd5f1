"""A service that all tests of this folder share, and a server without workers for each test."""

from collections.abc import Iterator
from pathlib import Path

import pytest
from service import Service, started

from workers.desk import Desk
from workers.questions import Jobs
from workers.queue import Queue
from workers.settings import Settings
from workers.store import Store
from workers.store.server import EmbeddedServer, connect
from workers.testsets import Leaderboards


@pytest.fixture(scope="session")
def service(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Service]:
    """Two workers, for tests that leave everything as it was."""
    with started(Settings(state=tmp_path_factory.mktemp("state"), workers=2)) as service:
        yield service


@pytest.fixture(scope="session")
def boards(service: Service) -> Iterator[Leaderboards]:
    """The leaderboards of that service."""
    boards = Leaderboards.connect(service.settings)
    yield boards
    boards.close()


@pytest.fixture
def settings(tmp_path: Path) -> Settings:
    return Settings(state=tmp_path, workers=2, block=500)


@pytest.fixture
def server(settings: Settings) -> Iterator[EmbeddedServer]:
    """A server of its own, with nobody to work."""
    server = EmbeddedServer(settings)
    server.ensure()
    yield server
    server.stop()


@pytest.fixture
def jobs(server: EmbeddedServer, settings: Settings) -> Iterator[Jobs]:
    """Comparisons that are submitted and stay queued."""
    jobs = Jobs.connect(settings)
    yield jobs
    jobs.close()


@pytest.fixture
def desk(server: EmbeddedServer, settings: Settings) -> Iterator[Desk]:
    """What tasks work with, to run them by hand."""
    redis = connect(settings)
    yield Desk(Store(redis, settings), Queue(redis, settings))
    redis.close()
