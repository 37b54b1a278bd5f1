"""METEOR is one process of a worker: loaded ahead, let go of, gone with the service."""

import time
from collections.abc import Iterator
from pathlib import Path

import pytest
from cancelled import SECONDS, are_computed, long
from service import CALLER, Service, children, started, synthetic, until

from sigtest.errors import UnavailableError
from sigtest.metrics.jvm import find
from workers.settings import Settings


@pytest.fixture(scope="module")
def ahead(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Service]:
    """A service that loads METEOR before anybody asks for it."""
    try:
        find()
    except UnavailableError:
        pytest.skip("METEOR is not installed")
    settings = Settings(state=tmp_path_factory.mktemp("state"), workers=2)
    with started(settings.model_copy(update={"meteor": "ahead"})) as service:
        yield service
        java = _java(service)
    until(lambda: not any(Path(f"/proc/{pid}").exists() for pid in java))


@pytest.mark.slow
def test_each_worker_has_loaded_it_before_anybody_asks(ahead):
    loaded = until(lambda: len(_java(ahead)) == 2 and _java(ahead))
    are_computed(ahead, *(synthetic(seed, segments=4, metrics=["meteor"]) for seed in range(4)))
    assert set(loaded) <= set(_java(ahead))  # an extra worker may have had one of its own


@pytest.mark.slow
def test_a_cancelled_question_frees_its_core_and_the_next_ones_are_computed(ahead):
    record, _ = ahead.jobs.submit(long("meteor", 250, 40, resamples=99), CALLER)
    until(ahead.busy, 60)
    time.sleep(1)  # until it is in the middle
    loaded = _java(ahead)
    ahead.jobs.remove(record.id, CALLER)
    until(lambda: set(loaded) - set(_java(ahead)), SECONDS)  # what worked for it has ended
    are_computed(ahead, *(synthetic(seed, segments=40, metrics=["meteor"]) for seed in range(4)))
    are_computed(ahead, synthetic(9, segments=4, metrics=["meteor:task=adq"]))


def _java(service: Service) -> list[int]:
    """The process of each worker."""
    return [pid for worker in service.workers() for pid in children(worker, "meteor-1.5.jar")]
