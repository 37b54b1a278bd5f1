"""What callers were promised and what they got: the only place that judges."""

from __future__ import annotations

import threading
from collections import Counter
from collections.abc import Iterable
from dataclasses import dataclass, field

SHOWN = 10  # findings of a kind that are told in words
BAD = ("lost", "doubled", "wrong", "stuck", "failed", "faulty", "orphaned", "opened", "told",
       "kept", "late", "slow", "costly", "grown")  # fmt: skip


@dataclass
class Ledger:
    """Counts of everything that was seen; safe to share between threads.

    Attributes:
        counts: How often; those of BAD must be 0.
        worst: Largest of each kind of time, in seconds (or of another size, as its name says).
        times: All times of each kind, in seconds.
        findings: The first of each kind in words.
    """

    counts: Counter[str] = field(default_factory=Counter)
    times: dict[str, list[float]] = field(default_factory=dict)
    findings: list[str] = field(default_factory=list)
    _lock: threading.Lock = field(default_factory=threading.Lock)

    def count(self, what: str, by: int = 1) -> None:
        """Note that something was seen."""
        with self._lock:
            self.counts[what] += by

    def bad(self, what: str, words: str) -> None:
        """Note a fault, one of BAD."""
        assert what in BAD, what
        with self._lock:
            self.counts[what] += 1
            if self.counts[what] <= SHOWN:
                self.findings.append(f"{what}: {words[:400]}")

    def took(self, what: str, seconds: float) -> None:
        """Note how long something took."""
        with self._lock:
            self.times.setdefault(what, []).append(round(seconds, 4))

    def worst(self, what: str) -> float:
        """The longest of what was noted; 0 where nothing was."""
        return max(self.times.get(what, [0.0]))

    @property
    def faults(self) -> dict[str, int]:
        """Counts that should be 0 and are not."""
        return {name: self.counts[name] for name in BAD if self.counts[name]}


def seen(ledger: Ledger, names: Iterable[str]) -> bool:
    """Whether any of these faults was noted."""
    return any(ledger.counts[name] for name in names)
