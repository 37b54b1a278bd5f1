"""Shared tasks: test sets under one name, teams that submit to them, phases. `app` calls this.

A team is let in by a token of its own, which opens its task and nothing else of its owner's. What
it submits is a system of the owner's test set, measured and compared as all others are.

Every function may raise StorageError, and those that take an id raise NotFoundError for one that
is unknown or another caller's and GoneError for one that expired or was deleted.
"""

from __future__ import annotations

import json
import math
import secrets
import time
from collections.abc import Iterable, Mapping
from dataclasses import dataclass, replace
from datetime import UTC, datetime
from typing import Any

from sigtest.data.names import check_name, look_alikes
from sigtest.data.testset import System
from sigtest.errors import InputError, RecipeError
from sigtest.report import WarningReport
from sigtest.requests.notes import milliseconds
from sigtest.requests.shared_tasks import (
    Phase,
    SharedTaskChange,
    SharedTaskRequest,
    TeamRequest,
)
from workers.access import DAY, TEAM_PREFIX, digest_of
from workers.errors import GoneError, NotFoundError, TakenError, guarded
from workers.queue import Context
from workers.store import keys
from workers.store.boards import SystemRecord, TestSetRecord
from workers.store.codec import decoded
from workers.store.records import Check, fields_of
from workers.store.shared_tasks import (
    Entry,
    Receipt,
    SharedTaskRecord,
    SharedTaskStore,
    Team,
    receipts_of,
    standing,
)
from workers.store.usage import HOUR, check_lasting, check_room, weigh
from workers.testsets import Room, TestSets


@dataclass(frozen=True)
class Submitted:
    """A system of a team as its team, or the owner, sees it.

    Attributes:
        task: Id of the task.
        testset: What the task calls its test set.
        board: Id of that.
        receipt: Its last receipt.
        system: How it stands on the board.
        warnings: What health checks say of it.
    """

    task: str
    testset: str
    board: str
    receipt: Receipt
    system: SystemRecord
    warnings: tuple[WarningReport, ...] = ()


@guarded
class SharedTasks(SharedTaskStore):
    """The shared tasks of all callers; safe to share between threads.

    Args:
        context: The stores and the queue.
        testsets: The test sets of all callers.
    """

    def __init__(self, context: Context, testsets: TestSets) -> None:
        super().__init__(context.redis, context.settings)
        self._testsets = testsets

    # tasks

    def make(self, wanted: SharedTaskRequest, caller: str) -> tuple[SharedTaskRecord, bool]:
        """Make a task of test sets of the caller; the same name and test sets are the same one.

        Returns:
            The task, and whether it was made.

        Raises:
            TakenError: A test set belongs to another task, or has systems and another family.
        """
        check_name(wanted.name, "task")
        for name in wanted.testsets:
            check_name(name, "test set", f"testsets.{name}")
        found = {name: self._testsets.find(own, caller) for name, own in wanted.testsets.items()}
        if len({*wanted.testsets.values()}) < len(found):
            raise InputError("testsets names a test set twice.", field="testsets")
        _check_order(wanted, found)
        check_room(self.redis, self.settings, caller)
        testsets = [part for pair in sorted(wanted.testsets.items()) for part in pair]
        task_id = keys.hashed(caller, "task", wanted.name, wanted.family, *testsets)
        families = {own.id: own.capacity for own in found.values()}
        if wanted.family == "task":
            families = dict.fromkeys(families, family_of(families.values()))
        self._testsets.enrol(task_id, caller, families)
        facts = {"settings": json.dumps(wanted.as_stored())}
        until = self._expiry_of(wanted)
        task, created = self.create(task_id, caller, facts, wanted.written(), until)
        return self._lasting(task), created

    def revise(
        self, task_id: str, caller: str, change: SharedTaskChange, check: Check
    ) -> SharedTaskRecord:
        """Change the rules of a task, publish it, or write on it."""
        record = keys.key(self.kind, task_id)
        written = fields_of(change.written())
        until = int(written.get("expires", 0))
        check_lasting(self.redis, self.settings, caller, until, 0, record)

        def write(pipe: Any) -> bool:
            task = self.find(task_id, caller)
            settings = task.settings.changed(change)
            _check_order(settings, self.testsets(task))
            facts = {"settings": json.dumps(settings.as_stored()), **written}
            if change.published is not None and change.published != (task.published_at is not None):
                facts["published"] = repr(task.seen_at) if change.published else ""
            pipe.multi()
            pipe.hset(record, mapping=facts)
            return True

        task = self.find(task_id, caller)
        lasts = until if "expires" in written else milliseconds(task.envelope.expires)
        expiry = self._expiry_of(task.settings.changed(change), lasts)
        self.change(task_id, caller, write, check, until=expiry)
        return self._lasting(self.find(task_id, caller))

    def _expiry_of(self, settings: SharedTaskRequest, expires: int = 0) -> int:
        """When a task that is changed now is forgotten, in milliseconds: not before it ends."""
        ends = settings.deadline.timestamp() if settings.deadline is not None else 0.0
        return max(expires, int((max(time.time(), ends) + self.settings.retention) * 1000))

    def _lasting(self, task: SharedTaskRecord) -> SharedTaskRecord:
        """The task; its test sets last as long as it, to the day."""
        ends = {"expires": datetime.fromtimestamp(task.expires_at, UTC).isoformat()}
        for record in self.testsets(task).values():
            if record.expires_at < task.expires_at - DAY:
                self._testsets.describe(record.id, task.caller, ends)
        return task

    def testsets(self, task: SharedTaskRecord, only: str | None = None) -> dict[str, TestSetRecord]:
        """The test sets of a task, or one, that are still there, by what it calls them."""
        names = {own: name for name, own in task.settings.testsets.items() if only in (None, name)}
        stored = zip(names.values(), map(self._testsets.stored, names), strict=True)
        return {name: own for name, own in stored if own is not None and own.task == task.id}

    def testset(self, task: SharedTaskRecord, name: str) -> TestSetRecord:
        """The test set that a task calls so.

        Raises:
            NotFoundError: It has none of this name.
            GoneError: It had one.
        """
        if name not in task.settings.testsets:
            known = ", ".join(task.settings.testsets)
            raise NotFoundError(f"The task has no test set {name!r}; it has {known}.")
        for own in self.testsets(task, name).values():
            return own
        raise GoneError(f"The test set {name!r} of this task expired or was deleted.")

    # teams

    def add_team(self, task_id: str, caller: str, asked: TeamRequest) -> tuple[Team, str]:
        """Let a team in; what is known of it, and its token, which can be read nowhere else.

        Raises:
            TakenError: The task has a team of this name, or of one that looks like it.
            InputError: A name that cannot be used, or a token that has ended already.
        """
        task = self.find(task_id, caller)
        check_name(asked.name, "team")
        if "." in asked.name:
            raise InputError(
                f"The team name {asked.name!r} has a dot, which stands between a team and its "
                "system on boards; leave it out.",
                field="name",
            )
        ends = None if asked.expires is None else asked.expires.timestamp()
        if ends is not None and ends <= task.seen_at:
            raise InputError(f"expires is over: {asked.expires}.", field="expires")
        check_room(self.redis, self.settings, caller)
        token = f"{TEAM_PREFIX}{task_id}_{secrets.token_urlsafe(32)}"
        team = Team(caller, task_id, asked.name, digest_of(token), time.time(), ends)
        name = keys.key("shared-task-teams", task_id)

        def write(pipe: Any) -> None:
            held = [*map(decoded, pipe.hkeys(name))]
            if team.name in held:
                words = f"The task has a team {team.name!r}; revoke its token to give it another."
                raise TakenError(words, field="name")
            for alike, words in look_alikes([*held, team.name]).items():
                if team.name in alike:
                    raise TakenError(f"{words} Take another name for the team.", field="name")
            pipe.multi()
            pipe.hset(name, team.name, json.dumps(vars(team)))
            pipe.pexpireat(name, int(task.expires_at * 1000))
            weigh(pipe, caller, self.kind, task_id)

        self.change(task_id, caller, write, watched=[name])
        return team, token

    def teams(self, task_id: str, caller: str) -> list[Team]:
        """The teams of a task that have a token, oldest first."""
        held = self.redis.hvals(keys.key("shared-task-teams", self.find(task_id, caller).id))
        return sorted(map(Team.of, held), key=lambda team: team.created_at)

    def revoke(self, task_id: str, caller: str, name: str) -> None:
        """Take the token of a team back, from the next request on; what it submitted stays.

        Raises:
            NotFoundError: There is none of this name.
        """
        if not self.redis.hdel(keys.key("shared-task-teams", self.find(task_id, caller).id), name):
            raise NotFoundError(f"The task has no team {name!r} with a token.")
        weigh(self.redis, caller, self.kind, task_id)

    # what teams submit

    def put(
        self,
        team: Team,
        testset: str,
        system: System,
        primary: bool | None,
        room: Room,
    ) -> tuple[Submitted, str]:
        """Submit a system of a team, or replace it by other content.

        Args:
            team: The team.
            testset: What the task calls the test set.
            system: What it brings, under the team's name for it.
            primary: Whether it is the primary one; nothing for whether there is no other.
            room: How many systems a test set may have.

        Returns:
            The system, and what was done, as `TestSets.put` says.

        Raises:
            InputError: The name that boards have for it is too long.
            PhaseError: Not now.
            QuotaError: The team has as many as it may.
            CapacityError: What room is left is for teams that have nothing yet.
        """
        task = self.find(team.task, team.caller)
        board = self.testset(task, testset).id
        entry = Entry(team.task, team.name, system.name, primary)
        own = replace(system, name=check_name(entry.name))
        _, verdict = self._testsets.put(board, team.caller, own, True, room, entry=entry)
        expiry = self._expiry_of(task.settings, milliseconds(task.envelope.expires))
        if expiry > task.expires_at * 1000 + HOUR:
            self.change(task.id, task.caller, lambda pipe: pipe.multi() or True, until=expiry)
            self._lasting(self.find(task.id, task.caller))
        return self.system(team, testset, system.name), verdict

    def withdraw(self, team: Team, testset: str, system: str) -> None:
        """Take a system of a team back.

        Raises:
            NotFoundError: The team has none of this name.
            PhaseError: Not now.
        """
        task = self.find(team.task, team.caller)
        board = self.testset(task, testset).id
        entry = Entry(team.task, team.name, system)
        self.system(team, testset, system)
        self._testsets.remove(board, team.caller, entry.name, entry=entry)

    def system(self, team: Team, testset: str, system: str) -> Submitted:
        """A system of a team.

        Raises:
            NotFoundError: The team has none of this name.
        """
        task = self.find(team.task, team.caller)
        for own in self.systems(task, team.name, testset):
            if own.receipt.system == system:
                return own
        raise NotFoundError(f"The team has no system {system!r} on the test set {testset!r}.")

    def systems(
        self, task: SharedTaskRecord, team: str | None = None, testset: str | None = None
    ) -> list[Submitted]:
        """The systems that teams have now, or those of one team as it may see them.

        They come by test set and time.
        """
        shows = task.phase is Phase.PUBLISHED or task.settings.scores == "own" or team is None
        found = []
        for name, record in self.testsets(task, testset).items():
            there = standing(receipts_of(self.redis, record.id, team)).items()
            for place, receipt in sorted(there, key=lambda own: own[1].at):
                if place in record.digests:
                    system = record.system(place)
                    notes = tuple(self._testsets.warnings(record.id, system))
                    scored = system if shows else replace(system, scores=None)
                    found.append(Submitted(task.id, name, record.id, receipt, scored, notes))
        return found

    def receipts(self, task: SharedTaskRecord, team: str | None = None) -> dict[str, list[Receipt]]:
        """All receipts of a task, or of one of its teams, by test set, oldest first."""
        testsets = task.settings.testsets.items()
        return {name: receipts_of(self.redis, own, team) for name, own in testsets}


def _check_order(settings: SharedTaskRequest, testsets: Mapping[str, TestSetRecord]) -> None:
    """Check that the scores whose mean orders teams are of one metric.

    Raises:
        RecipeError: They are not.
    """
    first = {name: record.metrics[0] for name, record in testsets.items()}
    if settings.overall == "mean" and len({*first.values()}) > 1:
        told = ", ".join(f"{metric} on {name}" for name, metric in first.items())
        raise RecipeError(
            f"A mean of scores needs one first metric on all test sets, not {told}; take wins.",
            field="overall",
        )


def family_of(capacities: Iterable[int]) -> int:
    """How many systems have as many pairs as there are on all test sets together, or a few more."""
    pairs = sum(capacity * (capacity - 1) // 2 for capacity in capacities)
    return math.ceil((1 + math.sqrt(1 + 8 * pairs)) / 2)
