"""The example of a leaderboard's back end runs, and is as short as it claims."""

import os
import re
import subprocess
import sys
from collections.abc import Iterator
from pathlib import Path

import httpx
import pytest
from exchange import ROOT
from service import until

PROGRAM = ROOT / "examples" / "leaderboard-backend" / "backend.py"


@pytest.fixture
def backend(service: httpx.Client, example: Path) -> Iterator[httpx.Client]:
    process = subprocess.Popen(
        [sys.executable, str(PROGRAM), str(example / "reference.en")],
        env={**os.environ, "SIGTEST_URL": str(service.base_url), "PORT": "0"},
        stdout=subprocess.PIPE,
        stderr=subprocess.DEVNULL,
        text=True,
    )
    assert process.stdout is not None
    with process, process.stdout:
        address = process.stdout.readline().rpartition(" ")[2].strip()
        with httpx.Client(base_url=address, timeout=60) as client:
            yield client
        process.terminate()
    for webhook in service.get("/v1/webhooks").json()["webhooks"]:
        service.delete(f"/v1/webhooks/{webhook['id']}")


def test_runs_are_shown_when_the_webhook_says_so(backend, example):
    assert backend.get("/").text == "No run yet."
    for name in ("aspen", "birch"):
        run = (example / "systems" / f"{name}.en").read_bytes()
        assert backend.post(f"/runs/{name}", content=run).status_code == 202
    until(lambda: {"aspen", "birch"} <= set(re.findall(r"[\w.]+", backend.get("/").text)), 60)
    short = backend.post("/runs/short", content=b"one line")
    assert short.status_code == 422
    assert "138" in short.text
    forged = backend.post("/hook", content=b"{}", headers={"webhook-signature": "v1,AAAA"})
    assert forged.status_code == 403


def test_it_has_at_most_60_lines():
    assert len(PROGRAM.read_text(encoding="utf-8").splitlines()) <= 60
