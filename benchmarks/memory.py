"""Peak memory of a worker: R = 99,999, n = 10,000, 12 systems, three metrics, three tests.

    python -m benchmarks.memory

A worker forks a process for each task; the largest of those is held against the idle worker.
"""

import json
import threading
import time
from pathlib import Path

from benchmarks.service import finished, new_request, service
from benchmarks.task import read_task

RECIPE = {
    "metrics": ["bleu", "chrf", "ter"],
    "tests": ["approximate_randomization", "bootstrap", "paired_bootstrap"],
    "resamples": 99_999,
}


def memory(pid: int, field: str) -> int:
    """Kilobytes of a process, 0 once it is gone."""
    try:
        lines = Path(f"/proc/{pid}/status").read_text().splitlines()
    except (FileNotFoundError, ProcessLookupError):
        return 0
    return next((int(line.split()[1]) for line in lines if line.startswith(field)), 0)


def descendants(pid: int) -> list[int]:
    found = []
    for task in Path(f"/proc/{pid}/task").glob("*/children"):
        try:
            children = [int(child) for child in task.read_text().split()]
        except (FileNotFoundError, ProcessLookupError):
            continue
        for child in children:
            found += [child, *descendants(child)]
    return found


def main() -> None:
    task = read_task()
    body = json.dumps(new_request(task, 1, 12, 10_000, RECIPE)).encode()
    with service(1) as (client, pid):
        idle = max(memory(child, "VmRSS") for child in descendants(pid) if _named(child))
        peaks: dict[int, int] = {}
        done = threading.Event()

        def watch() -> None:
            while not done.is_set():
                for child in descendants(pid):
                    if _named(child):
                        peaks[child] = max(peaks.get(child, 0), memory(child, "VmHWM"))
                time.sleep(0.02)

        watcher = threading.Thread(target=watch)
        watcher.start()
        taken = finished(client, body)
        done.set()
        watcher.join()
    peak = max(peaks.values())
    print(
        f"idle worker {idle / 1024:.0f} MB, largest task {peak / 1024:.0f} MB, "
        f"{(peak - idle) / 1024:.0f} MB above; {taken:.1f} s"
    )


def _named(pid: int) -> bool:
    """Whether a process is Python (not the data store)."""
    try:
        return b"python" in Path(f"/proc/{pid}/cmdline").read_bytes()
    except (FileNotFoundError, ProcessLookupError):
        return False


if __name__ == "__main__":
    main()
