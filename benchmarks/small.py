"""Small comparisons through the service: processor time of all its processes, rate, waiting time.

    python -m benchmarks.small

One pair of the example, 138 segments, BLEU, R = 999, nothing cached: POST, wait, GET the report.
Processor time is that of the service and everything below it, without what it takes idle and
without the client's. At last METEOR of ten segments: the first that anybody asks for, then others.
"""

from __future__ import annotations

import http.client
import json
import os
import statistics
import threading
import time
from pathlib import Path
from typing import Any

from benchmarks.service import service
from benchmarks.task import seconds

JOBS = 200
CLIENTS = 4
TICK = os.sysconf("SC_CLK_TCK")
EXAMPLE = Path(__file__).parents[1] / "examples" / "shared-task"
HEADERS = {"Content-Type": "application/json", "Prefer": "wait=60"}


def spent(pid: int) -> float:
    """Processor seconds of a process, its descendants, and those of them that have ended."""
    try:
        fields = Path(f"/proc/{pid}/stat").read_text().rpartition(")")[2].split()
        tasks = [task.read_text() for task in Path(f"/proc/{pid}/task").glob("*/children")]
    except (FileNotFoundError, ProcessLookupError):
        return 0.0
    below = sum(spent(int(child)) for task in tasks for child in task.split())
    return sum(map(int, fields[11:15])) / TICK + below


def bodies(first: int, count: int, metric: str = "bleu", segments: int = 0) -> list[bytes]:
    """Requests of which no two have a text or a seed in common, on the last segments or all."""

    def lines(name: str, run: int) -> list[str]:
        text = (EXAMPLE / name).read_text().splitlines()
        return [*text[-segments:-1], f"{text[-1]} {run}"]

    def body(run: int) -> dict[str, Any]:
        systems = [
            {"name": name, "hypotheses": lines(f"systems/{name}.en", run)}
            for name in ("aspen", "birch")
        ]
        references = [lines("reference.en", run)]
        recipe = {"metrics": [metric], "resamples": 999, "seed": run}
        return {"references": references, "systems": systems, **recipe}

    return [json.dumps(body(run)).encode() for run in range(first, first + count)]


def ask(address: str, requests: list[bytes], waits: list[float]) -> None:
    """Ask one after the other on one connection; how long each took goes to `waits`."""
    connection = http.client.HTTPConnection(address.partition("//")[2])
    for request in requests:
        since = time.perf_counter()
        connection.request("POST", "/v1/comparisons", request, HEADERS)
        answer = connection.getresponse()
        state = json.loads(answer.read())
        assert state["status"] == "succeeded", state
        connection.request("GET", f"{answer.headers['Location']}/report")
        report = connection.getresponse()
        report.read()
        assert report.status == 200
        waits.append(time.perf_counter() - since)
    connection.close()


def settle(pid: int) -> None:
    """Wait until nothing is done any more: METEOR is loaded."""
    before = -1.0
    while (now := spent(pid)) - before > 0.1:
        before = now
        time.sleep(1)


def main() -> None:
    with service(2) as (client, pid):
        address = str(client.base_url)
        ask(address, bodies(1_000, 20), [])
        settle(pid)
        idle = spent(pid)
        time.sleep(5)
        idle = (spent(pid) - idle) / 5
        waits: list[float] = []
        before = spent(pid)
        taken = seconds(lambda: ask(address, bodies(2_000, JOBS), waits))
        each = (spent(pid) - before - idle * taken) / JOBS
        median = statistics.median(waits)
        print(f"one at a time: median {1000 * median:.1f} ms, {1000 * each:.1f} CPU ms a job")
        asking = [
            threading.Thread(
                target=ask, args=(address, bodies(3_000 + JOBS * i, JOBS // CLIENTS), waits)
            )
            for i in range(CLIENTS)
        ]
        before, since = spent(pid), time.perf_counter()
        for thread in asking:
            thread.start()
        for thread in asking:
            thread.join()
        taken = time.perf_counter() - since
        each = (spent(pid) - before - idle * taken) / JOBS
        print(f"{CLIENTS} clients: {JOBS / taken:.0f} a second, {1000 * each:.1f} CPU ms a job")
        print(f"idle: {1000 * idle:.0f} CPU ms a second")
        meteor: list[float] = []
        ask(address, bodies(4_000, 21, "meteor", 10), meteor)
        first, later = meteor[0], statistics.median(meteor[1:])
        print(f"METEOR, 10 segments: {1000 * first:.0f} ms the first, {1000 * later:.0f} ms others")


if __name__ == "__main__":
    main()
