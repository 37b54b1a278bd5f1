"""The way from a worker's short-lived children to the METEOR server they share."""

from __future__ import annotations

import json
import os
import socket
import subprocess
import sys
import time
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from sigtest.errors import UnavailableError
from sigtest.metrics.meteor.pool import UnansweredError

START_SECONDS = 60.0
ATTEMPTS = 2

_started: list[subprocess.Popen[bytes]] = []  # held, because they outlive the one who started them


@dataclass(frozen=True)
class SharedPool:
    """A pool in a server process of its own.

    Attributes:
        folder: Private to this user; holds the server's socket, lock and log. Its name cannot be
            guessed, and it exists from the first request to the end of the owner.
        owner: Process id of whom the server ends with.
        size: JVMs that may run at a time.
        ahead: Options that one is started with before anybody asks; see `access.share`.
    """

    folder: Path
    owner: int
    size: int
    ahead: tuple[str, ...] = ()

    @property
    def address(self) -> Path:
        """The server's socket."""
        return self.folder / "socket"

    def start(self) -> None:
        """Start the server where it does not run; its JVM may still load what it needs.

        Raises:
            UnavailableError: It does not start.
        """
        self._connect().close()

    def score(self, arguments: tuple[str, ...], requests: Sequence[str]) -> list[str]:
        """As `Pool.score`; a server that died is replaced once."""
        question = json.dumps({"arguments": arguments, "requests": list(requests)})
        for _ in range(ATTEMPTS):
            with self._connect() as connection:
                reply = _exchange(connection, question.encode("ascii") + b"\n")
            if reply.endswith(b"\n"):
                return _read(json.loads(reply))
        raise UnavailableError(f"meteor's server ended{self._last_words()}", field="metrics")

    def _connect(self) -> socket.socket:
        import fcntl  # here, because Windows has none; nothing forks there

        try:
            return self._reach()
        except (FileNotFoundError, ConnectionRefusedError):
            self.folder.mkdir(mode=0o700, exist_ok=True)
        with (self.folder / "lock").open("w") as lock:
            fcntl.flock(lock, fcntl.LOCK_EX)
            try:
                return self._reach()  # another child was quicker
            except (FileNotFoundError, ConnectionRefusedError):
                return self._start()

    def _reach(self) -> socket.socket:
        connection = socket.socket(socket.AF_UNIX, socket.SOCK_STREAM)
        try:
            connection.connect(str(self.address))
        except OSError:
            connection.close()
            raise
        return connection

    def _start(self) -> socket.socket:
        """Start the server in a session of its own: a killed job must not take it along."""
        program = [sys.executable, "-m", "sigtest.metrics.meteor.server"]
        with (self.folder / "log").open("ab") as log:
            server = subprocess.Popen(
                [*program, str(self.folder), str(self.owner), str(self.size), *self.ahead],
                stdin=subprocess.DEVNULL,
                stdout=log,
                stderr=log,
                start_new_session=True,
                env={**os.environ, "PYTHONPATH": os.pathsep.join(filter(None, sys.path))},
            )
        _started.append(server)
        deadline = time.monotonic() + START_SECONDS
        while time.monotonic() < deadline and server.poll() is None:
            try:
                return self._reach()
            except (FileNotFoundError, ConnectionRefusedError):
                time.sleep(0.02)
        raise UnavailableError(
            f"meteor's server does not start{self._last_words()}", field="metrics"
        )

    def _last_words(self) -> str:
        log = self.folder / "log"
        said = log.read_text("utf-8", "replace").strip() if log.is_file() else ""
        return f": {said.splitlines()[-1][:300]}" if said else "."


def _exchange(connection: socket.socket, question: bytes) -> bytes:
    """The reply, a line; anything else where the server died."""
    try:
        connection.sendall(question)
        with connection.makefile("rb") as replies:
            return replies.readline()
    except ConnectionError:
        return b""


def _read(reply: dict[str, Any]) -> list[str]:
    if "unavailable" in reply:
        raise UnavailableError(reply["unavailable"], field="metrics")
    if "unanswered" in reply:
        raise UnansweredError(reply["unanswered"], reply["reason"])
    answers: list[str] = reply["answers"]
    return answers
