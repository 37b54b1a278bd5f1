"""`make demo`: compare the example's systems over HTTP, by a service started for it."""

from __future__ import annotations

import os
import subprocess
import sys
import tempfile
import time
from pathlib import Path

EXAMPLE = Path(__file__).parents[1] / "examples" / "shared-task"
COMMAND = [
    *("compare", "-r", str(EXAMPLE / "reference.en")),
    *map(str, sorted((EXAMPLE / "systems").iterdir())),
    *("--metric", "bleu", "--metric", "chrf", "--metric", "ter"),
    *("--test", "approximate_randomization", "--test", "bootstrap"),
]


def main() -> int:
    """Serve on a free port, run the command line against it, stop; the command's exit status."""
    with tempfile.TemporaryDirectory(prefix="sigtest-") as state:
        service = subprocess.Popen(
            [sys.executable, "-m", "app.serve"],
            env=_environment(state),
            stdout=subprocess.PIPE,
            text=True,
        )
        try:
            url = _address(service)
            started = time.monotonic()
            shown = " ".join(Path(word).name if "/" in word else word for word in COMMAND)
            _say(f"$ sigtest {shown} --server {url}\n\n")
            status = subprocess.run(
                [str(Path(sys.executable).with_name("sigtest")), *COMMAND, "--server", url],
                check=False,
            ).returncode
            _say(f"\n{time.monotonic() - started:.1f} seconds, over HTTP.\n")
            return status
        finally:
            service.terminate()
            service.wait()


def _environment(state: str) -> dict[str, str]:
    return {**os.environ, "SIGTEST_STATE": state, "PORT": "0", "REDIS_URL": ""}


def _address(service: subprocess.Popen[str]) -> str:
    """What the service says when it is ready: its address."""
    line = service.stdout.readline() if service.stdout else ""
    if "http://" not in line:
        raise SystemExit("The service did not start.")
    return line.split()[-1]


def _say(text: str) -> None:
    sys.stdout.write(text)
    sys.stdout.flush()


if __name__ == "__main__":
    raise SystemExit(main())
