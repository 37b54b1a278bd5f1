"""Part "soak": memory of every process while the service works at about half of what it can."""

from __future__ import annotations

import itertools
import statistics
import threading
import time

from torture.load.asking import Asking
from torture.load.caller import Caller
from torture.load.expected import Expected
from torture.load.ledger import Ledger
from torture.processes import resident
from torture.service import Service
from torture.strangers import served

MINUTES = 30.0
WARM_SHARE = 1 / 3  # of the time, in which memory may still grow
GROWTH = 0.05
SAMPLE_SECONDS = 10.0
ROUNDS = 20  # questions that show how fast the service is
# what was answered goes soon, so that a store that keeps it for a week can be seen at rest
SETTINGS = {"SIGTEST_RETENTION": "60", "SIGTEST_REMEMBRANCE": "60", "SIGTEST_CACHE": "60"}


def soaked(seed: int, fault: str = "", minutes: float = MINUTES) -> Ledger:
    """The ledger of one soak."""
    expected = Expected()
    with served(fault, SETTINGS) as (service, ledger):
        key = service.keys("ann")["ann"]
        asking = Asking(service, ledger, key)
        caller = Caller("ann", asking, ledger, expected, seed)
        numbers = itertools.count()
        since = time.monotonic()
        for _ in range(ROUNDS):
            caller.perform(next(numbers))
        each = (time.monotonic() - since) / ROUNDS
        over = threading.Event()
        watching = threading.Thread(target=_watch, args=(service, ledger, over))
        watching.start()
        deadline = time.monotonic() + 60 * minutes
        while time.monotonic() < deadline:
            due = time.monotonic() + 2 * each
            caller.perform(next(numbers))
            time.sleep(max(0.0, due - time.monotonic()))
        over.set()
        watching.join()
        _judge(ledger)
        asking.close()
    expected.close()
    return ledger


def _watch(service: Service, ledger: Ledger, over: threading.Event) -> None:
    while not over.wait(SAMPLE_SECONDS):
        for name, size in _sizes(service).items():
            ledger.took(f"MB of {name}", size / 1e6)


def _sizes(service: Service) -> dict[str, float]:
    """Bytes of each process of the service, and what the store says of itself."""
    (instance,) = service.instances
    redis = service.connected()
    used = float(redis.info("memory")["used_memory"])
    redis.close()
    workers = {f"worker {i + 1}": resident(pid) for i, pid in enumerate(service.workers())}
    return {
        "front end": resident(instance.process.pid),
        "supervisor": sum(map(resident, service.supervisors)),
        "store": sum(map(resident, service.store())),
        "data in the store": used,
        **workers,
    }


def _judge(ledger: Ledger) -> None:
    for name, sizes in ledger.times.items():
        if name.startswith("MB of ") and grows(sizes):
            ledger.bad("grown", f"{name}: {growth(sizes):+.1%} after the first third")


def grows(sizes: list[float]) -> bool:
    """Whether it grows by more than GROWTH."""
    return growth(sizes) > GROWTH


def growth(sizes: list[float]) -> float:
    """By what share the last sixth is larger than the first sixth after the warm third."""
    rest = sizes[round(len(sizes) * WARM_SHARE) :]
    sixth = max(1, len(rest) // 4)
    before, after = statistics.median(rest[:sixth]), statistics.median(rest[-sixth:])
    return (after - before) / before
