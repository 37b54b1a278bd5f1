"""Hostile bodies take bounded memory."""

import os
import signal
from collections.abc import Callable, Iterator
from concurrent.futures import Future, ThreadPoolExecutor
from contextlib import contextmanager
from functools import partial
from pathlib import Path

import httpx
import pytest
from exchange import COMPARISONS, problem
from service import children, launched, until

from workers.settings import Settings as QueueSettings

pytestmark = pytest.mark.slow  # storms of large bodies

SIZE = 60 * 2**20
BODIES = 8
MEGABYTE = 2**20
JSON = {"Content-Type": "application/json"}


@pytest.fixture(scope="module")
def front(tmp_path_factory: pytest.TempPathFactory) -> Iterator[tuple[int, str]]:
    """A service of its own: the process of its front end, and its address."""
    queue = QueueSettings(state=tmp_path_factory.mktemp("memory"), workers=1)
    with launched(queue) as (process, url):
        yield process.pid, url


def peak(pid: int) -> int:
    """Most bytes that a process ever had in memory."""
    lines = Path(f"/proc/{pid}/status").read_text().splitlines()
    return next(int(line.split()[1]) * 1024 for line in lines if line.startswith("VmHWM"))


def test_what_waits_holds_no_body(front):
    """Requests that wait for an answer have nothing of their bodies in memory any more.

    The first test, because what others leave free would hide what is kept.
    """
    pid, url = front
    lines = ", ".join(f'"{i} the quick brown fox jumps over the lazy dog"' for i in range(5_000))
    systems = ", ".join(f'{{"name": "s{i}", "hypotheses": [{lines}]}}' for i in range(10))
    before = resident(pid)

    def ask(seed: int) -> int:
        body = f'{{"references": [[{lines}]], "systems": [{systems}], "seed": {seed}, ' + (
            '"resamples": 99999, "metrics": ["bleu", "chrf"]}'
        )
        headers = JSON | {"Prefer": "wait=60"}
        return httpx.post(url + COMPARISONS, content=body, headers=headers, timeout=120).status_code

    def accepted() -> list[str]:
        listed = httpx.get(url + COMPARISONS, timeout=60).json()["comparisons"]
        return [comparison["links"]["self"] for comparison in listed]

    with stopped_workers(pid), ThreadPoolExecutor(BODIES) as pool:
        answers: list[Future[int]] = []
        while (
            len(answers) < BODIES
        ):  # one after the other: what one leaves free, the next one takes
            answers.append(pool.submit(ask, len(answers)))
            until(lambda: len(accepted()) == len(answers), 60)
        # bodies of 3 MB are 26 to 35 MB in the end, and twice that where kept as parsed
        assert resident(pid) - before < 55 * MEGABYTE
        assert not any(answer.done() for answer in answers)
        for path in accepted():
            httpx.delete(url + path)
        assert {answer.result() for answer in answers} <= {200, 202}


def filled(unit: bytes) -> bytes:
    """A body of SIZE with one unit again and again."""
    head, tail = b'{"references": [', b"0]}"
    return head + unit * ((SIZE - len(head) - len(tail)) // len(unit)) + tail


def fields() -> bytes:
    """An object of five million fields, no two of which are called alike."""
    some = b"".join(b'"?%03x":0,' % i for i in range(4096))
    return b"{" + b"".join(some.replace(b"?", b"%x" % i) for i in range(1221))[:-1] + b"}"


HOSTILE: dict[str, Callable[[], bytes]] = {
    "empty lists": partial(filled, b"[],"),
    "empty objects": partial(filled, b"{},"),
    "small objects": partial(filled, b'{"a":1},'),
    "small numbers": partial(filled, b"1,"),
    "empty strings": partial(filled, b'"",'),
    "deep lists": lambda: b'{"a":' + b"[" * (SIZE // 2),
    "many fields": fields,
}


@pytest.mark.parametrize("kind", HOSTILE)
def test_hostile_bodies_are_refused_before_they_are_parsed(front, kind):
    pid, url = front
    body = HOSTILE[kind]()
    answer = httpx.post(url + COMPARISONS, content=body, headers=JSON, timeout=60)
    problem(answer, 400, "malformed-body")
    assert peak(pid) < 600 * MEGABYTE


def test_several_at_a_time_take_bounded_memory(front):
    pid, url = front
    line = b'"' + b"the quick brown fox jumps over the lazy dog " * 3 + b'",'
    kinds = [filled(line), *(make() for make in HOSTILE.values())]
    with ThreadPoolExecutor(len(kinds)) as pool:

        def ask(body: bytes) -> httpx.Response:
            return httpx.post(url + COMPARISONS, content=body, headers=JSON, timeout=120)

        answers = list(pool.map(ask, kinds))
    for answer in answers:
        assert answer.status_code in {400, 413, 422, 503}, answer.text
    assert peak(pid) < 1200 * MEGABYTE


@contextmanager
def stopped_workers(pid: int) -> Iterator[None]:
    """Let the workers of a front end do nothing while the block lasts."""
    (supervisor,) = children(pid, "workers.machine.supervisor")
    workers = set(children(supervisor)) - set(children(supervisor, "valkey"))
    assert workers
    for worker in workers:
        os.kill(worker, signal.SIGSTOP)
    try:
        yield
    finally:
        for worker in workers:
            os.kill(worker, signal.SIGCONT)


def resident(pid: int) -> int:
    """Bytes that a process has in memory."""
    return int(Path(f"/proc/{pid}/statm").read_text().split()[1]) * 4096
