"""A client of the HTTP service: the same comparison, computed elsewhere.

    from sigtest.client import Client

    with Client("http://127.0.0.1:8000") as client:
        report = client.compare(comparison)

A request that meets a reset connection or a busy service is sent again, with longer and longer
pauses; an `Idempotency-Key` makes sure that it still is the same comparison.
"""

from __future__ import annotations

import time
from collections.abc import Callable
from types import TracebackType
from typing import Self

from sigtest.client.connection import Connection
from sigtest.client.questions import Questions
from sigtest.client.testsets import TestSets
from sigtest.client.webhooks import Webhooks
from sigtest.requests.notes import Notes


class Client(Questions, TestSets, Webhooks):
    """Speaks to one service; closes its connections at the end of a `with` block.

    Args:
        url: Where the service is, such as `http://127.0.0.1:8000`.
        api_key: The caller's key, where the service wants one.
        sleep: Waits so many seconds.

    Raises:
        ServiceError: Not an http or https address.
    """

    def __init__(
        self, url: str, api_key: str | None = None, sleep: Callable[[float], object] = time.sleep
    ) -> None:
        self.connection = Connection(url, api_key, sleep)

    @property
    def url(self) -> str:
        """Where the service is."""
        return self.connection.url

    def __enter__(self) -> Self:
        return self

    def __exit__(
        self,
        kind: type[BaseException] | None,
        error: BaseException | None,
        trace: TracebackType | None,
    ) -> None:
        self.close()

    def close(self) -> None:
        """Close all connections."""
        self.connection.close()


__all__ = ["Client", "Notes"]
