"""Webhooks in Redis, and the messages that wait to be delivered to them."""

from __future__ import annotations

import json
import secrets
import time
import uuid
from base64 import b64encode
from collections import defaultdict
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from datetime import UTC, datetime
from typing import Any, Literal, cast

from redis import Redis
from redis.client import Pipeline

from workers.settings import Settings
from workers.store import keys, scripts
from workers.store.codec import decoded

SECRET_BYTES = 32
SECRET_PREFIX = "whsec_"  # as Standard Webhooks spells secrets
SHOWN = ("caller", "url", "events", "created", "delivered", "dropped", "error", "seconds")
USUAL_SECONDS = 0.1
AT_ONCE = 500  # messages handed out in one exchange
Outcome = Literal["delivered", "again", "dropped"]
LEASES = 3  # times the longest attempt: so long no other worker takes a message


@dataclass(frozen=True)
class WebhookRecord:
    """A webhook as its owner sees it.

    Attributes:
        id: 32 hexadecimal digits.
        caller: Whose it is.
        url: Where messages are sent.
        events: Names of those that it is told of.
        created_at: Seconds since the epoch.
        delivered: Messages that were.
        pending: Messages that are still to be.
        dropped: Messages that were given up, or for which there was no room.
        error: Why the last attempt failed, if it did.
        seconds: That the last attempt took.
    """

    id: str
    caller: str
    url: str
    events: tuple[str, ...]
    created_at: float
    delivered: int
    pending: int
    dropped: int
    error: str | None
    seconds: float


@dataclass(frozen=True)
class Attempt:
    """One attempt to deliver a message.

    Attributes:
        webhook: Id.
        message: Id.
        body: What is sent.
        number: From 1.
        url: Where to.
        secret: That it is signed with.
    """

    webhook: str
    message: str
    body: bytes
    number: int
    url: str
    secret: str


class WebhookStore:
    """Reads and writes webhooks and their messages. Raises what redis raises.

    Args:
        redis: The server, with bytes as answers.
        settings: How long an attempt may take.
    """

    def __init__(self, redis: Redis, settings: Settings) -> None:
        self.redis = redis
        self._lease = LEASES * settings.webhook_timeout
        self._put = redis.register_script(scripts.PUT_MESSAGE)
        self._remove = redis.register_script(scripts.REMOVE_WEBHOOK)
        self._take = redis.register_script(scripts.TAKE_DUE)
        self._attempt = redis.register_script(scripts.ATTEMPT)
        self._settle = redis.register_script(scripts.SETTLE_MESSAGE)

    def add(self, caller: str, url: str, events: Sequence[str]) -> tuple[str, str]:
        """Add a webhook; its id, and the secret that its messages are signed with."""
        webhook_id = secrets.token_hex(keys.ID_DIGITS // 2)
        secret = SECRET_PREFIX + b64encode(secrets.token_bytes(SECRET_BYTES)).decode()
        facts = {
            "caller": caller,
            "url": url,
            "events": " ".join(events),
            "created": repr(time.time()),
            "secret": secret,
        }
        with self.redis.pipeline() as pipe:
            pipe.hset(keys.key("webhook", webhook_id), mapping=facts)  # type: ignore[arg-type]
            pipe.sadd(keys.of_caller("webhooks", caller), webhook_id)
            pipe.execute()
        return webhook_id, secret

    def find(self, webhook_id: str) -> WebhookRecord | None:
        """A webhook, unless there is none."""
        with self.redis.pipeline() as pipe:
            pipe.hmget(keys.key("webhook", webhook_id), SHOWN)
            pipe.hlen(keys.key("deliveries", webhook_id))
            found, pending = cast("tuple[list[bytes | None], int]", pipe.execute())
        facts = {name: decoded(v) for name, v in zip(SHOWN, found, strict=True) if v is not None}
        if "caller" not in facts:
            return None
        return WebhookRecord(
            id=webhook_id,
            caller=facts["caller"],
            url=facts["url"],
            events=tuple(facts["events"].split()),
            created_at=float(facts["created"]),
            delivered=int(facts.get("delivered", 0)),
            pending=pending,
            dropped=int(facts.get("dropped", 0)),
            error=facts.get("error"),
            seconds=float(facts.get("seconds", USUAL_SECONDS)),
        )

    def listing(self, caller: str) -> list[WebhookRecord]:
        """The caller's webhooks, newest first."""
        ids = cast("set[bytes]", self.redis.smembers(keys.of_caller("webhooks", caller)))
        found = [record for name in ids if (record := self.find(decoded(name))) is not None]
        return sorted(found, key=lambda record: (-record.created_at, record.id))

    def remove(self, webhook_id: str, caller: str) -> None:
        """Delete a webhook with the messages that wait."""
        self._remove([*_names(webhook_id), keys.of_caller("webhooks", caller)], [webhook_id])

    def put(self, webhook_id: str, message: Message) -> None:
        """Let a message to one webhook wait, whatever events it is told of."""
        told = [_entry(webhook_id, message.id), message.id, message.body]
        self._put(_names(webhook_id), told)

    # what workers do

    @staticmethod
    def look(pipe: Pipeline) -> None:
        """Ask, with what else is sent, for a message whose turn it is."""
        pipe.zrange(keys.DUE, "-inf", repr(time.time()), byscore=True, offset=0, num=1)

    def take_due(self) -> dict[str, list[str]]:
        """Messages whose turn it is, by webhook; they are due again where none delivers them."""
        taken = cast("list[bytes]", self._take([keys.DUE], [self._lease, AT_ONCE]))
        found: defaultdict[str, list[str]] = defaultdict(list)
        for entry in map(decoded, taken):
            webhook_id, _, message = entry.partition(" ")
            found[webhook_id].append(message)
        return dict(found)

    def attempt(self, webhook_id: str, message: str) -> Attempt | None:
        """Begin to deliver a message; nothing where it is delivered, gone or being delivered."""
        told: list[str | int] = [_entry(webhook_id, message), message, self._lease]
        found = self._attempt(_names(webhook_id), told)
        if found is None:
            return None
        body, number, url, secret = found
        return Attempt(webhook_id, message, body, int(number), decoded(url), decoded(secret))

    def end(
        self,
        attempt: Attempt,
        outcome: Outcome,
        seconds: float,
        error: str = "",
        pause: float = 0.0,
    ) -> None:
        """Note what became of an attempt.

        Args:
            attempt: To deliver a message.
            outcome: It was `delivered`, or waits for another attempt (`again`), or is `dropped`.
            seconds: How long it took.
            error: Why it failed, if it did.
            pause: Seconds before the next.
        """
        told = [_entry(attempt.webhook, attempt.message), attempt.message, outcome, repr(pause)]
        self._settle(_names(attempt.webhook), [*told, repr(seconds), error])


def _names(webhook_id: str) -> list[str]:
    """The keys that scripts on one webhook take."""
    return [keys.DUE, *(keys.key(part, webhook_id) for part in keys.OF_WEBHOOK)]


def _entry(webhook_id: str, message: str) -> str:
    return f"{webhook_id} {message}"


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
