"""Webhooks: add, list, test and remove them, which `app` calls; and deliver what is due to them.

The name of the receiver is looked up once, its addresses are checked, and the connection goes to
one of these: no second look-up could lead elsewhere. Redirects are not followed, proxies of the
environment not used. A webhook's address is its owner's word: without the check it could make
workers speak to what only this machine or its network can reach.

What `app` calls may raise StorageError, and what takes an id raises NotFoundError for one that is
unknown or another caller's.
"""

import asyncio
import base64
import hashlib
import hmac
import socket
import threading
import time
from collections.abc import Iterable, Sequence
from concurrent.futures import Future
from contextlib import suppress
from ipaddress import IPv4Address, IPv6Address, IPv6Network, ip_address, ip_network
from typing import Any

import httpcore
from redis.exceptions import OutOfMemoryError

from sigtest.errors import InputError, LimitError
from sigtest.version import __version__
from workers.errors import NotFoundError, guarded
from workers.queue import Context
from workers.settings import NETWORKS, Network, Settings
from workers.store.records import Task
from workers.store.usage import check_room
from workers.store.webhooks import SECRET_PREFIX, TEST, Attempt, Message, WebhookRecord

Address = IPv4Address | IPv6Address

ROUTED = IPv6Network("2000::/3")  # all global unicast addresses that IANA has handed out
# of IANA's special-purpose registries, what some versions of Python take for global
SPECIAL = tuple(map(ip_network, ("192.0.0.0/24", "192.88.99.0/24", "2001::/23", "3fff::/20")))
TRANSLATED = IPv6Network("64:ff9b::/96")  # holds an IPv4 address (RFC 6052)


def parse(host: str) -> Address | None:
    """The address that a host is, if it is one and no name."""
    try:
        return ip_address(host.strip("[]").partition("%")[0])
    except ValueError:
        return None


def allowed(address: Address, networks: Sequence[Network]) -> bool:
    """Whether messages may be sent to an address.

    Args:
        address: The one that is connected to.
        networks: Private ones that are allowed.
    """
    meant = _meant(address)
    if any(meant in network for network in networks):
        return True
    everybodys = isinstance(meant, IPv4Address) or meant in ROUTED
    special = meant.is_multicast or any(meant in network for network in SPECIAL)
    return everybodys and meant.is_global and not special


def refusal(host: str) -> str:
    """What is said of a host with an address that is not allowed."""
    return (
        f"{host} is or leads to a private address; the operator may allow its network with "
        f"{NETWORKS}."
    )


def _meant(address: Address) -> Address:
    """The IPv4 address that an IPv6 address stands for, where it does."""
    if isinstance(address, IPv4Address):
        return address
    if address in TRANSLATED:
        return IPv4Address(address.packed[-4:])
    return address.ipv4_mapped or address.sixtofour or address


GONE = 410
SHOWN = 200  # characters of an error


def send(attempt: Attempt, settings: Settings) -> tuple[int, str]:
    """Send a message once.

    Returns:
        The status that its receiver answers, 0 for none; and why it counts as not delivered, empty
        where it is.
    """
    limit = settings.webhook_timeout
    try:
        status = asyncio.run(_within(limit, attempt, settings.webhook_networks))
    except TimeoutError:
        return 0, f"The receiver gave no answer within {limit} seconds."
    except _PrivateError as error:
        return 0, str(error)
    except socket.gaierror:
        return 0, "The name of the receiver leads to no address."
    except (OSError, httpcore.NetworkError, httpcore.ProtocolError) as error:
        return 0, f"The receiver cannot be reached: {str(error)[:SHOWN]}"
    except httpcore.TimeoutException:
        return 0, "The receiver cannot be reached in time."
    if 200 <= status < 300:
        return status, ""
    return status, f"The receiver answered {status}."


def signed(attempt: Attempt, now: int) -> dict[str, str]:
    """The headers of a message, as Standard Webhooks 1.0 has them.

    Args:
        attempt: What is sent.
        now: Seconds since the epoch.
    """
    key = base64.b64decode(attempt.secret.removeprefix(SECRET_PREFIX))
    content = f"{attempt.message}.{now}.".encode() + attempt.body
    signature = base64.b64encode(hmac.new(key, content, hashlib.sha256).digest()).decode()
    return {
        "Content-Type": "application/json",
        "User-Agent": f"sigtest/{__version__}",
        "webhook-id": attempt.message,
        "webhook-timestamp": str(now),
        "webhook-signature": f"v1,{signature}",
    }


class _PrivateError(Exception):
    """The receiver's name leads to an address that messages may not be sent to."""


class _Checked(httpcore.AsyncNetworkBackend):
    """Connects to addresses that are allowed, and to nothing else.

    Args:
        networks: Private ones that are allowed.
    """

    def __init__(self, networks: tuple[Network, ...]) -> None:
        self._networks = networks
        self._inner = httpcore.AnyIOBackend()

    async def connect_tcp(
        self,
        host: str,
        port: int,
        timeout: float | None = None,  # the signature is httpcore's
        local_address: str | None = None,
        socket_options: Iterable[httpcore.SOCKET_OPTION] | None = None,
    ) -> httpcore.AsyncNetworkStream:
        found = await _addresses(host, port)
        if not all(allowed(address, self._networks) for address in found):
            raise _PrivateError(refusal(host))
        *others, last = found
        for address in others:
            try:
                return await self._inner.connect_tcp(str(address), port, timeout)
            except (httpcore.ConnectError, httpcore.ConnectTimeout):
                continue
        return await self._inner.connect_tcp(str(last), port, timeout)

    async def sleep(self, seconds: float) -> None:
        await self._inner.sleep(seconds)


async def _addresses(host: str, port: int) -> list[Address]:
    """Where a host is, by one look-up.

    In a thread of its own: a loop waits for its own threads before it ends, and a name server may
    be silent for longer than its receiver has.
    """
    told: Future[list[tuple[Any, ...]]] = Future()

    def look_up() -> None:
        told.set_running_or_notify_cancel()
        try:
            told.set_result(socket.getaddrinfo(host, port, type=socket.SOCK_STREAM))
        except OSError as error:
            told.set_exception(error)

    threading.Thread(target=look_up, name="name server", daemon=True).start()
    found = await asyncio.wrap_future(told)
    addresses = [parse(str(entry[4][0])) for entry in found]
    return list(dict.fromkeys(address for address in addresses if address is not None))


async def _within(seconds: int, attempt: Attempt, networks: tuple[Network, ...]) -> int:
    """The status that the receiver answers; its body is not read."""
    async with asyncio.timeout(seconds):
        headers = [*signed(attempt, int(time.time())).items()]
        pool = httpcore.AsyncConnectionPool(network_backend=_Checked(networks))
        async with (
            pool,
            pool.stream("POST", attempt.url, headers=headers, content=attempt.body) as answer,
        ):
            return answer.status


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
        webhooks.remove(webhook_id, attempt.caller)
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
            seconds = record.seconds
            tasks = [Task("deliver", webhook_id, (one,), seconds) for one in messages]
            context.feed.add(record.caller, tasks)


def pause_after(attempts: int, settings: Settings) -> float:
    """Seconds before the next attempt: each pause is twice the one before it."""
    return float(min(settings.webhook_longest, settings.webhook_pause * 2 ** (attempts - 1)))


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
        self._store.put(webhook_id, caller, Message.of(TEST, {"id": webhook_id}))
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
