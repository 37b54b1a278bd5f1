"""Whatever dies while batches come, every score counts once, and each decision is told once."""

import random
import signal
import threading
import time
from typing import Any

import httpx
import numpy as np
import pytest

from benchmarks.deliveries import receiving
from sigtest.race.compute import compute, parse
from torture.processes import send
from torture.service import Service, until

SYSTEMS = ("A", "B", "C", "D")
ITEMS, EACH, OVERLAP = 300, 5, 2
HURTS = 6
SETTINGS = {
    "SIGTEST_WORKERS": "2",
    "SIGTEST_WEBHOOK_NETWORKS": "127.0.0.0/8",
    "SIGTEST_WEBHOOK_PAUSE": "1",
    "SIGTEST_WEBHOOK_LONGEST": "1",
}


def scores() -> dict[str, list[int]]:
    rng = np.random.default_rng(11)
    return {
        name: (rng.random(ITEMS) < rate).astype(int).tolist()
        for name, rate in zip(SYSTEMS, (0.9, 0.5, 0.45, 0.1), strict=True)
    }


def sent(service: Service, path: str, body: dict[str, Any]) -> dict[str, Any]:
    """An answer, however often the service dies before it is given."""
    while True:
        try:
            answer = httpx.post(f"{service.url}{path}", json=body, timeout=10)
        except httpx.TransportError:
            time.sleep(0.05)
            continue
        if answer.status_code < 500:
            assert answer.is_success, answer.text
            told: dict[str, Any] = answer.json()
            return told


@pytest.mark.slow
def test_nothing_is_lost_or_counted_twice(tmp_path):
    service, whole, rng = Service(tmp_path, settings=SETTINGS), scores(), random.Random(3)
    service.start()
    done = threading.Event()
    try:
        with receiving() as receiver:
            hook = sent(service, "/v1/webhooks", {"url": receiver.url})
            receiver.secret = hook["secret"]
            body = {"name": "hurt", "systems": SYSTEMS, "scale": [0, 1]}
            race = sent(service, "/v1/races", body)["links"]["self"]

            def observe() -> None:
                for first in range(0, ITEMS, EACH):
                    items = range(max(0, first - OVERLAP), min(first + EACH, ITEMS))
                    batch = {k: {f"q{i}": own[i] for i in items} for k, own in whole.items()}
                    sent(service, f"{race}/observations", {"scores": batch})
                    time.sleep(0.1)
                done.set()

            client = threading.Thread(target=observe)
            client.start()
            for hurt in range(HURTS):
                time.sleep(rng.uniform(0.3, 1.0))
                if hurt % 3 == 2:
                    service.stop(service.instances[-1], signal.SIGKILL)
                    service.start()
                else:
                    send(signal.SIGKILL, *service.workers())
            client.join()

            def told() -> dict[str, Any]:
                answer: dict[str, Any] = httpx.get(f"{service.url}{race}").json()
                return answer

            assert until(lambda: not told()["pending"], 120)
            assert (told()["items"], told()["observations"]) == (ITEMS, ITEMS * len(SYSTEMS))
            report = httpx.get(f"{service.url}{race}/report").json()
            here = compute(parse({"scores": whole, "scale": [0, 1]}))
            assert report["signature"] == here.signature
            pairs = [(p.a, p.b, p.decided, p.since) for p in here.pairs if p.decided]
            shown = [(p["a"], p["b"], p["decided"], p["since"]) for p in report["pairs"]]
            assert [own for own in shown if own[2]] == pairs
            assert 0 < len(pairs) < len(shown)  # one is open still

            def heard() -> list[tuple[Any, ...]]:
                # a message whose worker died while it was sent comes again, the same
                bodies = {body["timestamp"]: body for body in receiver.bodies}.values()
                found = [
                    p for b in bodies if b["type"] == "race.decided" for p in b["data"]["pairs"]
                ]
                return sorted((p["a"], p["b"], p["decided"], p["since"]) for p in found)

            assert until(lambda: len(heard()) >= len(pairs), 120)
            assert heard() == sorted(pairs)

            def overs() -> set[str]:
                return {b["timestamp"] for b in receiver.bodies if b["type"] == "race.over"}

            assert here.over is not None
            assert until(lambda: bool(overs()), 120)  # a message of its own
            assert len(overs()) == 1
    finally:
        service.end()
    assert done.is_set()
