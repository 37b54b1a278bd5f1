"""Others while a hostile or large request runs, and what it takes: time, memory, its answer.

    OPENBLAS_NUM_THREADS=1 python -m benchmarks.hostile

One caller sends one body of 1 MB after the other, each made of what some reader dislikes, or each a
question that keeps all workers busy until there are as many as a caller may have; another caller
asks for /healthz and a small question, TRIES times of each, and looks at the clock. The bar:
the 95th percentile lies at most 300 ms above that of the idle service, no process has more than
1 GB, and no answer is 5xx.
"""

import base64
import gzip
import json
import os
import threading
import time
import zlib
from collections import Counter
from collections.abc import Callable
from contextlib import suppress
from itertools import count
from pathlib import Path
from typing import Any

import httpx
import numpy as np

from benchmarks.memory import descendants, memory
from benchmarks.service import service
from benchmarks.walk import PAIR

TRIES = 20
BAR = 0.3  # seconds
MOST = 2**30  # bytes in a process
SIZE = 2**20
FIRST, SECOND = {"X-API-Key": "first-key"}, {"X-API-Key": "second-key"}


def filled(part: str, head: str = "", tail: str = "") -> bytes:
    """A body of SIZE bytes of one part again and again."""
    count = (SIZE - len(head) - len(tail)) // len(part)
    return f"{head}{part * count}{tail}".encode()


FILES = {
    "comments of XML": filled("<!-- -->", tail="\nno element"),
    "elements left open": filled("<seg>"),
    "quotes of CSV": filled('a,"', head="system,segment,score\n"),
    "objects of JSON lines": filled('{"system": "a", "doc_id": "d", "score": 1}\n'),
    "columns of a table": filled("a\t", tail="\n1"),
    "short lines": filled("a\n"),
    "one long line": filled("word "),
    "comet's segments": filled("a\tSegment 20000000\tscore: 0.5\n"),
    "a file that unpacks to 1 GB": gzip.compress(bytes(2**30)),
}
ZEROS = base64.b85encode(zlib.compress(b'["' + bytes(2**29) + b'", []]', 9)).decode()
SCORES = [{"name": f"s{i}", "scores": {"x": [i / 7, 1.5, *range(8)]}} for i in range(90)]
BODIES = {
    "lists": filled("[],", head='{"systems": [', tail="[]]}"),
    "numbers": filled("1,", head='{"systems": {"a": {"scores": {"c": [', tail="1]}}}}"),
    "systems": filled('{"name": "a"},', head='{"systems": [', tail='{"name": "b"}]}'),
    "tags": filled('"a",', head='{"tags": [', tail='"a"]}'),
    "metadata": filled('"a": {"b": [1]},', head='{"metadata": {', tail='"c": 1}}'),
    "ninety systems of numbers": json.dumps({"systems": SCORES, "tests": ["bootstrap_t"]}).encode(),
}
OTHERS = {
    "events of a webhook": (
        "/v1/webhooks",
        filled('"a",', '{"url": "http://a", "events": [', '""]}'),
    ),
    "notes of a test set": ("/v1/testsets/" + "0" * 32, filled('"a",', '{"tags": [', '"a"]}')),
}
MANY, LINES = range(80_000), [f"w{i} a b {i % 7} c d" for i in range(4_000)]
QUESTIONS: dict[str, dict[str, Any]] = {
    "80,000 scores of two systems": {
        "systems": [
            {"name": "a", "scores": {"x": [i % 97 for i in MANY]}},
            {"name": "b", "scores": {"x": [i % 89 for i in MANY]}},
        ],
        "tests": ["bootstrap"],
        "resamples": 99_999,
    },
    "4,000 lines of eight systems": {
        "references": [LINES],
        "systems": [
            {"name": f"s{i}", "hypotheses": [f"{line[i % 2 :]} {i}" for line in LINES]}
            for i in range(8)
        ],
        "metrics": ["bleu", "ter", "chrf"],
        "resamples": 20_000,
    },
}
SEEDS = count()
NAMES = (*QUESTIONS, *FILES, *BODIES, *OTHERS, "what was looked at")


def attack(client: httpx.Client, name: str) -> int:
    """Send one hostile request; the status of its answer."""
    headers = {**FIRST, "Content-Type": "application/json"}
    if name in FILES:
        zipped = ".gz" * FILES[name].startswith(b"\x1f\x8b")
        files = {"archive": (f"file.txt{zipped}", FILES[name])}
        return client.post("/v1/comparisons", files=files, headers=FIRST).status_code
    if name in QUESTIONS:
        content = json.dumps({**QUESTIONS[name], "seed": next(SEEDS)})
        return client.post("/v1/comparisons", content=content, headers=headers).status_code
    if name in BODIES:
        return client.post("/v1/comparisons", content=BODIES[name], headers=headers).status_code
    if name in OTHERS:
        path, content = OTHERS[name]
        method = "POST" if path.endswith("webhooks") else "PATCH"
        return client.request(method, path, content=content, headers=headers).status_code
    return client.post("/comparisons", files={"kept": (None, ZEROS)}, headers=FIRST).status_code


def peak(pid: int) -> int:
    """Most bytes that a process of the service ever had, since the peaks were forgotten."""
    peaks = []
    for process in (pid, *descendants(pid)):
        with suppress(OSError):
            peaks.append(1024 * memory(process, "VmHWM"))
            Path(f"/proc/{process}/clear_refs").write_text("5")
    return max(peaks)


def seconds(call: Callable[[int], Any]) -> float:
    """The 95th percentile of TRIES calls."""
    times = []
    for number in range(TRIES):
        start = time.perf_counter()
        call(number)
        times.append(time.perf_counter() - start)
    return float(np.quantile(times, 0.95))


def others(client: httpx.Client, first_seed: int) -> tuple[float, float]:
    """Percentiles of /healthz and of a small question from POST to its report."""

    def ask(number: int) -> None:
        body = json.dumps({**PAIR, "seed": first_seed + number}).encode()
        headers = {**SECOND, "Content-Type": "application/json", "Prefer": "wait=60"}
        answer = client.post("/v1/comparisons", content=body, headers=headers).raise_for_status()
        assert answer.json()["status"] == "succeeded", answer.text

    return seconds(lambda _: client.get("/healthz").raise_for_status()), seconds(ask)


def main() -> None:
    os.environ["SIGTEST_API_KEYS"] = "first:first-key,second:second-key"
    with service(workers=2) as (client, pid):
        others(client, 0)  # warm
        idle = others(client, 1000)
        print(f"| request of 1 MB | answered | /healthz p95 ms (idle {1000 * idle[0]:.0f}) "
              f"| small question (idle {1000 * idle[1]:.0f}) | MB | within the bar |")  # fmt: skip
        print("| --- | --- | --- | --- | --- | --- |")
        for number, name in enumerate(NAMES):
            ended, statuses = threading.Event(), Counter[int]()

            def hurt(
                name: str = name,
                ended: threading.Event = ended,
                statuses: Counter[int] = statuses,
            ) -> None:
                with httpx.Client(base_url=client.base_url, timeout=600) as hostile:
                    while not ended.is_set():
                        statuses[attack(hostile, name)] += 1

            thread = threading.Thread(target=hurt)
            thread.start()
            now = others(client, 2000 + 100 * number)
            ended.set()
            thread.join()
            held = all(busy - calm <= BAR for busy, calm in zip(now, idle, strict=True))
            bytes_ = peak(pid)
            held = held and bytes_ <= MOST and max(statuses) < 500
            told = " | ".join(f"{1000 * p95:.0f}" for p95 in now)
            answered = ", ".join(f"{status} x {times}" for status, times in statuses.items())
            print(f"| {name} | {answered} | {told} | {bytes_ >> 20} | {'yes' if held else 'no'} |",
                  flush=True)  # fmt: skip


if __name__ == "__main__":
    main()
