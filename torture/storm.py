"""Part "storm": callers ask questions of every kind while the service is hurt at random."""

from __future__ import annotations

import itertools
import random
import subprocess
import tempfile
import threading
import time
from collections.abc import Iterator
from concurrent.futures import ThreadPoolExecutor
from contextlib import contextmanager
from dataclasses import dataclass, field
from pathlib import Path

from redis.exceptions import RedisError

from torture.hurts import Hurts
from torture.load.asking import Asking, StuckError
from torture.load.caller import PATIENCE, Caller
from torture.load.expected import Expected
from torture.load.ledger import SHOWN, Ledger
from torture.service import Service, until

CALLERS = ("ann", "bob", "cleo")
THREADS = 2  # of each caller
PROBER = "probe"
MANY = 10**9
SETTINGS = {"SIGTEST_BLOCK": "500", "SIGTEST_FREE": "1048576", "SIGTEST_MEMORY": "1073741824"}
DISK = "size=512m"


@dataclass
class Storm:
    """One service, its callers and what hurts it.

    Attributes:
        service: The service.
        seed: Of questions and hurts.
        ledger: What was seen.
        expected: What reports must be.
        disk: A file system that may be filled.
        pause: Longest time between two hurts.
        patience: Seconds until something counts as stuck, where not the usual ones.
    """

    service: Service
    seed: int
    ledger: Ledger
    expected: Expected
    disk: Path | None = None
    pause: float = 0.3
    patience: float | None = None
    callers: list[Caller] = field(default_factory=list)

    def rage(self, seconds: float, jobs: int = MANY, kinds: tuple[str, ...] = ()) -> None:
        """Ask and hurt for a time.

        Args:
            seconds: How long, at most.
            jobs: Questions, all of which are asked where that is said.
            kinds: Ways to hurt, once each in this order; at random where there are none.
        """
        keys = self.service.keys(*CALLERS, PROBER)
        over = threading.Event()
        numbers = itertools.count()
        self.callers = [self._caller(name, keys[name]) for name in CALLERS for _ in range(THREADS)]
        prober = self._caller(PROBER, keys[PROBER])
        with ThreadPoolExecutor(len(self.callers)) as pool:
            working = [pool.submit(_work, c, numbers, jobs, over) for c in self.callers]
            try:
                self._hurt(prober, time.monotonic() + seconds, kinds)
                if jobs < MANY:  # all of them
                    until(lambda: all(work.done() for work in working), seconds, 0.1)
            finally:
                over.set()
            for work in working:
                work.result()
        self.callers.append(prober)
        self._settle()

    def _caller(self, name: str, key: str) -> Caller:
        asking = Asking(self.service, self.ledger, key)
        caller = Caller(name, asking, self.ledger, self.expected, self.seed)
        caller.patience = self.patience or caller.patience
        return caller

    def _hurt(self, prober: Caller, deadline: float, kinds: tuple[str, ...]) -> None:
        rng = random.Random(f"storm {self.seed}")
        probes = itertools.count()
        hurts = Hurts(self.service, rng, self.ledger, lambda: prober.probe(next(probes)), self.disk)
        for kind in kinds or itertools.repeat(""):
            if time.monotonic() > deadline:
                break
            time.sleep(rng.uniform(0.02, self.pause))
            hurts.once(kind)
            self._orphans()

    def _orphans(self) -> None:
        """Processes of the service that belong to no part of it for longer than an ending takes."""
        left = set(self.service.left_over())
        if left and not until(lambda: not left & set(self.service.left_over()), 10):
            self.ledger.bad("orphaned", f"{sorted(left & set(self.service.left_over()))}")

    def _settle(self) -> None:
        """When the storm is over, nothing is left: no question, no task, no job."""
        redis = self.service.connected()
        names = ("sigtest:pending", "sigtest:waiting", "sigtest:joining", "rq:queue:sigtest")

        def quiet() -> bool:
            try:
                return not redis.exists(*names) and not redis.keys("rq:job:*")
            except RedisError:
                return False

        if not until(quiet, self.patience or PATIENCE, 0.2):
            left = [name for name in (*names, *redis.keys("rq:job:*")) if redis.exists(name)]
            self.ledger.bad("stuck", f"left in the store when all was over: {left[:20]}")
        redis.close()
        for caller in self._by_name():
            try:
                caller.account()
            except StuckError as error:
                self.ledger.bad("stuck", str(error))
        for caller in self.callers:
            caller.asking.close()

    def _by_name(self) -> Iterator[Caller]:
        """One caller of each name, who knows what all of its threads were promised."""
        for name in (*CALLERS, PROBER):
            own = [caller for caller in self.callers if caller.name == name]
            first = own[0]
            for other in own[1:]:
                first.gone |= other.gone
                for path, ids in other.accepted.items():
                    first.accepted.setdefault(path, set()).update(ids)
            yield first


def _work(caller: Caller, numbers: Iterator[int], jobs: int, over: threading.Event) -> None:
    while not over.is_set() and (number := next(numbers)) < jobs:
        caller.perform(number)


@contextmanager
def disk_of_its_own(most: str = DISK) -> Iterator[tuple[Path, Path | None]]:
    """A folder for a service, and its state where that has a small file system of its own."""
    with tempfile.TemporaryDirectory(prefix="torture-") as made:
        state = Path(made) / "state"
        state.mkdir()
        mount = ["mount", "-t", "tmpfs", "-o", most, "tmpfs", str(state)]
        mounted = subprocess.run(mount, capture_output=True, check=False).returncode == 0
        try:
            yield Path(made), state if mounted else None
        finally:
            if mounted:
                subprocess.run(["umount", "-l", str(state)], check=False)


def stormed(
    seed: int,
    seconds: float,
    jobs: int = MANY,
    fault: str = "",
    kinds: tuple[str, ...] = (),
    patience: float | None = None,
) -> Ledger:
    """The ledger of one storm on a service of its own."""
    ledger = Ledger()
    expected = Expected()
    with disk_of_its_own() as (folder, disk):
        service = Service(folder, fault, SETTINGS)
        try:
            service.start()
            storm = Storm(service, seed, ledger, expected, disk, patience=patience)
            storm.rage(seconds, jobs, kinds)
        finally:
            for pid in service.end():
                ledger.bad("orphaned", f"process {pid} outlives its service")
            if ledger.faults:
                ledger.findings += service.tracebacks()[-SHOWN:]
            expected.close()
    return ledger
