"""`make bench`: every benchmark, one after the other, each in a process of its own.

Numbers depend on the machine and what else it does; ratios are what to quote.
"""

import os
import subprocess
import sys

from sigtest.processor import prepare_blas

BENCHMARKS = (
    "start",
    "pair",
    "long",
    "extraction",
    "resampling",
    "means",
    "whole",
    "growth",
    "many",
    "board",
    "service",
    "small",
    "memory",
    "leaderboard",
    "people",
    "race",
    "preferences",
    "speech",
    "page",
    "hostile",
)


def main() -> None:
    environment = {**os.environ, "OPENBLAS_NUM_THREADS": "1"}
    prepare_blas(environment)
    for name in BENCHMARKS:
        print(f"\n## {name}\n", flush=True)
        module = f"benchmarks.{name}"
        subprocess.run([sys.executable, "-m", module], env=environment, check=True)


if __name__ == "__main__":
    main()
