"""Part "requests": generated requests over all routes, and what was accepted among them."""

from __future__ import annotations

import http.client
import itertools
import json
import socket
import tempfile
import threading
import time
from collections.abc import Iterator
from concurrent.futures import ThreadPoolExecutor
from contextlib import suppress
from dataclasses import dataclass, field
from pathlib import Path
from queue import Empty, Queue
from typing import Any
from urllib.parse import urlsplit

from torture.hostile.generator import Generator, Sent, operations
from torture.hostile.judge import Got, judge
from torture.load.asking import Asking
from torture.load.caller import Caller
from torture.load.expected import Expected
from torture.load.ledger import Ledger
from torture.service import Service
from workers.access import Access

THREADS = 4
KEPT = 60  # finished questions that later requests are about
PATIENCE = 15.0  # seconds for a question that was accepted by chance, which may be a long one
BUDGET = 40  # predicted seconds of one core that the bombarding caller may have unfinished
SETTINGS = {"SIGTEST_MAX_WAIT_SECONDS": "1", "SIGTEST_MAX_EVENT_SECONDS": "1",
            "SIGTEST_PENDING": "30"}  # fmt: skip
BROKEN = (
    b"GET / HTTP/1.1\r\nHost: x\r\nContent-Length: -5\r\n\r\n",
    b"GET / HTTP/9.9\r\n\r\n",
    b"\x16\x03\x01\x02\x00\x01\x00\x01\xfc\x03\x03",
    b"POST /v1/comparisons HTTP/1.1\r\nHost: x\r\nContent-Length: 100\r\n\r\n{",
    b"POST /v1/comparisons HTTP/1.1\r\nHost: x\r\nTransfer-Encoding: chunked\r\n\r\nzz\r\n",
    b"POST /v1/plans HTTP/1.1\r\nHost: x\r\nContent-Length: 5\r\nContent-Length: 6\r\n\r\n{}",
    b"GET /" + b"a" * 70_000 + b" HTTP/1.1\r\n\r\n",
    b"GET / HTTP/1.1\r\n" + b"X-A: b\r\n" * 3000 + b"\r\n",
    b"GET /v1/comparisons\x00 HTTP/1.1\r\nHost: x\r\n\r\n",
    b"\r\n" * 50,
)


@dataclass
class Bombardment:
    """One service and the requests that it gets.

    Attributes:
        service: The service.
        seed: Of the requests.
        ledger: What was seen.
        expected: What reports must be.
        accepted: Questions that were accepted and not looked at yet: path, JSON and id.
    """

    service: Service
    seed: int
    ledger: Ledger
    expected: Expected
    accepted: Queue[tuple[str, Any, str]] = field(default_factory=Queue)

    def bombard(self, requests: range) -> None:
        """Send requests with these numbers from several threads."""
        generator, key = self._prepared()
        numbers = iter(requests)
        lock = threading.Lock()
        over = threading.Event()
        asking = Asking(self.service, self.ledger, key)
        checker = Caller("hostile", asking, self.ledger, self.expected, self.seed)
        with ThreadPoolExecutor(THREADS + 1) as pool:
            checking = pool.submit(self._check, checker, generator, over)
            sending = [
                pool.submit(self._send, generator, key, _taken(numbers, lock))
                for _ in range(THREADS)
            ]
            try:
                for sent in sending:
                    sent.result()
            finally:
                over.set()
            checking.result()
        asking.close()
        self._still_there()

    def _prepared(self) -> tuple[Generator, str]:
        """The generator, which knows something of another caller's, and the key to ask with."""
        redis = self.service.connected()
        access = Access(redis)
        key = access.add("hostile", ("read", "submit"), budget=BUDGET)[1]
        asking = Asking(self.service, self.ledger, access.add("other", ("read", "submit"))[1])
        redis.close()
        document = asking.request("GET", "/openapi.json").json()
        examples = document["paths"]["/v1/comparisons"]["post"]["requestBody"]["content"]
        body = next(iter(examples["application/json"]["examples"].values()))["value"]
        told = asking.request("POST", "/v1/comparisons", body, {"Prefer": "wait=1"}).json()
        board = asking.request("POST", "/v1/testsets", {"name": "x", "references": [["a", "b"]]})
        asking.close()
        foreign = (told["id"], board.json()["id"])
        return Generator(operations(document), self.seed, foreign=foreign), key

    def _send(self, generator: Generator, key: str, numbers: Iterator[int]) -> None:
        connection = Connection(self.service.url, key)
        for number in numbers:
            if number % 200 == 7:
                self._broken(number)
            sent = generator.request(number)
            got = connection.send(sent)
            if got is None:
                self.ledger.bad("faulty", f"{sent.method} {sent.target[:200]} has no answer")
                continue
            judge(self.ledger, sent, got)
            self._note(generator, sent, got)
        connection.close()

    def _note(self, generator: Generator, sent: Sent, got: Got) -> None:
        """Remember what was accepted."""
        if got.status == 201 and sent.target.startswith("/v1/testsets"):
            generator.learn("testsets", json.loads(got.data)["id"])
        if sent.asks is None or sent.method != "POST" or got.status not in {200, 202}:
            return
        with suppress(KeyError, ValueError):
            self.accepted.put((*sent.asks, json.loads(got.data)["id"]))

    def _check(self, checker: Caller, generator: Generator, over: threading.Event) -> None:
        """Hold what was accepted by chance against the truth, and delete what is old."""
        held: list[str] = []
        while not (over.is_set() and self.accepted.empty()):
            try:
                path, body, question_id = self.accepted.get(timeout=0.2)
            except Empty:
                continue
            if checker.by_chance(path, body, question_id, PATIENCE):
                generator.learn(path, question_id)
                held.append(f"/v1/{path}/{question_id}")
            while len(held) > KEPT:
                checker.asking.request("DELETE", held.pop(0))

    def _broken(self, number: int) -> None:
        """What is no HTTP: whatever becomes of the connection, the service goes on."""
        split = urlsplit(self.service.url)
        data = BROKEN[number // 200 % len(BROKEN)]
        with suppress(OSError), socket.create_connection((split.hostname, split.port), 5) as raw:
            raw.settimeout(0.3)
            raw.sendall(data)
            raw.recv(1000)
        self.ledger.count("generated requests")
        self.ledger.count("requests that are no HTTP")

    def _still_there(self) -> None:
        connection = Connection(self.service.url, "")
        got = connection.send(Sent("GET", "/readyz", {}, b""))
        if got is None or got.status != 200:
            self.ledger.bad("stuck", f"/readyz after all requests: {got}")
        connection.close()


class Connection:
    """A connection that is kept open, and opened again where the service closed it.

    Args:
        url: Of the service.
        key: To ask with.
    """

    def __init__(self, url: str, key: str) -> None:
        split = urlsplit(url)
        self._connection = http.client.HTTPConnection(split.hostname or "", split.port, timeout=60)
        self._key = key

    def send(self, sent: Sent) -> Got | None:
        """Send a request; nothing where there is no answer at the second attempt."""
        for _ in range(2):
            since = time.monotonic()
            try:
                return self._sent(sent, since)
            except (http.client.HTTPException, OSError):
                self._connection.close()
        return None

    def close(self) -> None:
        """Close it."""
        self._connection.close()

    def _sent(self, sent: Sent, since: float) -> Got:
        headers = dict(sent.headers)
        if sent.keyed and self._key:
            headers["X-API-Key"] = self._key
        self._connection.request(sent.method, sent.target, sent.data or None, headers)
        answer = self._connection.getresponse()
        data = answer.read()
        told = {name.lower(): value for name, value in answer.getheaders()}
        return Got(answer.status, told, data, time.monotonic() - since)


def _taken(numbers: Iterator[int], lock: threading.Lock) -> Iterator[int]:
    """Each number for one thread."""
    while True:
        with lock:
            number = next(numbers, None)
        if number is None:
            return
        yield number


def bombarded(seed: int, requests: range, fault: str = "") -> Ledger:
    """The ledger of one bombardment of a service of its own."""
    ledger = Ledger()
    expected = Expected()
    with tempfile.TemporaryDirectory(prefix="torture-") as folder:
        service = Service(Path(folder), fault, SETTINGS)
        try:
            service.start()
            Bombardment(service, seed, ledger, expected).bombard(requests)
            for line in itertools.islice(service.tracebacks(), 10):
                ledger.bad("faulty", f"traceback in the log: {line}")
        finally:
            for pid in service.end():
                ledger.bad("orphaned", f"process {pid} outlives its service")
            expected.close()
    return ledger
