"""A real service that is tortured: started as an operator would, found by looking at processes."""

from __future__ import annotations

import os
import signal
import subprocess
import sys
import threading
import time
from collections.abc import Callable, Mapping
from contextlib import suppress
from dataclasses import dataclass
from pathlib import Path

from redis import Redis

from torture.processes import children, command, descendants, marked, send
from workers.access import Access
from workers.process import die_with_parent
from workers.settings import Settings
from workers.store.server import connect

ROOT = Path(__file__).parents[1]
HOOK = Path(__file__).parent / "hook"
START_SECONDS = 240.0  # the first start after a change compiles kernels
STOP_SECONDS = 40.0
SUPERVISOR = "workers.machine.supervisor"


class NotStartedError(Exception):
    """The service does not start, or does not stop."""


@dataclass(frozen=True)
class Instance:
    """One running service.

    Attributes:
        process: `python -m app.serve`.
        url: Where it answers.
        version: What it believes to be.
    """

    process: subprocess.Popen[str]
    url: str
    version: str

    @property
    def supervisors(self) -> list[int]:
        """What keeps its workers; one, but for moments."""
        return [pid for pid in children(self.process.pid) if SUPERVISOR in command(pid)]


class Service:
    """A service on a state directory of its own; perhaps two for moments, in an upgrade.

    Args:
        folder: Where its state and its log are.
        fault: What is planted in it; nothing for the product as it is.
        settings: Further variables of its environment.
    """

    def __init__(
        self, folder: Path, fault: str = "", settings: Mapping[str, str] | None = None
    ) -> None:
        self.folder = folder
        self.state = folder / "state"
        self.state.mkdir(parents=True, exist_ok=True)
        self.log = folder / "log"
        self._fault = fault
        self._environment = dict(settings or {})
        self._lock = threading.Lock()
        self.instances: list[Instance] = []

    # starting and stopping

    def start(self, version: str = "") -> Instance:
        """Start a service beside those that run, which answers from now on.

        Raises:
            NotStartedError: It does not start.
        """
        with self.log.open("a") as log:
            process = subprocess.Popen(
                [sys.executable, "-m", "app.serve"],
                cwd=ROOT,
                env=self._variables(version),
                stdout=subprocess.PIPE,
                stderr=log,
                text=True,
                start_new_session=True,
                preexec_fn=die_with_parent,
            )
        url = _first_line(process).rpartition(" ")[2].strip()
        if not url.startswith("http"):
            said = self.log.read_text(errors="replace")[-500:]
            raise NotStartedError(f"the service ended with {process.wait()}: {said}")
        instance = Instance(process, url, version)
        with self._lock:
            self.instances.append(instance)
        return instance

    def stop(self, instance: Instance, number: signal.Signals = signal.SIGTERM) -> float:
        """End a service; seconds until it had ended.

        Raises:
            NotStartedError: It does not stop.
        """
        with self._lock:
            self.instances = [other for other in self.instances if other is not instance]
        since = time.monotonic()
        instance.process.send_signal(number)
        try:
            instance.process.wait(STOP_SECONDS)
        except subprocess.TimeoutExpired:
            instance.process.kill()
            instance.process.wait()
            raise NotStartedError("the service does not stop") from None
        finally:
            if instance.process.stdout is not None:
                instance.process.stdout.close()
        return time.monotonic() - since

    def end(self) -> list[int]:
        """Stop everything; processes that are there ten seconds later, which are ended as well."""
        for instance in list(self.instances):
            with suppress(NotStartedError):
                self.stop(instance)
        left = self.left_over()
        until(lambda: not self.left_over(), 10)
        left = self.left_over()
        send(signal.SIGCONT, *left)
        send(signal.SIGKILL, *left)
        return left

    def _variables(self, version: str) -> dict[str, str]:
        return {
            **os.environ,
            "PYTHONPATH": f"{HOOK}{os.pathsep}{ROOT}",
            "SIGTEST_STATE": str(self.state),
            "REDIS_URL": "",
            "PORT": "0",
            "TORTURE_FAULT": self._fault,
            "TORTURE_VERSION": version,
            **self._environment,
        }

    # what is there

    @property
    def url(self) -> str:
        """Where requests go now."""
        with self._lock:
            return self.instances[-1].url if self.instances else "http://127.0.0.1:9"

    @property
    def settings(self) -> Settings:
        """Where its store is."""
        return Settings(state=self.state)

    def connected(self) -> Redis:
        """A client of its store, to look at it."""
        return connect(self.settings, retries=0, timeout=5.0)

    def keys(self, first: str, *others: str) -> dict[str, str]:
        """A key for each of these callers, the first as operators make them."""
        command = (sys.executable, "-m", "workers.admin", "keys", "add", first)
        made = subprocess.run(
            command,
            cwd=ROOT,
            env=self._variables(""),
            stdout=subprocess.PIPE,
            text=True,
            check=False,
        )
        redis = self.connected()
        access = Access(redis)
        keys = {name: access.add(name, ("read", "submit"))[1] for name in others}
        redis.close()
        return {first: made.stdout.strip(), **keys}

    @property
    def supervisors(self) -> list[int]:
        """Of all instances."""
        return [pid for instance in self.instances for pid in instance.supervisors]

    def store(self) -> list[int]:
        """The store's process; none for moments."""
        found = [pid for above in self.supervisors for pid in children(above)]
        return [pid for pid in found if "valkey" in command(pid)]

    def workers(self) -> list[int]:
        """Workers, which have the command line of the supervisor that they were forked from."""
        found = [pid for above in self.supervisors for pid in children(above)]
        return [pid for pid in found if SUPERVISOR in command(pid)]

    def left_over(self) -> list[int]:
        """Processes of this service that are below none of its instances."""
        known = [i.process.pid for i in list(self.instances)]
        below = {pid for top in known for pid in (top, *descendants(top))}
        return [pid for pid in marked(f"SIGTEST_STATE={self.state}") if pid not in below]

    def tracebacks(self) -> list[str]:
        """Last lines of the tracebacks in the log, and where these were raised."""
        found, inside, place = [], False, ""
        for line in self.log.read_text(errors="replace").splitlines():
            if line.startswith("Traceback"):
                inside = True
            elif inside and line.startswith('  File "'):
                place = line.strip()
            elif inside and not line.startswith((" ", "|")):
                found.append(f"{line[:200]} ({place})")
                inside = False
        return found


def _first_line(process: subprocess.Popen[str]) -> str:
    """What the service says first, which is where it answers; nothing where it ends before."""
    assert process.stdout is not None
    timer = threading.Timer(START_SECONDS, process.kill)
    timer.start()
    try:
        return process.stdout.readline()
    finally:
        timer.cancel()


def until(happens: Callable[[], object], seconds: float, pause: float = 0.02) -> bool:
    """Wait for something to become true; whether it did."""
    deadline = time.monotonic() + seconds
    while not happens():
        if time.monotonic() > deadline:
            return False
        time.sleep(pause)
    return True
