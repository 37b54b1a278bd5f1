"""Clients that are slow, or go away: connections end, and nothing is logged as an error."""

import logging
import socket
import time
from contextlib import closing, suppress
from http.client import HTTPConnection

import httpx
import pytest
from exchange import COMPARISONS, Serve
from service import until

from app.http import middleware
from app.settings import Settings

HEAD = f"POST {COMPARISONS} HTTP/1.1\r\nHost: localhost\r\nContent-Type: application/json\r\n"


@pytest.fixture
def client(serve: Serve, monkeypatch: pytest.MonkeyPatch) -> httpx.Client:
    monkeypatch.setattr(middleware, "HEADER_SECONDS", 1.0)
    monkeypatch.setattr(middleware, "STALLED_SECONDS", 1.0)
    monkeypatch.setattr(middleware, "PATIENCE_SECONDS", 1.0)
    return serve(Settings())


def opened(client: httpx.Client) -> socket.socket:
    host, port = client.base_url.host, client.base_url.port
    assert port is not None
    return socket.create_connection((host, port), timeout=20)


def dripping(talk: socket.socket, text: str) -> bytes:
    """Everything that is answered while a text is sent one byte at a time."""
    talk.settimeout(0.15)
    heard = b""
    for letter in text * 100:
        try:
            talk.sendall(letter.encode())
            piece = talk.recv(65536)
        except TimeoutError:
            continue
        except OSError:
            return heard
        if not piece:
            return heard
        heard += piece
    raise AssertionError("the connection stays open")


@pytest.mark.parametrize("begin", ["", "POST /v1/compar"])
def test_headers_that_do_not_come_end_the_connection(client, begin):
    with opened(client) as talk:
        start = time.monotonic()
        assert dripping(talk, begin + "a") == b""
        assert time.monotonic() - start > 0.5


def test_idle_connections_stay_longer_than_clients_keep_them(client):
    base = client.base_url
    with closing(HTTPConnection(base.host, base.port, timeout=20)) as connection:
        for seconds in (6, 0):  # httpx keeps them for five
            connection.request("GET", "/healthz")
            answer = connection.getresponse()
            assert (answer.status, bool(answer.read())) == (200, True)
            time.sleep(seconds)


def test_the_next_request_is_timed_as_well(client):
    with opened(client) as talk:
        talk.sendall(b"GET /healthz HTTP/1.1\r\nHost: localhost\r\n\r\n")
        assert talk.recv(65536).startswith(b"HTTP/1.1 200")
        time.sleep(0.2)
        talk.setblocking(False)
        with suppress(BlockingIOError):
            talk.recv(65536)  # the rest of the answer, if it came alone
        assert dripping(talk, "GET /heal" + "a" * 100) == b""


PART = '--b\r\nContent-Disposition: form-data; name="request"\r\n\r\n'


@pytest.mark.parametrize(
    ("kind", "begin"), [("application/json", ""), ("multipart/form-data; boundary=b", PART)]
)
def test_a_body_that_does_not_come_is_answered(client, kind, begin):
    with opened(client) as talk:
        head = HEAD.replace("application/json", kind)
        talk.sendall(f"{head}Content-Length: 100000\r\n\r\n{begin}".encode())
        heard = dripping(talk, " ")
        assert heard.startswith(b"HTTP/1.1 408")
        assert b"urn:sigtest:problem:slow-body" in heard


def test_a_body_that_was_answered_already_does_not_go_on_for_ever(client):
    with opened(client) as talk:
        head = HEAD.replace("application/json", "multipart/form-data; boundary=b")
        talk.sendall(f"{head}Content-Length: 100000\r\n\r\nno boundary".encode())
        assert dripping(talk, " ").startswith(b"HTTP/1.1 400")


def test_a_large_body_has_the_time_it_needs(client):
    size = 3 * middleware.SLOWEST
    with opened(client) as talk:
        talk.sendall(f"{HEAD}Content-Length: {size}\r\n\r\n".encode())
        for _ in range(6):  # as slow as is allowed, and longer than the patience
            talk.sendall(b" " * (size // 6))
            time.sleep(0.3)
        assert talk.recv(65536).startswith(b"HTTP/1.1 400")


def test_an_answer_that_is_not_taken_ends_the_connection(client, monkeypatch):
    whole, lost = middleware.Connection.connection_lost, []

    def watched(connection: middleware.Connection, error: Exception | None) -> None:
        lost.append(connection)
        whole(connection, error)

    monkeypatch.setattr(middleware.Connection, "connection_lost", watched)
    with opened(client) as talk:
        talk.setsockopt(socket.SOL_SOCKET, socket.SO_RCVBUF, 65536)
        for _ in range(60):  # pipelined: some megabytes of answers
            talk.sendall(b"GET /openapi.json HTTP/1.1\r\nHost: localhost\r\n\r\n")
        until(lambda: bool(lost), seconds=60)
        size = 0
        with suppress(ConnectionError):
            while piece := talk.recv(65536):
                size += len(piece)
        assert size < 60 * 100_000


def gone_in_the_body(client: httpx.Client, kind: str) -> None:
    with opened(client) as talk:
        head = HEAD.replace("application/json", kind)
        talk.sendall(f"{head}Content-Length: 100000\r\n\r\n--b\r\n".encode())


def gone_before_the_answer(client: httpx.Client, kind: str) -> None:
    with opened(client) as talk:
        talk.sendall(b"GET /openapi.json HTTP/1.1\r\nHost: localhost\r\n\r\n")


@pytest.mark.parametrize("leave", [gone_in_the_body, gone_before_the_answer])
@pytest.mark.parametrize("kind", ["application/json", "multipart/form-data; boundary=b"])
def test_a_client_that_goes_is_no_error(client, caplog, leave, kind):
    with caplog.at_level(logging.INFO):
        for _ in range(20):
            leave(client, kind)
        assert client.get("/healthz").status_code == 200
        time.sleep(0.5)
    records = [r for r in caplog.records if r.levelno >= logging.WARNING or r.exc_info]
    assert records == []


def test_slow_clients_do_not_pile_up(client):
    talks = [opened(client) for _ in range(100)]
    for talk in talks:
        talk.sendall(f"{HEAD}Content-Length: 1000\r\n\r\n ".encode())
    assert client.get("/healthz").status_code == 200

    def ended() -> bool:
        for talk in talks:
            talk.settimeout(0.01)
            try:
                while talk.recv(65536):
                    pass
            except TimeoutError:
                return False
        return True

    until(ended, 15)
    for talk in talks:
        talk.close()
