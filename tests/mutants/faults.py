"""Seeded faults: is each noticed by the tests named for it, and by the checks of the validation?

    python tests/mutants/faults.py [WORD...]      (faults whose names have one of the words)

Each fault of `faults.toml` is planted in a copy of the project. Exit status 1 where one survives,
or where a test or check fails without any fault.
"""

from __future__ import annotations

import os
import shutil
import signal
import subprocess
import sys
import tempfile
import time
import tomllib
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from functools import cache
from pathlib import Path

HERE = Path(__file__).parent
ROOT = HERE.parents[1]
SECONDS = 240  # for the tests of one fault; a loop that never ends counts as noticed
Asked = Callable[[tuple[str, ...]], bool]
COPIED = ("sigtest", "tests", "validation", "examples", "docs", "benchmarks")


@dataclass(frozen=True)
class Fault:
    """A mistake, and what has to see it.

    Attributes:
        name: What is wrong.
        path: Of the file.
        before: What stands there, once.
        after: What the mistake puts in its place.
        tests: Files under `tests/`; they have to fail together.
        checks: module.function under `validation/`; each has to fail.
    """

    name: str
    path: str
    before: str
    after: str
    tests: tuple[str, ...] = ()
    checks: tuple[str, ...] = ()

    def planted(self, source: str) -> str:
        """The file with the mistake in it.

        Raises:
            ValueError: The code has changed, and the fault with it.
        """
        if source.count(self.before) != 1:
            raise ValueError(
                f"{self.name}: {self.path} has {source.count(self.before)} places with "
                f"{self.before.strip()!r}; faults.toml needs one."
            )
        return source.replace(self.before, self.after)


def faults() -> tuple[Fault, ...]:
    """All of them."""
    listed = tomllib.loads((HERE / "faults.toml").read_text())["fault"]
    return tuple(
        Fault(**{key: tuple(value) if isinstance(value, list) else value for key, value in own})
        for own in (entry.items() for entry in listed)
    )


def main(words: list[str]) -> int:
    """Plant all faults, or those whose names have one of the words."""
    chosen = [f for f in faults() if not words or any(word in f.name for word in words)]
    survived = 0
    with tempfile.TemporaryDirectory(prefix="faults") as room:
        copy = Path(room) / "project"
        for folder in COPIED:
            shutil.copytree(ROOT / folder, copy / folder)  # with compiled kernels
        shutil.copy(ROOT / "pyproject.toml", copy)
        with asking(copy) as passes:
            sound = cache(passes)
            for fault in chosen:
                survived += _survives(copy, fault, passes, sound)
    print(f"{len(chosen) - survived} of {len(chosen)} faults are noticed")
    return 1 if survived else 0


def _survives(copy: Path, fault: Fault, passes: Asked, sound: Asked) -> bool:
    """Whether some test or check passes that should not, or fails without the fault; says so.

    Args:
        copy: Of the project.
        fault: What to plant there.
        passes: Says whether tests, or a check, pass there now.
        sound: The same without any fault, asked once for each.
    """
    jobs = [tuple(f"tests/{test}" for test in fault.tests)] if fault.tests else []
    jobs += [("check", name) for name in fault.checks]
    broken = [" ".join(job) for job in jobs if not sound(job)]
    path = copy / fault.path
    honest = path.read_text(encoding="utf-8")
    path.write_text(fault.planted(honest), encoding="utf-8")
    try:
        blind = [" ".join(job) for job in jobs if passes(job)]
    finally:
        path.write_text(honest, encoding="utf-8")
    for job in broken:
        print(f"    {job} fails without any fault")
    print(f"{'SURVIVES' if blind else 'noticed '} {fault.name}", *blind, sep="\n    ", flush=True)
    return bool(blind or broken)


@contextmanager
def asking(copy: Path) -> Iterator[Asked]:
    """A process that has the slow imports behind it; says whether tests, or a check, pass."""
    place = copy / "socket"
    environment = {**os.environ, "PYTHONPATH": str(copy)}
    forks = [sys.executable, str(HERE / "forks.py")]
    server = subprocess.Popen(
        [*forks, "serve", str(place), str(copy), str(SECONDS)], env=environment
    )
    try:
        while not place.exists():
            if server.poll() is not None:
                raise SystemExit("The process that runs the tests has ended.")
            time.sleep(0.1)
        yield lambda job: not subprocess.run([*forks, "ask", str(place), *job]).returncode
    finally:
        server.send_signal(signal.SIGKILL)
        server.wait()


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
