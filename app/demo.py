"""`make demo`: compare the example's systems over HTTP, by a service started for it."""

import os
import subprocess
import sys
import tempfile
import time
from pathlib import Path

ROOT = Path(__file__).parents[1]
COMMAND = (
    "sigtest compare -r examples/shared-task/reference.en examples/shared-task/systems/*.en"
    " --documents examples/shared-task/documents.txt"
    " --metric bleu --metric chrf --metric ter"
    " --test approximate_randomization --test bootstrap"
)


def main() -> int:
    """Serve on a free port, run the command against it, stop; the command's exit status."""
    with tempfile.TemporaryDirectory(prefix="sigtest-") as state, tempfile.TemporaryFile() as log:
        _say("Starting the service: a data store, two workers and the front end\n")
        service = subprocess.Popen(
            [sys.executable, "-m", "app.serve"],
            cwd=ROOT,
            env=_environment(SIGTEST_STATE=state, PORT="0", REDIS_URL=""),
            stdout=subprocess.PIPE,
            stderr=log,
            text=True,
        )
        try:
            ready = service.stdout.readline() if service.stdout else ""
            if "http://" not in ready:
                log.seek(0)
                raise SystemExit(f"The service did not start.\n{log.read().decode()}")
            command = f"{COMMAND} --server {ready.split()[-1]}"
            _say(f"\n$ {command}\n\n")
            started = time.monotonic()
            done = subprocess.run(command, shell=True, cwd=ROOT, env=_environment(), check=False)
            _say(f"\n{time.monotonic() - started:.1f} seconds, over HTTP. Stopping the service\n")
            return done.returncode
        finally:
            service.terminate()
            service.wait()


def _environment(**changes: str) -> dict[str, str]:
    """This process's environment, in which `sigtest` is the command next to this Python."""
    path = f"{Path(sys.executable).parent}{os.pathsep}{os.environ.get('PATH', os.defpath)}"
    return {**os.environ, "PATH": path, **changes}


def _say(text: str) -> None:
    sys.stdout.write(text)
    sys.stdout.flush()


if __name__ == "__main__":
    raise SystemExit(main())
