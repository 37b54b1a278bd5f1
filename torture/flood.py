"""Part "flood": a caller's small questions while another caller floods the service."""

from __future__ import annotations

import json
import random
import statistics
import threading
import time
from collections.abc import Callable, Iterable, Sequence
from typing import Any, TypeAlias

import httpx

from torture.load.ledger import Ledger
from torture.service import Service
from torture.strangers import answered, client, served

SMALL = 40  # questions of the quiet caller, idle and under each flood
MEDIAN, HIGH = 0.1, 0.3  # seconds beyond the idle median and 99th percentile
COMPARED = "/v1/comparisons"
Flood: TypeAlias = Iterable[tuple[str, dict[str, Any]]]  # addresses and what is asked there
SETTINGS = {"SIGTEST_BUDGET": "1000000", "SIGTEST_ROOM": str(2**40)}


def flooded(seed: int, fault: str = "", most: int = 10**9, small: int = SMALL) -> Ledger:
    """The ledger of one run: the same small questions idle and under each flood."""
    with served(fault, SETTINGS) as (service, ledger):
        keys = service.keys("quiet", "loud")
        rng = random.Random(f"flood {seed}")
        with client(service, keys["quiet"]) as quiet:
            _times(quiet, rng, 5)
            for name, flood in FLOODS.items():
                # made before: whoever floods has a machine of his own for that
                asked = [(path, json.dumps(body).encode()) for path, body in flood(rng, most)]
                idle = _times(quiet, rng, small)
                during = _flooding(service, keys["loud"], asked, quiet, rng, small)
                for seconds in idle:
                    ledger.took(f"idle before {name}", seconds)
                for seconds in during:
                    ledger.took(f"under {name}", seconds)
                ledger.count("small questions timed", 2 * small)
                _judge(ledger, name, idle, during)
    return ledger


def _judge(ledger: Ledger, name: str, idle: list[float], during: list[float]) -> None:
    """Late is what a single run shows beyond doubt; the bars are held against all runs."""
    late = statistics.median(during) - statistics.median(idle)
    if late > 10 * MEDIAN:
        ledger.bad("late", f"{name}: median {late:.2f} s later than idle")
    worst = max(during) - max(idle)
    if worst > 10 * HIGH:
        ledger.bad("late", f"{name}: worst {worst:.2f} s later than idle")


def _times(quiet: httpx.Client, rng: random.Random, many: int) -> list[float]:
    return [answered(quiet, small_question(rng))[1] for _ in range(many)]


def small_question(rng: random.Random) -> dict[str, Any]:
    """Two systems of five lines."""
    words = [f"w{rng.randrange(10**6)}" for _ in range(40)]
    lines = [" ".join(rng.sample(words, 8)) for _ in range(5)]
    systems = [{"name": n, "hypotheses": lines[i:] + lines[:i]} for i, n in enumerate("ab")]
    return {"references": [lines], "systems": systems, "resamples": 99}


def _flooding(
    service: Service,
    key: str,
    bodies: Sequence[tuple[str, bytes]],
    quiet: httpx.Client,
    rng: random.Random,
    small: int,
) -> list[float]:
    """Times of small questions while the bodies are asked by another caller."""
    asked: list[str] = []
    over = threading.Event()
    flooding = threading.Thread(target=_ask_all, args=(service, key, bodies, asked, over))
    flooding.start()
    while len(asked) < 2 and flooding.is_alive():
        time.sleep(0.01)
    time.sleep(2)  # until workers are at it
    times = _times(quiet, rng, small)
    over.set()
    flooding.join()
    with client(service, key) as loud:
        for url in asked:
            loud.delete(url)
    return times


def _ask_all(
    service: Service,
    key: str,
    bodies: Sequence[tuple[str, bytes]],
    asked: list[str],
    over: threading.Event,
) -> None:
    typed = {"Content-Type": "application/json"}
    with client(service, key) as loud:
        for path, body in bodies:
            if over.is_set():
                return
            answer = loud.post(path, content=body, headers=typed)
            if answer.status_code == 202:
                asked.append(answer.headers["location"])
            else:
                time.sleep(0.05)  # the limit of pending questions is reached


def _thousand(rng: random.Random, most: int) -> Flood:
    """As many small jobs as are accepted, and more as they are done."""
    for _ in range(min(most, 5000)):
        yield COMPARED, {**small_question(rng), "resamples": 9999, "exact": "never"}


def _seven_kilobytes(rng: random.Random, most: int) -> Flood:
    systems = [{"name": f"s{i}", "hypotheses": ["ab"[i % 2]]} for i in range(200)]
    for _ in range(3):
        yield COMPARED, {"references": [["a"]], "systems": systems, "resamples": 999_999,
                         "seed": rng.randrange(2**32)}  # fmt: skip


def _sixty_systems(rng: random.Random, most: int) -> Flood:
    for _ in range(3):
        yield COMPARED, {**_shuffled(rng, segments=200, systems=60), "resamples": 999_999,
                         "tests": ["approximate_randomization", "bootstrap"],
                         "seed": rng.randrange(2**32)}  # fmt: skip


def _plans(rng: random.Random, most: int) -> Flood:
    """Each is one task of half a minute, and there are more of them than workers."""
    for _ in range(4):
        pilot = {**_shuffled(rng, segments=40, systems=20), "resamples": 999_999}
        yield "/v1/plans", {"comparison": pilot}


def _shuffled(rng: random.Random, segments: int, systems: int) -> dict[str, Any]:
    lines = [" ".join(rng.choices("abcdefgh", k=12)) for _ in range(segments)]
    return {
        "references": [lines],
        "systems": [
            {"name": f"s{i}", "hypotheses": [" ".join(rng.sample(x.split(), 12)) for x in lines]}
            for i in range(systems)
        ],
    }


FLOODS: dict[str, Callable[[random.Random, int], Flood]] = {
    "1,000 jobs": _thousand,
    "7 KB with 200 systems": _seven_kilobytes,
    "60 systems, R = 999,999": _sixty_systems,
    "4 plans of one long task": _plans,
}
