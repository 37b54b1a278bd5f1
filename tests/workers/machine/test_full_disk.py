"""A store on a small disk: what is accepted fits, and a full one heals by deletion alone."""

import shutil
import subprocess
from collections.abc import Iterator
from pathlib import Path

import pytest
from redis.exceptions import RedisError
from service import CALLER, Service, example, finished, started, synthetic, until

from sigtest.errors import SigtestError
from workers.errors import FullError, StorageError
from workers.settings import Settings

pytestmark = pytest.mark.slow

DISK = 160 * 2**20
FREE = 32 * 2**20


@pytest.fixture(scope="module")
def service(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Service]:
    """Two workers on a disk of their own."""
    disk = tmp_path_factory.mktemp("disk")
    told = subprocess.run(
        ["mount", "-t", "tmpfs", "-o", f"size={DISK}", "sigtest-test", disk],
        capture_output=True,
        check=False,
    )
    if told.returncode:
        pytest.skip(f"no small disk can be mounted here: {told.stderr.decode()}")
    try:
        with started(Settings(state=disk / "state", workers=2, free=FREE)) as service:
            yield service
    finally:
        subprocess.run(["umount", "--lazy", disk], check=True)


def free(service: Service) -> int:
    return shutil.disk_usage(service.settings.state).free


def fill(place: Path) -> None:
    with place.open("wb") as file:
        try:
            while True:
                file.write(bytes(2**16))
                file.flush()
        except OSError:
            pass


def test_a_full_disk_heals_by_deletion(service):
    made = [service.jobs.submit(synthetic(seed, segments=2000), CALLER)[0].id for seed in range(3)]
    for name in made:
        finished(service.jobs, name)
    reserve = service.settings.state / "valkey" / "reserve"
    until(reserve.exists)
    other = service.settings.state.parent / "of somebody else"
    fill(other)
    until(lambda: not reserve.exists())

    def refused() -> bool:
        with pytest.raises(SigtestError):
            service.jobs.submit(synthetic(99, segments=5), CALLER)
        return True

    assert refused()
    until(lambda: deleted(service, made[0]))
    assert refused()
    other.unlink()
    until(lambda: accepted(service), 30)
    until(reserve.exists, 30)


def deleted(service: Service, name: str) -> bool:
    try:
        service.jobs.remove(name, CALLER)
    except StorageError:
        return False  # the server is being started again
    return True


def accepted(service: Service) -> bool:
    try:
        record, _ = service.jobs.submit(synthetic(99, segments=5), CALLER)
    except (StorageError, RedisError):
        return False
    finished(service.jobs, record.id)
    return True


def test_what_would_not_fit_is_refused_and_what_fits_is_done(service):
    whole = {"metrics": ["bleu", "chrf"], "tests": ["bootstrap"]}
    with pytest.raises(FullError, match=r"predicted to take 80,\d{3},\d{3} bytes of the store"):
        service.jobs.submit(example(resamples=999_999, **whole), CALLER)
    feed = service.jobs.questions.context.feed
    feed.drain()
    record, _ = service.jobs.submit(example(resamples=299_999, **whole), CALLER)
    with pytest.raises(FullError, match="besides what unfinished ones are to take"):
        service.jobs.submit(example(resamples=599_999, **whole), CALLER)
    feed.resume()
    finished(service.jobs, record.id)
    assert free(service) > FREE
