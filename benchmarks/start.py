"""CPU seconds of a tiny comparison as a whole process, paired with sacreBLEU's `--paired-ar`."""

from __future__ import annotations

import resource
import statistics
import subprocess
import sys
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
    for _ in range(ROUNDS + 1):
        for name, arguments in COMMANDS.items():
            spent[name].append(_cpu(arguments))
    warm = {name: statistics.median(seconds[1:]) for name, seconds in spent.items()}
    ratios = [a / b for a, b in zip(spent["sigtest"][1:], spent["sacrebleu"][1:], strict=True)]
    for name, seconds in warm.items():
        print(f"{name}: {seconds:.2f} CPU s")
    print(f"sigtest takes {statistics.median(ratios):.2f} times as long")


def _cpu(arguments: tuple[str, ...]) -> float:
    before = resource.getrusage(resource.RUSAGE_CHILDREN)
    subprocess.run([sys.executable, *arguments], cwd=TASK, capture_output=True, check=True)
    after = resource.getrusage(resource.RUSAGE_CHILDREN)
    return after.ru_utime + after.ru_stime - before.ru_utime - before.ru_stime


if __name__ == "__main__":
    main()
