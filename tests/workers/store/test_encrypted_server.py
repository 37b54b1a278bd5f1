"""A store that is reached through TLS alone, with the certificate of an authority of its own."""

import shutil
import socket
import subprocess
import time
from collections.abc import Iterator
from contextlib import closing
from pathlib import Path

import pytest
from service import CALLER, Comparisons, example, finished, in_process, started

from workers.errors import StorageError
from workers.settings import Settings
from workers.store.server import SERVERS, find_binary

AUTHORITY = ["req", "-x509", "-newkey", "rsa:2048", "-nodes", "-days", "1",
             "-addext", "keyUsage=critical,keyCertSign"]  # fmt: skip


def openssl(folder: Path, *words: str) -> None:
    program = shutil.which("openssl")
    if program is None:
        pytest.skip("openssl, which makes the certificates, is not installed")
    subprocess.run([program, *words], cwd=folder, check=True, capture_output=True, timeout=60)


def certificates(folder: Path) -> None:
    """An authority, the server's certificate that it signed, and another authority."""
    for name in ("ca", "stranger"):
        openssl(folder, *AUTHORITY, "-subj", f"/CN={name}", "-keyout", f"{name}.key",
                "-out", f"{name}.crt")  # fmt: skip
    (folder / "names").write_text("subjectAltName=IP:127.0.0.1\nauthorityKeyIdentifier=keyid\n")
    openssl(folder, "req", "-newkey", "rsa:2048", "-nodes", "-subj", "/CN=store",
            "-keyout", "store.key", "-out", "store.csr")  # fmt: skip
    openssl(folder, "x509", "-req", "-in", "store.csr", "-CA", "ca.crt", "-CAkey", "ca.key",
            "-CAcreateserial", "-days", "1", "-extfile", "names", "-out", "store.crt")  # fmt: skip


def free_port() -> int:
    with closing(socket.create_server(("127.0.0.1", 0))) as taken:
        port: int = taken.getsockname()[1]
    return port


def encrypted(program: str, folder: Path, port: int) -> subprocess.Popen[bytes] | None:
    """The server, or nothing where it was built without TLS."""
    options = {"port": "0", "tls-port": str(port), "bind": "127.0.0.1", "dir": str(folder),
               "tls-cert-file": str(folder / "store.crt"),
               "tls-key-file": str(folder / "store.key"),
               "tls-ca-cert-file": str(folder / "ca.crt"), "tls-auth-clients": "no",
               "requirepass": "s3cret", "appendonly": "yes", "save": "",
               "logfile": str(folder / "log")}  # fmt: skip
    words = [word for name, value in options.items() for word in (f"--{name}", value)]
    server = subprocess.Popen([program, *words], stderr=subprocess.DEVNULL)
    deadline = time.monotonic() + 20
    while server.poll() is None and time.monotonic() < deadline:
        with closing(socket.socket()) as trial:
            if trial.connect_ex(("127.0.0.1", port)) == 0:
                return server
        time.sleep(0.05)
    server.kill()
    server.wait()
    return None


@pytest.fixture(scope="module")
def store(tmp_path_factory: pytest.TempPathFactory) -> Iterator[tuple[int, Path]]:
    """Port of a server, and the folder with the certificates."""
    folder = tmp_path_factory.mktemp("encrypted")
    certificates(folder)
    programs = [find_binary(), *filter(None, map(shutil.which, SERVERS))]
    port = free_port()
    for program in dict.fromkeys(programs):
        server = encrypted(program, folder, port)
        if server is not None:
            yield port, folder
            server.terminate()
            server.wait()
            return
    pytest.skip("no valkey-server or redis-server that was built with TLS (Debian's redis is)")


def test_the_service_works_through_tls(store, tmp_path):
    port, folder = store
    url = f"rediss://:s3cret@127.0.0.1:{port}/0?ssl_ca_certs={folder / 'ca.crt'}"
    with started(Settings(redis_url=url, state=tmp_path, workers=1)) as service:
        record, _ = service.jobs.submit(example(), CALLER)
        assert finished(service.jobs, record.id).status.value == "succeeded"
        assert service.jobs.report(record.id, CALLER) == in_process(example())


@pytest.mark.parametrize(
    "address",
    [
        "redis://:s3cret@127.0.0.1:{port}/0",
        "rediss://:s3cret@127.0.0.1:{port}/0",
        "rediss://:s3cret@127.0.0.1:{port}/0?ssl_ca_certs={folder}/stranger.crt",
        "rediss://:wrong@127.0.0.1:{port}/0?ssl_ca_certs={folder}/ca.crt",
    ],
    ids=["plain", "unknown authority", "another authority", "wrong password"],
)
def test_nothing_else_does(store, address):
    port, folder = store
    jobs = Comparisons.connect(Settings(redis_url=address.format(port=port, folder=folder)))
    with pytest.raises(StorageError) as caught:
        jobs.submit(example(), CALLER)
    assert "s3cret" not in caught.value.message
    jobs.close()
