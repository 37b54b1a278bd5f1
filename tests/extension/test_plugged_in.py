"""The extension contract: what is plugged into a registry is everywhere.

A real service, its workers and the command line run with one sample of each thing in their
registries (`plugged_in/samples.py`).
"""

import json
import os
import subprocess
import sys
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import httpx
import numpy as np
import pytest
from housed import installed
from service import EXAMPLE, launched
from warmed import warmed

from sigtest.data.text import parse_lines
from workers.settings import Settings

ROOT = Path(__file__).parents[2]
PATHS = (Path(__file__).parent / "plugged_in", ROOT)
PLUGGED = {**os.environ, "PYTHONPATH": os.pathsep.join(map(str, PATHS))}
SYSTEMS = ("aspen", "birch", "cedar")
REFERENCE = parse_lines((EXAMPLE / "reference.en").read_bytes(), "reference.en")
OUTPUTS = {
    name: parse_lines((EXAMPLE / "systems" / f"{name}.en").read_bytes(), name) for name in SYSTEMS
}


@pytest.fixture(scope="module")
def service(tmp_path_factory: pytest.TempPathFactory) -> Iterator[httpx.Client]:
    """A service with the samples, whose operator allows a metric that another package brings."""
    folder = tmp_path_factory.mktemp("service")
    settings = Settings(state=folder / "state", workers=1, metrics="numbers_kept")
    path = os.pathsep.join((installed(folder), PLUGGED["PYTHONPATH"]))
    with (
        launched(settings, PYTHONPATH=path) as (_, url),
        httpx.Client(base_url=url, timeout=120, headers={"Prefer": "wait=60"}) as client,
    ):
        yield client


@pytest.fixture(scope="module", autouse=True)
def programs(tmp_path_factory: pytest.TempPathFactory) -> Iterator[None]:
    """`sigtest` with the samples starts quickly."""
    folder = tmp_path_factory.mktemp("programs")
    with warmed(folder, PLUGGED), pytest.MonkeyPatch.context() as patch:
        patch.setenv("PATH", f"{folder}{os.pathsep}{os.environ['PATH']}")
        yield


def asked(**choices: Any) -> dict[str, Any]:
    return {"references": REFERENCE, "systems": OUTPUTS, "resamples": 300, **choices}


def answered(service: httpx.Client, body: dict[str, Any], kind: str = "comparisons") -> str:
    """The address of a question with an answer."""
    answer = service.post(f"/v1/{kind}", json=body).raise_for_status()
    assert answer.json()["status"] == "succeeded", answer.text
    return str(answer.headers["location"])


def report(service: httpx.Client, **choices: Any) -> dict[str, Any]:
    url = answered(service, asked(**choices))
    return dict(service.get(f"{url}/report").raise_for_status().json())


def command(*arguments: str) -> str:
    """What `sigtest` prints."""
    done = subprocess.run(
        ["sigtest", *arguments],
        cwd=EXAMPLE,
        env={**PLUGGED, "PATH": os.environ["PATH"]},
        capture_output=True,
        text=True,
        check=False,
    )
    assert done.returncode == 0, done.stderr
    return done.stdout


def compared(*arguments: str) -> str:
    files = [f"systems/{name}.en" for name in SYSTEMS]
    return command("compare", "-r", "reference.en", *files, "--resamples", "300", *arguments)


def documented(service: httpx.Client) -> str:
    return service.get("/openapi.json").raise_for_status().text


def board(service: httpx.Client, **choices: Any) -> str:
    """The address of the leaderboard of a test set that has all systems."""
    body = {"name": "board", "references": REFERENCE, "resamples": 300, **choices}
    url = service.post("/v1/testsets", json=body).raise_for_status().headers["location"]
    for name, lines in OUTPUTS.items():
        service.put(f"{url}/systems/{name}", json={"hypotheses": lines}).raise_for_status()
    return f"{url}/leaderboard"


def test_metric(service):
    percent = {
        name: 100 * sum(len(line.split()) for line in lines) / words
        for words in [sum(len(line.split()) for line in REFERENCE)]
        for name, lines in OUTPUTS.items()
    }
    found = report(service, metrics=["length"])
    for system in found["systems"]:
        score = system["scores"]["length"]
        assert score["score"] == pytest.approx(percent[system["name"]])
        assert score["ci"][0] <= score["score"] <= score["ci"][1]
    assert {pair["metric"] for pair in found["pairs"]} == {"length"}
    twice = report(service, metrics=[{"name": "length", "times": 2}])
    scores = {system["name"]: system["scores"]["length"]["score"] for system in twice["systems"]}
    assert scores == pytest.approx({name: 2 * score for name, score in percent.items()})
    url = answered(service, asked(metrics=["length"]))
    assert "length" in service.get(f"{url}/plots/matrix.svg").raise_for_status().text
    assert '"length"' in documented(service)
    shown = service.get(board(service, metrics=["length"])).raise_for_status().json()
    assert {pair["metric"] for pair in shown["pairs"]} == {"length"}
    assert "length" in compared("--metric", "length")
    assert "length" in command("metrics")


def test_significance_test_that_counts(service):
    choices = {"metrics": ["bleu"], "tests": ["halfway"], "correction": "none", "exact": "never"}
    url = answered(service, asked(**choices))
    pair = service.get(f"{url}/report").json()["pairs"][0]
    names = {"a": pair["a"], "b": pair["b"], "metric": "bleu", "test": "halfway"}
    drawn = service.get(f"{url}/distribution", params={**names, "values": "true"}).json()
    extreme = np.count_nonzero(np.abs(drawn["values"]) >= abs(pair["difference"]) / 2)
    assert pair["count"] == extreme
    assert pair["p_value"] == (extreme + 1) / 301
    picture = service.get(f"{url}/plots/distribution.svg", params=names).raise_for_status()
    assert f"{extreme} of 300 counted" in picture.text
    same = {"same": OUTPUTS["aspen"], "again": OUTPUTS["aspen"]}
    assert report(service, **choices, **{"systems": same})["pairs"][0]["p_value"] == 1
    both = {**choices, "tests": ["approximate_randomization", "halfway"]}
    refused = service.post("/v1/comparisons", json=asked(**both))
    assert refused.status_code == 422
    assert "both count in exchanges" in refused.json()["detail"]
    assert '"halfway"' in documented(service)
    assert "halfway" in compared("--test", "halfway")


def test_significance_test_with_a_p_of_its_own(service):
    found = report(service, metrics=["bleu"], tests=["constant"], correction="bonferroni")
    for pair in found["pairs"]:
        assert pair["p_value"] == pytest.approx(0.0125)
        assert pair["p_adjusted"] == pytest.approx(3 * 0.0125)
        assert pair["p_interval"] is None
        assert pair["significant"]
    assert '"constant"' in documented(service)
    assert "constant" in compared("--test", "constant")


def test_correction(service):
    found = report(service, metrics=["bleu"], correction="thrice")
    for pair in found["pairs"]:
        assert pair["p_adjusted"] == pytest.approx(min(1, 3 * pair["p_value"]))
        low, high = (min(1, 3 * end) for end in pair["p_interval"])
        assert pair["undecided"] == (not pair["exact"] and low <= found["alpha"] < high)
    assert '"thrice"' in documented(service)
    assert "thrice" in compared("--correction", "thrice")
    shown = service.get(board(service), params={"correction": "thrice"}).raise_for_status()
    assert shown.json()["correction"] == "thrice"


def test_format(service):
    url = answered(service, asked())
    several = {
        "testsets": [
            {"name": name, "references": REFERENCE, "systems": OUTPUTS} for name in ("one", "two")
        ],
        "resamples": 99,
    }
    for address in (
        f"{url}/report",
        f"{answered(service, several)}/report",
        board(service),
        f"{answered(service, {'numbers': [1, 2]}, 'sums')}/report",
    ):
        named = service.get(address, params={"format": "shout"}).raise_for_status()
        accepted = service.get(address, headers={"Accept": "text/x-shout"}).raise_for_status()
        assert named.text == accepted.text
        assert named.text.startswith("['")
        assert named.text == named.text.upper()
        assert named.headers["content-type"].startswith("text/x-shout")
    assert "text/x-shout" in documented(service)
    assert "SYSTEMS" in compared("--format", "shout")
    for name in ("compare", "leaderboard"):
        assert "shout" in command(name, "--help")


def test_picture(service, tmp_path):
    url = answered(service, asked())
    for address in (url, board(service)):
        drawn = service.get(f"{address}/plots/bars.svg").raise_for_status().text
        assert drawn.count("<rect>") == len(SYSTEMS)
    link = service.get(url).json()["links"]["plots"]["bars"]
    assert service.get(link).raise_for_status().text == drawn
    compared("--plots", str(tmp_path))
    assert any(path.name.startswith("bars") for path in tmp_path.iterdir())


def test_kind(service):
    posted = service.post("/v1/sums", json={"numbers": [1, 2.5]}, headers={"Prefer": "wait=0"})
    assert posted.status_code == 202
    url = posted.headers["location"]
    with service.stream("GET", f"{url}/events") as events:
        assert '"status":"succeeded"' in "".join(events.iter_text())
    status = service.get(url).json()
    assert status["status"] == "succeeded"
    assert status["links"]["plots"] == {}
    for name in ("self", "report", "events"):
        assert service.get(status["links"][name]).status_code == 200, name
    assert service.get(f"{url}/report").json() == {"total": 3.5, "signature": "sum of 2"}
    for name, text in (("text", "The sum is 3.5."), ("csv", "total\r\n3.5"), ("html", "3.5")):
        assert text in service.get(f"{url}/report", params={"format": name}).text
    listed = service.get("/v1/sums").json()["sums"]
    assert status["id"] in [entry["id"] for entry in listed]
    assert service.get(f"/v1/comparisons/{status['id']}").status_code == 404
    asking = (
        "import sys, json; from sigtest.client import Client\n"
        "with Client(sys.argv[1]) as c:\n"
        "    print(c.report(c.run({'numbers': [3, 4]}, kind='sums'), kind='sums').decode())"
    )
    done = subprocess.run(
        [sys.executable, "-c", asking, str(service.base_url)],
        cwd=ROOT, env=PLUGGED, capture_output=True, text=True, check=True,
    )  # fmt: skip
    assert json.loads(done.stdout)["total"] == 7
    assert '"/v1/sums"' in documented(service)
    assert service.delete(url).status_code == 204
    assert service.get(url).status_code == 410


def test_a_file_format_that_people_bring(service, tmp_path):
    """Known by its content in the shell, in a form and in a notebook, and listed."""
    strokes = {"aspen": "|||\n||\n||||\n", "birch": "|\n||\n|||\n"}
    files = []
    for name, lines in strokes.items():
        files.append(tmp_path / f"{name}.any")
        files[-1].write_text(f"tally of {name}\n{lines}")
    scores = {"aspen": 3.0, "birch": 2.0}

    def told(report: str) -> dict[str, float]:
        found = json.loads(report)["systems"]
        return {entry["name"]: entry["scores"]["strokes"]["score"] for entry in found}

    shown = ("--resamples", "99", "--format", "json")
    assert told(command("compare", *map(str, files), *shown)) == scores
    imported = [word for file in files for word in ("--from", str(file))]
    assert told(command("compare", *imported, *shown)) == scores
    named = [word for file in files for word in ("--scores", f"{file.stem}={file}")]
    assert told(command("compare", *named, *shown)) == scores
    for part in ("systems", "scores", "archive"):
        parts = [(part, (file.name, file.read_bytes())) for file in files]
        posted = service.post("/v1/comparisons", files=parts, headers={"Prefer": "wait=60"})
        report = service.get(posted.raise_for_status().json()["links"]["report"])
        assert told(report.text) == scores
    asking = (
        "import sys, sigtest; from pathlib import Path\n"
        "report = sigtest.compare(from_=sys.argv[1:], resamples=99)\n"
        "print({s.name: s.scores['strokes'].score for s in report.systems})"
    )
    done = subprocess.run(
        [sys.executable, "-c", asking, *map(str, files)],
        cwd=ROOT, env=PLUGGED, capture_output=True, text=True, check=True,
    )  # fmt: skip
    assert done.stdout.strip() == str(scores)
    listing = subprocess.run(
        [sys.executable, "-c", "from test_docs_formats import tables; print(tables(''))"],
        cwd=ROOT / "tests/sigtest/data", env=PLUGGED, capture_output=True, text=True, check=True,
    )  # fmt: skip
    assert "| `tally` | a tally |" in listing.stdout


def test_front_end_and_workers_know_a_metric_of_another_package_that_is_allowed(service):
    body = {
        "references": [["In 1998 it cost 1,000.", "No more than 3.5 kg", "Figure 7, page 12"]],
        "systems": [
            {"name": "elm", "hypotheses": ["1998: 1000", "3.5 kg", "figure 7"]},
            {"name": "oak", "hypotheses": ["In 1998 it cost 1,001.", "at most 3,4", "figure 7"]},
        ],
        "metrics": ["numbers_kept"],
        "resamples": 99,
    }
    answer = service.post("/v1/comparisons", json=body).raise_for_status()
    assert answer.json()["status"] == "succeeded", answer.text
    report = service.get(f"{answer.headers['location']}/report").raise_for_status().json()
    scores = {own["name"]: own["scores"]["numbers_kept"]["score"] for own in report["systems"]}
    assert scores == {"elm": 80.0, "oak": 40.0}
    assert "numbers-kept 1.0" in report["signature"]
    assert '"numbers_kept"' in service.get("/openapi.json").text
