"""What is cancelled frees its core and its child processes within a second or so."""

import time
from pathlib import Path
from typing import Any

import pytest
from service import CALLER, Service, children, until

from sigtest.comparison.comparison import Comparison
from sigtest.comparison.parse import parse_comparison
from sigtest.errors import UnavailableError
from sigtest.metrics.meteor import find

SECONDS = 4.0  # half a one to notice, one to end, on a machine with other things to do


def long(metric: str, words: int, lines: int, **choices: Any) -> Comparison:
    text = [f"{i} " + "a b " * words for i in range(lines)]
    other = [f"{i} " + "b a " * words for i in range(lines)]
    systems = [{"name": name, "hypotheses": other[i:] + other[:i]} for i, name in enumerate("abcd")]
    return parse_comparison(
        {"references": [text], "systems": systems, "metrics": [metric], **choices}
    )


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


@pytest.mark.parametrize(
    ("metric", "words", "lines"),
    [("bleu", 20, 5_000), ("ter", 400, 10_000), ("meteor", 250, 40)],
)
def test_a_cancelled_question_frees_its_core(
    service: Service, metric: str, words: int, lines: int
) -> None:
    if metric == "meteor":
        try:
            find()
        except UnavailableError:
            pytest.skip("METEOR is not installed")
    resamples = 999_999 if metric == "bleu" else 99
    comparison = long(metric, words, lines, resamples=resamples)
    record, _ = service.jobs.submit(comparison, CALLER)
    until(service.horses, 60)
    time.sleep(25 if metric == "meteor" else 1)  # until it is in the middle; Java starts slowly
    until(service.horses, 5)  # none is there for a moment between two tasks
    assert not service.jobs.find(record.id, CALLER).status.finished
    service.jobs.remove(record.id, CALLER)
    until(lambda: not service.horses(), SECONDS)
    time.sleep(1.5)  # for METEOR, which finishes the segment in hand
    before = burning(service.supervisor())
    time.sleep(1)
    assert burning(service.supervisor()) - before < 0.5
    small = parse_comparison(
        {
            "references": [["a b c d e", "f g h i j"]],
            "systems": [{"name": n, "hypotheses": ["a b c", "f g h"]} for n in "ab"],
            "metrics": [metric],
            "resamples": 99,
        }
    )
    again, _ = service.jobs.submit(small, CALLER)
    until(lambda: service.jobs.find(again.id, CALLER).status.finished, 120)
    assert service.jobs.find(again.id, CALLER).status.value == "succeeded"
