"""The documents name every field, and every command in them runs."""

import glob
import re
import shlex
import subprocess
from pathlib import Path

import pytest
from written import report

from sigtest.cli import main

DOCS = Path(__file__).parents[3] / "docs"


def commands() -> list[str]:
    text = (DOCS / "COMMAND_LINE.md").read_text(encoding="utf-8")
    blocks = re.findall(r"^```sh\n(.*?)^```", text, re.M | re.S)
    return [line for block in blocks for line in block.splitlines()]


def test_every_command_of_the_document_runs(example, tmp_path, monkeypatch, capfdbinary):
    monkeypatch.chdir(example)
    assert len(commands()) > 10
    for line in (command.replace("/tmp/", f"{tmp_path}/") for command in commands()):
        if not line.startswith("sigtest "):
            subprocess.run(line, shell=True, check=True)
            continue
        words = [
            name for word in shlex.split(line)[1:] for name in sorted(glob.glob(word)) or [word]
        ]
        assert main(words) == 0, capfdbinary.readouterr().err


def test_the_example_output_is_what_is_printed(example, monkeypatch, capfdbinary):
    monkeypatch.chdir(example)
    assert main(shlex.split(commands()[0])[1:]) == 0
    printed = capfdbinary.readouterr().out.decode()
    shown = re.findall(r"^```text\n(.*?)^```", (DOCS / "COMMAND_LINE.md").read_text(), re.M | re.S)
    assert printed.startswith(shown[0])


@pytest.mark.parametrize("part", ["", "testset", "metrics", "systems", "pairs"])
def test_every_field_of_the_report_is_described(part):
    body = report().as_json()
    fields = {
        "": body,
        "testset": body["testset"],
        "metrics": body["metrics"]["bleu"],
        "systems": body["systems"][0]["scores"]["bleu"],
        "pairs": body["pairs"][0],
    }[part]
    described = (DOCS / "REPORT.md").read_text(encoding="utf-8")
    for field in fields:
        assert re.search(rf"`(?:[\w.]+\.)?{field}`", described), field
