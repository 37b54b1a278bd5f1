"""A 60th system joins a leaderboard of 59: seconds, CPU time and memory of the service.

    OPENBLAS_NUM_THREADS=1 python -m benchmarks.leaderboard [--systems 60] [--runs 7]
        [--resamples 9999] [--quick]

BLEU, chrF and TER, two warm workers. A system beyond the 12 of wmt12.es-en (or the
5 of the example, where the data is not there) has each line from one of two of them. Seconds are
from PUT to the leaderboard that has the system, over HTTP; CPU time is that of all processes of the
service, and is held against a comparison of the same 60 from their texts, by the same service and
in one process. `--quick` leaves out these comparisons.
"""

import argparse
import json
import os
import statistics
import time
from contextlib import suppress
from pathlib import Path

import httpx

from benchmarks.service import service
from benchmarks.task import read_task
from sigtest.comparison.comparison import Comparison, parse_comparison
from sigtest.engine import compare
from workers.settings import Settings
from workers.store.server import connect

METRICS = ["bleu", "chrf", "ter"]
CAPACITY = 100  # joins and replacements of all runs
TICKS = os.sysconf("SC_CLK_TCK")


class Board:
    """A test set on a running service."""

    cpu = 0.0  # seconds that a join takes

    def __init__(self, client: httpx.Client, comparison: Comparison) -> None:
        self.client = client
        self.texts = {
            s.name: s.hypotheses.lines for s in comparison.entries[0].systems if s.hypotheses
        }
        references = [text.lines for text in comparison.entries[0].testset.references]
        recipe = {"metrics": METRICS, "resamples": comparison.recipe.resamples}
        body = {"name": "benchmark", "references": references, "capacity": CAPACITY, **recipe}
        self.url = client.post("/v1/testsets", json=body).raise_for_status().headers["Location"]

    def put(self, name: str, wait: int = 60, content: str = "") -> None:
        body = json.dumps({"hypotheses": self.texts[content or name]})
        self.client.put(
            f"{self.url}/systems/{name}?replace=true",
            content=body,
            headers={"Content-Type": "application/json", "Prefer": f"wait={wait}"},
        ).raise_for_status()

    def remove(self, name: str) -> None:
        self.client.delete(f"{self.url}/systems/{name}").raise_for_status()

    def leaderboard(self, systems: int) -> None:
        """Ask until it has all systems."""
        while True:
            shown = self.client.get(f"{self.url}/leaderboard").raise_for_status().json()
            if not shown["pending"] and len(shown["systems"]) == systems:
                return

    def there(self) -> set[str]:
        systems = self.client.get(f"{self.url}/systems", params={"limit": 100}).json()["systems"]
        return {system["name"] for system in systems}

    def settle(self) -> None:
        while self.client.get(self.url).raise_for_status().json()["pending"]:
            time.sleep(0.1)


def descendants(pid: int) -> list[int]:
    found = [pid]
    for task in Path(f"/proc/{pid}/task").glob("*/children"):
        for child in task.read_text().split():
            found += descendants(int(child))
    return found


def cpu_seconds(pids: list[int]) -> float:
    """CPU time of processes and of their children that have ended."""
    ticks = 0
    for pid in pids:
        with suppress(FileNotFoundError):  # it has ended, and its parent counts what it took
            fields = Path(f"/proc/{pid}/stat").read_text().rpartition(")")[2].split()
            ticks += sum(map(int, fields[11:15]))
    return ticks / TICKS


def memory(pid: int) -> float:
    """MB that the service's Redis uses."""
    variables = dict(
        entry.partition("=")[::2] for entry in Path(f"/proc/{pid}/environ").read_text().split("\0")
    )
    redis = connect(Settings(state=Path(variables["SIGTEST_STATE"])))
    used = int(redis.info("memory")["used_memory"]) / 1e6
    redis.close()
    return used


def joins(board: Board, systems: int, runs: int, pid: int) -> None:
    last = list(board.texts)[systems - 1 : systems + runs]
    taken, spent = [], []
    for name in last:
        time.sleep(0.5)
        processes = descendants(pid)
        before, start = cpu_seconds(processes), time.perf_counter()
        board.put(name)
        board.leaderboard(systems)
        taken.append(time.perf_counter() - start)
        time.sleep(0.1)  # until the worker has counted what the task took
        spent.append(cpu_seconds(processes) - before)
        board.remove(name)
    print(f"  PUT to fresh leaderboard: median {statistics.median(taken[1:]):.2f} s of {runs}")
    print(f"  CPU time of the service: median {statistics.median(spent[1:]):.2f} s", flush=True)
    board.cpu = statistics.median(spent[1:])
    board.put(last[0])


def replaced(board: Board, pid: int, systems: int, runs: int) -> None:
    before = memory(pid)
    names = list(board.texts)
    for i in range(runs):
        board.put(names[i], content=names[systems + i])
    print(f"  Redis memory: {before:.0f} MB; {memory(pid):.0f} MB after {runs} were replaced")


def whole(board: Board, comparison: Comparison, pid: int) -> None:
    """Compare all systems at once, over HTTP and in this process."""
    body = json.dumps({**comparison.as_json(), "seed": 1}).encode()
    headers = {"Content-Type": "application/json", "Prefer": "wait=60"}
    processes = descendants(pid)
    before = cpu_seconds(processes)
    answer = board.client.post("/v1/comparisons", content=body, headers=headers)
    assert answer.raise_for_status().json()["status"] == "succeeded"
    time.sleep(0.1)
    spent = cpu_seconds(processes) - before
    times = spent / board.cpu
    print(f"  comparison of all from text, over HTTP: {spent:.1f} s of CPU, {times:.1f} times")
    begun = time.process_time()
    compare(parse_comparison(comparison.as_json()))
    spent = time.process_time() - begun
    times = spent / board.cpu
    print(f"  comparison of all from text, in process: {spent:.1f} s of CPU, {times:.1f} times")


def main() -> None:
    parser = argparse.ArgumentParser()
    parser.add_argument("--systems", type=int, default=60)
    parser.add_argument("--runs", type=int, default=7)
    parser.add_argument("--resamples", type=int, default=9_999)
    parser.add_argument("--quick", action="store_true")
    options = parser.parse_args()
    task = read_task()
    recipe = {"metrics": METRICS, "resamples": options.resamples}
    comparison = task.comparison(options.systems + options.runs + 1, **recipe)
    names = [system.name for system in comparison.entries[0].systems]
    with service(2) as (client, pid):
        board = Board(client, comparison)
        start = time.perf_counter()
        for name in names[: options.systems - 1]:
            board.put(name, wait=0)
        board.settle()
        board.leaderboard(options.systems - 1)
        print(
            f"{task.name}: {options.systems} systems, "
            f"{comparison.entries[0].testset.segments} segments; "
            f"the first {options.systems - 1} in {time.perf_counter() - start:.1f} s",
            flush=True,
        )
        joins(board, options.systems, options.runs, pid)
        replaced(board, pid, options.systems, options.runs)
        if options.quick:
            return
        for name in board.there():
            board.remove(name)  # and with it what is cached of its text
        compare(task.comparison(3, **recipe))  # loads what is compiled
        whole(board, task.comparison(options.systems, **recipe), pid)


if __name__ == "__main__":
    main()
