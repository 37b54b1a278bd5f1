"""What webhooks tell: events as messages that are kept until they are delivered."""

from __future__ import annotations

import json
import uuid
from collections.abc import Mapping
from dataclasses import dataclass
from datetime import UTC, datetime
from typing import Any

from workers.store import keys

EVENTS = {
    "question.succeeded": "A question has its report.",
    "question.failed": "A question has no answer; `error` says why.",
    "question.cancelled": "A question was cancelled.",
    "leaderboard.refreshed": "A leaderboard shows another comparison than before.",
}
TEST = "webhook.test"


@dataclass(frozen=True)
class Message:
    """One event, as every receiver of it gets it.

    Attributes:
        event: Its name.
        id: The same for all attempts to deliver it.
        body: JSON: `type`, `timestamp`, `data`.
    """

    event: str
    id: str
    body: str

    @classmethod
    def of(cls, event: str, data: Mapping[str, Any]) -> Message:
        """A message of something that happens now."""
        moment = datetime.now(UTC).isoformat().replace("+00:00", "Z")
        body = json.dumps({"type": event, "timestamp": moment, "data": data})
        return cls(event, f"msg_{uuid.uuid4().hex}", body)

    @property
    def arguments(self) -> list[str]:
        """What scripts that announce it take."""
        return [self.event, self.id, self.body]


def announcing(caller: str) -> list[str]:
    """The keys that scripts take which announce something to the webhooks of a caller."""
    prefixes = [keys.key("webhook", ""), keys.key("deliveries", "")]
    return [keys.of_caller("webhooks", caller), keys.DUE, *prefixes]
