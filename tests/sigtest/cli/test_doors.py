"""Where people work: the pull request, pytest, Inspect's logs, metrics that are packages."""

import asyncio
import json
import os
import subprocess
import sys
import tomllib
from importlib.metadata import entry_points
from pathlib import Path
from types import SimpleNamespace

import pytest
from evaluated import promptfoo, promptfoo_rows
from housed import installed
from service import EXAMPLE

from sigtest import inspecting

ROOT = EXAMPLE.parents[1]
PROJECT = tomllib.loads((ROOT / "pyproject.toml").read_text())["project"]
PROGRAMS = str(Path(sys.executable).parent)


def run(*words: object, folder: Path, **variables: str) -> subprocess.CompletedProcess[str]:
    given = {**os.environ, "PATH": f"{PROGRAMS}{os.pathsep}{os.environ['PATH']}", **variables}
    called = [str(word) for word in words]
    return subprocess.run(
        called, cwd=folder, env=given, capture_output=True, text=True, check=False
    )


# the pull request


def results(folder: Path, wrong: int, name: str) -> str:
    """Sixty questions, of which the first few are answered wrongly."""
    (row,) = promptfoo_rows(providers=("openai:gpt",))[:1]
    rows = [
        {**row, "testIdx": i, "vars": {"q": i}, "score": float(i >= wrong), "success": i >= wrong}
        for i in range(60)
    ]
    (folder / name).write_text(promptfoo(rows))
    return name


GH = """#!/bin/sh
case "$*" in
*--jq*) cat known 2>/dev/null ;;
*comments/41*body=@*) cp "${*##*body=@}" comment ;;
"pr comment 7 --repo o/r --body-file "*) [ -e known ] || cp "${*##*--body-file }" comment ;;
esac
"""  # stands in for the program that comments


@pytest.mark.parametrize(("wrong", "outcome", "status", "known"), [
    (2, "pass", 0, False),
    (40, "fail", 1, True),
    pytest.param(2, "pass", 0, True, marks=pytest.mark.slow),
    pytest.param(40, "fail", 1, False, marks=pytest.mark.slow),
])  # fmt: skip
def test_the_action_decides_comments_and_ends_as_the_gate(tmp_path, wrong, outcome, status, known):
    (tmp_path / "gh").write_text(GH)
    (tmp_path / "gh").chmod(0o755)
    if known:
        (tmp_path / "known").write_text("41\n42\n")
    done = run(
        "bash", ROOT / "examples" / "github-action" / "gate.sh", folder=tmp_path,
        BASELINE=results(tmp_path, 2, "old.json"), CANDIDATE=results(tmp_path, wrong, "new.json"),
        METRIC="score", MARGIN="0.1", OPTIONS="--resamples 999", PULL_REQUEST="7",
        GITHUB_REPOSITORY="o/r", GITHUB_OUTPUT="output", GITHUB_STEP_SUMMARY="summary",
        PATH=f"{tmp_path}{os.pathsep}{PROGRAMS}{os.pathsep}{os.environ['PATH']}",
    )  # fmt: skip
    assert (done.returncode, (tmp_path / "output").read_text()) == (status, f"outcome={outcome}\n")
    comment = (tmp_path / "comment").read_text()
    assert comment == (tmp_path / "summary").read_text()
    assert f"### sigtest: {outcome}\n" in comment
    assert f"| candidate | {outcome} | " in comment


def test_the_action_comments_on_what_cannot_be_compared(tmp_path):
    done = run(
        "bash", ROOT / "examples" / "github-action" / "gate.sh", folder=tmp_path, METRIC="",
        BASELINE=results(tmp_path, 2, "old.json"), CANDIDATE="none.json", MARGIN="1", OPTIONS="",
        GITHUB_STEP_SUMMARY="summary", GITHUB_OUTPUT="output", PULL_REQUEST="",
    )  # fmt: skip
    assert done.returncode == 2
    assert "none.json" in (tmp_path / "summary").read_text()


def test_the_action_hands_every_input_to_its_script():
    yaml = (ROOT / "examples" / "github-action" / "action.yml").read_text()
    script = (ROOT / "examples" / "github-action" / "gate.sh").read_text()
    for name in ("BASELINE", "CANDIDATE", "METRIC", "MARGIN", "OPTIONS"):
        assert f"{name}: ${{{{ inputs.{name.lower()} }}}}" in yaml
        assert f"${name}" in script.replace("{", "").replace(":+", "")
    assert "${{" not in script  # what strangers write in a pull request is never run


# pytest

TESTS = """
import pytest

OLD = [0.1 * (i % 7) for i in range(60)]

@pytest.mark.parametrize("lost", [0.0, 9.0])
def test_new(sigtest_gate, lost):
    new = [own - lost for own in OLD]
    report = sigtest_gate(
        scores={"old": OLD, "new": new}, baseline="old", margin=0.3, resamples=999
    )
    assert report.systems[0].system == "new"
"""


def test_the_fixture_fails_a_test_with_the_report(tmp_path, capfd):
    assert PROJECT["entry-points"]["pytest11"] == {"sigtest": "sigtest.testing"}
    (tmp_path / "test_it.py").write_text(TESTS)
    known = entry_points(group="pytest11", name="sigtest")  # once `make install` was there
    named = () if known else ("-p", "sigtest.testing")
    shown = ("-p", "no:cacheprovider", "-p", "no:xdist", "-q", "--rootdir", str(tmp_path))
    assert pytest.main([*named, *shown, str(tmp_path)]) == pytest.ExitCode.TESTS_FAILED
    out = capfd.readouterr().out
    assert "1 failed, 1 passed" in out
    assert "sigtest fail: not worse than old by 0.3 scores" in out


# Inspect


def log(folder: Path, right: int, model: str = "org/elm") -> Path:
    samples = [
        {"id": i, "epoch": 1, "scores": {"match": {"value": "CI"[i >= right]}}} for i in range(40)
    ]
    path = folder / f"{right}.json"
    head = {"version": 2, "status": "success", "plan": {}, "eval": {"task": "t", "model": model}}
    path.write_text(json.dumps({**head, "samples": samples}))
    return path


def test_the_hook_compares_logs_with_a_baseline_at_the_end_of_a_run(tmp_path, monkeypatch, capsys):
    assert PROJECT["entry-points"]["inspect_ai"] == {"sigtest": "sigtest.inspecting"}
    hook = inspecting.Compared()
    monkeypatch.delenv("SIGTEST_BASELINE", raising=False)
    assert not hook.enabled()
    monkeypatch.setenv("SIGTEST_BASELINE", str(log(tmp_path, 20)))
    assert hook.enabled()
    ended = SimpleNamespace(location=f"file://{log(tmp_path, 36)}")
    asyncio.run(hook.on_run_end(SimpleNamespace(logs=[ended])))
    said = capsys.readouterr().out
    assert "Systems by match" in said
    assert "run is better" in said


def test_the_hook_is_run_by_inspect_itself(tmp_path):
    pytest.importorskip("inspect_ai", reason="Inspect AI is no dependency, and not installed here")
    code = (
        "from inspect_ai import Task, eval\n"
        "from inspect_ai.dataset import Sample\n"
        "from inspect_ai.model import ModelOutput, ModelUsage, get_model\n"
        "from inspect_ai.scorer import match\n"
        "import sigtest.inspecting, sys\n"
        "outputs = [ModelOutput.from_content('mockllm/model', str(i)) for i in range(9)]\n"
        "for own in outputs:\n"
        "    own.usage = ModelUsage(input_tokens=1, output_tokens=1, total_tokens=2)\n"
        "samples = [Sample(input=str(i), target=str(i), id=i) for i in range(9)]\n"
        "task = Task(dataset=samples, scorer=match(), name='t')\n"
        "eval(task, model=get_model('mockllm/model', custom_outputs=outputs), display='none')\n"
    )
    first = run(sys.executable, "-c", code, folder=tmp_path)
    (made,) = (tmp_path / "logs").glob("*.eval")
    again = run(sys.executable, "-c", code, folder=tmp_path, SIGTEST_BASELINE=str(made))
    assert "Systems by match" not in first.stdout
    assert "Systems by match" in again.stdout


# metrics of other packages


@pytest.fixture
def sold(tmp_path: Path) -> Path:
    """Three references with five numbers, and two systems that keep four and two of them."""
    texts = {
        "reference": ["In 1998 it cost 1,000.", "No more than 3.5 kg", "Figure 7, page 12"],
        "elm": ["1998: 1000", "3.5 kg", "figure 7"],
        "oak": ["In 1998 it cost 1,001.", "at most 3,4", "figure 7"],
    }
    for name, lines in texts.items():
        (tmp_path / name).write_text("".join(f"{line}\n" for line in lines))
    return tmp_path


def test_a_metric_of_another_package_is_loaded_where_it_is_allowed(sold, tmp_path):
    site = installed(tmp_path)
    words = ("sigtest", "compare", "-r", "reference", "elm", "oak", "--format", "json")
    asked = (*words, "--metric", "numbers_kept", "--resamples", "99")
    other = (*asked, "--metric", "numbers_kept:commas=false")
    done = run(*other, folder=sold, PYTHONPATH=site, SIGTEST_METRICS="bleu,numbers_kept")
    assert done.returncode == 0, done.stderr
    found = {
        system["name"]: [entry["score"] for entry in system["scores"].values()]
        for system in json.loads(done.stdout)["systems"]
    }
    assert found == {"elm": [80.0, 60.0], "oak": [40.0, 40.0]}
    listed = run("sigtest", "metrics", folder=sold, PYTHONPATH=site, SIGTEST_METRICS="numbers_kept")
    assert "\n  numbers_kept\n" in listed.stdout
    done = run(*asked, folder=sold, PYTHONPATH=site, SIGTEST_METRICS="bleu,numbers")
    assert done.returncode == 2
    assert "Unknown metric 'numbers_kept'" in done.stderr
