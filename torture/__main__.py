"""`python -m torture PART`: runs that are missing, or `page` for docs/TRUST.md."""

from __future__ import annotations

import argparse
import sys
from datetime import UTC, datetime
from pathlib import Path

from sigtest.processor import prepare_blas

prepare_blas()  # before NumPy is loaded: two threads of a product wait for each other at full speed

from torture import page, results  # noqa: E402
from torture.parts import PARTS  # noqa: E402


def main() -> int:
    """Make runs and keep them; 1 where one of them saw a fault."""
    parser = argparse.ArgumentParser(prog="python -m torture", description=__doc__)
    parser.add_argument("part", choices=[*PARTS, "all", "page"])
    parser.add_argument("--seeds", default="", metavar="A-B", help="runs, the first and the last")
    parser.add_argument("--keep", type=Path, default=results.KEPT, help="file of finished runs")
    chosen = parser.parse_args()
    if chosen.part == "page":
        return _write(chosen.keep)
    names = list(PARTS) if chosen.part == "all" else [chosen.part]
    faults = sum(_make(name, _seeds(chosen.seeds, PARTS[name].runs), chosen.keep) for name in names)
    return 1 if faults or (chosen.part == "all" and _write(chosen.keep)) else 0


def _make(name: str, seeds: range, keep: Path) -> int:
    """Make the runs of a part that are missing; how many of them saw a fault."""
    there = {run.seed for run in results.runs(keep) if run.part == name}
    faults = 0
    for seed in seeds:
        if seed in there:
            continue
        started = datetime.now(UTC)
        ledger = PARTS[name].run(seed)
        run = results.Run.of(name, seed, started, ledger)
        results.add(run, keep)
        faults += bool(ledger.faults)
        said = ledger.faults or "no fault"
        print(f"{name} {seed}: {run.seconds:.0f} s, {said}", flush=True)
        for finding in ledger.findings:
            print(f"  {finding}", flush=True)
    return faults


def _write(keep: Path) -> int:
    """Write the page; 1 where it says that something failed."""
    checks = page.write(results.runs(keep))
    failed = [check for check in checks if not check.passed]
    print(f"{len(checks) - len(failed)} of {len(checks)} checks hold; wrote {page.PAGE}")
    for check in failed:
        print(f"FAILED: {check.name}: {check.result}")
    return 1 if failed else 0


def _seeds(words: str, runs: int) -> range:
    """Seeds of a range such as 3-7, or of all runs."""
    if not words:
        return range(runs)
    first, _, last = words.partition("-")
    return range(int(first), int(last or first) + 1)


if __name__ == "__main__":
    sys.exit(main())
