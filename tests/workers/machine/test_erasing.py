"""After a deletion and a minute nothing of a text is on the disk of the embedded store."""

import random
import zlib
from contextlib import suppress
from pathlib import Path

import pytest
from service import CALLER, Service, finished, started, until

from sigtest.comparison.comparison import parse_comparison
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


@pytest.mark.parametrize("end", ["finished", "cancelled"])
def test_nothing_is_left_on_disk(tmp_path, end):
    rng = random.Random(end)
    secret = f"secret{rng.randrange(10**12)}"
    lines = [f"{secret} {rng.random()} c d e f g" for _ in range(50)]
    body = {
        "references": [lines],
        "systems": [{"name": n, "hypotheses": lines[i:] + lines[:i]} for i, n in enumerate("ab")],
        "resamples": 99 if end == "finished" else 999_999,
        "tests": ["bootstrap"],
    }
    with started(Settings(state=tmp_path, workers=1)) as service:
        submitted(service, body, end, tmp_path, secret.encode())
        until(lambda: not holds(tmp_path, secret.encode()), 60)


def submitted(
    service: Service, body: dict[str, object], end: str, folder: Path, secret: bytes
) -> None:
    record, _ = service.jobs.submit(parse_comparison(body), CALLER)
    if end == "finished":
        finished(service.jobs, record.id)
    assert holds(folder, secret)  # the scan would notice
    service.jobs.remove(record.id, CALLER)
