"""What `app` and operators watch: what workers finish, what waits, and how long tasks took."""

from __future__ import annotations

import threading
import time
from collections import defaultdict
from collections.abc import Callable, Iterator, Mapping
from contextlib import contextmanager, suppress
from dataclasses import dataclass

from redis import Redis
from redis.exceptions import RedisError

from workers.errors import storage
from workers.queue import Context
from workers.settings import Settings
from workers.store import keys
from workers.store.codec import decoded
from workers.store.keys import NEWS
from workers.store.server import connect
from workers.store.usage import Durations, Tallies

PATIENCE = 0.5  # seconds between looks whether to go on, and between attempts to connect

Wake = Callable[[], object]


class News:
    """What stores publish. News may be lost with a connection: those who wait look, too.

    Args:
        redis: The server.
    """

    def __init__(self, redis: Redis) -> None:
        self._redis = redis
        self._waiting: defaultdict[str, list[Wake]] = defaultdict(list)
        self._lock = threading.Lock()
        self._closed = threading.Event()
        threading.Thread(target=self._listen, name="news", daemon=True).start()

    @classmethod
    def connect(cls, settings: Settings) -> News:
        """News from the server that the settings name, which need not be up yet."""
        return cls(connect(settings))

    def close(self) -> None:
        """Stop listening."""
        self._closed.set()

    @contextmanager
    def about(self, owner: str, wake: Wake) -> Iterator[None]:
        """Call `wake`, from another thread, whenever something of this owner is finished."""
        with self._lock:
            self._waiting[owner].append(wake)
        try:
            yield
        finally:
            with self._lock:
                self._waiting[owner].remove(wake)
                if not self._waiting[owner]:
                    del self._waiting[owner]

    def _listen(self) -> None:
        while not self._closed.is_set():
            with suppress(RedisError, RuntimeError):  # RuntimeError: who waited is gone
                self._follow()
            self._closed.wait(PATIENCE)
        self._redis.close()

    def _follow(self) -> None:
        listener = self._redis.pubsub(ignore_subscribe_messages=True)  # type: ignore[no-untyped-call]
        with listener as pubsub:
            pubsub.psubscribe(NEWS)
            while not self._closed.is_set():
                message = pubsub.get_message(timeout=PATIENCE)
                if message is not None:
                    owner = message["channel"].decode().rpartition(":")[2]
                    with self._lock:
                        waiting = [*self._waiting.get(owner, ())]
                    for wake in waiting:
                        wake()


@dataclass(frozen=True)
class Load:
    """The service at one moment.

    Attributes:
        workers: How many are alive.
        waiting: Tasks that no worker has.
        oldest: Seconds since the oldest of them began to wait; 0 where none waits.
        drained: Whether an operator lets all of them wait.
        unfinished: Questions without an outcome, by caller.
        predicted: Seconds of one core that these were predicted to take, by caller.
        tasks: How long tasks took, by name and outcome, since the store is there.
        spent: Seconds that they took, by caller.
        looks: Statistics that accepted comparisons found in a cache (`hit`), or not (`miss`).
    """

    workers: int
    waiting: int
    oldest: float
    drained: bool
    unfinished: Mapping[str, int]
    predicted: Mapping[str, float]
    tasks: Mapping[tuple[str, str], Durations]
    spent: Mapping[str, float]
    looks: Mapping[str, int]


@storage()
def load(context: Context) -> Load:
    """Look at the service.

    Raises:
        StorageError: The store does not answer.
    """
    waiting, since = context.feed.depth()
    pending = _pending(context)
    tallies = Tallies(context.redis)
    return Load(
        workers=context.feed.jobs.workers(),
        waiting=waiting,
        oldest=0.0 if since is None else max(0.0, time.time() - since),
        drained=context.feed.drained,
        unfinished={caller: len(seconds) for caller, seconds in pending.items()},
        predicted={caller: sum(seconds) for caller, seconds in pending.items()},
        tasks=tallies.all(),
        spent=tallies.spent(),
        looks=tallies.looks(),
    )


def _pending(context: Context) -> dict[str, list[float]]:
    """Predicted seconds of each unfinished question, by caller."""
    redis, ids = context.redis, context.questions.pending()
    with redis.pipeline(transaction=False) as pipe:
        for question in ids:
            pipe.hget(keys.key("question", question), "caller")
        callers = pipe.execute()
    known = list(dict.fromkeys(decoded(caller) for caller in callers if caller is not None))
    with redis.pipeline(transaction=False) as pipe:
        for caller in known:
            pipe.hvals(keys.of_caller("pending", caller))
        held = pipe.execute()
    return {
        caller: [float(decoded(facts).partition(" ")[0]) for facts in own]
        for caller, own in zip(known, held, strict=True)
        if own
    }
