"""Part "cost": what uploads take, next to what was predicted before anything was computed."""

from __future__ import annotations

import time

from sigtest.errors import SigtestError
from sigtest.kinds import KINDS
from sigtest.warm import warm
from torture.load.ledger import Ledger
from torture.uploads import upload

UPLOADS = 100  # in one run
FIXED_SECONDS = 0.05  # parsing, the report: not predicted, and the same for all
MOST = 2.0
LONGEST = 3.0  # predicted seconds of what is computed here


def costed(seed: int, fault: str = "") -> Ledger:
    """The ledger of one run, in this process; a fault is a prediction that is ten times too low."""
    ledger = Ledger()
    warm()
    for number in range(seed * UPLOADS, (seed + 1) * UPLOADS):
        path, body = upload(number)
        _look(ledger, number, path, body, 0.1 if fault else 1.0)
    return ledger


def _look(ledger: Ledger, number: int, path: str, body: dict[str, object], share: float) -> None:
    """Compute one upload twice, the second time with everything compiled and loaded."""
    kind = KINDS[path]
    try:
        question = kind.parse(body)
    except SigtestError:
        ledger.count("uploads that are refused")
        return
    if question.seconds > LONGEST:
        ledger.count("uploads too long to compute here")
        return
    predicted = share * question.seconds
    taken = 0.0
    for attempt in range(3):
        since = time.process_time()
        try:
            kind.compute(question)
        except SigtestError:
            ledger.count("uploads that cannot be answered")
            return
        taken = time.process_time() - since
        if taken <= MOST * predicted + FIXED_SECONDS or attempt == 2:
            break  # the first may have loaded a module or compiled a kernel
        question = kind.parse(body)
    ledger.count("uploads")
    ledger.count(f"uploads of {path}")
    ledger.took("CPU seconds, times what was predicted", (taken - FIXED_SECONDS) / predicted)
    ledger.took("CPU seconds of an upload", taken)
    if taken > MOST * predicted + FIXED_SECONDS:
        ledger.bad("costly", f"upload {number} ({path}): {taken:.2f} s, predicted {predicted:.2f}")
