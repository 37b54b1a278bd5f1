"""A stop lets requests and tasks end side by side, and loses nothing; neither does a kill."""

import os
import random
import signal
import socket
import subprocess
import sys
from collections.abc import Iterator
from contextlib import ExitStack, contextmanager
from pathlib import Path
from typing import Any
from urllib.parse import urlsplit

import httpx
import pytest
from exchange import COMPARISONS, ROOT
from service import called, children, in_process, kill, until

from sigtest.comparison.comparison import parse_comparison
from workers.machine.worker import WORKING
from workers.settings import Settings as QueueSettings

SLOW_BODY = (
    "POST /v1/comparisons HTTP/1.1\r\nHost: localhost\r\n"
    "Content-Type: application/json\r\nContent-Length: 1000\r\n\r\n{"
)


class Running:
    """The processes of a service: front end, supervisor, store, workers."""

    def __init__(self, process: subprocess.Popen[str], url: str) -> None:
        self.process, self.client = process, httpx.Client(base_url=url, timeout=60)
        (self.supervisor,) = children(process.pid, "workers.machine.supervisor")
        self.store = children(self.supervisor, "valkey")
        self.workers = [pid for pid in children(self.supervisor) if pid not in self.store]

    def hold(self, body: dict[str, Any]) -> str:
        """Ask a question, and stop the worker in the middle of a task; the question's path."""
        path = self.client.post(COMPARISONS, json=body).headers["location"]
        until(lambda: self.client.get(path).json()["progress"]["phase"] == "resampling")
        until(self._stopped_at_work)
        assert self.client.get(path).json()["status"] == "running"
        return path

    def _stopped_at_work(self) -> bool:
        for worker in self.workers:
            os.kill(worker, signal.SIGSTOP)
            if called(worker) == WORKING:
                return True
            os.kill(worker, signal.SIGCONT)
        return False

    def gone(self) -> bool:
        """Whether all that the front end started has ended."""
        return not alive([self.supervisor, *self.workers, *self.store])

    def report(self, path: str) -> bytes:
        """The report, once the question has an outcome."""
        until(lambda: self.client.get(path).json()["status"] in {"succeeded", "failed"}, 120)
        return self.client.get(path + "/report").content


@pytest.fixture
def body(request: pytest.FixtureRequest) -> dict[str, Any]:
    """A question of many tasks, another one for each test."""
    rng = random.Random(request.node.name)
    words = [f"w{i}" for i in range(500)]
    texts = [[" ".join(rng.choices(words, k=20)) for _ in range(1500)] for _ in range(4)]
    systems = [{"name": f"s{i}", "hypotheses": text} for i, text in enumerate(texts[1:])]
    return {"references": texts[:1], "systems": systems, "resamples": 10_000}


class Services:
    """Services on one state directory, started when one is needed, one after the other.

    A task may be started once: who counts a stop as a death of the task's own fails it.
    """

    def __init__(self, state: Path, stack: ExitStack) -> None:
        self._queue = QueueSettings(state=state, workers=1, block=1000, attempts=1)
        self._stack = stack
        self._last: Running | None = None

    def running(self) -> Running:
        """The one that runs; it is started unless the last one was left as it was."""
        if self._last is None or self._last.process.poll() is not None:
            self._last = self._stack.enter_context(started(self._queue))
        return self._last


@pytest.fixture(scope="module")
def services(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Services]:
    with ExitStack() as stack:
        yield Services(tmp_path_factory.mktemp("state"), stack)


@contextmanager
def started(queue: QueueSettings) -> Iterator[Running]:
    """`python -m app.serve`, which is told to stop in the end unless it was before."""
    process = subprocess.Popen(
        [sys.executable, "-m", "app.serve"],
        cwd=ROOT,
        env={**os.environ, **queue.as_environment(), "PORT": "0"},
        stdout=subprocess.PIPE,
        text=True,
    )
    assert process.stdout is not None
    with process, process.stdout:
        service = Running(process, process.stdout.readline().rpartition(" ")[2].strip())
        try:
            with service.client:
                yield service
        finally:
            process.terminate()


def alive(pids: list[int]) -> list[int]:
    """Those processes that have not ended."""
    return [pid for pid in pids if called(pid)]


def test_streams_end_before_tasks_and_a_task_that_is_cut_short_runs_again(services, body):
    service = services.running()
    path = service.hold(body)
    with service.client.stream("GET", path + "/events") as events:
        lines = events.iter_lines()
        assert next(lines) == "event: progress"
        service.process.send_signal(signal.SIGTERM)
        assert "event: finished" not in list(lines)
    assert alive(service.workers), "the stream waited for the task"
    assert service.process.wait(30) == 0
    assert service.gone()
    assert services.running().report(path) == in_process(parse_comparison(body))


def test_a_kill_cuts_tasks_short_which_run_again_under_another_service(services, body):
    service = services.running()
    path = service.hold(body)
    kill(service.process.pid)
    service.process.wait()
    assert services.running().report(path) == in_process(parse_comparison(body))
    until(service.gone)


def test_workers_stop_while_a_request_ends_and_the_store_stays_until_then(services):
    service = services.running()
    address = urlsplit(str(service.client.base_url))
    with socket.create_connection((address.hostname, address.port)) as client:
        client.sendall(SLOW_BODY.encode())  # it never ends: the front end waits its whole grace
        assert service.client.get("/readyz").status_code == 200
        service.process.send_signal(signal.SIGTERM)
        until(lambda: not alive(service.workers))
        client.setblocking(False)
        with pytest.raises(BlockingIOError):  # otherwise the workers waited for the request
            client.recv(1)
        assert alive(service.store) == service.store
        client.settimeout(30)
        assert client.recv(1000).startswith(b"HTTP/1.1 503 ")
        assert service.process.wait(30) == 0
    assert service.gone()
