"""Starting and stopping everything at once, however the end comes."""

import os
import signal
import subprocess
import sys
import time
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

import pytest
from service import (
    CALLER,
    Comparisons,
    children,
    finished,
    in_process,
    kill,
    started,
    synthetic,
    until,
)

from sigtest.errors import UnavailableError
from workers.errors import StorageError
from workers.machine.keeper import ROOT, running
from workers.questions import Status
from workers.settings import Settings
from workers.store import server as store_server

SERVE = """
import time
from workers.settings import Settings
from workers.machine.keeper import running

with running(Settings()):
    print("ready", flush=True)
    time.sleep(600)
"""


@contextmanager
def launched(settings: Settings, *command: str) -> Iterator[subprocess.Popen[str]]:
    """A Python process of its own, once it says that it is ready."""
    environment = {**os.environ, **settings.as_environment()}
    with subprocess.Popen(
        [sys.executable, *command], cwd=ROOT, env=environment, stdout=subprocess.PIPE, text=True
    ) as process:
        assert process.stdout is not None
        try:
            assert process.stdout.readline() == "ready\n"
            yield process
        finally:
            process.kill()


def family(pid: int) -> list[int]:
    """A process and all that it started, directly or not."""
    return [pid, *(descendant for child in children(pid) for descendant in family(child))]


def running_now(pids: list[int]) -> list[int]:
    """Those that have not ended; one that nobody waited for counts as ended."""
    alive = []
    for pid in pids:
        status = Path(f"/proc/{pid}/stat")
        if status.exists() and status.read_text().rpartition(")")[2].split()[0] != "Z":
            alive.append(pid)
    return alive


def test_nothing_heavy_is_loaded_before_the_environment_is_set():
    """NumPy reads how many threads it may have when it is loaded."""
    program = "import sys, workers.machine.supervisor; print(*sys.modules)"
    done = subprocess.run(
        [sys.executable, "-c", program], cwd=ROOT, capture_output=True, text=True, check=True
    )
    loaded = {name.partition(".")[0] for name in done.stdout.split()}
    assert "redis" in loaded
    assert not loaded & {"numpy", "numba", "scipy", "sacrebleu", "rq"}


@pytest.mark.parametrize(
    "number", [signal.SIGTERM, pytest.param(signal.SIGINT, marks=pytest.mark.slow)]
)
def test_container_entry_point_stops_cleanly(tmp_path, number):
    settings = Settings(state=tmp_path, workers=1)
    with launched(settings, "-m", "workers.machine.worker") as process:
        started_processes = family(process.pid)
        assert len(started_processes) == 4
        jobs = Comparisons.connect(settings)
        assert jobs.workers() == 1
        jobs.close()
        process.send_signal(number)
        assert process.wait(60) == 0
        assert not running_now(started_processes)


def test_everything_ends_with_its_parent(tmp_path):
    with launched(Settings(state=tmp_path, workers=2), "-c", SERVE) as process:
        descendants = family(process.pid)
        assert len(descendants) == 6
        kill(process.pid)
        until(lambda: not running_now(descendants))


def test_work_goes_on_after_a_restart(tmp_path):
    settings = Settings(state=tmp_path, block=500)
    comparison = synthetic(1, segments=1500, systems=4, resamples=10_000)
    with started(settings) as service:
        record, _ = service.jobs.submit(comparison, CALLER)
        until(lambda: service.jobs.find(record.id, CALLER).progress.phase == "resampling")
    with started(settings) as service:
        assert finished(service.jobs, record.id).status is Status.SUCCEEDED
        assert service.jobs.report(record.id, CALLER) == in_process(comparison)


def test_running_twice_on_one_directory_shares_the_work(tmp_path):
    settings = Settings(state=tmp_path, workers=1)
    with started(settings) as service, running(settings):
        assert service.jobs.workers() == 2
        comparison = synthetic(2)
        record, _ = service.jobs.submit(comparison, CALLER)
        assert finished(service.jobs, record.id).status is Status.SUCCEEDED
        time.sleep(0.1)


def test_missing_server_is_said_before_anything_starts(tmp_path, monkeypatch):
    monkeypatch.setattr(store_server, "_bundled", lambda: None)
    monkeypatch.setenv("PATH", str(tmp_path))
    with pytest.raises(UnavailableError, match="REDIS_URL"), running(Settings(state=tmp_path)):
        pass


def test_server_that_cannot_start_is_said(tmp_path, capfd):
    (tmp_path / "valkey").symlink_to(tmp_path)
    with pytest.raises(StorageError), running(Settings(state=tmp_path)):
        pass
    assert "must be a directory that belongs to this user" in capfd.readouterr().err


def test_senseless_setting_ends_with_2():
    done = subprocess.run(
        [sys.executable, "-m", "workers.machine.supervisor"],
        cwd=ROOT,
        env={**os.environ, "WORKERS": "many"},
        capture_output=True,
        text=True,
        check=False,
    )
    assert done.returncode == 2
    assert done.stderr == "sigtest: WORKERS must be a whole number from 1 to 1,000, not 'many'.\n"
