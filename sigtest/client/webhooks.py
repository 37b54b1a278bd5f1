"""Webhooks of a service: who is told of what happens."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from sigtest.client.connection import Connection

WEBHOOKS = "/v1/webhooks"


class Webhooks:
    """What a client does with webhooks.

    Attributes:
        connection: To the service.
    """

    connection: Connection

    def add_webhook(self, url: str, events: Sequence[str] | None = None) -> dict[str, Any]:
        """Have events told to an address; the answer says its `id`, and once its `secret`.

        Args:
            url: Where messages are sent.
            events: Their names; all by default.
        """
        body = {"url": url, **({} if events is None else {"events": list(events)})}
        return self.connection.send("POST", WEBHOOKS, body)

    def webhooks(self) -> list[dict[str, Any]]:
        """The caller's webhooks, newest first."""
        found = self.connection.told("GET", WEBHOOKS)
        return list(found["webhooks"])

    def test_webhook(self, webhook_id: str) -> dict[str, Any]:
        """Have a test message sent."""
        return self.connection.told("POST", f"{WEBHOOKS}/{webhook_id}/test")

    def remove_webhook(self, webhook_id: str) -> None:
        """Delete a webhook; messages that wait are not sent."""
        self.connection.ask("DELETE", f"{WEBHOOKS}/{webhook_id}")
