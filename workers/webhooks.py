"""Webhooks for those who serve them: add, list, test, remove. `app` calls this.

Every function may raise StorageError, and those that take an id raise NotFoundError for one that
is unknown or another caller's.
"""

from __future__ import annotations

from collections.abc import Sequence
from contextlib import suppress

from redis.exceptions import OutOfMemoryError

from sigtest.errors import InputError, LimitError
from workers.errors import NotFoundError
from workers.guard import guarded
from workers.settings import Network
from workers.store.survey import check_room
from workers.store.webhooks import TEST, Message, WebhookRecord
from workers.tasks.context import Context
from workers.tasks.webhooks import allowed, hand_out, parse, refusal

LONGEST = 2000  # characters of an address
MAX_PORT = 65535


@guarded
class Webhooks:
    """The webhooks of all callers; safe to share between threads.

    Args:
        context: The stores and the queue.
    """

    def __init__(self, context: Context) -> None:
        self._context = context
        self._store = context.webhooks

    def add(
        self, caller: str, url: object, events: Sequence[str], most: int, limit: str
    ) -> tuple[WebhookRecord, str]:
        """Add a webhook.

        Args:
            caller: Whose it is.
            url: Where messages are sent.
            events: Names of those that it is told of.
            most: Webhooks that a caller may have.
            limit: The setting that says so.

        Returns:
            The webhook, and the secret that its messages are signed with, told this once.

        Raises:
            SigtestError: An address or events that cannot be used, or too many webhooks.
        """
        where = address_of(url, self._context.settings.webhook_networks)
        if len(self._store.listing(caller)) >= most:
            raise LimitError(
                f"You have {most} webhooks, as many as {limit} allows; delete one.", limit=limit
            )
        check_room(self._context.redis, self._context.settings, caller)
        webhook_id, secret = self._store.add(caller, where, events)
        return self.find(webhook_id, caller), secret

    def listing(self, caller: str) -> list[WebhookRecord]:
        """The caller's webhooks, newest first."""
        return self._store.listing(caller)

    def find(self, webhook_id: str, caller: str) -> WebhookRecord:
        """A webhook of the caller."""
        record = self._store.find(webhook_id)
        if record is None or record.caller != caller:
            raise NotFoundError(f"There is no webhook {webhook_id}.")
        return record

    def test(self, webhook_id: str, caller: str) -> WebhookRecord:
        """Let a test message wait for its delivery."""
        self.find(webhook_id, caller)
        check_room(self._context.redis, self._context.settings, caller)
        self._store.put(webhook_id, Message.of(TEST, {"id": webhook_id}))
        hand_out(self._context)
        return self.find(webhook_id, caller)

    def remove(self, webhook_id: str, caller: str) -> None:
        """Delete a webhook with the messages that wait."""
        self.find(webhook_id, caller)
        with suppress(OutOfMemoryError):  # of the tasks that come next; they come later
            self._context.feed.drop(webhook_id)
        self._store.remove(webhook_id, caller)


def address_of(url: object, networks: Sequence[Network]) -> str:
    """The address of a receiver, as messages are sent to it.

    A name is looked up when a message is sent; an address that is written out is checked here, too.

    Raises:
        InputError: No http or https address, one with a password, or a private one.
    """
    if not isinstance(url, str) or not url or len(url) > LONGEST:
        raise InputError(f"url must be an address of 1 to {LONGEST} characters.", field="url")
    import httpx  # most services never read an address, and loading it takes a while

    try:
        found = httpx.URL(url)
    except (httpx.InvalidURL, UnicodeError) as error:
        raise InputError(f"url cannot be read: {error}", field="url") from None
    if found.scheme not in {"http", "https"} or not found.host:
        raise InputError("url must be http:// or https:// and a host.", field="url")
    try:
        found.raw_host.decode().encode("idna")  # as it will be looked up
    except UnicodeError:
        raise InputError(
            "url must have a host whose parts between dots have 1 to 63 characters.", field="url"
        ) from None
    if found.port is not None and not 0 < found.port <= MAX_PORT:
        raise InputError(f"url must have a port from 1 to {MAX_PORT}.", field="url")
    if found.userinfo or found.fragment:
        raise InputError("url must have no user, password or fragment.", field="url")
    address = parse("127.0.0.1" if found.host == "localhost" else found.host)
    if address is not None and not allowed(address, networks):
        raise InputError(refusal(found.host), field="url")
    return str(found)
