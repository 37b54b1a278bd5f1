"""What answers must be, byte for byte: computed by the library's own functions, without a service.

`python -m torture.load.expected` reads questions from standard input and writes their reports; with
TORTURE_VERSION it computes them as the version of that name does, as a service that was upgraded.
"""

from __future__ import annotations

import json
import os
import subprocess
import sys
import threading
from typing import Any

from torture.service import HOOK, ROOT


class Expected:
    """Reports as the command line prints them, of any version; safe to share between threads."""

    def __init__(self) -> None:
        self._processes: dict[str, subprocess.Popen[str]] = {}
        self._locks: dict[str, threading.Lock] = {}
        self._lock = threading.Lock()

    def report(self, path: str, body: dict[str, Any], version: str = "") -> str:
        """The JSON report of a question.

        Args:
            path: Of its kind.
            body: Its request.
            version: Which is to compute it; nothing for the one that is installed.
        """
        with self._lock:
            lock = self._locks.setdefault(version, threading.Lock())
        with lock:
            process = self._process(version)
            assert process.stdin is not None
            assert process.stdout is not None
            process.stdin.write(json.dumps([path, body]) + "\n")
            process.stdin.flush()
            return str(json.loads(process.stdout.readline()))

    def close(self) -> None:
        """End the processes."""
        for process in self._processes.values():
            process.communicate()

    def _process(self, version: str) -> subprocess.Popen[str]:
        if version not in self._processes:
            self._processes[version] = subprocess.Popen(
                [sys.executable, "-m", "torture.load.expected"],
                cwd=ROOT,
                env={
                    **os.environ,
                    "PYTHONPATH": f"{HOOK}{os.pathsep}{ROOT}",
                    "OPENBLAS_NUM_THREADS": "1",
                    "TORTURE_FAULT": "",
                    "TORTURE_VERSION": version,
                },
                stdin=subprocess.PIPE,
                stdout=subprocess.PIPE,
                text=True,
            )
        return self._processes[version]


def computed(path: str, body: dict[str, Any]) -> str:
    """The report of a question, in this process; what it cannot be answered with is said."""
    from sigtest.errors import SigtestError
    from sigtest.kinds import KINDS
    from sigtest.render.records import render_json

    kind = KINDS[path]
    try:
        return render_json(kind.present(kind.compute(kind.parse(body))))
    except SigtestError as error:
        return f"{type(error).__name__}: {error.message}"


def main() -> None:
    """One line in, one line out, until the input ends."""
    for line in sys.stdin:
        path, body = json.loads(line)
        sys.stdout.write(json.dumps(computed(path, body)) + "\n")
        sys.stdout.flush()


if __name__ == "__main__":
    main()
