"""Work that is shared between processes gives what one process gives."""

import os
import signal
import subprocess
import sys
import time
from pathlib import Path

import pytest

from sigtest.comparison.comparison import parse_comparison
from sigtest.engine import compare
from sigtest.errors import InputError
from sigtest.parallel import in_order
from sigtest.render.records import render_json

LINES = [f"the {a} saw a {b} near the {c}" for a in "xyz" for b in "uvw" for c in "rst"] * 3
BODY = {
    "references": LINES,
    "systems": {
        name: [line.replace(word, "cat") if i % step else line for i, line in enumerate(LINES)]
        for name, word, step in (("one", "saw", 2), ("two", "near", 3), ("three", "the", 5))
    },
    "metrics": ["bleu", "chrf"],
    "resamples": 2500,
    "exact": "never",
}
SUITE = {
    "testsets": [
        {"name": name, "references": BODY["references"], "systems": BODY["systems"]}
        for name in ("first", "second")
    ],
    "metrics": ["bleu", "ter"],
    "resamples": 700,
}


@pytest.mark.parametrize("body", [BODY, SUITE], ids=["comparison", "suite"])
@pytest.mark.parametrize("jobs", [2, 3])
def test_reports_do_not_depend_on_the_number_of_processes(body, jobs):
    comparison = parse_comparison(body)
    told: list[tuple[str, int, int]] = []
    shared = compare(comparison, lambda *progress: told.append(progress), jobs)
    assert render_json(shared) == render_json(compare(comparison))
    for phase in ("statistics", "resampling"):
        steps = [(done, total) for name, done, total in told if name == phase]
        assert steps == sorted(steps)
        assert steps[-1][0] == steps[-1][1]


def test_results_come_in_order_from_several_processes():
    found = list(in_order(lambda i: (i, time.sleep(0.01 * (3 - i % 3)), os.getpid()), 12, 3))
    assert [i for i, _, _ in found] == list(range(12))
    processes = {process for _, _, process in found}
    assert len(processes) > 1
    assert os.getpid() not in processes


def test_errors_keep_what_they_say():
    def fails(i: int) -> int:
        if i == 2:
            raise InputError("Line 3 is no text.", field="hypotheses", system="a", line=3)
        return i

    with pytest.raises(InputError, match=r"Line 3 is no text\.") as error:
        list(in_order(fails, 4, 2))
    assert (error.value.field, error.value.system, error.value.line) == ("hypotheses", "a", 3)


@pytest.mark.parametrize(
    "pause", [*(pytest.param(own, marks=pytest.mark.slow) for own in (0.0, 0.005, 0.02)), 0.5]
)
def test_interrupts_end_all_processes(pause, tmp_path):
    for name in ("one", "two", "reference"):
        lines = [f"{name} {i} some words of line {i % 7}" for i in range(20_000)]
        (tmp_path / name).write_text("\n".join(lines) + "\n")
    command = [
        *("compare", "one", "two", "--reference", "reference", "--resamples", "999999"),
        *("--metric", "bleu", "--metric", "chrf", "--exact", "never", "--jobs", "2"),
    ]
    heard = "import signal; signal.signal(signal.SIGINT, signal.default_int_handler)"  # under nohup
    program = f"{heard}; import sys; from sigtest.cli import main; sys.exit(main(sys.argv[1:]))"
    process = subprocess.Popen(
        [sys.executable, "-c", program, *command],
        cwd=tmp_path,
        stderr=subprocess.PIPE,
        start_new_session=True,
        text=True,
    )
    children = Path(f"/proc/{process.pid}/task/{process.pid}/children")
    deadline = time.monotonic() + 60
    while not children.read_text().split():
        assert time.monotonic() < deadline
        time.sleep(0.001)
    time.sleep(pause)
    forked = children.read_text().split()
    os.killpg(process.pid, signal.SIGINT)  # as a terminal does
    _, complaint = process.communicate(timeout=30)
    assert process.returncode == 130
    assert "Traceback" not in complaint
    assert not any(Path(f"/proc/{pid}").exists() for pid in forked)


ABANDONED = """
import os, time
from sigtest.parallel import in_order

def work(i):
    os.write(1, b"working\\n")  # at once, or two of them mix
    while os.getppid() == started:
        time.sleep(0.01)

started = os.getpid()
list(in_order(work, 8, 2))
"""


SENDING = """
import os, signal
from sigtest.parallel import in_order

def work(i):
    os.kill(started, signal.SIGSTOP)  # so that it reads no result
    os.write(1, b"working\\n")
    return bytes(10_000_000)

started = os.getpid()
list(in_order(work, 8, 2))
"""


def test_processes_that_send_a_result_end_without_a_word_when_nobody_reads_it():
    with subprocess.Popen(
        [sys.executable, "-c", SENDING], stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True
    ) as process:
        assert process.stdout is not None
        assert process.stdout.readline() == "working\n"
        time.sleep(0.3)  # until the pipe is full
        process.kill()
        _, complaint = process.communicate(timeout=30)
    assert complaint == ""


@pytest.mark.parametrize("number", [signal.SIGTERM, signal.SIGKILL])
def test_processes_end_without_a_word_when_the_one_that_waits_is_killed(number):
    with subprocess.Popen(
        [sys.executable, "-c", ABANDONED], stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True
    ) as process:
        assert process.stdout is not None
        assert process.stdout.readline() == "working\n"
        process.send_signal(number)
        _, complaint = process.communicate(timeout=30)  # ends when the last one that may write does
    assert process.returncode == -number
    assert complaint == ""
