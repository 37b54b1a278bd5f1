"""`sigtest-admin usage`, as an operator runs it."""

import os
import subprocess
import sys
from pathlib import Path

from service import Comparisons, synthetic

from workers.settings import Settings

COMMAND = Path(__file__).parents[3] / "bin" / "sigtest-admin"


def test_usage_tells_what_each_caller_has_unfinished(jobs: Comparisons, settings: Settings) -> None:
    for seed, caller in enumerate(["bob", "ann", "ann"]):
        jobs.submit(synthetic(seed, segments=5), caller)
    path = f"{Path(sys.executable).parent}{os.pathsep}{os.environ['PATH']}"
    told = subprocess.run(
        [COMMAND, "usage"],
        env={**os.environ, **settings.as_environment(), "PATH": path},
        capture_output=True, text=True, timeout=60, check=True,
    ).stdout.splitlines()  # fmt: skip
    assert told[0].split() == ["caller", "unfinished", "predicted", "seconds"]
    assert [line.split()[:2] for line in told[1:3]] == [["ann", "2"], ["bob", "1"]]
    assert float(told[1].split()[2]) > 0
    assert told[3].endswith("; 0 workers")
