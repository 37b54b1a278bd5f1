"""docs/LANGUAGE_MODELS.md: every command runs, in order, and says what the page says."""

import os
import re
import subprocess
import sys
from pathlib import Path

ROOT = Path(__file__).parents[3]
PAGE = (ROOT / "docs" / "LANGUAGE_MODELS.md").read_text(encoding="utf-8")


def test_every_command_of_the_page_runs(tmp_path):
    path = f"{Path(sys.executable).parent}{os.pathsep}{os.environ['PATH']}"
    environment = {**os.environ, "PATH": path, "PYTHONPATH": str(ROOT)}
    printed = ""
    for block in re.findall(r"^```sh\n(.*?)^```", PAGE, re.M | re.S):
        done = subprocess.run(
            ["bash", "-euc", block], cwd=tmp_path, env=environment, capture_output=True, text=True,
            check=False,
        )  # fmt: skip
        assert done.returncode == 0, done.stderr
        printed += done.stdout
    words = " ".join(printed.split())
    for promised in (
        "exact p-value of approximate randomization is that of McNemar's exact test",
        "Segments that not all files have are dropped",
        "the mean of 3 runs; runs are not resampled",
        "new old +0.3333 [0.0667, 0.5667] 0.013=",
        "reading: 300 segments, 60 documents; maths: 300 segments",
        "pass: not worse than small by 0.02 first",
    ):
        assert promised in words
