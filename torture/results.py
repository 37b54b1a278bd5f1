"""What runs saw, kept as JSON: one line a run, added up later.

A run that is there is not made again: stop when you like, and go on later with further seeds.
"""

from __future__ import annotations

import json
import os
import subprocess
from collections import Counter
from collections.abc import Iterable, Mapping
from dataclasses import asdict, dataclass
from datetime import UTC, datetime
from pathlib import Path

from torture.load.ledger import BAD, Ledger
from torture.service import ROOT

KEPT = ROOT / "docs" / "trust" / "results.jsonl"
BRIEF = ("without an answer", "from question to report", "seconds to a 503")  # longest only


@dataclass(frozen=True)
class Run:
    """One run of one part.

    Attributes:
        part: Which.
        seed: Everything that the run asked follows from it.
        commit: Of the repository.
        when: Its start, UTC.
        seconds: How long it took.
        load: Processes that wanted a core in its last minute, on average.
        counts: How often what was seen.
        times: By what they are of, in seconds or as it says.
        findings: In words.
    """

    part: str
    seed: int
    commit: str
    when: str
    seconds: float
    load: float
    counts: Mapping[str, int]
    times: Mapping[str, list[float]]
    findings: tuple[str, ...]

    @classmethod
    def of(cls, part: str, seed: int, started: datetime, ledger: Ledger) -> Run:
        """The run that a ledger is of."""
        times = {
            name: [max(found)] if name in BRIEF else found for name, found in ledger.times.items()
        }
        taken = (datetime.now(UTC) - started).total_seconds()
        when = f"{started:%Y-%m-%d %H:%M}"
        counts = dict(sorted(ledger.counts.items()))
        load = round(os.getloadavg()[0], 1)
        found = tuple(ledger.findings)
        return cls(part, seed, commit(), when, taken, load, counts, times, found)


def add(run: Run, path: Path = KEPT) -> None:
    """Write a run down."""
    path.parent.mkdir(parents=True, exist_ok=True)
    with path.open("a") as file:
        file.write(json.dumps(asdict(run)) + "\n")


def runs(path: Path = KEPT) -> list[Run]:
    """All that were written down; a last line that was cut off is none."""
    lines = path.read_text().splitlines(keepends=True) if path.exists() else []
    found = (json.loads(line) for line in lines if line.endswith("\n"))
    return [Run(**{**facts, "findings": tuple(facts["findings"])}) for facts in found]


@dataclass(frozen=True)
class Total:
    """Runs added up.

    Attributes:
        runs: Which.
        counts: Sums.
        times: All of them.
    """

    runs: tuple[Run, ...]
    counts: Counter[str]
    times: Mapping[str, list[float]]

    @classmethod
    def of(cls, some: Iterable[Run]) -> Total:
        """Runs of any parts."""
        kept = tuple(some)
        counts: Counter[str] = Counter()
        times: dict[str, list[float]] = {}
        for run in kept:
            counts.update(run.counts)
            for name, found in run.times.items():
                times.setdefault(name, []).extend(found)
        return cls(kept, counts, times)

    @property
    def seconds(self) -> float:
        """Of all runs, one after the other."""
        return sum(run.seconds for run in self.runs)

    @property
    def faults(self) -> dict[str, int]:
        """What should not have been seen."""
        return {name: self.counts[name] for name in BAD if self.counts[name]}

    def worst(self, name: str) -> float:
        """The longest of one kind; 0 where there is none."""
        return max(self.times.get(name, [0.0]))


def commit() -> str:
    """The commit that is tortured, and whether the product differs from it."""
    shown = _git("rev-parse", "--short=12", "HEAD")
    changed = _git("status", "--porcelain", "--", "sigtest", "workers", "app")
    return f"{shown} with uncommitted changes" if changed else shown or "unknown"


def _git(*words: str) -> str:
    try:
        done = subprocess.run(
            ("git", *words), cwd=ROOT, capture_output=True, text=True, check=False
        )
    except FileNotFoundError:  # an unpacked archive on a machine without git
        return ""
    return done.stdout.strip()
