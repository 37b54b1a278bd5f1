"""A running service for tests: real Valkey, real workers, and what it takes to hurt them."""

from __future__ import annotations

import os
import random
import signal
import subprocess
import sys
import time
from collections.abc import Callable, Iterator
from contextlib import closing, contextmanager, suppress
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from sigtest.comparison.comparison import Comparison, parse_comparison
from sigtest.data.text import parse_lines
from sigtest.draws.distribution import Distribution
from sigtest.engine import compare
from sigtest.kinds.comparisons import ComparisonQuestion
from sigtest.render.records import render_json
from workers.machine.keeper import running
from workers.machine.worker import WORKING
from workers.questions import PairChoice, Questions, Record
from workers.settings import Settings
from workers.store.server import connect

CALLER = "tester"
ROOT = Path(__file__).parents[1]
EXAMPLE = ROOT / "examples" / "shared-task"


@dataclass(frozen=True)
class Comparisons:
    """Comparisons among the questions of a service."""

    questions: Questions

    @classmethod
    def connect(cls, settings: Settings) -> Comparisons:
        return cls(Questions.connect(settings))

    def submit(
        self, comparison: Comparison, caller: str, key: str | None = None
    ) -> tuple[Record, bool]:
        return self.questions.submit("comparisons", ComparisonQuestion(comparison), caller, key)

    def listing(
        self, caller: str, cursor: str | None, limit: int
    ) -> tuple[list[Record], str | None]:
        return self.questions.listing(caller, cursor, limit, listed="comparisons")

    def distribution(
        self, key: str, caller: str, a: str, b: str, metric: str, test: str, asked: bool
    ) -> Distribution | None:
        return self.questions.distribution(key, caller, PairChoice(a, b, metric, test), asked)

    def find(self, key: str, caller: str) -> Record:
        return self.questions.find(key, caller)

    def report(self, key: str, caller: str) -> bytes:
        return self.questions.report(key, caller)

    def remove(self, key: str, caller: str) -> Record | None:
        return self.questions.remove(key, caller)

    def check(self) -> None:
        self.questions.check()

    def workers(self) -> int:
        return self.questions.workers()

    def close(self) -> None:
        self.questions.close()


@dataclass(frozen=True)
class Service:
    """Everything of one state directory, found as an operator would: by looking at processes."""

    settings: Settings
    jobs: Comparisons

    def supervisor(self) -> int:
        return _only(children(os.getpid(), "workers.machine.supervisor", str(self.settings.state)))

    def server(self) -> int:
        return _only(children(self.supervisor(), "valkey"))

    def workers(self) -> list[int]:
        """All, with the one that serves short tasks alone."""
        return [pid for pid in children(self.supervisor()) if pid != self.server()]

    def busy(self) -> list[int]:
        """Workers that run a task."""
        return [worker for worker in self.workers() if called(worker) == WORKING]

    def caught(self) -> list[int]:
        """The same, once there are some; they are stopped, so that they die within their tasks."""
        found: list[int] = until(self._stopped_at_work)
        return found

    def _stopped_at_work(self) -> list[int]:
        busy = self.busy()
        for worker in busy:
            send(signal.SIGSTOP, worker)
        working = [worker for worker in busy if called(worker) == WORKING]
        for worker in set(busy) - set(working):  # it ended its task meanwhile
            send(signal.SIGCONT, worker)
        return working


def hurry(settings: Settings) -> None:
    """Let the server leave the disk to the kernel: a stalled disk is not what tests are about."""
    with closing(connect(settings, timeout=60)) as redis:
        redis.config_set("appendfsync", "no")


@contextmanager
def started(settings: Settings) -> Iterator[Service]:
    """Run a service while the block lasts."""
    with running(settings):
        jobs = Comparisons.connect(settings)
        yield Service(settings, jobs)
        jobs.close()


@contextmanager
def launched(
    queue: Settings, module: str = "app.serve", before: str = "", cwd: Path = ROOT, **more: str
) -> Iterator[tuple[subprocess.Popen[str], str]]:
    """`python -m app.serve` and its URL; told to stop as a terminal would, and it must.

    Args:
        queue: Settings of everything but the front end.
        module: What is run.
        before: Commands of the shell that runs it.
        cwd: Where it runs.
        **more: Other variables.
    """
    process = subprocess.Popen(
        ["sh", "-c", f'{before}\nexec "$@"', "sh", sys.executable, "-m", module],
        cwd=cwd,
        env={**os.environ, **queue.as_environment(), "PORT": "0", **more},
        stdout=subprocess.PIPE,
        text=True,
    )
    assert process.stdout is not None
    with process, process.stdout:
        try:
            yield process, process.stdout.readline().rpartition(" ")[2].strip()
        finally:  # or a test that fails would wait for it for ever
            process.send_signal(signal.SIGTERM)
        assert process.wait(60) == 0


def until(happens: Callable[[], Any], seconds: float = 120, pause: float = 0.01) -> Any:
    """Wait for something to become true; patiently, for machines that have other things to do."""
    deadline = time.monotonic() + seconds
    while not (seen := happens()):
        assert time.monotonic() < deadline, "it does not happen"
        time.sleep(pause)
    return seen


def finished(jobs: Comparisons, comparison_id: str) -> Record:
    """A comparison of CALLER, once it has an outcome."""

    def ended() -> Record | None:
        record = jobs.find(comparison_id, CALLER)
        return record if record.status.finished else None

    record: Record = until(ended, pause=0.05)  # an outcome stays, so that no look misses it
    return record


def kill(*pids: int) -> None:
    """Kill processes that may be gone already."""
    send(signal.SIGKILL, *pids)


def send(number: signal.Signals, *pids: int) -> None:
    """Send a signal to processes that may be gone already."""
    for pid in pids:
        with suppress(ProcessLookupError):
            os.kill(pid, number)


def children(pid: int, *words: str) -> list[int]:
    """Child processes, those with all these words in their command or environment."""
    found = []
    for task in Path(f"/proc/{pid}/task").glob("*/children"):
        try:
            found += [int(child) for child in task.read_text().split()]
        except (FileNotFoundError, ProcessLookupError):
            continue
    return [child for child in found if all(word in _described(child) for word in words)]


def in_process(comparison: Comparison) -> bytes:
    """The report as the command line computes and prints it."""
    return render_json(compare(comparison)).encode()


def called(pid: int) -> str:
    """What lists of processes call a process; empty once it is gone."""
    try:
        return Path(f"/proc/{pid}/comm").read_text().strip()
    except (FileNotFoundError, ProcessLookupError):
        return ""


def example(**choices: Any) -> Comparison:
    """The shared task that comes with the project: 138 segments, 5 systems, documents."""
    files = sorted((EXAMPLE / "systems").iterdir())
    return parse_comparison(
        {
            "references": [_lines(EXAMPLE / "reference.en")],
            "documents": _lines(EXAMPLE / "documents.txt"),
            "systems": [{"name": f.stem, "hypotheses": _lines(f)} for f in files],
            "resamples": 2000,
            **choices,
        }
    )


def synthetic(seed: int, segments: int = 500, systems: int = 3, **choices: Any) -> Comparison:
    """Made-up texts of which no two are alike."""
    rng = random.Random(seed)
    words = [f"w{i}" for i in range(1000)]
    reference = [rng.choices(words, k=20) for _ in range(segments)]

    def noisy(error: float) -> list[str]:
        return [
            " ".join(word if rng.random() > error else rng.choice(words) for word in line)
            for line in reference
        ]

    return parse_comparison(
        {
            "references": [[" ".join(line) for line in reference]],
            "systems": [
                {"name": f"s{i}", "hypotheses": noisy(0.3 + 0.02 * i)} for i in range(systems)
            ],
            "resamples": 2000,
            **choices,
        }
    )


def _lines(path: Path) -> tuple[str, ...]:
    return parse_lines(path.read_bytes(), path.name)


def _only(pids: list[int]) -> int:
    (pid,) = pids
    return pid


def _described(pid: int) -> str:
    try:
        folder = Path(f"/proc/{pid}")
        described = (folder / "cmdline").read_bytes() + (folder / "environ").read_bytes()
    except (FileNotFoundError, ProcessLookupError):
        return ""
    return described.replace(b"\0", b" ").decode(errors="replace")
