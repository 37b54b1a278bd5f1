"""`make demo` prints what README shows, and README's picture is what sigtest draws of it."""

import re
import shlex
import subprocess
import sys
from pathlib import Path

from app.demo import COMMAND
from sigtest.cli import main

ROOT = Path(__file__).parents[2]
README = (ROOT / "README.md").read_text(encoding="utf-8")


def test_readme_shows_what_the_demo_prints():
    done = subprocess.run(
        [sys.executable, "-m", "app.demo"], cwd=ROOT, capture_output=True, text=True, check=False
    )
    assert (done.returncode, done.stderr) == (0, "")
    shown = README.partition("$ make demo\n")[2].partition("```")[0].splitlines()
    printed = iter(done.stdout.splitlines())
    for line in shown:
        assert line in ("", "...") or line in printed, line


def test_readme_says_what_it_shows():
    """The numbers of its prose are those of its table."""
    (row,) = re.findall(
        r"^aspen +birch +\+(\S+) .*\] +(\S+) +(\S+) .*detects (\S+)\)", README, re.M
    )
    difference, p_value, adjusted, detectable = row
    prose = " ".join(README.partition("This test set cannot")[2].split())
    assert f"{float(p_value):.0%} of 9,999 relabellings".replace("%", " %") in prose
    assert f"differ by {difference} BLEU or more" in prose
    assert f"p is {adjusted}" in prose
    assert f"a true difference of {detectable} BLEU" in prose


def test_picture_is_what_sigtest_draws(tmp_path, monkeypatch):
    monkeypatch.chdir(ROOT)
    outputs = sorted(map(str, Path("examples/shared-task/systems").iterdir()))
    words = [
        name
        for word in shlex.split(COMMAND)[1:]
        for name in (outputs if word.endswith("*.en") else [word])
    ]
    where = ["--output", str(tmp_path / "report"), "--plots", str(tmp_path)]
    assert main([*words, *where, "--distribution", "aspen", "birch"]) == 0
    drawn = tmp_path / "distribution-aspen-birch-bleu-approximate_randomization.svg"
    assert drawn.read_bytes() == (ROOT / "docs" / "example.svg").read_bytes()
