"""The front end alone, as a container runs it: what the whole service does, without its workers."""

import os
import re
import socket
import subprocess
import sys

import httpx
import pytest
from exchange import COMPARISONS, ROOT, problem
from service import launched

from workers.settings import Settings as QueueSettings
from workers.store.server import EmbeddedServer

(MODULE,) = re.findall(
    r'^CMD \["python", "-m", "([\w.]+)"\]$', (ROOT / "Dockerfile").read_text(), re.M
)


def test_it_answers_logs_and_loses_patience_as_the_whole_service_does(tmp_path, capfd):
    queue = QueueSettings(state=tmp_path)
    server = EmbeddedServer(queue)
    server.ensure()
    absent = f"{COMPARISONS}/{'0' * 32}"
    with launched(queue, MODULE, HOST="0.0.0.0") as (_, url):
        port = httpx.URL(url).port
        assert port is not None
        here = f"http://127.0.0.1:{port}"
        with socket.create_connection(("127.0.0.1", port), timeout=60) as silent:
            assert httpx.get(f"{here}/healthz").status_code == 200
            problem(httpx.get(f"{here}/readyz"), 503, "unready")
            problem(httpx.get(here + absent), 404, "not-found")
            assert silent.recv(1) == b""  # closed: no headers came
    server.stop()
    lines = capfd.readouterr().err.splitlines()
    said = [re.search(r" app\.http\.observing: (GET \S+ \d+) ", line) for line in lines]
    assert [found and found[1] for found in said] == [
        "GET /healthz 200",
        "GET /readyz 503",
        f"GET {COMPARISONS}/{{id}} 404",
    ]


@pytest.mark.slow
@pytest.mark.parametrize(
    ("name", "value"), [("REDIS_URL", "here"), ("PORT", "x"), ("SIGTEST_LOG", "xml")]
)
def test_a_senseless_environment_is_one_message(tmp_path, name, value):
    done = subprocess.run(
        [sys.executable, "-m", MODULE],
        cwd=ROOT,
        env={**os.environ, "PORT": "0", "SIGTEST_STATE": str(tmp_path), name: value},
        capture_output=True, text=True, timeout=60, check=False,
    )  # fmt: skip
    assert (done.returncode, done.stdout) == (2, "")
    assert done.stderr.startswith(f"sigtest: {name} ")
    assert done.stderr.count("\n") == 1


@pytest.mark.slow
@pytest.mark.parametrize(
    ("named", "blocked"), [("10.0.0.0/8", True), ("10.0.0.0/8,127.0.0.0/8", False)]
)
def test_proxies_that_are_named_tell_addresses_of_clients(tmp_path, named, blocked):
    """Wrong keys are counted by address, so that one client does not wait for another."""

    def answered(url: str, client: int) -> int:
        headers = {"X-API-Key": "wrong", "X-Forwarded-For": f"203.0.113.{client}"}
        return httpx.get(url + COMPARISONS, headers=headers).status_code

    queue = QueueSettings(state=tmp_path)
    server = EmbeddedServer(queue)
    server.ensure()
    more = {"SIGTEST_API_KEYS": "ann:key", "FORWARDED_ALLOW_IPS": named}
    with launched(queue, MODULE, **more) as (_, url):
        answers = {answered(url, client) for client in range(20)}
        assert (429 in answers) == blocked
    server.stop()


def test_the_compose_file_believes_the_gateway_of_its_network_alone():
    """Where all are believed, the first address counts, which clients write as they like."""
    text = (ROOT / "docker-compose.yml").read_text()
    (believed,) = re.findall(r"FORWARDED_ALLOW_IPS: (\S+)", text)
    (gateway,) = re.findall(r"gateway: (\S+)", text)
    assert believed == gateway
