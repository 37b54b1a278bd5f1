"""What workers do for webhooks: deliver messages that are due, once or until they are."""

from __future__ import annotations

import time

from workers.settings import Settings
from workers.store.task import Priced, Task
from workers.tasks.context import Context
from workers.tasks.sender import GONE, send

ATTEMPTS = 24  # with the usual pauses, three days


def deliver(context: Context, webhook_id: str, message: str) -> None:
    """Send a message that is due; what is not accepted is due again after a pause.

    A message that was delivered is never sent again. Where a worker dies while it sends one, it is
    not known, and it is sent again under the same id.
    """
    webhooks = context.webhooks
    attempt = webhooks.attempt(webhook_id, message)
    if attempt is None:
        return
    if attempt.number > ATTEMPTS:  # whose workers died each time
        webhooks.end(attempt, "dropped", 0.0, f"It was sent {ATTEMPTS} times, and never to an end.")
        return
    since = time.monotonic()
    status, error = send(attempt, context.settings)
    seconds = time.monotonic() - since
    if not error:
        webhooks.end(attempt, "delivered", seconds)
    elif status == GONE:
        record = webhooks.find(webhook_id)
        if record is not None:
            webhooks.remove(webhook_id, record.caller)
    elif attempt.number == ATTEMPTS:
        webhooks.end(attempt, "dropped", seconds, error)
    else:
        pause = pause_after(attempt.number, context.settings)
        webhooks.end(attempt, "again", seconds, error, pause)


def hand_out(context: Context) -> None:
    """Let the messages that are due wait for a worker, priced as what was sent there last."""
    for webhook_id, messages in context.webhooks.take_due().items():
        record = context.webhooks.find(webhook_id)
        if record is not None:
            tasks = [Task(deliver.__name__, webhook_id, (message,)) for message in messages]
            context.feed.add(record.caller, [Priced(task, record.seconds) for task in tasks])


def pause_after(attempts: int, settings: Settings) -> float:
    """Seconds before the next attempt: each pause is twice the one before it."""
    return float(min(settings.webhook_longest, settings.webhook_pause * 2 ** (attempts - 1)))
