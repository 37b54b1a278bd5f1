"""The commands of docs/LEADERBOARDS.md, run from top to bottom, print what it shows."""

import shutil
from pathlib import Path

import httpx
import pytest
from documents import ADDRESS, blocks, printed, require_shown

NAME = "LEADERBOARDS.md"


@pytest.mark.skipif(not shutil.which("curl"), reason="the document's commands need curl")
def test_every_command_runs_and_prints_what_is_shown(
    service: httpx.Client, programs: Path, example: Path, tmp_path: Path
) -> None:
    shutil.copytree(example, tmp_path / "task")
    lines = printed(NAME, service, tmp_path / "task", tmp_path, programs)
    told = [line for line in lines if not line.startswith("FAILED")]
    assert len(told) == len(lines) - 2  # the two that are refused
    require_shown(NAME, told)


def test_the_notebook_runs(service: httpx.Client) -> None:
    (code,) = blocks(NAME, "python")
    names: dict[str, object] = {}
    exec(code.replace(ADDRESS, str(service.base_url)), names)
    report = names["report"]
    assert isinstance(report, dict)
    assert [system["name"] for system in report["systems"]] == ["new"]
