"""Part "strangers": what one caller can learn of another, and what stays of what was deleted."""

from __future__ import annotations

import random
import tempfile
import time
import zlib
from collections.abc import Iterator, Mapping, Sequence
from contextlib import contextmanager, suppress
from pathlib import Path
from typing import Any

import httpx

from torture.load.ledger import Ledger
from torture.service import Service

LOOKS = ("doors", "oracle", "erasure")
TRIALS = 60  # texts known to another caller, and as many unknown
WARM = 5
NEAR = 0.05  # from .5 is what the area may be, and what chance makes of it
ERASED_SECONDS = 90.0
BLOCK = 2**20


@contextmanager
def served(
    fault: str = "", settings: Mapping[str, str] | None = None
) -> Iterator[tuple[Service, Ledger]]:
    """A service of its own, without anything that hurts it."""
    ledger = Ledger()
    with tempfile.TemporaryDirectory(prefix="torture-") as folder:
        service = Service(Path(folder), fault, settings)
        try:
            service.start()
            yield service, ledger
        finally:
            for pid in service.end():
                ledger.bad("orphaned", f"process {pid} outlives its service")


def estranged(
    seed: int, fault: str = "", trials: int = TRIALS, looks: tuple[str, ...] = LOOKS
) -> Ledger:
    """The ledger of one run: keys and other callers' ids, cached texts, deleted texts."""
    with served(fault) as (service, ledger):
        keys = service.keys("ann", "bob")
        with client(service, keys["ann"]) as ann, client(service, keys["bob"]) as bob:
            if "doors" in looks:
                _doors(ledger, seed, service, keys["ann"], ann, bob)
            if "erasure" in looks:  # before there is much to scan
                _erasure(ledger, seed, service, ann)
            if "oracle" in looks:
                _oracle(ledger, seed, ann, bob, trials)
    return ledger


def client(service: Service, key: str) -> httpx.Client:
    """Asks with a key."""
    return httpx.Client(base_url=service.url, headers={"X-API-Key": key}, timeout=120)


def body_of(
    rng: random.Random, words: int = 24_000, segments: int = 300, resamples: int = 9
) -> Any:
    """A comparison that takes about as long as it takes to measure its texts, .3 seconds."""

    def line() -> str:
        return " ".join(rng.choices("abcdefghij", k=words // segments))

    reference = [line() for _ in range(segments)]
    systems = [{"name": n, "hypotheses": [line() for _ in reference]} for n in "ab"]
    return {"references": [reference], "systems": systems, "metrics": ["ter", "chrf++", "nist"],
            "resamples": resamples, "seed": rng.randrange(2**32)}  # fmt: skip


def answered(asking: httpx.Client, body: Any) -> tuple[str, float]:
    """Where a question is once it is answered, and how long that took."""
    since = time.perf_counter()
    told = asking.post("/v1/comparisons", json=body, headers={"Prefer": "wait=60"}).json()
    while told["status"] in {"queued", "running"}:
        told = asking.get(told["links"]["self"], headers={"Prefer": "wait=60"}).json()
    return str(told["links"]["self"]), time.perf_counter() - since


def _doors(
    ledger: Ledger, seed: int, service: Service, key: str, ann: httpx.Client, bob: httpx.Client
) -> None:
    """Keys that nearly fit, and the ids of another."""
    url, _ = answered(ann, body_of(random.Random(f"doors {seed}")))
    board = ann.post("/v1/testsets", json={"name": "board of ann", "references": [["a b", "c d"]]})
    made = board.raise_for_status().headers["location"]
    ann.put(f"{made}/systems/s", json={"hypotheses": ["a b", "c"]}, headers={"Prefer": "wait=30"})
    near = [key.swapcase(), key.upper(), key.lower(), key[:-1], key + "a", key[1:], key[::-1],
            key.replace("_", "-"), ""]  # fmt: skip
    for wrong in near:
        ledger.count("keys that nearly fit")
        got = httpx.get(service.url + url, headers={"X-API-Key": wrong} if wrong else {})
        if got.status_code not in {401, 429}:
            ledger.bad("opened", f"a key that nearly fits is answered {got.status_code}")
    for path in _routes(ann, url, made):
        for method in ("GET", "DELETE", "PUT", "PATCH"):
            ledger.count("requests about what is another caller's")
            got = bob.request(method, path, json={"hypotheses": ["x", "y"], "resamples": 9})
            if got.status_code not in {404, 405, 422}:
                ledger.bad("opened", f"{method} {path} of another: {got.status_code}")
    if ann.get(url).status_code != 200 or ann.get(made).status_code != 200:
        ledger.bad("opened", "another caller has changed or deleted something")
    unknown = bob.get(url[:-32] + "0" * 32).json()["detail"].replace("0" * 32, "")
    if bob.get(url).json()["detail"].replace(url[-32:], "") != unknown:
        ledger.bad("told", "what is another's is refused in other words than what is not there")


def _routes(ann: httpx.Client, question: str, board: str) -> list[str]:
    """Every route of the document about one question or test set."""
    paths = ann.get("/openapi.json").json()["paths"]
    found = []
    for path in paths:
        if path.startswith("/v1/comparisons/{id}"):
            found.append(path.replace("/v1/comparisons/{id}", question))
        elif path.startswith("/v1/testsets/{id}"):
            found.append(path.replace("/v1/testsets/{id}", board))
    return [path.replace("{picture}", "matrix").replace("{name}", "s") for path in found]


def _oracle(ledger: Ledger, seed: int, ann: httpx.Client, bob: httpx.Client, trials: int) -> None:
    """Can Bob tell by the clock which texts Ann has measured?"""
    rng = random.Random(f"oracle {seed}")
    known, unknown = [], []
    for trial in range(-WARM, trials):
        texts = [body_of(rng), body_of(rng)]
        answered(ann, texts[0])
        order = [0, 1] if rng.random() < 0.5 else [1, 0]
        taken = {i: answered(bob, texts[i] | {"seed": trial + WARM})[1] for i in order}
        if trial >= 0:
            known.append(taken[0])
            unknown.append(taken[1])
    for name, found in (("known to another", known), ("unknown", unknown)):
        for seconds in found:
            ledger.took(f"seconds for texts {name}", seconds)
    ledger.count("texts timed", 2 * trials)
    area, chance = told_apart(known, unknown), deviation(trials, trials)
    if abs(area - 0.5) > NEAR + 3 * chance:
        ledger.bad("told", f"the time tells which texts another has measured: AUC {area:.2f}")


def told_apart(known: Sequence[float], unknown: Sequence[float]) -> float:
    """Area under the curve: how often a known text is the faster one; 1/2 where none tells."""
    faster = sum((a < b) + (a == b) / 2 for a in known for b in unknown)
    return faster / (len(known) * len(unknown))


def deviation(m: int, n: int) -> float:
    """Standard deviation of that area where there is nothing to tell (Mann & Whitney 1947)."""
    return float(((m + n + 1) / (12 * m * n)) ** 0.5)


def _erasure(ledger: Ledger, seed: int, service: Service, ann: httpx.Client) -> None:
    """Every byte of the state directory, decompressed, before a deletion and after it."""
    rng = random.Random(f"erasure {seed}")
    secret = f"secret{rng.randrange(10**15)}"
    lines = [f"{secret} {i} {rng.random()}" for i in range(30)]
    systems = [{"name": n, "hypotheses": lines[i:] + lines[:i]} for i, n in enumerate("ab")]
    url, _ = answered(ann, {"references": [lines], "systems": systems, "resamples": 99})
    board = {"name": secret, "references": [lines]}
    made = ann.post("/v1/testsets", json=board).raise_for_status().headers["location"]
    ann.put(f"{made}/systems/a", json={"hypotheses": lines}, headers={"Prefer": "wait=30"})
    if not holding(service.state, secret.encode()):
        ledger.bad("kept", "the scan does not find what is there")
    since = time.monotonic()
    for path in (url, made):
        ann.delete(path).raise_for_status()
    ledger.count("deleted texts looked for")
    while (began := time.monotonic()) < since + ERASED_SECONDS:
        left = holding(service.state, secret.encode())
        if not left:
            ledger.took("seconds until a deleted text has left the disk", began - since)
            return
        time.sleep(1.0)
    ledger.bad("kept", f"{left} hold what was deleted")


def holding(folder: Path, secret: bytes) -> list[str]:
    """Files with a text in them, as it is or compressed."""
    found = []
    for file in sorted(path for path in folder.rglob("*") if path.is_file()):
        with suppress(FileNotFoundError):
            data = file.read_bytes()
            if secret in data or any(secret in text for text in _unpacked(data)):
                found.append(file.name)
    return found


def _unpacked(data: bytes) -> Iterator[bytes]:
    """Whatever can be decompressed, wherever it begins."""
    at = data.find(b"\x78")
    while at >= 0:
        with suppress(zlib.error):
            yield zlib.decompressobj().decompress(data[at : at + BLOCK])
        at = data.find(b"\x78", at + 1)
