"""A metric that another package brings, in a service whose operator allows it."""

import os
import subprocess
import sys
from collections.abc import Iterator
from pathlib import Path

import httpx
import pytest
from housed import installed

from workers.settings import Settings

ROOT = Path(__file__).parents[2]
BODY = {
    "references": [["In 1998 it cost 1,000.", "No more than 3.5 kg", "Figure 7, page 12"]],
    "systems": [
        {"name": "elm", "hypotheses": ["1998: 1000", "3.5 kg", "figure 7"]},
        {"name": "oak", "hypotheses": ["In 1998 it cost 1,001.", "at most 3,4", "figure 7"]},
    ],
    "metrics": ["numbers_kept"],
    "resamples": 99,
}


@pytest.fixture(scope="module")
def service(tmp_path_factory: pytest.TempPathFactory) -> Iterator[httpx.Client]:
    folder = tmp_path_factory.mktemp("service")
    settings = Settings(state=folder / "state", workers=1, metrics="numbers_kept")
    path = os.pathsep.join((installed(folder), str(ROOT)))
    process = subprocess.Popen(
        [sys.executable, "-m", "app.serve"],
        cwd=ROOT,
        env={**os.environ, "PYTHONPATH": path, **settings.as_environment(), "PORT": "0"},
        stdout=subprocess.PIPE,
        text=True,
    )
    assert process.stdout is not None
    with process, process.stdout:
        url = process.stdout.readline().rpartition(" ")[2].strip()
        with httpx.Client(base_url=url, timeout=120, headers={"Prefer": "wait=60"}) as client:
            yield client
        process.terminate()
        assert process.wait(30) == 0


def test_front_end_and_workers_know_a_metric_that_is_allowed(service):
    answer = service.post("/v1/comparisons", json=BODY).raise_for_status()
    assert answer.json()["status"] == "succeeded", answer.text
    report = service.get(f"{answer.headers['location']}/report").raise_for_status().json()
    scores = {own["name"]: own["scores"]["numbers_kept"]["score"] for own in report["systems"]}
    assert scores == {"elm": 80.0, "oak": 40.0}
    assert "numbers-kept 1.0" in report["signature"]
    assert '"numbers_kept"' in service.get("/openapi.json").text
