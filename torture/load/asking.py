"""One thread that asks a service over HTTP, and does not give up while it is away."""

from __future__ import annotations

import time
from collections.abc import Mapping
from typing import Any

import httpx

from torture.load.ledger import Ledger
from torture.service import Service

PATIENCE = 90.0  # seconds without an answer after which the service counts as stuck
PAUSE = 0.05
READ_SECONDS = 60.0


class StuckError(Exception):
    """The service does not answer, or not as it should."""


class Asking:
    """Requests of one caller.

    Args:
        service: Whom to ask.
        ledger: Where to note what is wrong.
        key: Of the caller.
    """

    def __init__(self, service: Service, ledger: Ledger, key: str) -> None:
        self._service = service
        self._ledger = ledger
        self._client = httpx.Client(headers={"X-API-Key": key}, timeout=READ_SECONDS)

    @property
    def front(self) -> str:
        """Where requests go now."""
        return self._service.url

    def close(self) -> None:
        """Close the connections."""
        self._client.close()

    def request(
        self,
        method: str,
        path: str,
        body: Mapping[str, Any] | None = None,
        headers: Mapping[str, str] | None = None,
        params: Mapping[str, str] | None = None,
    ) -> httpx.Response:
        """The first answer that is about the request, however long the service is away.

        Raises:
            StuckError: There is none.
        """
        since = time.monotonic()
        while time.monotonic() < since + PATIENCE:
            started = time.monotonic()
            try:
                answer = self._client.request(
                    method, self._service.url + path, json=body, headers=headers, params=params
                )
            except httpx.TransportError:
                self._ledger.count("requests without an answer")
                time.sleep(PAUSE)
                continue
            self._ledger.count("requests of callers")
            if answer.status_code == 503 and told(answer):
                self._ledger.count("answers 503 that say so")
                self._ledger.took("seconds to a 503", time.monotonic() - started)
                time.sleep(PAUSE)
            elif answer.status_code == 429 and told(answer):
                time.sleep(PAUSE)
            elif answer.status_code >= 500:
                self._ledger.bad("faulty", f"{method} {path}: {answer.status_code} {answer.text}")
                time.sleep(PAUSE)
            else:
                self._ledger.took("without an answer", started - since)
                return answer
        raise StuckError(f"{method} {path} has no answer after {PATIENCE:.0f} s")


def told(answer: httpx.Response) -> bool:
    """Whether a refusal is a problem document that says when to come again."""
    if answer.headers.get("content-type") != "application/problem+json":
        return False
    document = answer.json()
    wanted = {"type", "title", "status", "detail"} <= document.keys()
    return wanted and answer.headers.get("retry-after", "").isdigit()
