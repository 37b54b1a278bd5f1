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
from typing import Any, Literal

from redis import Redis
from redis.client import Pipeline

from workers.settings import Settings
from workers.store import keys
from workers.store.codec import decoded
from workers.store.records import change, clock, delete_first
from workers.store.usage import WEIGH, weigh

# Seconds since the epoch by the clock of the store: those of machines may differ.
NOW = """
local function now()
    local time = redis.call('TIME')
    return time[1] + time[2] / 1e6
end
"""

# Messages that wait for one webhook; beyond, it counts what it is not told.
MOST_MESSAGES = 10_000

# An event becomes a message to each webhook of its caller that is told of it, undivided with what
# happened. ARGV from `at`: event, id of the message, body.
ANNOUNCE = (
    NOW
    + WEIGH
    + f"local MOST = {MOST_MESSAGES}"
    + """
local function announce(webhooks, due, record, deliveries, figure, at)
    local event, message, body = unpack(ARGV, at, at + 2)
    for _, id in ipairs(redis.call('SMEMBERS', webhooks)) do
        local events = ' ' .. (redis.call('HGET', record .. id, 'events') or '') .. ' '
        if string.find(events, ' ' .. event .. ' ', 1, true) then
            if redis.call('HLEN', deliveries .. id) < MOST then
                redis.call('HSET', deliveries .. id, message, body)
                redis.call('ZADD', due, now(), id .. ' ' .. message)
                weigh(figure, record .. id, deliveries .. id)
            else
                redis.call('HINCRBY', record .. id, 'dropped', 1)
            end
        end
    end
end
"""
)

# KEYS: messages that are due
# ARGV: how many are taken at most, seconds after which they are due again
TAKE_DUE = (
    NOW
    + """
local due = redis.call('ZRANGEBYSCORE', KEYS[1], '-inf', now(), 'LIMIT', 0, ARGV[1])
for _, entry in ipairs(due) do redis.call('ZADD', KEYS[1], now() + ARGV[2], entry) end
return due
"""
)

SECRET_BYTES = 32
SECRET_PREFIX = "whsec_"  # as Standard Webhooks spells secrets
USUAL_SECONDS = 0.1
AT_ONCE = 500  # messages handed out in one exchange
Outcome = Literal["delivered", "again", "dropped"]
INTERVALS = 3  # times the longest attempt: so long until a message is handed out again


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
        caller: Whose it is.
        body: What is sent.
        number: From 1.
        url: Where to.
        secret: That it is signed with.
    """

    webhook: str
    message: str
    caller: str
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
        self._interval = INTERVALS * settings.webhook_timeout
        self._take_due = redis.register_script(TAKE_DUE)

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
            pipe.hgetall(keys.key("webhook", webhook_id))
            pipe.hlen(keys.key("deliveries", webhook_id))
            held, pending = pipe.execute()
        facts = {decoded(name): decoded(value) for name, value in held.items()}
        if not facts:
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
            error=facts.get("error") or None,
            seconds=float(facts.get("seconds", USUAL_SECONDS)),
        )

    def listing(self, caller: str) -> list[WebhookRecord]:
        """The caller's webhooks, newest first."""
        ids = self.redis.smembers(keys.of_caller("webhooks", caller))
        found = [record for name in ids if (record := self.find(decoded(name))) is not None]
        return sorted(found, key=lambda record: (-record.created_at, record.id))

    def remove(self, webhook_id: str, caller: str) -> None:
        """Delete a webhook with the messages that wait."""
        names = [keys.key(part, webhook_id) for part in keys.OF_WEBHOOK]

        def delete(pipe: Any) -> None:
            entries = [f"{webhook_id} {decoded(message)}" for message in pipe.hkeys(names[1])]
            pipe.multi()
            weigh(pipe, caller, "webhook", webhook_id, lasts=False)
            if entries:
                pipe.zrem(keys.DUE, *entries)
            pipe.delete(*names)
            pipe.srem(keys.of_caller("webhooks", caller), webhook_id)

        self.redis.transaction(delete, names[1])

    def put(self, webhook_id: str, caller: str, message: Message) -> None:
        """Let a message to one webhook wait, whatever events it is told of."""
        webhook, deliveries, _ = (keys.key(part, webhook_id) for part in keys.OF_WEBHOOK)
        full, seconds = self.redis.hlen(deliveries) >= MOST_MESSAGES, clock(self.redis)

        def write(pipe: Pipeline) -> None:
            if full:
                pipe.hincrby(webhook, "dropped", 1)
                return
            pipe.hset(deliveries, message.id, message.body)
            pipe.zadd(keys.DUE, {f"{webhook_id} {message.id}": seconds})
            weigh(pipe, caller, "webhook", webhook_id)

        change(self.redis, webhook, write)

    # what workers do

    def take_due(self) -> dict[str, list[str]]:
        """Messages whose turn it is, by webhook; they are due again after an interval."""
        found: defaultdict[str, list[str]] = defaultdict(list)
        for entry in map(decoded, self._take_due([keys.DUE], [AT_ONCE, self._interval])):
            webhook_id, _, message = entry.partition(" ")
            found[webhook_id].append(message)
        return dict(found)

    def attempt(self, webhook_id: str, message: str) -> Attempt | None:
        """Begin to deliver a message; nothing where it is delivered or gone."""
        webhook, deliveries, attempts = (keys.key(part, webhook_id) for part in keys.OF_WEBHOOK)
        body = self.redis.hget(deliveries, message)

        def write(pipe: Pipeline) -> None:
            pipe.hincrby(attempts, message, 1)
            pipe.hmget(webhook, ["caller", "url", "secret"])

        begun = change(self.redis, webhook, write) if body is not None else None
        if not begun:
            self.redis.zrem(keys.DUE, f"{webhook_id} {message}")
            return None
        number, facts = begun
        caller, url, secret = map(decoded, facts)
        return Attempt(webhook_id, message, caller, body, number, url, secret)  # type: ignore[arg-type]

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
        entry, due = f"{attempt.webhook} {attempt.message}", clock(self.redis) + pause
        webhook, *messages = (keys.key(part, attempt.webhook) for part in keys.OF_WEBHOOK)

        def write(pipe: Pipeline) -> None:
            pipe.hset(webhook, mapping={"seconds": repr(seconds), "error": error})
            if outcome == "again":
                pipe.zadd(keys.DUE, {entry: due}, xx=True)
                return
            pipe.zrem(keys.DUE, entry)
            for name in messages:
                pipe.hdel(name, attempt.message)
            pipe.hincrby(webhook, outcome, 1)
            delete_first(pipe)
            weigh(pipe, attempt.caller, "webhook", attempt.webhook)

        change(self.redis, webhook, write)


EVENTS = {
    "question.succeeded": "A question has its report.",
    "question.failed": "A question has no answer; `error` says why, `type` for programs.",
    "question.cancelled": "A question was cancelled.",
    "leaderboard.refreshed": "A leaderboard shows another comparison than before.",
    "race.decided": "Pairs of a race are decided.",
    "race.over": "A single system of a race is left that may be the best.",
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


def announcing(caller: str) -> list[str]:
    """The keys that scripts take which announce something to the webhooks of a caller."""
    prefixes = [keys.key("webhook", ""), keys.key("deliveries", "")]
    return [
        keys.of_caller("webhooks", caller),
        keys.DUE,
        *prefixes,
        keys.of_caller("bytes", caller),
    ]


def announce(pipe: Any, caller: str, message: Message) -> None:
    """Tell the webhooks of a caller what happens, with what else is sent."""
    names = announcing(caller)
    script = f"{ANNOUNCE}local a, b, c, d, e = unpack(KEYS)\nannounce(a, b, c, d, e, 1)"
    pipe.eval(script, len(names), *names, message.event, message.id, message.body)
