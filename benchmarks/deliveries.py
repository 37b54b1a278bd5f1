"""Messages to a receiver that fails half of the time: each arrives, and never again after it did.

python -m benchmarks.deliveries [MESSAGES]

Real workers, a real store, real HTTP; every signature is checked by a published verifier of
Standard Webhooks. Pauses are a second each, instead of 5 seconds to 6 hours.
"""

import http.server
import ipaddress
import json
import random
import sys
import tempfile
import threading
import time
from collections import Counter
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any

from standardwebhooks.webhooks import Webhook

from workers.machine.keeper import running
from workers.queue import Context
from workers.settings import Settings
from workers.store.server import connect
from workers.store.webhooks import TEST, Message

LOOPBACK = (ipaddress.ip_network("127.0.0.0/8"), ipaddress.ip_network("::1/128"))
CALLER = "owner"
PATIENCE = 300.0  # seconds


class Receiver(http.server.ThreadingHTTPServer):
    """Takes messages, and keeps what it was sent.

    Attributes:
        secret: Of its webhook, with which messages are verified.
        answers: What it answers to the next messages, one after the other; 204 afterwards.
        failing: Share of the further messages that it fails to take.
        pause: Seconds before it answers.
        seen: How often each message came.
        taken: How often each was accepted.
        forged: What the verifier said of messages that it did not accept.
        bodies: What was sent, in order.
    """

    daemon_threads = True
    request_queue_size = 128

    def __init__(self, failing: float = 0.0) -> None:
        super().__init__(("127.0.0.1", 0), _Handler)
        self.secret = ""
        self.answers: list[int] = []
        self.failing = failing
        self.pause = 0.0
        self.seen: Counter[str] = Counter()
        self.taken: Counter[str] = Counter()
        self.forged: list[str] = []
        self.bodies: list[dict[str, Any]] = []
        self._random = random.Random(1)
        self._lock = threading.Lock()

    @property
    def url(self) -> str:
        return f"http://127.0.0.1:{self.server_port}/hook"

    def take(self, headers: dict[str, str], body: bytes) -> int:
        """Note a message; what to answer."""
        message = headers["webhook-id"]
        with self._lock:
            self.seen[message] += 1
            try:
                self.bodies.append(Webhook(self.secret).verify(body, headers))
            except Exception as error:
                self.forged.append(repr(error))
                return 400
            status = self.answers.pop(0) if self.answers else 204
            if status == 204 and self._random.random() < self.failing:
                status = 500
            self.taken[message] += status == 204
            return status


class _Handler(http.server.BaseHTTPRequestHandler):
    server: Receiver

    def do_POST(self) -> None:
        body = self.rfile.read(int(self.headers["Content-Length"]))
        status = self.server.take({k.lower(): v for k, v in self.headers.items()}, body)
        time.sleep(self.server.pause)
        self.send_response(status)
        self.send_header("Location", "/elsewhere")
        self.send_header("Content-Length", "0")
        self.end_headers()

    def log_message(self, *_: object) -> None:
        pass


@contextmanager
def receiving(failing: float = 0.0) -> Iterator[Receiver]:
    """A receiver on this machine, while the block lasts."""
    with Receiver(failing) as receiver:
        thread = threading.Thread(target=receiver.serve_forever, args=(0.05,))
        thread.start()
        try:
            yield receiver
        finally:
            receiver.shutdown()
            thread.join()


def deliver_all(context: Context, receiver: Receiver, count: int) -> float:
    """Let so many messages be delivered; the seconds that this took."""
    webhooks = context.webhooks
    webhook_id, receiver.secret = webhooks.add(CALLER, receiver.url, [TEST])
    since = time.monotonic()
    for number in range(count):
        webhooks.put(webhook_id, CALLER, Message.of(TEST, {"id": webhook_id, "number": number}))
    while (record := webhooks.find(webhook_id)) is None or record.pending:
        if time.monotonic() > since + PATIENCE:
            raise SystemExit(f"{record} after {PATIENCE:.0f} s")
        time.sleep(0.05)
    return time.monotonic() - since


def main() -> None:
    count = int(sys.argv[1]) if sys.argv[1:] else 500
    with tempfile.TemporaryDirectory() as folder, receiving(failing=0.5) as receiver:
        settings = Settings(
            state=Path(folder), webhook_pause=1, webhook_longest=1, webhook_networks=LOOPBACK
        )
        with running(settings):
            redis = connect(settings)
            seconds = deliver_all(Context.on(redis, settings), receiver, count)
            redis.close()
    numbers = {json.dumps(body["data"]["number"]) for body in receiver.bodies}
    assert len(receiver.seen) == len(numbers) == count, "a message never came"
    assert set(receiver.taken.values()) == {1}, "a message was sent again after it was accepted"
    assert not receiver.forged, receiver.forged
    print(f"{count} messages in {seconds:.1f} s: each accepted once, none sent afterwards")
    print(f"{receiver.seen.total()} attempts, at most {max(receiver.seen.values())} of one message")


if __name__ == "__main__":
    main()
