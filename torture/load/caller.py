"""A caller: asks question after question, and holds each report against the truth."""

from __future__ import annotations

import random
import time
from dataclasses import dataclass, field
from typing import Any

from torture.load.asked import Asked, AskedBoard, asked, small
from torture.load.asking import Asking, StuckError
from torture.load.expected import Expected
from torture.load.ledger import Ledger

PATIENCE = 240.0  # seconds after which an accepted question counts as stuck
FINISHED = {"succeeded", "failed", "cancelled"}


@dataclass
class Caller:
    """One caller's thread.

    Attributes:
        name: Whose questions these are.
        asking: Its requests.
        ledger: What it saw.
        expected: What reports must be.
        seed: Of all questions.
        accepted: Ids of its questions that must be listed in the end, by kind.
        gone: Ids of those that it deleted.
        patience: Seconds after which an accepted question counts as stuck.
    """

    name: str
    asking: Asking
    ledger: Ledger
    expected: Expected
    seed: int
    accepted: dict[str, set[str]] = field(default_factory=dict)
    gone: set[str] = field(default_factory=set)
    patience: float = PATIENCE

    def perform(self, number: int) -> None:
        """Ask one question, to its end; whatever goes wrong is in the ledger afterwards."""
        question = asked(self.seed, number)
        started = time.monotonic()
        try:
            if isinstance(question, AskedBoard):
                self._board(question)
            else:
                self._question(question)
        except StuckError as error:
            self.ledger.bad("stuck", f"{self.name}, {number}: {error}")
        else:
            self.ledger.count("jobs")
        self.ledger.took("from question to report", time.monotonic() - started)

    def probe(self, number: int) -> float:
        """Ask a small comparison; when it was answered, of the monotonic clock."""
        question = small(self.seed, number)
        ended = time.monotonic()
        try:
            told = self._submit("/v1/comparisons", question.body, {})
            if told is not None:
                self.accepted.setdefault("comparisons", set()).add(told["id"])
                url = f"/v1/comparisons/{told['id']}"
                found = self._finished(url)
                ended = time.monotonic()
                if found is not None:
                    self._compare(question.path, question.body, url, found)
        except StuckError as error:
            self.ledger.bad("stuck", f"probe {number}: {error}")
            ended = time.monotonic()
        self.ledger.count("jobs")
        return ended

    def by_chance(self, path: str, body: dict[str, Any], question_id: str, most: float) -> bool:
        """Hold a question's report against the truth, or cancel it where it takes too long.

        Args:
            path: Of its kind.
            body: Its request.
            question_id: Where it is.
            most: Seconds to wait for it.

        Returns:
            Whether there is a report.
        """
        url = f"/v1/{path}/{question_id}"
        deadline = time.monotonic() + most
        while time.monotonic() < deadline:
            answer = self.asking.request("GET", url, headers={"Prefer": "wait=1"})
            if answer.status_code in {404, 410}:
                return False  # a generated request deleted it
            told = answer.json()
            if told["status"] == "succeeded":
                self._compare(path, body, url, told, may_go=True)
                return True
            if told["status"] == "failed":
                self.ledger.bad("failed", f"{url}: {told['error']} {str(body)[:200]}")
            if told["status"] in FINISHED:
                return False
        self._cancel(url, question_id)
        return False

    # questions

    def _question(self, question: Asked) -> None:
        rng = random.Random(f"whim {self.seed} {question.number}")
        where = f"/v1/{question.path}"
        key = f"{self.name}-{self.seed}-{question.number}"
        front = self.asking.front
        told = self._submit(where, question.body, {"Idempotency-Key": key})
        if told is None:
            return
        url = f"{where}/{told['id']}"
        if rng.random() < 0.06:
            self._cancel(url, told["id"])
            return
        self.accepted.setdefault(question.path, set()).add(told["id"])
        if rng.random() < 0.15:
            self._submit_again(where, question, told["id"], front)
        found = self._finished(url)
        if found is not None:
            self._compare(question.path, question.body, url, found)

    def _submit(
        self, where: str, body: dict[str, Any], headers: dict[str, str]
    ) -> dict[str, Any] | None:
        answer = self.asking.request("POST", where, body, headers)
        if answer.status_code not in {200, 202}:
            self.ledger.bad("lost", f"POST {where}: {answer.status_code} {answer.text}")
            return None
        told: dict[str, Any] = answer.json()
        return told

    def _submit_again(self, where: str, question: Asked, question_id: str, front: str) -> None:
        """The same content is the same question, for one version of the service."""
        again = self._submit(where, question.body, {})
        if again is None:
            return
        if self.asking.front != front:  # perhaps another version, for which it is another one
            self.accepted.setdefault(question.path, set()).add(again["id"])
        elif again["id"] != question_id:
            self.ledger.bad("doubled", f"{where}: {question_id} and {again['id']} are the same")

    def _finished(self, url: str) -> dict[str, Any] | None:
        """The question when it has an outcome; nothing, and a note, where it has none."""
        deadline = time.monotonic() + self.patience
        while time.monotonic() < deadline:
            answer = self.asking.request("GET", url, headers={"Prefer": "wait=5"})
            if answer.status_code != 200:
                self.ledger.bad("lost", f"{url}: {answer.status_code} {answer.text}")
                return None
            told: dict[str, Any] = answer.json()
            if told["status"] == "failed":
                self.ledger.bad("failed", f"{url}: {told['error']}")
                return None
            if told["status"] == "succeeded":
                return told
        raise StuckError(f"{url} is unfinished after {self.patience:.0f} s: {answer.text}")

    def _compare(
        self,
        path: str,
        body: dict[str, Any],
        url: str,
        told: dict[str, Any],
        may_go: bool = False,
    ) -> None:
        """Hold a report against the truth; one that a generated request may delete may be gone."""
        answer = self.asking.request("GET", f"{url}/report")
        if may_go and answer.status_code in {404, 410}:
            return
        if answer.status_code != 200:
            self.ledger.bad("lost", f"{url}/report: {answer.status_code} {answer.text}")
            return
        truth = self.expected.report(path, body, told["computed_with"])
        self.ledger.count("reports compared byte for byte")
        self.ledger.count(f"reports of {path}")
        if answer.text != truth:
            self.ledger.bad("wrong", f"{url}: {difference(answer.text, truth)}")

    def _cancel(self, url: str, question_id: str) -> None:
        """Cancel or delete it, whichever the service makes of it."""
        self.gone.add(question_id)
        answer = self.asking.request("DELETE", url)
        self.ledger.count("cancelled or deleted")
        if answer.status_code == 200:
            status = self.asking.request("GET", url).json().get("status")
            if status != "cancelled":
                self.ledger.bad("wrong", f"{url} was cancelled and is {status}")
        elif answer.status_code not in {204, 404, 410}:  # the answer before may have been lost
            self.ledger.bad("wrong", f"DELETE {url}: {answer.status_code} {answer.text}")

    # leaderboards

    def _board(self, board: AskedBoard) -> None:
        answer = self.asking.request("POST", "/v1/testsets", board.body)
        if answer.status_code not in {200, 201}:
            self.ledger.bad("lost", f"POST /v1/testsets: {answer.status_code} {answer.text}")
            return
        url = f"/v1/testsets/{answer.json()['id']}"
        for name, output in board.steps:
            self._step(f"{url}/systems/{name}", output)
        self.compare_board(url, board.comparison)

    def compare_board(self, url: str, comparison: dict[str, Any]) -> None:
        """Hold what a board shows, once it is whole, against the comparison of its systems."""
        shown = self._shown(url, [system["name"] for system in comparison["systems"]])
        found = self._finished(shown)
        if found is not None:
            self.ledger.count("leaderboards")
            self._compare("comparisons", comparison, shown, found)

    def _step(self, url: str, output: dict[str, Any] | None) -> None:
        """One system comes, is replaced or leaves."""
        if output is None:
            answer = self.asking.request("DELETE", url)
            fine = answer.status_code in {204, 404}
        else:
            answer = self.asking.request("PUT", url, output, params={"replace": "true"})
            fine = answer.status_code in {200, 201, 202}
        if not fine:
            self.ledger.bad("lost", f"{url}: {answer.status_code} {answer.text}")

    def _shown(self, url: str, wanted: list[str]) -> str:
        """The comparison that the leaderboard shows once every system is in it."""
        deadline = time.monotonic() + self.patience
        while time.monotonic() < deadline:
            answer = self.asking.request("GET", f"{url}/leaderboard")
            told = answer.json()
            if told.get("failed"):
                self.ledger.bad("failed", f"{url}: {told['failed']}")
            there = [row["name"] for row in told.get("systems", [])]
            fresh = "retry-after" not in answer.headers and not told.get("pending")
            if fresh and sorted(there) == wanted and told.get("comparison"):
                return str(told["comparison"])
            time.sleep(0.1)
        raise StuckError(f"{url}/leaderboard: {str(told)[:300]}")

    # in the end

    def account(self) -> None:
        """Hold what the service lists against what it accepted."""
        for path, ids in self.accepted.items():
            listed = self._listed(path)
            for question_id in sorted(ids - set(listed)):
                self.ledger.bad("lost", f"/v1/{path}/{question_id} is not listed")
            for question_id in sorted(set(listed) - ids - self.gone):
                self.ledger.bad("doubled", f"/v1/{path}/{question_id} was never accepted")
            if len(listed) != len(set(listed)):
                self.ledger.bad("doubled", f"/v1/{path} lists a question twice")

    def _listed(self, path: str) -> list[str]:
        found: list[str] = []
        cursor: dict[str, str] = {}
        while True:
            told = self.asking.request(
                "GET", f"/v1/{path}", params={"limit": "100", **cursor}
            ).json()
            found += [entry["id"] for entry in told[path]]
            if told["next_cursor"] is None:
                return found
            cursor = {"cursor": told["next_cursor"]}


def difference(found: str, truth: str) -> str:
    """Where two reports first differ."""
    same = next(
        (i for i, (a, b) in enumerate(zip(found, truth, strict=False)) if a != b),
        min(len(found), len(truth)),
    )
    return f"at {same}: {found[max(0, same - 60) : same + 40]!r}, not {truth[same : same + 40]!r}"
