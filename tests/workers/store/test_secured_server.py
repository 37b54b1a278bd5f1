"""A store of the operator's own, with a password and rights that are no more than needed."""

import re
import shutil
import socket
import subprocess
import time
from collections.abc import Iterator
from contextlib import closing, contextmanager
from pathlib import Path

import pytest
from commanded import told
from redis import Redis
from redis.exceptions import AuthenticationError, RedisError
from service import CALLER, Comparisons, example, finished, in_process, started

from workers.errors import StorageError
from workers.settings import Settings
from workers.store.server import find_binary

ROOT = Path(__file__).parents[3]


def documented() -> str:
    """The ACL file in the documentation."""
    text = (ROOT / "docs" / "OPERATIONS.md").read_text()
    found = re.search(r"^user default .*\nuser sigtest .*\n", text, re.M)
    assert found is not None
    return found[0]


@contextmanager
def secured(program: str, folder: Path, passwords: str = "s3cret") -> Iterator[int]:
    """A server with the documented rights, killed at the end, and its port."""
    (folder / "users.acl").write_text(documented().replace("PASSWORD", passwords))
    with closing(socket.create_server(("127.0.0.1", 0))) as taken:
        free: int = taken.getsockname()[1]
    options = {"port": str(free), "bind": "127.0.0.1", "dir": str(folder), "save": "",
               "aclfile": str(folder / "users.acl"), "appendonly": "yes",
               "appendfsync": "always", "logfile": str(folder / "log")}  # fmt: skip
    words = [word for name, value in options.items() for word in (f"--{name}", value)]
    with subprocess.Popen([program, *words]) as server:
        for _ in range(100):
            try:
                Redis(port=free, username="sigtest", password=passwords.split(" >")[0]).ping()
                break
            except RedisError:
                time.sleep(0.05)
        try:
            yield free
        finally:
            server.kill()


@pytest.fixture(scope="module")
def port(tmp_path_factory: pytest.TempPathFactory) -> Iterator[int]:
    folder = tmp_path_factory.mktemp("secured")
    with secured(find_binary(), folder) as free:
        yield free


@pytest.mark.parametrize("program", [find_binary(), shutil.which("redis-server")])
def test_what_was_written_is_there_after_a_restart(program, tmp_path):
    if program is None:
        pytest.skip("there is no redis-server here")
    with secured(program, tmp_path) as port:
        redis = Redis(port=port, username="sigtest", password="s3cret")
        with redis.pipeline() as pipe:
            pipe.set("sigtest:a", 1).set("sigtest:b", 2).execute()
    with secured(program, tmp_path) as port:
        redis = Redis(port=port, username="sigtest", password="s3cret")
        assert redis.mget("sigtest:a", "sigtest:b") == [b"1", b"2"]
        with pytest.raises(AuthenticationError):
            Redis(port=port).ping()


def test_the_password_is_changed_as_documented(tmp_path):
    program = find_binary()
    with secured(program, tmp_path, "old >new") as port:
        for password in ("old", "new"):
            Redis(port=port, username="sigtest", password=password).rpush("sigtest:a", password)
    with secured(program, tmp_path, "new") as port:
        kept = Redis(port=port, username="sigtest", password="new").lrange("sigtest:a", 0, -1)
        assert kept == [b"old", b"new"]
        with pytest.raises(AuthenticationError):
            Redis(port=port, username="sigtest", password="old").ping()


def test_operators_can_have_the_file_written_anew(port):
    """For what is deleted to leave the disk, see "Who sees what" in docs/OPERATIONS.md."""
    redis = Redis(port=port, username="sigtest", password="s3cret")
    assert redis.bgrewriteaof()
    redis.close()


def test_the_service_works_with_the_documented_rights(port, tmp_path, capfd):
    url = f"redis://sigtest:s3cret@127.0.0.1:{port}/0"
    with started(Settings(redis_url=url, state=tmp_path, workers=2)) as service:
        record, _ = service.jobs.submit(example(), CALLER)
        assert finished(service.jobs, record.id).status.value == "succeeded"
        assert service.jobs.report(record.id, CALLER) == in_process(example())
        assert service.jobs.remove(record.id, CALLER) is None
    assert capfd.readouterr().err == ""


@pytest.mark.parametrize(
    "words",
    [("usage",), ("failed",), ("keys", "add", "ann"), ("keys", "list"), ("drain",),
     ("drain", "--end"), ("requeue", "--failed"), ("purge", "ann", "--yes")],
    ids=" ".join,
)  # fmt: skip
def test_operators_need_no_further_rights(port, words):
    told(Settings(redis_url=f"redis://sigtest:s3cret@127.0.0.1:{port}/0"), *words)


def test_the_compose_file_gives_the_documented_rights(tmp_path):
    text = (ROOT / "docker-compose.yml").read_text()
    found = re.search(r"- >-\n(.*?)exec valkey-server", text, re.S)
    assert found is not None
    line = " ".join(found[1].split()).replace("$$", "$").replace("/run/store", str(tmp_path))
    subprocess.run(["sh", "-c", line], env={"STORE_PASSWORD": "PASSWORD"}, check=True, timeout=10)
    written = (tmp_path / "users.acl").read_text()
    assert written == documented()


def test_every_container_is_confined():
    text = (ROOT / "docker-compose.yml").read_text()
    _, shared, services, _ = re.split(r"^(?:x-service|services|volumes):", text, flags=re.M)
    store, api, worker = re.split(r"^  (?:store|api|worker):\n", services, flags=re.M)[1:]
    for service in (store, shared + api, shared + worker):
        for word in (
            "mem_limit:", "cpus:", "pids_limit:", "read_only: true", "cap_drop: [ALL]",
            "no-new-privileges:true", "healthcheck:",
        ):  # fmt: skip
            assert word in service, word


def test_these_rights_do_not_reach_beyond(port):
    redis = Redis(port=port, username="sigtest", password="s3cret")
    for command in ("CONFIG GET *", "FLUSHALL", "SHUTDOWN", "ACL LIST", "GET other:key", "DEBUG x"):
        with pytest.raises(RedisError):
            redis.execute_command(*command.split())
    redis.close()


@pytest.mark.parametrize("who", ["", "sigtest:wrong@", ":s3cret@"])
def test_without_the_password_there_is_no_way_in(port, tmp_path, who):
    jobs = Comparisons.connect(Settings(redis_url=f"redis://{who}127.0.0.1:{port}/0"))
    with pytest.raises(StorageError) as caught:
        jobs.submit(example(), CALLER)
    assert "s3cret" not in caught.value.message
    jobs.close()
