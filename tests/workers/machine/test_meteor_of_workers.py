"""METEOR is one process of a machine: loaded ahead, shared, let go of, gone with the service."""

from collections.abc import Iterator
from pathlib import Path

import pytest
from cancelled import are_computed, frees_its_core, long
from service import Service, children, started, synthetic, until

from sigtest.errors import UnavailableError
from sigtest.metrics.meteor import find
from workers.settings import Settings


@pytest.fixture(scope="module")
def ahead(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Service]:
    """A service that loads METEOR before anybody asks for it."""
    try:
        find()
    except UnavailableError:
        pytest.skip("METEOR is not installed")
    settings = Settings(state=tmp_path_factory.mktemp("state"), workers=2)
    with pytest.MonkeyPatch.context() as patched:
        patched.setenv("SIGTEST_METEOR", "ahead")
        with started(settings) as service:
            yield service
            server = _servers(service)
    until(lambda: not any(Path(f"/proc/{pid}").exists() for pid in server))


def test_it_is_loaded_before_anybody_asks(ahead: Service) -> None:
    loaded = until(lambda: _java(ahead))
    are_computed(ahead, synthetic(9, segments=4, metrics=["meteor"]))
    assert _java(ahead) == loaded


def test_a_cancelled_question_frees_its_core_and_workers_share_the_next(ahead: Service) -> None:
    frees_its_core(ahead, long("meteor", 250, 40, resamples=99))
    are_computed(ahead, *(synthetic(seed, segments=40, metrics=["meteor"]) for seed in range(4)))
    assert len(_servers(ahead)) == len(_java(ahead)) == 1


def _java(service: Service) -> list[int]:
    return [pid for server in _servers(service) for pid in children(server, "java")]


def _servers(service: Service) -> list[int]:
    """Processes of this service that keep METEOR."""
    owner = str(service.supervisor())
    pids = [int(entry.name) for entry in Path("/proc").iterdir() if entry.name.isdigit()]
    return [pid for pid in pids if _serves(pid, owner)]


def _serves(pid: int, owner: str) -> bool:
    try:
        command = Path(f"/proc/{pid}/cmdline").read_bytes().decode().split("\0")
    except (FileNotFoundError, ProcessLookupError):
        return False
    return "sigtest.metrics.meteor.server" in command and owner in command
