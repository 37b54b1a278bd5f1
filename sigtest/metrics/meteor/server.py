"""A process that keeps METEOR's JVMs for a worker's children and ends with the worker.

    python -m sigtest.metrics.meteor.server FOLDER OWNER SIZE [OPTION...]

With options of METEOR, a JVM for them is started at once, warmed up and kept for good.
It listens on a socket in FOLDER, answers one question a connection (a line of JSON each way) and
imports nothing heavy: neither NumPy nor the metrics.
"""

from __future__ import annotations

import contextlib
import json
import os
import select
import shutil
import socket
import sys
import threading
import time
from pathlib import Path
from typing import Any

from sigtest.errors import UnavailableError
from sigtest.metrics.meteor.pool import Pool, UnansweredError

IDLE_SECONDS = 900.0  # after which the JVMs' memory is given back
POLL_SECONDS = 1.0
# Java compiles what it has run often: the first lines take ten times as long as these do at last.
REHEARSAL = [
    f"SCORE ||| the {a} dogs were running to a {b} house ||| a {b} dog ran home to the {a} houses "
    for a in ("small", "large", "old", "green", "quick", "quiet", "happy", "last")
    for b in ("big", "little", "new", "red", "slow", "loud", "sad", "first")
] * 4


def serve(folder: Path, owner: int, pool: Pool, ahead: tuple[str, ...] = ()) -> None:
    """Answer until `owner` has ended; then leave nothing behind.

    Args:
        folder: Where the socket is made.
        owner: Process id.
        pool: Who answers.
        ahead: Options of a JVM that is ready before anybody asks.
    """
    if ahead:
        threading.Thread(target=_rehearse, args=(pool, ahead), daemon=True).start()
    address = folder / "socket"
    address.unlink(missing_ok=True)  # of a server that was killed
    ended = _Ending(owner)
    with socket.socket(socket.AF_UNIX, socket.SOCK_STREAM) as listener:
        listener.bind(str(address))
        listener.listen(64)
        used = time.monotonic()
        watched = [listener.fileno(), *ended.files]
        while not ended:
            waiting, _, _ = select.select(watched, [], [], POLL_SECONDS)
            if listener.fileno() in waiting:
                connection, _ = listener.accept()
                threading.Thread(target=_attend, args=(connection, pool), daemon=True).start()
                used = time.monotonic()
            elif not ahead and time.monotonic() - used > IDLE_SECONDS:
                pool.release()
                used = time.monotonic()
    shutil.rmtree(folder, ignore_errors=True)
    pool.stop()


def _rehearse(pool: Pool, arguments: tuple[str, ...]) -> None:
    with contextlib.suppress(UnavailableError, UnansweredError):  # told to the first who asks
        pool.score(arguments, REHEARSAL)


class _Ending:
    """Whether a process, which is not our child, has ended."""

    def __init__(self, pid: int) -> None:
        self._pid = pid
        self.files: list[int] = []
        with contextlib.suppress(AttributeError, OSError):  # Linux 5.3; elsewhere we ask
            self.files = [os.pidfd_open(pid)]

    def __bool__(self) -> bool:
        if self.files:
            return bool(select.select(self.files, [], [], 0)[0])
        try:
            os.kill(self._pid, 0)
        except ProcessLookupError:
            return True
        return False


def _attend(connection: socket.socket, pool: Pool) -> None:
    # A child may be killed at any time: before it has asked, or while its answer is made.
    with (
        contextlib.suppress(ConnectionError),
        connection,
        connection.makefile("rb") as questions,
    ):
        question = questions.readline()
        if question.endswith(b"\n"):
            gone = threading.Event()
            done, answered = socket.socketpair()
            with done:
                watch = threading.Thread(target=_watch, args=(connection, done, pool, gone))
                watch.start()
                with answered:
                    reply = json.dumps(_answer(json.loads(question), pool, gone))
                watch.join()
            connection.sendall(reply.encode("ascii") + b"\n")


def _watch(
    connection: socket.socket, done: socket.socket, pool: Pool, gone: threading.Event
) -> None:
    """Let the pool go on to something else where the child ends before its answer is there."""
    heard, _, _ = select.select([connection, done], [], [])
    if done not in heard:  # it sends nothing more, so that it has gone
        pool.abandon(gone)


def _answer(question: dict[str, Any], pool: Pool, gone: threading.Event) -> dict[str, Any]:
    try:
        answers = pool.score(tuple(question["arguments"]), question["requests"], gone)
        return {"answers": answers}
    except UnansweredError as error:
        return {"unanswered": error.index, "reason": error.reason}
    except UnavailableError as error:
        return {"unavailable": error.message}


if __name__ == "__main__":
    serve(Path(sys.argv[1]), int(sys.argv[2]), Pool(int(sys.argv[3])), tuple(sys.argv[4:]))
