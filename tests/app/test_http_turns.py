"""What keeps the interpreter busy is done for a few requests of one caller at a time."""

import asyncio
import json
import select
import socket
import threading
import time
from collections.abc import Callable, Iterator
from concurrent.futures import ThreadPoolExecutor
from contextlib import ExitStack, closing, contextmanager, suppress
from dataclasses import replace
from typing import Any

import httpx
import pytest
from exchange import COMPARISONS
from service import example, until

from app.http.state import AT_ONCE
from app.models import WebhookRequest
from app.pages import forms, site
from app.requests import bodies, questions
from app.requests.bodies import BODIES, FORM, JSON
from app.settings import Settings
from sigtest.kinds import cost
from sigtest.render.formats import FORMATS
from sigtest.requests import comparisons
from workers.questions import Questions
from workers.settings import Settings as QueueSettings

KEYS = {"SIGTEST_API_KEYS": "ann:of-ann,bob:of-bob"}
SIZE = 200_000


class Slow:
    """A format whose reports take until they are released."""

    def __init__(self) -> None:
        self.released = threading.Event()
        self.begun: list[str] = []

    def render(self, presented: Any) -> str:
        self.begun.append(threading.current_thread().name)
        assert self.released.wait(60)
        return "done"


class Held:
    """A function whose calls take until they are released."""

    def __init__(self, call: Callable[..., Any]) -> None:
        self.call = call
        self.released = threading.Event()
        self.begun = 0

    def __call__(self, *args: Any) -> Any:
        self.begun += 1
        assert self.released.wait(60)
        return self.call(*args)


@pytest.fixture
def slow(monkeypatch: pytest.MonkeyPatch) -> Iterator[Slow]:
    made = Slow()
    monkeypatch.setitem(FORMATS, "text", replace(FORMATS["text"], render=made.render))
    yield made
    made.released.set()


@contextmanager
def drained(queue: QueueSettings) -> Iterator[Callable[[], None]]:
    """Workers get no task until what this yields is called."""
    with closing(Questions.connect(queue)) as questions:
        feed = questions.context.feed
        feed.drain()
        try:
            yield feed.resume
        finally:
            feed.resume()


@contextmanager
def sending(
    client: httpx.Client, key: str, size: int, media: str = JSON, begun: bytes = b""
) -> Iterator[socket.socket]:
    """A request whose body has come but for its last byte."""
    address = str(client.base_url.host), client.base_url.port
    with socket.create_connection(address, timeout=60) as connection:
        head = f"POST {COMPARISONS} HTTP/1.1\r\nHost: here\r\nAuthorization: Bearer {key}\r\n"
        head += f"Content-Type: {media}\r\nContent-Length: {size}\r\n\r\n"
        connection.sendall(head.encode() + begun + b" " * (size - 1 - len(begun)))
        yield connection


FILE = b'--B\r\nContent-Disposition: form-data; name="systems"; filename="a"\r\n\r\n'


@pytest.mark.parametrize(("media", "begun"), [(JSON, b""), (f"{FORM}; boundary=B", FILE)])
def test_slow_bodies_of_one_caller_leave_room_for_others(serve, body, media, begun):
    client = serve(Settings.model_validate({**KEYS, "max_body_bytes": SIZE}))
    with ExitStack() as stack:
        held = [
            stack.enter_context(sending(client, "of-ann", SIZE, media, begun))
            for _ in range(BODIES - 1)
        ]
        refused, *_ = select.select(held, [], [], 60)
        assert b" 503 " in refused[0].recv(20)
        headers = {"Authorization": "Bearer of-bob"}
        assert client.post(COMPARISONS, json=body, headers=headers).status_code in {200, 202}


def test_reports_of_one_caller_leave_others_their_turn(serve, body, slow):
    client = serve(Settings.model_validate(KEYS))

    def ask(key: str, path: str, **more: Any) -> httpx.Response:
        headers = {"Authorization": f"Bearer {key}", "Prefer": "wait=60"}
        return client.request("POST" if more else "GET", path, headers=headers, **more)

    with ThreadPoolExecutor(20) as threads:
        reports = {}
        for key in ("of-ann", "of-bob"):
            answer = ask(key, COMPARISONS, json=body)
            assert answer.status_code == 200
            reports[key] = f"{answer.headers['location']}/report?format=text"

        many = [threads.submit(ask, "of-ann", reports["of-ann"]) for _ in range(3 * AT_ONCE)]
        until(lambda: len(slow.begun) == AT_ONCE)
        one = threads.submit(ask, "of-bob", reports["of-bob"])
        until(lambda: len(slow.begun) == AT_ONCE + 1)
        assert ask("of-ann", reports["of-ann"].removesuffix("/report?format=text")).json()["status"]
        assert len(slow.begun) == AT_ONCE + 1  # the others of the first caller wait
        slow.released.set()
        assert {own.result().text for own in (*many, one)} == {"done"}
        assert len(slow.begun) == 3 * AT_ONCE + 1


def test_a_question_is_priced_while_others_are(serve, body, monkeypatch):
    client = serve(Settings.model_validate(KEYS))
    whole = cost.exact_seconds
    held = Held(whole)
    monkeypatch.setattr(
        cost,
        "exact_seconds",
        lambda entry, part: (held if len(entry.systems) > 2 else whole)(entry, part),
    )
    third = {**body["systems"][0], "name": "C"}
    large = body | {"systems": [*body["systems"], third], "seed": 31}
    with ThreadPoolExecutor(1) as threads:
        of_ann = {"Authorization": "Bearer of-ann"}
        one = threads.submit(client.post, COMPARISONS, json=large, headers=of_ann)
        until(lambda: held.begun)
        of_bob = {"Authorization": "Bearer of-bob"}
        asked = client.post(COMPARISONS, json=body | {"seed": 32}, headers=of_bob, timeout=20)
        assert asked.status_code == 202
        held.released.set()
        assert one.result().status_code == 202


@pytest.mark.parametrize(("module", "reads"), [(bodies, "parse_json"), (questions, "_with_files")])
def test_what_was_read_is_checked_before_more_is_read(serve, body, monkeypatch, module, reads):
    client = serve(Settings.model_validate(KEYS))
    files = {"scores": ("scores.csv", "system,segment,quality\na,1,1\na,2,2\nb,1,2\nb,2,3\n")}
    asked: dict[str, Any] = {"files": files} if reads == "_with_files" else {"json": body}
    read, checked = Held(getattr(module, reads)), Held(questions.parsed)
    monkeypatch.setattr(module, reads, read)
    monkeypatch.setattr(questions, "parsed", checked)

    with ThreadPoolExecutor(3 * AT_ONCE) as threads:
        headers = {"Authorization": "Bearer of-ann"}
        many = [
            threads.submit(client.post, COMPARISONS, headers=headers, **asked)
            for _ in range(3 * AT_ONCE)
        ]
        until(lambda: read.begun == AT_ONCE)
        time.sleep(0.5)  # so that the others wait, too
        read.released.set()
        until(lambda: checked.begun == AT_ONCE)
        assert read.begun == AT_ONCE
        checked.released.set()
        assert {own.result().status_code for own in many} <= {200, 202}


def test_a_question_that_waits_for_another_one_leaves_its_turn(serve, queue, body):
    """One that names an unfinished question waits as long as `Prefer` says."""
    client = serve(Settings.model_validate(KEYS))
    headers = {"Authorization": "Bearer of-ann"}

    def ask(named: str, units: int) -> httpx.Response:
        plan = {"comparison": {"id": named}, "a": "aspen", "b": "birch", "units": units}
        return client.post("/v1/plans", json=plan, headers=headers | {"Prefer": "wait=60"})

    with drained(queue) as resume, ThreadPoolExecutor(AT_ONCE) as threads:
        texts = example(seed=17).as_json()
        named = client.post(COMPARISONS, json=texts, headers=headers).json()["id"]
        many = [threads.submit(ask, named, 100 + i) for i in range(AT_ONCE)]
        time.sleep(0.5)
        assert client.post(COMPARISONS, json=body, headers=headers).status_code in {200, 202}
        assert not any(own.done() for own in many)
        resume()
        assert {own.result().status_code for own in many} == {200}


FORM_OF_TEXTS = [
    ("references", ("reference.txt", b"a b c\nd e f\n")),
    ("systems", ("one.txt", b"a b c\nd e\n")),
    ("systems", ("two.txt", b"a b\nd e f\n")),
]


@pytest.mark.parametrize(
    ("holder", "call", "method", "path", "sent"),
    [
        (forms, "looked_at", "POST", "/comparisons", {"data": {"do": "look"}}),
        (site, "page", "POST", "/comparisons", {"data": {"do": "look"}}),
        (site, "page", "GET", "{question}/pairs?a=aspen&b=birch", {}),
        (site, "page", "GET", "{question}", {}),
        (WebhookRequest, "of", "POST", "/v1/webhooks", {"json": {"url": "http://127.0.0.1:9"}}),
        (questions.json, "loads", "POST", "/v1/plans", {"json": {"comparison": {"id": "{id}"}}}),
    ],
)
def test_others_are_served_while_bodies_are_read_and_pages_made(
    serve, monkeypatch, holder, call, method, path, sent
):
    client = serve(Settings())
    texts = example(seed=18).as_json()
    asked = client.post(COMPARISONS, json=texts, headers={"Prefer": "wait=60"}).json()
    made = {"name": "turns", "references": [["a b", "c d"]], "resamples": 99}
    testset = client.post("/v1/testsets", json=made).json()["id"]
    places = {"question": f"/comparisons/{asked['id']}", "id": asked["id"], "testset": testset}
    whole, called, on_loop = getattr(holder, call), [], []

    def watched(*args: Any, **kwargs: Any) -> Any:
        with suppress(RuntimeError):
            on_loop.append(asyncio.get_running_loop())
        called.append(call)
        return whole(*args, **kwargs)

    monkeypatch.setattr(holder, call, watched)
    if "json" in sent:
        content = json.dumps(sent["json"]).replace("{id}", asked["id"])
        sent = {"content": content, "headers": {"Content-Type": JSON}}
    else:
        sent = {**sent, "headers": {"Accept": "text/html", "Sec-Fetch-Site": "same-origin"}}
        sent |= {"files": FORM_OF_TEXTS} if method == "POST" else {}
    answer = client.request(method, path.format(**places), **sent)
    assert answer.status_code < 300, answer.text
    assert called
    assert not on_loop


def test_test_sets_are_checked_in_turn(serve, monkeypatch):
    client = serve(Settings.model_validate(KEYS))
    checked = Held(comparisons.testset_of)
    monkeypatch.setattr(comparisons, "testset_of", checked)

    def make(number: int) -> int:
        body = {"name": f"turn {number}", "references": [["a b", "c d"]], "resamples": 99}
        headers = {"Authorization": "Bearer of-ann"}
        return client.post("/v1/testsets", json=body, headers=headers).status_code

    with ThreadPoolExecutor(3 * AT_ONCE) as threads:
        many = [threads.submit(make, number) for number in range(3 * AT_ONCE)]
        until(lambda: checked.begun >= AT_ONCE)
        time.sleep(0.5)  # so that others could begin
        begun = checked.begun
        checked.released.set()
        assert {own.result() for own in many} == {201}
    assert begun == AT_ONCE
