"""Generated requests, and the checks of the torture: they notice faults that are planted."""

import subprocess
import sys
from pathlib import Path

import pytest

from torture import page
from torture.faults import FAULTS
from torture.hostile.bombardment import bombarded
from torture.load.asked import AskedBoard, asked
from torture.load.caller import difference
from torture.load.expected import computed
from torture.load.ledger import Ledger
from torture.mutation import NAMES, noticed
from torture.parts import PARTS
from torture.results import Run, Total, add, runs
from torture.soak import growth
from torture.strangers import told_apart

pytestmark = pytest.mark.slow

ROOT = Path(__file__).parents[2]
QUICK = ("dropped piece", "key compared without case")


def test_generated_requests_meet_no_bug():
    ledger = bombarded(0, range(400))
    assert not ledger.faults, ledger.findings
    assert ledger.counts["generated requests"] >= 400
    assert ledger.counts["answered 2xx"] > 20


@pytest.mark.parametrize("name", QUICK)
def test_planted_faults_are_noticed(name):
    found, ledger = noticed(name)
    assert found, ledger.counts


def test_every_fault_changes_what_there_is():
    plants = (
        "from importlib import import_module\n"
        "from torture.faults import FAULTS\n"
        "for fault in FAULTS.values(): fault.change(import_module(fault.module))\n"
        "print(len(FAULTS))"
    )
    planted = [sys.executable, "-c", plants]
    done = subprocess.run(planted, cwd=ROOT, capture_output=True, text=True, check=False)
    assert (done.stderr, done.stdout) == ("", f"{len(FAULTS)}\n")


def test_every_fault_is_in_the_record():
    assert set(FAULTS) <= set(NAMES)
    assert PARTS["faults"].runs == len(NAMES)


def test_questions_follow_from_their_number():
    assert [asked(1, n) for n in range(30)] == [asked(1, n) for n in range(30)]
    assert asked(1, 3) != asked(2, 3)


def test_every_question_of_the_load_can_be_answered():
    for number in range(30):
        one = asked(3, number)
        board = isinstance(one, AskedBoard)
        body = one.comparison if isinstance(one, AskedBoard) else one.body
        found = computed("comparisons" if board else one.path, body)  # type: ignore[union-attr]
        assert found.startswith("{"), found


def test_what_was_kept_is_added_up(tmp_path):
    kept = tmp_path / "kept.jsonl"
    for seed in (0, 1):
        ledger = Ledger()
        ledger.count("jobs", 10 + seed)
        ledger.took("recovery: store killed", 1.0 + seed)
        if seed:
            ledger.bad("lost", "one of them")
        found = dict(ledger.counts), ledger.times, tuple(ledger.findings)
        add(Run("storm", seed, "abc", "2026-01-01 00:00", 5.0, 2.0, *found), kept)
    with kept.open("a") as file:
        file.write('{"part": "sto')  # cut off
    total = Total.of(runs(kept))
    assert (total.counts["jobs"], total.seconds, total.faults) == (21, 10.0, {"lost": 1})
    assert total.worst("recovery: store killed") == 2.0
    shown = page.render(page.judged(runs(kept)), runs(kept))
    assert "21 jobs" in shown
    assert "1 lost" in shown
    assert "- lost: one of them" in shown


def test_the_clock_tells_what_ranks_tell():
    assert told_apart([1, 2], [3, 4]) == 1.0
    assert told_apart([1, 4], [2, 3]) == 0.5
    assert told_apart([1, 1], [1, 1]) == 0.5


def test_growth_is_that_after_the_first_third():
    assert growth([1.0] * 20 + [10.0] * 40) == 0.0
    assert growth([1.0] * 30 + [2.0] * 30) == 1.0


def test_a_difference_is_shown_where_it_is():
    assert difference("abc", "abd").startswith("at 2:")
