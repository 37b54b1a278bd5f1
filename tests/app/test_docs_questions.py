"""The commands of documents on kinds of questions print what the documents show."""

import shutil
from pathlib import Path

import httpx
import pytest
from documents import ADDRESS, blocks, printed, require_shown
from exchange import ROOT

NAMES = (
    "ACCURACY.md",
    "BACK_END.md",
    "CLASSIFICATION.md",
    "HUMAN.md",
    "METRICS.md",
    "PAPER.md",
    "PLANS.md",
    "SHARED_TASK.md",
)


@pytest.mark.skipif(not shutil.which("curl"), reason="the documents' commands need curl")
@pytest.mark.parametrize("name", NAMES)
def test_every_command_runs_and_prints_what_is_shown(
    service: httpx.Client, programs: Path, tmp_path: Path, name: str
) -> None:
    (tmp_path / "project").mkdir()
    shutil.copytree(ROOT / "examples", tmp_path / "project" / "examples")
    lines = printed(name, service, tmp_path / "project", tmp_path, programs)
    assert not [line for line in lines if line.startswith("FAILED")], "\n".join(lines)
    require_shown(name, lines)


@pytest.mark.parametrize("name", NAMES)
def test_the_notebook_runs(
    service: httpx.Client, name: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.chdir(ROOT)
    for code in blocks(name, "python"):
        exec(code.replace(ADDRESS, str(service.base_url)), {})
