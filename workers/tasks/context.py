"""What every task works with."""

from __future__ import annotations

from dataclasses import dataclass

from redis import Redis

from workers.queue import Feed, Jobs
from workers.settings import Settings
from workers.store.questions import QuestionStore
from workers.store.testsets import TestSetStore
from workers.store.webhooks import WebhookStore


@dataclass(frozen=True)
class Context:
    """The stores and the queue, on one server.

    Attributes:
        redis: The server, with bytes as answers.
        settings: Limits and times.
        questions: Where questions are.
        testsets: Where test sets are.
        webhooks: Where webhooks and their messages are.
        feed: Where tasks go.
    """

    redis: Redis
    settings: Settings
    questions: QuestionStore
    testsets: TestSetStore
    webhooks: WebhookStore
    feed: Feed

    @classmethod
    def on(cls, redis: Redis, settings: Settings) -> Context:
        """Everything on a server."""
        return cls(
            redis,
            settings,
            QuestionStore(redis, settings),
            TestSetStore(redis, settings),
            WebhookStore(redis, settings),
            Feed(redis, Jobs(redis, settings)),
        )
