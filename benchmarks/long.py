"""Long texts, whole process: CPU seconds and memory at most, two systems, BLEU + chrF, R = 999.

python -m benchmarks.long
"""

from __future__ import annotations

import os
import sys
import tempfile
from pathlib import Path

from benchmarks.task import read_task

SEGMENTS = (1_000, 10_000, 100_000, 300_000)
RUN = "import sys; from sigtest.cli import main; sys.exit(main())"
OPTIONS = ("-m", "bleu", "-m", "chrf", "--resamples", "999", "--jobs", "1", "--output", os.devnull)


def main() -> None:
    task = read_task()
    texts = {"reference": task.reference, **dict(list(task.systems.items())[:2])}
    with tempfile.TemporaryDirectory() as temporary:
        for segments in (SEGMENTS[0], *SEGMENTS):  # the first run fills caches
            files = []
            for name, lines in texts.items():
                path = Path(temporary) / name
                long = (lines[i % len(lines)] for i in range(segments))
                path.write_text("".join(f"{line}\n" for line in long))
                files.append(str(path))
            cpu, most = spent("compare", "-r", *files, *OPTIONS)
            print(f"{segments:8,} segments: {cpu:6.2f} CPU s, {most:5.0f} MB", flush=True)


def spent(*arguments: str) -> tuple[float, float]:
    """CPU seconds and megabytes at most of one run of the command line."""
    pid = os.posix_spawn(sys.executable, [sys.executable, "-c", RUN, *arguments], os.environ)
    _, status, used = os.wait4(pid, 0)
    assert status == 0
    return used.ru_utime + used.ru_stime, used.ru_maxrss / 1024


if __name__ == "__main__":
    main()
