"""The commands of docs/LEADERBOARDS.md, run from top to bottom, print what it shows."""

import os
import re
import shutil
import subprocess
import sys
from pathlib import Path

import httpx
import pytest
from exchange import ROOT

TEXT = (ROOT / "docs" / "LEADERBOARDS.md").read_text(encoding="utf-8")
HASH = re.compile("[0-9a-f]{32,}")  # of content and versions


def blocks(kinds: str) -> list[str]:
    return re.findall(rf"^```(?:{kinds})\n(.*?)^```", TEXT, re.M | re.S)


@pytest.mark.skipif(not shutil.which("curl"), reason="the document's commands need curl")
def test_every_command_runs_and_prints_what_is_shown(
    service: httpx.Client, example: Path, tmp_path: Path
) -> None:
    shutil.copytree(example, tmp_path / "task")
    # errors are exit statuses, and every answer ends its line
    (tmp_path / ".curlrc").write_text('silent\nfail\nwrite-out = "\\n"\n')
    script = "trap 'echo \"FAILED $BASH_COMMAND\"' ERR\n" + "".join(blocks("sh"))
    script = script.replace("http://127.0.0.1:8000", str(service.base_url).rstrip("/"))
    script = script.replace("/tmp/", f"{tmp_path}/")
    path = f"{Path(sys.executable).parent}:{os.environ['PATH']}"
    done = subprocess.run(
        ["bash", "-c", script],
        cwd=tmp_path / "task",
        env={**os.environ, "PATH": path, "CURL_HOME": str(tmp_path)},
        stdout=subprocess.PIPE,
        stderr=subprocess.STDOUT,
        text=True,
    )
    printed = HASH.sub("HASH", done.stdout).splitlines()
    assert sum(line.startswith("FAILED") for line in printed) == 2  # the two that are refused
    remaining = iter(printed)
    for block in blocks("text|json"):
        lines = [line.removesuffix("...") for line in HASH.sub("HASH", block).splitlines()]
        for line in filter(None, lines):
            assert any(found.startswith(line) for found in remaining), (line, done.stdout)


def test_the_notebook_runs(service: httpx.Client) -> None:
    (code,) = blocks("python")
    names: dict[str, object] = {}
    exec(code.replace("http://127.0.0.1:8000", str(service.base_url)), names)
    report = names["report"]
    assert isinstance(report, dict)
    assert [system["name"] for system in report["systems"]] == ["new"]
