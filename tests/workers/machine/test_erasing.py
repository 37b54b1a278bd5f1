"""After a deletion and a minute nothing of a text is on the disk of the embedded store."""

import random
import zlib
from contextlib import suppress
from pathlib import Path

from service import CALLER, finished, started, until

from sigtest.comparison.comparison import Comparison, parse_comparison
from workers.settings import Settings


def holds(folder: Path, secret: bytes) -> list[str]:
    """Files with a text in them, as it is or compressed."""
    found = []
    for file in sorted(folder.rglob("*")):
        if not file.is_file():
            continue
        data = file.read_bytes()
        if secret in data or any(secret in text for text in unpacked(data)):
            found.append(file.name)
    return found


def unpacked(data: bytes) -> list[bytes]:
    """Whatever can be decompressed, wherever it begins."""
    texts = []
    at = data.find(b"\x78")
    while at >= 0:
        with suppress(zlib.error):
            texts.append(zlib.decompressobj().decompress(data[at : at + 2**20]))
        at = data.find(b"\x78", at + 1)
    return texts


def test_nothing_is_left_on_disk(tmp_path):
    """Of a question that was answered, nor of one that was cancelled."""
    secrets = [f"secret{number}" for number in random.Random(0).sample(range(10**12), 2)]
    with started(Settings(state=tmp_path, workers=1)) as service:
        answered, cancelled = (
            service.jobs.submit(about(secret, resamples), CALLER)[0].id
            for secret, resamples in zip(secrets, (99, 999_999), strict=True)
        )
        finished(service.jobs, answered)
        assert all(holds(tmp_path, secret.encode()) for secret in secrets)  # it would notice
        for question in (cancelled, answered):
            service.jobs.remove(question, CALLER)
        until(lambda: not any(holds(tmp_path, secret.encode()) for secret in secrets), 60)


def about(secret: str, resamples: int) -> Comparison:
    rng = random.Random(secret)
    lines = [f"{secret} {rng.random()} c d e f g" for _ in range(50)]
    systems = [{"name": n, "hypotheses": lines[i:] + lines[:i]} for i, n in enumerate("ab")]
    body = {"references": [lines], "systems": systems, "tests": ["bootstrap"]}
    return parse_comparison({**body, "resamples": resamples})
