"""How a service is hurt, and how long it takes to recover."""

from __future__ import annotations

import random
import resource
import signal
import time
from collections.abc import Callable
from contextlib import suppress
from dataclasses import dataclass
from pathlib import Path

from redis import Redis
from redis.exceptions import RedisError

from torture.load.ledger import Ledger
from torture.processes import send
from torture.service import NotStartedError, Service, until
from workers.store.codec import decoded

KILL, STOP, CONTINUE = signal.SIGKILL, signal.SIGSTOP, signal.SIGCONT
# How often each is done, and the bar of its recovery in seconds, where there is one.
SHARES = {
    "worker killed": 89,
    "store killed": 12,
    "supervisor killed": 2,
    "front end killed": 2,
    "worker paused": 5,
    "store paused": 3,
    "front end paused": 1,
    "store without memory": 2,
    "store cut off in a write": 2,
    "worker without memory": 3,
    "disk full": 1,
    "restart": 1,
    "upgrade": 1,
}
BARS = {"worker killed": 10.0, "store killed": 5.0,
        "supervisor killed": 10.0, "front end killed": 10.0, "restart": 10.0,
        "upgrade": 10.0}  # fmt: skip
LONGEST = 60.0
OTHER_VERSION = "0.2.1"
LITTLE = 2**20
PROBE = "sigtest:torture"


@dataclass
class Hurts:
    """Hurts one service at random.

    Attributes:
        service: Which.
        rng: What comes next.
        ledger: What was done, and how long recovery took.
        probe: Asks a small question; when it was answered, of the monotonic clock.
        disk: A file system of the state's own that may be filled, where there is one.
        patience: Seconds for a recovery, after which the service counts as stuck.
    """

    service: Service
    rng: random.Random
    ledger: Ledger
    probe: Callable[[], float]
    disk: Path | None = None
    patience: float = LONGEST

    def once(self, kind: str = "") -> None:
        """Hurt the service in one way, and wait until it has recovered."""
        shares = {k: s for k, s in SHARES.items() if self.disk or k != "disk full"}
        chosen = kind or self.rng.choices(list(shares), list(shares.values()))[0]
        try:
            recovery = WAYS[chosen](self)
        except (NotStartedError, RedisError) as error:
            self.ledger.bad("stuck", f"{chosen}: {error}")
            return
        if recovery is None:
            return  # there was nothing to hurt
        self.ledger.count("hurts")
        self.ledger.count(f"hurts: {chosen}")
        if chosen.endswith("killed") or chosen == "store cut off in a write":
            self.ledger.count("kills")
        self.ledger.took(f"recovery: {chosen}", recovery)

    # single ways

    def worker_killed(self) -> float | None:
        """Until there are enough, and the task that it held runs again or is done."""
        workers = self.service.workers()
        if not workers:
            return None
        enough = len(workers)
        redis = self.service.connected()
        victim = self.rng.choice([w for w in workers if _held(redis, w)] or workers)
        held = _held(redis, victim)
        send(KILL, victim)

        def back() -> bool:
            there = set(self.service.workers())
            return len(there) >= enough and victim not in there and _again(redis, held)

        try:
            return self._recovered("worker", back)
        finally:
            redis.close()

    def store_killed(self) -> float | None:
        """From when it answers again until a question is answered."""
        send(KILL, *self.service.store())
        return self._after_store()

    def store_cut_off(self) -> float | None:
        """Its file may grow by some bytes more: it dies in the middle of a write."""
        found = self.service.store()
        files = [f.stat().st_size for f in self.service.state.rglob("*.aof")]
        if not found or not files:
            return None
        size = max(files) + self.rng.randint(1, 3000)
        try:
            resource.prlimit(found[0], resource.RLIMIT_FSIZE, (size, size))
        except ProcessLookupError:
            return None
        if not until(lambda: found[0] not in self.service.store(), 20):
            return None  # nothing was written
        return self._after_store()

    def supervisor_killed(self) -> float | None:
        """Its store and workers die with it."""
        send(KILL, *self.service.supervisors)
        return self._probed()

    def front_end_killed(self) -> float | None:
        """Everything below it ends; another is started at once."""
        (instance,) = self.service.instances
        since = time.monotonic()
        self.service.stop(instance, KILL)
        self.service.start(instance.version)
        return self.probe() - since

    def restart(self) -> float | None:
        """As operators do it."""
        (instance,) = self.service.instances
        since = time.monotonic()
        self.service.stop(instance)
        self.service.start(instance.version)
        return self.probe() - since

    def upgrade(self) -> float | None:
        """Another version starts beside the one that runs, which is stopped then."""
        (old,) = self.service.instances
        self.service.start("" if old.version else OTHER_VERSION)
        since = time.monotonic()
        self.service.stop(old)
        return self.probe() - since

    def paused(self, find: Callable[[], list[int]], longest: float) -> float | None:
        """Until a question is answered after it goes on."""
        found = find()
        if not found:
            return None
        victim = self.rng.choice(found)
        send(STOP, victim)
        time.sleep(self.rng.uniform(0.1, longest))
        send(CONTINUE, victim)
        return self._probed()

    def without_memory(self) -> float | None:
        """The store takes nothing new for some seconds."""
        redis = self.service.connected()
        most = str(redis.config_get("maxmemory")["maxmemory"])
        redis.config_set("maxmemory", LITTLE)
        time.sleep(self.rng.uniform(0.2, 2.0))
        while not _told_again(redis, most):  # it may have died meanwhile, and be itself again
            time.sleep(0.1)
        redis.close()
        return self._probed()

    def worker_without_memory(self) -> float | None:
        """A worker cannot have another byte."""
        workers = self.service.workers()
        if not workers:
            return None
        try:
            resource.prlimit(self.rng.choice(workers), resource.RLIMIT_AS, (LITTLE, LITTLE))
        except ProcessLookupError:
            return None
        return self._probed()

    def disk_full(self) -> float | None:
        """Every byte of the disk is taken for some seconds."""
        assert self.disk is not None
        balloon = self.disk / "balloon"
        with balloon.open("wb", buffering=0) as file, suppress(OSError):
            while file.write(bytes(2**16)):
                pass
        time.sleep(self.rng.uniform(0.5, 3.0))
        balloon.unlink()
        return self._probed()

    # what they share

    def _after_store(self) -> float | None:
        redis = self.service.connected()
        back = until(lambda: _answers(redis), self.patience, 0.005)
        redis.close()
        if not back:
            self.ledger.bad("stuck", "the store does not come back")
            return None
        return self._probed()

    def _probed(self) -> float:
        since = time.monotonic()
        return self.probe() - since

    def _waiting(self) -> bool:
        redis = self.service.connected()
        try:
            return bool(redis.llen("rq:queue:sigtest") or redis.zcard("sigtest:waiting"))
        except RedisError:
            return True
        finally:
            redis.close()

    def _recovered(self, what: str, happens: Callable[[], object]) -> float:
        since = time.monotonic()
        if not until(happens, self.patience, 0.005):
            self.ledger.bad("stuck", f"{what}: no recovery in {self.patience:.0f} s")
        return time.monotonic() - since


def _answers(redis: Redis) -> bool:
    try:
        return bool(redis.ping())
    except RedisError:
        return False


def _told_again(redis: Redis, most: str) -> bool:
    try:
        return bool(redis.config_set("maxmemory", most))
    except RedisError:
        return False


def _held(redis: Redis, pid: int) -> tuple[str, str] | None:
    """The job that a worker has, and the worker's name."""
    try:
        for name in redis.scan_iter("rq:worker:*"):
            known, job = redis.hmget(name, "pid", "current_job")
            if known is not None and int(known) == pid and job is not None:
                return decoded(job), decoded(name).rpartition(":")[2]
    except RedisError:
        return None
    return None


def _again(redis: Redis, held: tuple[str, str] | None) -> bool:
    """Whether a job is gone, which it is when it was done, or runs elsewhere."""
    if held is None:
        return True
    try:
        worker = redis.hget(f"rq:job:{held[0]}", "worker_name")
        there = redis.exists(f"rq:job:{held[0]}")
    except RedisError:
        return False
    return not there or (worker is not None and decoded(worker) not in {"", held[1]})


WAYS: dict[str, Callable[[Hurts], float | None]] = {
    "worker killed": Hurts.worker_killed,
    "store killed": Hurts.store_killed,
    "supervisor killed": Hurts.supervisor_killed,
    "front end killed": Hurts.front_end_killed,
    "worker paused": lambda hurts: hurts.paused(hurts.service.workers, 9.0),
    "store paused": lambda hurts: hurts.paused(hurts.service.store, 5.0),
    "front end paused": lambda hurts: hurts.paused(
        lambda: [instance.process.pid for instance in hurts.service.instances], 3.0
    ),
    "store without memory": Hurts.without_memory,
    "store cut off in a write": Hurts.store_cut_off,
    "worker without memory": Hurts.worker_without_memory,
    "disk full": Hurts.disk_full,
    "restart": Hurts.restart,
    "upgrade": Hurts.upgrade,
}
