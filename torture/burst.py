"""A shared task whose teams submit all at once while processes of the service are killed."""

from __future__ import annotations

import os
import random
import tempfile
import threading
import time
from collections.abc import Iterator
from concurrent.futures import ThreadPoolExecutor
from contextlib import closing, contextmanager, suppress
from dataclasses import dataclass, field
from datetime import datetime
from functools import partial
from pathlib import Path
from typing import Any

from torture.hurts import Hurts
from torture.load.asking import Asking, StuckError
from torture.load.caller import Caller
from torture.load.expected import Expected
from torture.load.ledger import SHOWN, Ledger
from torture.processes import GONE, marked
from torture.service import Service, until

OWNER = "organiser"
THREADS = 12  # teams that submit at the same time
SEGMENTS = 24  # with a few less every p-value is an exact one, which takes nearly all of the time
WORDS = [f"w{i}" for i in range(60)]
TICKS = os.sysconf("SC_CLK_TCK")
SETTINGS = {"SIGTEST_ATTEMPTS": "1000"}  # chance may hit one submission again and again
KILLS = (
    *["worker killed"] * 12,
    *["store killed"] * 3,
    *["front end killed"] * 3,
    *["supervisor killed"] * 2,
)


@dataclass(frozen=True)
class Submission:
    """What a team submits.

    Attributes:
        track: The task's name of the test set.
        team: Name of the team.
        system: What the team calls it.
        lines: Its output.
    """

    track: str
    team: str
    system: str
    lines: list[str]


@dataclass(frozen=True)
class Sizes:
    """How much is submitted.

    Attributes:
        tracks: Test sets.
        teams: Teams.
        systems: Of a team on a test set.
    """

    tracks: int = 4
    teams: int = 30
    systems: int = 3

    def submissions(self, seed: int) -> list[Submission]:
        """All of them, in an order of chance; a team's primary system is the first of it."""
        rng = random.Random(f"burst {seed}")
        found = [
            Submission(f"track{t}", f"team{n}", f"s{s}", output(rng, t, rng.uniform(0.1, 0.9)))
            for s in range(self.systems)
            for t in range(self.tracks)
            for n in range(self.teams)
        ]
        rng.shuffle(found)
        return found


def reference(track: int) -> list[str]:
    """The reference of a test set."""
    rng = random.Random(f"reference {track}")
    return [" ".join(rng.choices(WORDS, k=9)) for _ in range(SEGMENTS)]


def output(rng: random.Random, track: int, wrong: float) -> list[str]:
    """A text in which this share of the reference's words is another one."""
    return [
        " ".join(rng.choice(WORDS) if rng.random() < wrong else word for word in line.split())
        for line in reference(track)
    ]


class Meter:
    """CPU time of all processes of a service, with those that were killed: looked at often."""

    def __init__(self, service: Service) -> None:
        self._word = f"SIGTEST_STATE={service.state}"
        self._ticks: dict[tuple[int, str], int] = {}

    @property
    def seconds(self) -> float:
        """Seconds until now."""
        self._look()
        return sum(self._ticks.values()) / TICKS

    @contextmanager
    def watching(self, pause: float = 0.05) -> Iterator[None]:
        """Look at the processes again and again."""
        over = threading.Event()

        def watch() -> None:
            while not over.wait(pause):
                self._look()

        watcher = threading.Thread(target=watch)
        watcher.start()
        try:
            yield
        finally:
            over.set()
            watcher.join()

    def _look(self) -> None:
        for pid in marked(self._word):
            with suppress(*GONE):
                fields = Path(f"/proc/{pid}/stat").read_text().rpartition(")")[2].split()
                own = int(fields[11]) + int(fields[12])
                self._ticks[pid, fields[19]] = own  # a process by its start, too


@dataclass
class SharedTask:
    """One task on one service, and what its teams submit.

    Attributes:
        service: The service.
        sizes: How much is submitted.
        seed: Of texts, order and kills.
        ledger: What was seen.
        expected: What reports must be.
        owner: Requests of its organiser.
        task: Its id.
        boards: Ids of its test sets by name.
        tokens: Of its teams, by name.
        receipts: What teams were answered, each with the times of its call.
    """

    service: Service
    sizes: Sizes
    seed: int
    ledger: Ledger
    expected: Expected
    owner: Asking
    task: str = ""
    boards: dict[str, str] = field(default_factory=dict)
    tokens: dict[str, str] = field(default_factory=dict)
    receipts: list[tuple[float, dict[str, Any], float]] = field(default_factory=list)

    def announce(self) -> None:
        """Make test sets, the task, and a token for each team."""
        for t in range(self.sizes.tracks):
            answer = self.owner.request("POST", "/v1/testsets", self._testset(t))
            self.boards[f"track{t}"] = answer.json()["id"]
        rules = {"systems": self.sizes.systems, "per_day": 100}
        body = {"name": "burst", "testsets": self.boards, **rules}
        self.task = self.owner.request("POST", "/v1/tasks", body).json()["id"]
        for n in range(self.sizes.teams):
            answer = self.owner.request(
                "POST", f"/v1/tasks/{self.task}/teams", {"name": f"team{n}"}
            )
            self.tokens[f"team{n}"] = answer.json()["token"]

    def submit(self, submission: Submission, wait: int = 0) -> None:
        """Submit one system; the first answer that is about it counts."""
        asking = Asking(self.service, self.ledger, self.tokens[submission.team])
        path = f"/v1/tasks/{self.task}/systems/{submission.track}/{submission.system}"
        headers = {"Prefer": f"wait={wait}"} if wait else {}
        params = {"primary": str(submission.system == "s0").lower()}
        began = time.time()
        try:
            answer = asking.request("PUT", path, {"hypotheses": submission.lines}, headers, params)
        except StuckError as error:
            self.ledger.bad("stuck", str(error))
        else:
            if answer.status_code in {200, 201, 202}:
                self.receipts.append((began, answer.json(), time.time()))
            else:
                self.ledger.bad("lost", f"{path}: {answer.status_code} {answer.text}")
        finally:
            asking.close()

    def at_once(self, kills: tuple[str, ...]) -> None:
        """All submissions side by side, and kills at moments of chance among them."""
        submissions = self.sizes.submissions(self.seed)
        rng = random.Random(f"kills {self.seed}")
        kinds = rng.sample(kills, len(kills))
        moments = sorted(rng.sample(range(len(submissions)), len(kinds)))
        hurts = Hurts(self.service, rng, self.ledger, self._answered)
        with ThreadPoolExecutor(THREADS) as pool:
            working = [pool.submit(self.submit, one) for one in submissions]
            for kind, moment in zip(kinds, moments, strict=True):
                until(partial(self._has, moment), 600, 0.005)
                done = self.ledger.counts["kills"]
                while self.ledger.counts["kills"] == done:  # for moments there may be none to kill
                    hurts.once(kind)
            for work in working:
                work.result()
        self.settle()

    def evenly(self) -> None:
        """The same, one after the other, each when the one before is measured."""
        for submission in self.sizes.submissions(self.seed):
            self.submit(submission, wait=30)
        self.settle()

    def settle(self) -> None:
        """Wait until every board is whole."""
        for board in self.boards.values():
            url = f"/v1/testsets/{board}"
            if not until(partial(self._whole, url), 900, 0.5):
                self.ledger.bad("stuck", f"{url}: {self.owner.request('GET', url).text}")

    def _has(self, count: int) -> bool:
        return len(self.receipts) >= count

    def _whole(self, url: str) -> bool:
        return bool(self.owner.request("GET", url).json()["pending"] == 0)

    def account(self) -> None:
        """Hold receipts and boards against what was submitted and answered."""
        submissions = self.sizes.submissions(self.seed)
        listing = self.owner.request("GET", f"/v1/tasks/{self.task}/systems").json()
        places = [(own["testset"], own["team"], own["system"]) for own in listing["receipts"]]
        for place in sorted({(one.track, one.team, one.system) for one in submissions} ^ {*places}):
            self.ledger.bad("lost", f"{place}: accepted without a receipt, or the other way round")
        if len(places) > len({*places}) or {own["event"] for own in listing["receipts"]} != {
            "submitted"
        }:
            self.ledger.bad("doubled", "a submission has two receipts")
        standing = [(own["testset"], own["team"], own["system"]) for own in listing["systems"]]
        if sorted(standing) != sorted(places):
            self.ledger.bad("wrong", "the systems that stand are not those of the receipts")
        held = dict(zip(places, listing["receipts"], strict=True))
        for track in self.boards:
            times = [own["at"] for own in listing["receipts"] if own["testset"] == track]
            if times != sorted(times):
                self.ledger.bad("wrong", f"{track}: receipts are not in the order of their times")
        for began, told, ended in self.receipts:
            place = (told["testset"], told["team"], told["system"])
            if told.items() < held[place].items() or told["at"] != held[place]["at"]:
                self.ledger.bad("wrong", f"{place}: {told} became {held[place]}")
            if not began <= datetime.fromisoformat(told["at"]).timestamp() <= ended:
                self.ledger.bad("wrong", f"{place}: {told['at']} is not within its call")
            self.ledger.count("receipts held against their calls")
        for t, board in enumerate(self.boards.values()):
            self._compare(t, board, [one for one in submissions if one.track == f"track{t}"])

    def _compare(self, track: int, board: str, submissions: list[Submission]) -> None:
        """A board is the ordinary comparison of its systems, which stand in the names' order."""
        caller = Caller(OWNER, self.owner, self.ledger, self.expected, self.seed)
        systems = [
            {"name": f"{one.team}.{one.system}", "hypotheses": one.lines} for one in submissions
        ]
        systems.sort(key=lambda system: str(system["name"]))
        body = {k: v for k, v in self._testset(track).items() if k not in ("name", "capacity")}
        body |= {"systems": systems, "family": self.capacity}
        caller.compare_board(f"/v1/testsets/{board}", body)

    @property
    def capacity(self) -> int:
        """A third more than there are."""
        return self.sizes.teams * self.sizes.systems * 4 // 3

    def _testset(self, track: int) -> dict[str, Any]:
        recipe = {"metrics": ["chrf"], "resamples": 199}
        about = {"name": f"track{track}", "capacity": self.capacity}
        return {**about, "references": [reference(track)], **recipe}

    def _answered(self) -> float:
        """When the service answers again."""
        self.owner.request("GET", f"/v1/tasks/{self.task}")
        return time.monotonic()


@contextmanager
def announced(sizes: Sizes, seed: int) -> Iterator[tuple[SharedTask, Meter]]:
    """A task on a service of its own, whose ledger has what is wrong in the end."""
    ledger, expected = Ledger(), Expected()
    with tempfile.TemporaryDirectory(prefix="torture-") as folder:
        service = Service(Path(folder), settings=SETTINGS)
        try:
            service.start()
            owner = Asking(service, ledger, service.keys(OWNER)[OWNER])
            task = SharedTask(service, sizes, seed, ledger, expected, owner)
            task.announce()
            meter = Meter(service)
            with closing(owner), meter.watching():
                yield task, meter
        finally:
            for pid in service.end():
                ledger.bad("orphaned", f"process {pid} outlives its service")
            if ledger.faults:
                ledger.findings += service.tracebacks()[-SHOWN:]
            expected.close()
