"""Long comparisons that are cancelled in the middle, and what is left of them."""

import time
from pathlib import Path
from typing import Any

from service import CALLER, Service, children, finished, until

from sigtest.comparison.comparison import Comparison, parse_comparison
from workers.questions import Status

SECONDS = 4.0  # half a one to notice, one to end, on a machine with other things to do


def long(metric: str, words: int, lines: int, **choices: Any) -> Comparison:
    """Four systems whose texts have so many lines of so many words."""
    text = [f"{i} " + "a b " * words for i in range(lines)]
    other = [f"{i} " + "b a " * words for i in range(lines)]
    systems = [{"name": name, "hypotheses": other[i:] + other[:i]} for i, name in enumerate("abcd")]
    return parse_comparison(
        {"references": [text], "systems": systems, "metrics": [metric], **choices}
    )


def frees_its_core(service: Service, comparison: Comparison) -> None:
    """Cancel a comparison in the middle, and nothing works on it."""
    record, _ = service.jobs.submit(comparison, CALLER)
    until(service.busy, 60)
    time.sleep(1)  # until it is in the middle
    until(service.busy, 5)  # none is there for a moment between two tasks
    assert not service.jobs.find(record.id, CALLER).status.finished
    service.jobs.remove(record.id, CALLER)
    until(lambda: not service.busy(), SECONDS)
    time.sleep(1.5)  # for METEOR, which finishes the segment in hand
    before = burning(service.supervisor())
    time.sleep(1)
    assert burning(service.supervisor()) - before < 0.5


def are_computed(service: Service, *comparisons: Comparison) -> None:
    """Ask them all at once."""
    records = [service.jobs.submit(comparison, CALLER)[0] for comparison in comparisons]
    for record in records:
        assert finished(service.jobs, record.id).status is Status.SUCCEEDED


def burning(pid: int) -> float:
    """Seconds of processor time of a process and all below it."""
    own = 0.0
    for child in children(pid):
        own += burning(child)
    try:
        fields = Path(f"/proc/{pid}/stat").read_text().rpartition(")")[2].split()
    except (FileNotFoundError, ProcessLookupError):
        return own
    return own + (int(fields[11]) + int(fields[12])) / 100
