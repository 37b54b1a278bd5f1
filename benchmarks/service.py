"""The service against the same work in process: two warm workers, nothing cached, over HTTP.

    OPENBLAS_NUM_THREADS=1 python -m benchmarks.service

Starts a service of its own for each number of workers. "Nothing cached" is had by changing the last
line of every text and the seed for each run.
"""

import json
import os
import statistics
import subprocess
import sys
import tempfile
import time
from collections.abc import Iterator
from contextlib import contextmanager
from typing import Any

import httpx

from benchmarks.task import Task, read_task, seconds
from sigtest.comparison.comparison import parse_comparison
from sigtest.engine import compare

WHOLE = {
    "metrics": ["bleu", "chrf", "ter", "nist"],
    "tests": ["approximate_randomization", "bootstrap", "paired_bootstrap"],
    "resamples": 9_999,
}
PAIR = {"metrics": ["bleu"], "tests": ["approximate_randomization"], "resamples": 9_999}


@contextmanager
def service(workers: int) -> Iterator[tuple[httpx.Client, int]]:
    """A client of a service of its own, and the service's process."""
    with tempfile.TemporaryDirectory() as state:
        environment = {
            **os.environ,
            "SIGTEST_STATE": state,
            "PORT": "0",
            "WORKERS": str(workers),
            "REDIS_URL": "",
        }
        with subprocess.Popen(
            [sys.executable, "-m", "app.serve"],
            env=environment,
            stdout=subprocess.PIPE,
            text=True,
        ) as process:
            try:
                address = process.stdout.readline().split()[-1]  # type: ignore[union-attr]
                with httpx.Client(base_url=address, timeout=600) as client:
                    yield client, process.pid
            finally:
                process.terminate()
                process.wait()


def new_request(task: Task, run: int, count: int, segments: int, recipe: dict[str, Any]) -> Any:
    body = task.comparison(count, segments, **recipe, seed=run).as_json()
    body["references"][0][-1] += f" {run}"
    for system in body["systems"]:
        system["hypotheses"][-1] += f" {run}"
    return body


def finished(client: httpx.Client, body: bytes) -> float:
    """Seconds from POST to the finished report."""
    headers = {"Content-Type": "application/json", "Prefer": "wait=60"}
    start = time.perf_counter()
    answer = client.post("/v1/comparisons", content=body, headers=headers)
    state = answer.raise_for_status().json()
    while state["status"] in ("queued", "running"):
        state = client.get(f"/v1/comparisons/{state['id']}", headers={"Prefer": "wait=60"}).json()
    assert state["status"] == "succeeded", state
    client.get(f"/v1/comparisons/{state['id']}/report").raise_for_status()
    return time.perf_counter() - start


def runs(client: httpx.Client, requests: list[Any]) -> float:
    bodies = [json.dumps(request).encode() for request in requests]
    taken = [finished(client, body) for body in bodies]
    return statistics.median(taken[1:])


def main() -> None:
    task = read_task()
    print(f"{task.name}: 12 systems x 4 metrics x 3 tests x all pairs x 9,999; medians of 5")
    requests = [new_request(task, run, 0, 0, WHOLE) for run in range(6)]
    compare(parse_comparison(requests[0]))
    local = statistics.median(
        seconds(lambda r=r: compare(parse_comparison(r))) for r in requests[1:]
    )
    print(f"  in process, one core: {local:.2f} s", flush=True)
    taken = {}
    for workers in (1, 2):
        with service(workers) as (client, _):
            taken[workers] = runs(client, requests)
            ratio = taken[workers] / local
            print(f"  HTTP, {workers} worker(s): {taken[workers]:.2f} s, {ratio:.2f} x", flush=True)
            if workers == 2:
                pair = [new_request(task, run, 2, 2_000, PAIR) for run in range(21)]
                print(
                    "  one pair, 2,000 segments, BLEU, POST to report: "
                    f"median {1000 * runs(client, pair):.0f} ms"
                )
    print(f"  two workers are {taken[1] / taken[2]:.2f} times as fast as one")


if __name__ == "__main__":
    main()
