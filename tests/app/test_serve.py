"""Settings from the environment, and what happens when they or the surroundings are wrong."""

import asyncio
import inspect
import os
import re
import signal
import socket
import subprocess
import sys
from collections.abc import Iterator, Mapping
from contextlib import ExitStack, closing
from hashlib import sha256
from pathlib import Path
from typing import Any, NamedTuple
from urllib.parse import urlsplit

import httpx
import pytest
from exchange import COMPARISONS, ROOT, problem
from redis import Redis
from service import children, launched, until

from app.http import problems
from app.main import create_app, refuse_strangers
from app.serve import address, listen
from app.settings import Settings, misspelt
from sigtest.errors import ServiceError, SigtestError
from workers.errors import SettingError
from workers.settings import Settings as QueueSettings
from workers.store.server import EmbeddedServer, connect


def test_an_empty_variable_leaves_the_default(monkeypatch):
    monkeypatch.setenv("SIGTEST_MAX_SEGMENTS", "")
    assert Settings().max_segments == 100_000


def test_settings_come_from_the_environment(monkeypatch):
    monkeypatch.setenv("SIGTEST_MAX_SEGMENTS", "7")
    monkeypatch.setenv("SIGTEST_API_KEYS", "ann:a:1, bob:b")
    found = Settings()
    assert found.max_segments == 7
    hashes = [sha256(key).hexdigest() for key in (b"a:1", b"b")]
    assert found.api_keys == tuple(zip(("ann", "bob"), hashes, strict=True))


@pytest.mark.parametrize(
    "given",
    [
        {"SIGTEST_MAX_SEGMENTS": "0"},
        {"SIGTEST_MAX_BODY_BYTES": "many"},
        {"SIGTEST_MAX_BODY_BYTES": "1" + 15 * "0" + "1"},
        {"SIGTEST_MAX_WAIT_SECONDS": "1000000000"},
        {"SIGTEST_API_KEYS": "secret"},
        {"SIGTEST_API_KEYS": "<b>:secret"},
        {"SIGTEST_API_KEYS": "ann:secret,bob:secret"},
    ],
)
def test_senseless_settings_are_refused(given):
    with pytest.raises(SettingError, match=next(iter(given))):
        Settings.model_validate(given)


def test_misspelt_settings_are_noticed():
    wrong = {
        "SIGTEST_WORKRES": "WORKERS",
        "SIGTEST_WORKERS": "WORKERS",
        "SIGTEST_RETENTOIN": "SIGTEST_RETENTION",
        "SIGTEST_MAX_SEGMENT": "SIGTEST_MAX_SEGMENTS",
        "SIGTEST_APIKEYS": "SIGTEST_API_KEYS",
        "SIGTEST_HOST": "SIGTEST_HOSTS",
    }
    injected = ("SERVICE_HOST", "SERVICE_PORT", "SERVICE_PORT_HTTP", "PORT", "PORT_8000_TCP",
                "PORT_8000_TCP_PROTO", "PORT_8000_TCP_ADDR", "WORKERS_PORT", "REDIS_PORT",
                "API_KEY", "DATA", "WORKERS_SERVICE_HOST")  # fmt: skip
    right = (
        *QueueSettings.variables().values(),
        "SIGTEST_MAX_PAGE",
        "PORT",
        "HOME",
        *(f"SIGTEST_{i}" for i in injected),
    )
    assert misspelt({**wrong, **dict.fromkeys(right, "1")}) == wrong


class Narrow(NamedTuple):
    """A service that may have few files open at first, lets keys in, and whose setting is misspelt.

    Attributes:
        pid: Of its front end.
        url: Where it answers.
        log: What it says.
    """

    pid: int
    url: str
    log: Path


@pytest.fixture(scope="module")
def narrow(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Narrow]:
    log = tmp_path_factory.mktemp("narrow") / "log"
    queue = QueueSettings(state=log.with_name("state"), workers=1)
    wrong = {"SIGTEST_WORKRES": "8", "SIGTEST_STATES": "x"}
    more = {"HOST": "0.0.0.0", "SIGTEST_API_KEYS": "ann:k3y-of-ann", **wrong}
    with launched(queue, before=f"ulimit -Sn 120; exec 2> '{log}'", **more) as (process, url):
        yield Narrow(process.pid, url, log)


def test_a_misspelt_setting_is_one_line_of_the_log(narrow):
    (line,) = [line for line in narrow.log.read_text().splitlines() if "No setting" in line]
    assert line.endswith(
        "No setting, and not read: SIGTEST_STATES: did you mean SIGTEST_STATE?; "
        "SIGTEST_WORKRES: did you mean WORKERS?"
    )


def test_every_setting_is_described():
    described = re.findall(r"^    (\w+): ", inspect.getdoc(Settings) or "", re.M)
    assert described == list(Settings.model_fields)


def test_faults_tell_nothing_but_their_id(caplog, tmp_path):
    def fail() -> None:
        raise RuntimeError("secret")

    app = create_app(Settings(), QueueSettings(state=tmp_path))
    app.add_api_route("/fail", fail)

    async def ask() -> httpx.Response:
        transport = httpx.ASGITransport(app, raise_app_exceptions=False)
        async with httpx.AsyncClient(transport=transport, base_url="http://test") as client:
            return await client.get("/fail")

    response = asyncio.run(ask())
    document = problem(response, 500, "internal-error")
    assert "secret" not in response.text
    assert document["id"] in caplog.text


def test_a_missing_storage_is_a_problem(serve_on, tmp_path):
    client = serve_on(Settings(), QueueSettings(state=tmp_path))
    assert client.get("/healthz").status_code == 200
    for path in ("/readyz", COMPARISONS):
        response = client.get(path)
        problem(response, 503, "storage-unavailable")
        assert int(response.headers["retry-after"]) >= 1


def test_a_front_end_that_stops_closes_its_connections(tmp_path):
    queue = QueueSettings(state=tmp_path)
    server = EmbeddedServer(queue)
    server.ensure()
    app = create_app(Settings(), queue)

    async def lived(redis: Redis) -> Mapping[str, Any]:
        async with app.router.lifespan_context(app) as state:
            state["questions"].check()
            assert len(redis.client_list()) > 1
        return state

    with closing(connect(queue)) as redis:
        held = asyncio.run(lived(redis))  # or dropping it would close them
        until(lambda: len(redis.client_list()) == 1, seconds=30)  # ours
        assert held
    server.stop()


def test_every_error_has_a_kind():
    def below(kind: type[SigtestError]) -> set[type[SigtestError]]:
        return {kind}.union(*(below(child) for child in kind.__subclasses__()))

    slugs = [kind.slug for kind in problems.KINDS.values()]
    assert len(set(slugs)) == len(slugs)
    unserved = {ServiceError, SettingError}
    assert below(SigtestError) - unserved <= set(problems.KINDS)


def test_whoever_said_so_or_has_keys_lets_strangers_in(queue):
    refuse_strangers("0.0.0.0", Settings(open=True), queue)
    refuse_strangers("127.0.0.1", Settings(), queue)
    refuse_strangers("0.0.0.0", Settings.model_validate({"SIGTEST_API_KEYS": "ann:a"}), queue)


@pytest.mark.slow
def test_strangers_are_let_in_where_that_was_said_and_a_stop_ends_streams_and_waits(tmp_path):
    lines = ["a b c d e f g", "h i j k l m n"] * 1000
    body = {
        "references": [lines],
        "systems": [{"name": f"s{i}", "hypotheses": lines[i:] + lines[:i]} for i in range(6)],
        "tests": ["bootstrap"],
        "resamples": 999_999,
    }
    queue = QueueSettings(state=tmp_path, workers=1)
    with (
        launched(queue, HOST="0.0.0.0", SIGTEST_OPEN="1") as (process, url),
        httpx.Client(base_url=url, timeout=60) as client,
    ):
        assert client.get(COMPARISONS).status_code == 200
        path = client.post(COMPARISONS, json=body).headers["location"]
        with client.stream("GET", path + "/events") as response:
            lines_of_events = response.iter_lines()
            next(lines_of_events)
            process.send_signal(signal.SIGTERM)
            for _ in lines_of_events:  # which raises where the stream is cut off
                pass
        process.wait(30)


def run(state: Path, **environment: str) -> subprocess.CompletedProcess[str]:
    return subprocess.run(
        [sys.executable, "-m", "app.serve"],
        cwd=ROOT,
        env={**os.environ, "SIGTEST_STATE": str(state), **environment},
        capture_output=True,
        text=True,
        timeout=120,
        check=False,
    )


@pytest.mark.parametrize("port", ["x", "²"])
def test_a_port_is_a_number(port, monkeypatch):
    monkeypatch.setenv("PORT", port)
    with pytest.raises(SettingError, match="PORT"):
        address()


def test_a_senseless_environment_is_one_message(tmp_path):
    for name, value in (("SIGTEST_MAX_SYSTEMS", "-1"), ("SIGTEST_METEOR", "no")):
        done = run(tmp_path, **{name: value})
        assert (done.returncode, done.stdout) == (2, "")
        assert name in done.stderr
        assert "Traceback" not in done.stderr


@pytest.mark.parametrize(
    ("name", "value"),
    [
        ("SIGTEST_STATE", "/dev/null/state"),
        pytest.param("REDIS_URL", "here", marks=pytest.mark.slow),
    ],
)
def test_what_workers_cannot_use_is_said_once(tmp_path, name, value):
    done = run(tmp_path, **{"PORT": "0", name: value})
    assert (done.returncode, done.stdout) == (2, "")
    said, end = done.stderr.splitlines()
    assert said.startswith(f"sigtest: {name} ")
    assert end == "sigtest: The workers do not start; see above."


def test_a_port_that_is_taken_starts_nothing(tmp_path):
    with socket.create_server(("127.0.0.1", 0)) as taken:
        done = run(tmp_path, PORT=str(taken.getsockname()[1]))
    assert done.returncode == 2
    assert "Traceback" not in done.stderr
    assert list(tmp_path.iterdir()) == []


@pytest.mark.parametrize(
    "module",
    ["app.serve", pytest.param("app.alone", marks=pytest.mark.slow), "workers.machine.worker"],
)
def test_arguments_that_nobody_reads_are_refused(module, tmp_path):
    done = subprocess.run(
        [sys.executable, "-m", module, "--port", "9000"],
        cwd=ROOT, env={**os.environ, "SIGTEST_STATE": str(tmp_path), "PORT": "0"},
        capture_output=True, text=True, timeout=120, check=False,
    )  # fmt: skip
    said = "sigtest: '--port' is not read: settings are environment variables, such as PORT=8080.\n"
    assert (done.returncode, done.stdout, done.stderr) == (2, "", said)


STOPPED_WHILE_IT_LOADS = """
import os, signal, sys
from app import serve
number = int(sys.argv.pop())
serve.listen = lambda *_: exec("os.kill(os.getpid(), number); signal.pause()")
raise SystemExit(serve.main())
"""


@pytest.mark.parametrize("module", ["app.serve", "app.alone"])
def test_an_interrupt_before_all_is_loaded_leaves_no_traceback(module, tmp_path):
    interrupting = "import os, signal\nos.kill(os.getpid(), signal.SIGINT)\n"
    (tmp_path / "socket.py").write_text(interrupting)  # in the place of the one that is loaded
    path = os.pathsep.join([str(tmp_path), str(ROOT)])
    done = subprocess.run(
        [sys.executable, "-m", module],
        cwd=ROOT, env={**os.environ, "PYTHONPATH": path},
        capture_output=True, text=True, timeout=60, check=False,
    )  # fmt: skip
    assert (done.returncode, done.stdout, done.stderr) == (-signal.SIGINT, "", "")


STOPS = pytest.mark.parametrize("number", [signal.SIGTERM, signal.SIGINT])


@STOPS
def test_a_stop_while_modules_are_loaded_is_a_stop(number):
    """Dataclasses are made by `exec` while they are loaded."""
    done = subprocess.run(
        [sys.executable, "-c", STOPPED_WHILE_IT_LOADS, str(int(number))],
        cwd=ROOT, capture_output=True, text=True, timeout=60, check=False,
    )  # fmt: skip
    assert (done.returncode, done.stdout, done.stderr) == (0, "", "")


STOPPED_UNHEARD = """
import os, sys
from app import serve
number = int(sys.argv.pop())

class Deleted:
    def __del__(self):
        os.kill(os.getpid(), number)

listen = serve.listen
serve.listen = lambda *address: (Deleted(), listen(*address))[1]
raise SystemExit(serve.main())
"""


@pytest.mark.slow
@STOPS
def test_a_stop_that_python_ignores_is_heard_before_anybody_is_served(tmp_path, number):
    done = subprocess.run(
        [sys.executable, "-c", STOPPED_UNHEARD, str(int(number))],
        cwd=ROOT, env={**os.environ, "PORT": "0", "SIGTEST_STATE": str(tmp_path)},
        capture_output=True, text=True, timeout=120, check=False,
    )  # fmt: skip
    assert (done.returncode, done.stdout) == (0, "")
    assert done.stderr.startswith("Exception ignored in: <function Deleted.__del__")


def test_strangers_are_refused_where_there_are_no_keys(tmp_path):
    done = run(tmp_path, HOST="0.0.0.0", PORT="0")
    assert (done.returncode, done.stdout) == (2, "")
    assert "sigtest-admin keys add" in done.stderr
    assert "Traceback" not in done.stderr
    assert run(tmp_path, HOST="192.0.2.1", PORT="0").returncode == 2  # no address of this machine


def test_keys_let_strangers_in_and_stay_in_the_front_end(narrow):
    answer = httpx.get(narrow.url + COMPARISONS, headers={"X-API-Key": "k3y-of-ann"})
    assert answer.status_code == 200
    below = descendants(narrow.pid)
    assert len(below) >= 3  # supervisor, store, worker
    seen = [Path(f"/proc/{pid}/environ").read_bytes() for pid in below]
    assert not [pid for pid, held in zip(below, seen, strict=True) if b"k3y-of-ann" in held]


def descendants(pid: int) -> list[int]:
    own = children(pid)
    return own + [lower for child in own for lower in descendants(child)]


def test_more_clients_may_be_connected_than_files_open_at_first(narrow):
    with ExitStack() as stack:
        address = urlsplit(narrow.url).hostname, urlsplit(narrow.url).port
        for _ in range(200):
            stack.enter_context(socket.create_connection(address, timeout=60))
        assert httpx.get(f"{narrow.url}/healthz", timeout=10).status_code == 200


def test_packets_wait_for_no_acknowledgement():
    with listen("127.0.0.1", 0) as listening, socket.create_connection(listening.getsockname()):
        accepted, _ = listening.accept()
        with accepted:
            assert accepted.getsockopt(socket.IPPROTO_TCP, socket.TCP_NODELAY)
