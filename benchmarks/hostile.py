"""Others while a hostile request of 1 MB runs: /healthz and small questions, against an idle one.

    OPENBLAS_NUM_THREADS=1 python -m benchmarks.hostile

One caller sends one body of 1 MB after the other, each made of what some reader dislikes; another
caller asks for /healthz and a small question, TRIES times of each, and looks at the clock. The bar:
the 95th percentile lies at most 300 ms above that of the idle service.
"""

import json
import os
import threading
import time
from collections.abc import Callable
from typing import Any

import httpx
import numpy as np

from benchmarks.service import service
from benchmarks.walk import PAIR

TRIES = 20
BAR = 0.3  # seconds
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
}
BODIES = {
    "lists": filled("[],", head='{"systems": [', tail="[]]}"),
    "numbers": filled("1,", head='{"systems": {"a": {"scores": {"c": [', tail="1]}}}}"),
    "systems": filled('{"name": "a"},', head='{"systems": [', tail='{"name": "b"}]}'),
}


def attack(client: httpx.Client, name: str) -> None:
    """Send one hostile request."""
    if name in FILES:
        files = {"archive": ("file.txt", FILES[name])}
        client.post("/v1/comparisons", files=files, headers=FIRST)
    else:
        headers = {**FIRST, "Content-Type": "application/json"}
        client.post("/v1/comparisons", content=BODIES[name], headers=headers)


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
    with service(workers=2) as (client, _):
        others(client, 0)  # warm
        idle = others(client, 1000)
        print(f"| request of 1 MB | /healthz p95 ms (idle {1000 * idle[0]:.0f}) "
              f"| small question (idle {1000 * idle[1]:.0f}) | within the bar |")  # fmt: skip
        print("| --- | --- | --- | --- |")
        for number, name in enumerate((*FILES, *BODIES)):
            ended = threading.Event()

            def hurt(name: str = name, ended: threading.Event = ended) -> None:
                with httpx.Client(base_url=client.base_url, timeout=600) as hostile:
                    while not ended.is_set():
                        attack(hostile, name)

            thread = threading.Thread(target=hurt)
            thread.start()
            now = others(client, 2000 + 100 * number)
            ended.set()
            thread.join()
            held = all(busy - calm <= BAR for busy, calm in zip(now, idle, strict=True))
            told = " | ".join(f"{1000 * p95:.0f}" for p95 in now)
            print(f"| {name} | {told} | {'yes' if held else 'no'} |", flush=True)


if __name__ == "__main__":
    main()
