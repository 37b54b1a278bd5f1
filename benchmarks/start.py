"""CPU seconds of a tiny comparison as a whole process, paired with sacreBLEU's `--paired-ar`.

    python -m benchmarks.start

Both read their modules as bytecode, as after an installation with pip, from a folder that one run
of each has filled; kernels are read from where `make install` left them.
"""

from __future__ import annotations

import os
import resource
import statistics
import subprocess
import sys
import tempfile
from pathlib import Path

ROUNDS = 9
TASK = Path(__file__).parents[1] / "examples" / "shared-task"
FILES = ("systems/aspen.en", "systems/birch.en")
COMMANDS = {
    "sigtest": ("-c", "import sys; from sigtest.cli import main; sys.exit(main())",
                "compare", "-r", "reference.en", *FILES),
    "sacrebleu": ("-m", "sacrebleu", "reference.en", "-i", *FILES, "-m", "bleu", "--paired-ar"),
}  # fmt: skip


def main() -> None:
    """Both in turn, after one run each that fills the caches."""
    spent: dict[str, list[float]] = {name: [] for name in COMMANDS}
    with tempfile.TemporaryDirectory() as bytecode:
        for _ in range(ROUNDS + 1):
            for name, arguments in COMMANDS.items():
                spent[name].append(_cpu(arguments, bytecode))
    warm = {name: statistics.median(seconds[1:]) for name, seconds in spent.items()}
    ratios = [a / b for a, b in zip(spent["sigtest"][1:], spent["sacrebleu"][1:], strict=True)]
    for name, seconds in warm.items():
        print(f"{name}: {seconds:.2f} CPU s")
    print(f"sigtest takes {statistics.median(ratios):.2f} times as long")


def _cpu(arguments: tuple[str, ...], bytecode: str) -> float:
    around = {k: v for k, v in os.environ.items() if k != "PYTHONDONTWRITEBYTECODE"}
    around["PYTHONPYCACHEPREFIX"] = bytecode
    before = resource.getrusage(resource.RUSAGE_CHILDREN)
    command = [sys.executable, *arguments]
    subprocess.run(command, cwd=TASK, env=around, capture_output=True, check=True)
    after = resource.getrusage(resource.RUSAGE_CHILDREN)
    return after.ru_utime + after.ru_stime - before.ru_utime - before.ru_stime


if __name__ == "__main__":
    main()
