"""Hears what workers finish, on one connection for everybody who waits. `app` calls this."""

from __future__ import annotations

import threading
from collections import defaultdict
from collections.abc import Callable, Iterator
from contextlib import contextmanager, suppress

from redis import Redis
from redis.exceptions import RedisError

from workers.settings import Settings
from workers.store.keys import NEWS
from workers.store.server import connect

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

    def wake(self, *owners: str) -> None:
        """Let those look who wait for something of these owners, or all where none is named."""
        with self._lock:
            about = owners or (*self._waiting,)
            waiting = [wake for owner in about for wake in self._waiting.get(owner, ())]
        for wake in waiting:
            wake()

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
                    self.wake(message["channel"].decode().rpartition(":")[2])
