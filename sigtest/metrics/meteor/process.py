"""One METEOR process: lines in, lines out, and an end without a wait."""

from __future__ import annotations

import contextlib
import os
import subprocess
import sys
import tempfile
import threading
from collections.abc import Sequence

# Requests sent at a time. Their answers (some 100 bytes each) fit any system's pipe, so METEOR
# never waits for a reader while we wait to write: no deadlock, whatever the length of the lines.
BATCH = 64

# Runs between fork and exec, in a fresh interpreter: code that a fork of a process with threads
# runs before exec may deadlock. The kernel then kills the JVM with the thread that started it.
_TIE = """
import ctypes, os, signal, sys
ctypes.CDLL(None).prctl(1, signal.SIGKILL)
if os.getppid() == int(sys.argv[1]):
    os.execv(sys.argv[2], sys.argv[2:])
"""


class DiedError(Exception):
    """The process ended before it had answered everything.

    Args:
        answers: What it had answered; the next request is the one it died of.
        reason: Its last words, or that it took too long.
        late: It was killed because it took too long.
    """

    def __init__(self, answers: list[str], reason: str, late: bool) -> None:
        super().__init__(reason)
        self.answers = answers
        self.reason = reason
        self.late = late


class Jvm:
    """A running METEOR.

    It ends with the thread that made it (Linux), when its owner closes the pipe or dies (any
    system), or when it is killed.

    Raises:
        OSError: The command cannot be run.
    """

    def __init__(self, command: tuple[str, ...]) -> None:
        self.command = command
        # Appending, so that emptying the file does not leave a hole before what is said next.
        self._said = tempfile.TemporaryFile("a+b")  # noqa: SIM115 (closed with the process)
        self._late = False
        self._process = subprocess.Popen(
            _tied(command),
            stdin=subprocess.PIPE,
            stdout=subprocess.PIPE,
            stderr=self._said,
            start_new_session=True,  # an interrupt at the terminal is for us to handle
        )

    @property
    def pid(self) -> int:
        """Its process id."""
        return self._process.pid

    @property
    def alive(self) -> bool:
        """Whether it still runs."""
        return self._process.poll() is None

    def ask(self, requests: Sequence[str], seconds: float) -> list[str]:
        """Send at most BATCH lines and return one answer each.

        Raises:
            DiedError: The process ended, or was killed because `seconds` had passed.
        """
        assert self._process.stdout is not None
        answers: list[str] = []
        alarm = threading.Timer(seconds, self._expire)
        alarm.start()
        try:
            # What it answered before it died is still to be read: it tells of which line it died.
            with contextlib.suppress(BrokenPipeError):
                self._write("".join(f"{line}\n" for line in requests))
            while len(answers) < len(requests):
                answer = self._process.stdout.readline()
                if not answer.endswith(b"\n"):
                    break
                answers.append(answer.decode("ascii", "replace").strip())
        finally:
            alarm.cancel()
        if len(answers) < len(requests):
            self.kill()
            reason = f"it took longer than {seconds:g} s" if self._late else self._last_words()
            raise DiedError(answers, reason, self._late)
        self._said.truncate(0)
        return answers

    def kill(self) -> None:
        """End it now and reap it."""
        self._process.kill()
        self._process.wait()

    def close(self) -> None:
        """Kill it and give back its files."""
        self.kill()
        for file in (self._process.stdin, self._process.stdout, self._said):
            if file is not None:
                file.close()

    def _write(self, text: str) -> None:
        assert self._process.stdin is not None
        left = memoryview(text.encode("utf-8"))
        while left:
            left = left[os.write(self._process.stdin.fileno(), left) :]

    def _expire(self) -> None:
        self._late = True
        self._process.kill()

    def _last_words(self) -> str:
        self._said.seek(0)
        lines = self._said.read().decode("utf-8", "replace").split("\n")
        said = [line.strip() for line in lines if line.strip() and not line.startswith("\tat ")]
        return said[0][:300] if said else f"exit status {self._process.returncode}"


def _tied(command: tuple[str, ...]) -> tuple[str, ...]:
    if sys.platform != "linux" or not sys.executable:
        return command
    return (sys.executable, "-I", "-S", "-c", _TIE, str(os.getpid()), *command)
