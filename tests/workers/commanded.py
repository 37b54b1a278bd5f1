"""`sigtest-admin`, as an operator runs it; in this process but for `command`, to be quick."""

import io
import os
import subprocess
import sys
from contextlib import redirect_stderr, redirect_stdout
from pathlib import Path

import pytest

from workers.admin import main
from workers.settings import Settings

COMMAND = Path(__file__).parents[2] / "bin" / "sigtest-admin"
Done = subprocess.CompletedProcess[str]


def command(settings: Settings, *words: str) -> Done:
    """Run the program on the store of a service."""
    path = f"{Path(sys.executable).parent}{os.pathsep}{os.environ['PATH']}"
    return subprocess.run(
        [COMMAND, *words],
        env={**os.environ, **settings.as_environment(), "PATH": path},
        capture_output=True,
        text=True,
        timeout=60,
        check=False,
    )


def admin(settings: Settings, *words: str) -> Done:
    """The same without a process of its own."""
    out, err, code = io.StringIO(), io.StringIO(), 0
    with pytest.MonkeyPatch.context() as patch, redirect_stdout(out), redirect_stderr(err):
        for name, value in settings.as_environment().items():
            patch.setenv(name, value)
        try:
            code = main(words)
        except SystemExit as error:  # argparse
            code = int(error.code or 0)
    return Done(words, code, out.getvalue(), err.getvalue())


def told(settings: Settings, *words: str) -> list[str]:
    """What a command that works prints."""
    done = admin(settings, *words)
    assert (done.returncode, done.stderr) == (0, "")
    return done.stdout.splitlines()
