"""The human half in process, on one core, in CPU seconds.

    OPENBLAS_NUM_THREADS=1 SIGTEST_DATA=FOLDER python -m benchmarks.people

Judgements and scores are made up; the study needs wmt22.cs-en of the shared data, and is left out
without it. Kernels are compiled before anything is measured.
"""

import os
import resource
import subprocess
import sys
import tempfile
import time
from collections.abc import Callable
from pathlib import Path
from typing import Any

import numpy as np

from sigtest import warm
from sigtest.kinds import KINDS, FormFile

R = 9_999
JUDGEMENTS = 25_000
METRICS, SYSTEMS, SEGMENTS = 30, 15, 2_000
FEW = 19  # systems, all of whose exchanges are counted
META = KINDS["metric-evaluations"]
STUDY = KINDS["test-accuracy"]


def cpu_seconds(work: Callable[[], object]) -> float:
    """CPU seconds of this process."""
    start = time.process_time()
    work()
    return time.process_time() - start


def file_to_report(path: Path) -> float:
    """CPU seconds of a whole process that evaluates a file of judgements."""
    before = resource.getrusage(resource.RUSAGE_CHILDREN)
    command = [str(Path(sys.executable).with_name("sigtest")), "human", str(path)]
    subprocess.run([*command, "--format", "json"], check=True, stdout=subprocess.DEVNULL)
    after = resource.getrusage(resource.RUSAGE_CHILDREN)
    return after.ru_utime + after.ru_stime - before.ru_utime - before.ru_stime


def judgements(folder: str) -> Path:
    """A file of judgements by 60 annotators."""
    rng = np.random.default_rng(1)
    path = Path(folder) / "judgements.tsv"
    rows = ["annotator\tsystem\tsegment\tscore"]
    for i in range(JUDGEMENTS):
        system, segment = i % SYSTEMS, i // SYSTEMS
        score = int(np.clip(rng.normal(60 + system, 20), 0, 100))
        rows.append(f"w{rng.integers(60)}\ts{system}\t{segment + 1}\t{score}")
    path.write_text("\n".join(rows) + "\n", encoding="utf-8")
    return path


def scores(systems: int, segments: int, metrics: int, level: str) -> dict[str, Any]:
    """A request about metrics that follow people more or less closely."""
    rng = np.random.default_rng(2)
    human = rng.normal(size=(systems, segments)) + np.linspace(0, 1, systems)[:, None]

    def table(rows: np.ndarray) -> dict[str, Any]:
        named = {f"s{s}": row.tolist() for s, row in enumerate(rows)}
        return (
            {"segment": named}
            if level == "segment"
            else {"system": {name: float(np.mean(row)) for name, row in named.items()}}
        )

    noisy = (human + (0.5 + m / metrics) * rng.normal(size=human.shape) for m in range(metrics))
    return {
        "human": {"scores": table(human)},
        "metrics": {f"m{m}": table(own) for m, own in enumerate(noisy)},
        "level": level,
        "statistics": ["pearson"],
        "tests": ["perm_both"],
        "resamples": R,
    }


def meta_seconds(body: dict[str, Any]) -> float:
    """CPU seconds from a validated request to the report."""
    asked = META.parse(body)
    return cpu_seconds(lambda: META.compute(asked))


def study_seconds(folder: Path) -> float:
    """CPU seconds of the 2014 study in one request, file to report."""
    judged = folder / "human" / "ad-csen-good-stnd.csv"
    body = {
        "comparison": {
            "references": (folder / "reference.B.en").read_text(encoding="utf-8").split("\n")[:-1],
            "systems": {
                path.stem: path.read_text(encoding="utf-8").split("\n")[:-1]
                for path in sorted((folder / "systems").glob("*.en"))
            },
            "metrics": ["bleu", "chrf", "ter"],
            "tests": ["approximate_randomization", "bootstrap", "paired_bootstrap"],
            "resamples": 999,
        }
    }
    files = [FormFile("judgements", judged.name, judged.read_bytes())]
    return cpu_seconds(lambda: STUDY.compute(STUDY.parse(body, files)))


def main() -> None:
    warm.warm()
    with tempfile.TemporaryDirectory() as folder:
        path = judgements(folder)
        file_to_report(path)
        print(f"{JUDGEMENTS:,} judgements, file to report: {file_to_report(path):.2f} s")
    meta_seconds(scores(SYSTEMS, 20, 3, "segment"))
    taken = meta_seconds(scores(SYSTEMS, SEGMENTS, METRICS, "segment"))
    pairs = METRICS * (METRICS - 1) // 2
    print(f"PERM-BOTH, {SYSTEMS} systems x {SEGMENTS:,} segments, {pairs} pairs: {taken:.2f} s")
    taken = meta_seconds(scores(FEW, 1, METRICS, "system"))
    print(f"exact PERM-BOTH, {FEW} systems, {pairs} pairs: {taken:.2f} s")
    data = os.environ.get("SIGTEST_DATA")
    if data is not None:
        folder_of_study = Path(data) / "wmt22.cs-en"
        study_seconds(folder_of_study)
        print(f"the 2014 study on wmt22.cs-en: {study_seconds(folder_of_study):.2f} s")


if __name__ == "__main__":
    main()
