"""The client against answers that a real service gives only on bad days.

`tests/app/test_http_client.py` has it speak to the real one.
"""

import http.server
import json
import socket
import threading
from collections.abc import Iterator
from datetime import UTC, datetime, timedelta
from email.utils import format_datetime

import pytest
from written import REFERENCES

from sigtest.client import Client
from sigtest.comparison.comparison import Comparison, parse_comparison
from sigtest.errors import InputError, LengthError, LimitError, RecipeError, ServiceError

STATUS = {"id": "c1", "status": "succeeded", "progress": {"phase": "report", "done": 1, "total": 1}}
RUNNING = {**STATUS, "status": "running"}


class Script(http.server.BaseHTTPRequestHandler):
    """Gives the answers of `server.answers` one after the other; None breaks the connection."""

    def answer(self):
        body = self.rfile.read(int(self.headers.get("Content-Length", 0)))
        self.server.asked.append((self.command, self.path, dict(self.headers), body))
        following = self.server.answers.pop(0)
        if following is None:
            self.connection.shutdown(socket.SHUT_RDWR)
            self.close_connection = True
            return
        status, headers, content = following
        data = content if isinstance(content, bytes) else json.dumps(content).encode()
        self.send_response(status)
        for name, value in {**headers, "Content-Length": str(len(data))}.items():
            self.send_header(name, value)
        self.end_headers()
        self.wfile.write(data)

    do_GET = do_POST = do_DELETE = answer  # noqa: N815

    def log_message(self, *_):
        pass


@pytest.fixture
def server() -> Iterator[http.server.HTTPServer]:
    with http.server.HTTPServer(("127.0.0.1", 0), Script) as running:
        running.answers, running.asked = [], []
        thread = threading.Thread(target=running.serve_forever, args=(0.01,))
        thread.start()
        yield running
        running.shutdown()
        thread.join()


@pytest.fixture
def slept() -> list[float]:
    return []


@pytest.fixture
def client(server, slept) -> Iterator[Client]:
    with Client(f"http://127.0.0.1:{server.server_port}/", "key", slept.append) as made:
        yield made


@pytest.fixture
def comparison() -> Comparison:
    systems = [{"name": name, "hypotheses": REFERENCES} for name in ("A", "B")]
    return parse_comparison({"references": [REFERENCES], "systems": systems})


def test_a_report_is_handed_on_byte_for_byte(client, server, comparison):
    server.answers = [(202, {}, STATUS), (200, {}, b'{"as": "it is"}\n')]
    assert client.report(client.run(comparison)) == b'{"as": "it is"}\n'
    (post, path, headers, body), (get, report, *_) = server.asked
    assert (post, path, get, report) == (
        "POST", "/v1/comparisons", "GET", "/v1/comparisons/c1/report?format=json"
    )  # fmt: skip
    assert headers["Authorization"] == "Bearer key"
    assert json.loads(body) == json.loads(json.dumps(comparison.as_json()))


def test_progress_is_told_until_the_end(client, server, comparison, slept):
    half = {**RUNNING, "progress": {"phase": "resampling", "done": 1, "total": 2}}
    server.answers = [
        (202, {"Retry-After": "3"}, RUNNING),
        (200, {"Preference-Applied": "wait=1"}, half),
        (200, {}, STATUS),
    ]
    told = []
    client.run(comparison, lambda *step: told.append(step))
    assert told == [("report", 1, 1), ("resampling", 1, 2)]
    assert slept == [3.0]


def test_a_broken_connection_is_tried_again_under_the_same_key(client, server, comparison, slept):
    server.answers = [None, None, (202, {}, STATUS)]
    client.run(comparison)
    keys = {
        headers["Idempotency-Key"] for method, _, headers, _ in server.asked if method == "POST"
    }
    assert len(keys) == 1
    assert slept == [0.1, 0.2]


def test_a_busy_service_is_asked_again_when_it_says(client, server, comparison, slept):
    server.answers = [(503, {"Retry-After": "2"}, {}), (202, {}, STATUS)]
    client.run(comparison)
    assert slept == [2.0]


@pytest.mark.parametrize("seconds", [0, 45])
def test_a_service_is_taken_at_its_word(client, server, comparison, slept, seconds):
    """Longer than the longest pause of its own, too (RFC 9110, 10.2.3)."""
    server.answers = [(429, {"Retry-After": f"{seconds}"}, {}), (202, {}, STATUS)]
    client.run(comparison)
    assert slept == [seconds]


def test_a_time_to_come_back_at_is_waited_for(client, server, comparison, slept):
    moment = format_datetime(datetime.now(UTC) + timedelta(seconds=30), usegmt=True)
    server.answers = [(503, {"Retry-After": moment}, {}), (202, {}, STATUS)]
    client.run(comparison)
    assert 25 < slept[0] <= 30


def test_more_than_an_hour_is_not_waited_for(client, server, comparison, slept):
    server.answers = [(429, {"Retry-After": "3601"}, {"detail": "Too much is unfinished."})]
    with pytest.raises(ServiceError, match="Too much is unfinished"):
        client.run(comparison)
    assert slept == []


def test_patience_ends(client, server, comparison):
    server.answers = [(503, {}, {"detail": "Too much to do already."})] * 7
    with pytest.raises(ServiceError, match="Too much to do"):
        client.compare(comparison)
    assert not server.answers


@pytest.mark.parametrize(
    ("kind", "error"),
    [("length-mismatch", LengthError), ("invalid-recipe", RecipeError),
     ("limit-exceeded", LimitError), ("something-new", ServiceError)],
)  # fmt: skip
def test_problems_become_errors(client, server, comparison, kind, error):
    problem = {
        "type": f"https://sigtest.dev/problems/{kind}",
        "detail": "Too short.",
        "limit": "max_systems",
        "errors": [{"field": "systems", "system": "B", "line": 3, "message": "Too short."}],
    }
    server.answers = [(422, {}, problem)]
    with pytest.raises(error, match="Too short") as raised:
        client.compare(comparison)
    assert (raised.value.system, raised.value.line) == ("B", 3)
    assert getattr(raised.value, "problem", None) == (kind if error is ServiceError else None)


@pytest.mark.parametrize("answer", [b"<html>hello</html>", b"[1]", b'{"hello": "world"}'])
def test_a_stranger_is_recognised(client, server, comparison, answer):
    server.answers = [(200, {}, answer)]
    with pytest.raises(ServiceError, match="does not answer like a sigtest service"):
        client.compare(comparison)


def test_an_error_without_a_problem_document_has_its_status(client, server, comparison):
    server.answers = [(404, {}, b"nothing here")]
    with pytest.raises(ServiceError, match="404 Not Found"):
        client.compare(comparison)


def test_a_report_of_another_version_is_one_clear_error(client, server, comparison):
    for other in (b'{"something": "else"}', b"[]", b'{"signature": "only"}'):
        server.answers = [(202, {}, STATUS), (200, {}, other)]
        with pytest.raises(InputError, match="This is no Report of sigtest"):
            client.compare(comparison)


def test_a_comparison_that_fails_says_why(client, server, comparison):
    server.answers = [(202, {}, {**STATUS, "status": "failed", "error": "It broke."})]
    with pytest.raises(ServiceError, match=r"failed the question: It broke\.") as caught:
        client.compare(comparison)
    assert caught.value.problem is None  # of an older service
    typed = {"type": "urn:sigtest:problem:task-timeout", "error": "It broke."}
    server.answers = [(202, {}, {**STATUS, "status": "failed", **typed})]
    with pytest.raises(ServiceError) as caught:
        client.compare(comparison)
    assert caught.value.problem == "task-timeout"


def test_nobody_at_the_address_is_one_clear_line(comparison, slept):
    with socket.socket() as free:
        free.bind(("127.0.0.1", 0))
        url = f"http://127.0.0.1:{free.getsockname()[1]}"
    with Client(url, sleep=slept.append) as client, pytest.raises(ServiceError, match="No service"):
        client.compare(comparison)
    assert slept == []


@pytest.mark.parametrize("url", ["localhost:8000", "ftp://x", "http://", ""])
def test_what_is_no_address_is_refused(url):
    with pytest.raises(ServiceError, match="not the address of a service"):
        Client(url)


@pytest.mark.parametrize("name", ["..", ".", "a/b", ""])
def test_a_name_that_leads_elsewhere_is_never_asked_for(client, server, name):
    with pytest.raises(InputError, match="name"):
        client.remove_system("t1", name)  # ".." would be the test set itself
    assert server.asked == []


@pytest.mark.parametrize("key", ["key\n", "key\r", " key", "ключ", "k\0y"])
def test_keys_that_no_header_can_carry_are_told_as_such(key):
    with pytest.raises(ServiceError, match=r"^The API key cannot be sent: keys have"):
        Client("http://127.0.0.1:1", key)
    Client("http://127.0.0.1:1", "sigtest_a-b c~!").close()
