"""Boards of scores in the shell: CPU seconds and peak memory of whole processes.

    python -m benchmarks.board

Systems x tasks (or items) of made-up scores with one decimal. Each test alone as well: those that
draw are the ones that could take memory.
"""

from __future__ import annotations

import os
import subprocess
import sys
from collections.abc import Sequence
from pathlib import Path
from tempfile import TemporaryDirectory

import numpy as np

BOARDS = ((181, 41), (90, 10), (200, 1000))
TESTS = ("approximate_randomization", "bootstrap", "paired_bootstrap", "bootstrap_t")


def write(path: Path, systems: int, tasks: int) -> None:
    """A row a task, a column a system: tasks are unequally difficult, systems unequally strong."""
    rng = np.random.default_rng(7)
    strength, difficulty = rng.normal(60, 8, systems), rng.normal(0, 10, tasks)
    scores = strength + difficulty[:, None] + rng.normal(0, 4, (tasks, systems))
    lines = ["\t".join(["task", *(f"system-{s}" for s in range(systems))])]
    lines += ["\t".join([f"task-{t}", *map("{:.1f}".format, row)]) for t, row in enumerate(scores)]
    path.write_text("\n".join(lines) + "\n")


def spent(arguments: Sequence[str]) -> tuple[int, float, float]:
    """Exit status, CPU seconds and peak megabytes of one command."""
    null = subprocess.DEVNULL
    process = subprocess.Popen([sys.executable, *arguments], stdout=null, stderr=null)
    _, status, usage = os.wait4(process.pid, 0)
    process.returncode = os.waitstatus_to_exitcode(status)
    return process.returncode, usage.ru_utime + usage.ru_stime, usage.ru_maxrss / 1024


def main() -> None:
    with TemporaryDirectory() as folder:
        for systems, tasks in BOARDS:
            board = Path(folder) / "board.tsv"
            write(board, systems, tasks)
            asked = ["-m", "sigtest", "classify", "--table", str(board)]
            for tests in ([], *([test] for test in TESTS)):
                chosen = [word for test in tests for word in ("--test", test)]
                status, seconds, peak = spent([*asked, *chosen])
                named = ", ".join(tests) or "default"
                said = f"{seconds:.1f} CPU s, {peak:,.0f} MB"
                print(
                    f"{systems} x {tasks}, {named}: {'refused, ' * bool(status)}{said}", flush=True
                )


if __name__ == "__main__":
    main()
