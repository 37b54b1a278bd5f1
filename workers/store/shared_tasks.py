"""Shared tasks, their teams and what these submitted, in Redis.

A receipt is a fact that is never changed: what a team put to a test set or withdrew, when, by the
store's clock. It is written with what it is about, undivided, so that a submission and its receipt
are both there or neither; which systems a team has, and how many came today, follows from receipts.
"""

from __future__ import annotations

import json
from collections.abc import Sequence
from dataclasses import asdict, dataclass
from typing import Any

from sigtest.requests.shared_tasks import Phase, SharedTaskRequest
from workers.errors import GoneError, PhaseError, QuotaError, TakenError
from workers.store import keys
from workers.store.codec import decoded
from workers.store.lasting import COMMON, Shelf
from workers.store.records import Lasting, clock

DAY = 86_400
LEFT = ("withdrawn", "removed")  # events after which a system is no longer there


@dataclass(frozen=True, kw_only=True)
class SharedTaskRecord(Lasting):
    """A shared task; its size is without its test sets.

    Attributes:
        settings: What it was asked for with, and the rules in force.
        published_at: When it was published, seconds since the epoch, if it was.
        seen_at: When this was read, seconds since the epoch, by the store's clock.
    """

    settings: SharedTaskRequest
    published_at: float | None
    seen_at: float

    @property
    def name(self) -> str:
        """What its caller calls it."""
        return self.settings.name

    @property
    def changed_at(self) -> float:
        """When it was made: what happens to its test sets is theirs."""
        return self.created_at

    @property
    def phase(self) -> Phase:
        """Where it stands."""
        if self.published_at is not None:
            return Phase.PUBLISHED
        return self.settings.phase(self.seen_at)

    @property
    def etag(self) -> str:
        """Changes whenever anything else does, but for the clock."""
        seen = (self.id, self.settings, self.published_at, self.envelope, self.phase)
        return keys.hashed(*map(repr, seen))


@dataclass(frozen=True)
class Team:
    """A team of a shared task, as whoever has its token.

    Attributes:
        caller: Whose task it is.
        task: Its id.
        name: Of the team.
        digest: Hash of its token, which the team alone has.
        created_at: Seconds since the epoch.
        expires_at: When its token ends, seconds since the epoch; nothing for never.
    """

    caller: str
    task: str
    name: str
    digest: str
    created_at: float
    expires_at: float | None = None

    @classmethod
    def of(cls, data: bytes) -> Team:
        """A team as it is stored."""
        return cls(**json.loads(data))

    def valid(self, now: float) -> bool:
        """Whether its token opens anything at a time."""
        return self.expires_at is None or now < self.expires_at


@dataclass(frozen=True)
class Receipt:
    """What a team did, or the organiser with its system.

    Attributes:
        team: Name of the team.
        system: What the team calls its system.
        digest: Hash of its content.
        at: When, seconds since the epoch, by the store's clock.
        event: submitted, replaced, withdrawn, or removed by the organiser.
        primary: Whether it is the team's primary system; the others are contrastive.
        late: Whether it came behind the deadline and its grace.
    """

    team: str
    system: str
    digest: str
    at: float
    event: str
    primary: bool
    late: bool


@dataclass(frozen=True)
class Entry:
    """A system of a team on its way to a test set of a shared task, or from it.

    Attributes:
        task: Id of the task.
        team: Name of the team.
        system: What the team calls it.
        primary: Whether it is the primary one; nothing for whether the team has no other.
    """

    task: str
    team: str
    system: str
    primary: bool | None = None

    @property
    def name(self) -> str:
        """What the board calls it; a team's name has no dot."""
        return f"{self.team}.{self.system}"

    @property
    def record(self) -> str:
        """The key of the task."""
        return keys.key("shared-task", self.task)

    def receipt(
        self, pipe: Any, receipts: Sequence[Receipt], digest: str, withdrawn: bool = False
    ) -> Receipt:
        """The receipt of what is about to be written, by the clock and the rules of this moment.

        Args:
            pipe: Watches the task and the receipts of its test set, and reads at once.
            receipts: Those.
            digest: Hash of the content.
            withdrawn: Whether the system leaves.

        Raises:
            GoneError: The task was deleted meanwhile.
            PhaseError: Not now.
            QuotaError: The team has as many as it may.
            TakenError: Another system of it is primary.
        """
        settings, published = pipe.hmget(self.record, ["settings", "published"])
        if settings is None:
            raise GoneError(f"The task {self.task} expired or was deleted.")
        now = clock(pipe)
        rules = SharedTaskRequest.of(json.loads(settings))
        late = rules.late(now)
        there = standing(receipts).values()
        own = {one.system: one for one in there if one.team == self.team}
        before = own.get(self.system)
        if published or rules.phase(now) is Phase.ANNOUNCED:
            opens = "" if rules.opens is None else f" It opens at {rules.opens.isoformat()}."
            words = "is published, and takes nothing more." if published else f"is not open.{opens}"
            raise PhaseError(f"The task {words}", system=self.system)
        if late and before is not None and not before.late:
            raise PhaseError(
                f"The deadline has passed: {self.system!r} was in time and stays as it is; what "
                "comes now takes another name and is marked as late.",
                system=self.system,
            )
        if withdrawn:
            primary, event = before is not None and before.primary, "withdrawn"
            return Receipt(self.team, self.system, digest, now, event, primary, late)
        first = next((name for name, one in own.items() if one.primary), self.system)
        primary = first == self.system if self.primary is None else self.primary
        if primary and first != self.system:
            raise TakenError(
                f"The primary system is {first!r}; withdraw it first, or submit this one as "
                "contrastive.",
                system=self.system,
            )
        today = [one for one in receipts if one.team == self.team and one.at // DAY == now // DAY]
        if sum(one.event not in LEFT for one in today) >= rules.per_day:
            raise QuotaError(
                f"A team may submit {rules.per_day} times a day to a test set; come back tomorrow "
                "(UTC).",
                system=self.system,
            )
        alike = [name for name, one in own.items() if one.late == late]
        if before is None and len(alike) >= rules.systems:
            raise QuotaError(
                f"A team may have {rules.systems} systems on a test set, and as many late ones; "
                f"replace or withdraw one of {', '.join(alike)}.",
                system=self.system,
            )
        event = "submitted" if before is None else "replaced"
        return Receipt(self.team, self.system, digest, now, event, primary, late)


def standing(receipts: Sequence[Receipt]) -> dict[str, Receipt]:
    """The last receipt of each system that has not left, by what boards call it."""
    last = {f"{one.team}.{one.system}": one for one in receipts}
    return {name: one for name, one in last.items() if one.event not in LEFT}


def admit(
    pipe: Any,
    testset_id: str,
    task: str,
    entry: Entry | None,
    name: str,
    digest: str,
    before: str,
) -> tuple[Receipt | None, int]:
    """Hold a system that comes against the rules of a shared task.

    Args:
        pipe: Watches the receipts of the test set, and reads at once.
        testset_id: The test set.
        task: Id of its shared task; empty where it has none.
        entry: Of a team, where one submits it.
        name: What boards call it.
        digest: Hash of its content.
        before: The same of what is there under this name; empty where nothing is.

    Returns:
        The receipt that is to be written, if any, and how many places are left to teams that have
        submitted nothing yet.

    Raises:
        TakenError: Its name is one of a team's, which does not submit it.
        SigtestError: As `Entry.receipt` does.
    """
    receipts = receipts_of(pipe, testset_id)
    last = standing(receipts).get(name)
    teams = set(map(decoded, pipe.hkeys(keys.key("shared-task-teams", task))))
    if entry is None:
        team = name.partition(".")[0]
        of_team = team in teams - {name} or last is not None
        if digest != before and of_team and pipe.exists(keys.key("shared-task", task)):
            raise TakenError(
                f"{name!r} is a name of the team {team!r}, which submits with its token; take a "
                "name that does not begin so.",
                field="name",
                system=name,
            )
        return None, 0
    known = digest == before and last is not None
    waiting = teams.difference(one.team for one in receipts)
    reserved = 0 if entry.team in waiting else len(waiting)
    return None if known else entry.receipt(pipe, receipts, digest), reserved


def note(pipe: Any, testset_id: str, receipt: Receipt | None) -> None:
    """Let a pipeline write a receipt, if there is one."""
    if receipt is not None:
        pipe.rpush(keys.key("testset-receipts", testset_id), json.dumps(asdict(receipt)))


def receipts_of(redis: Any, testset_id: str, team: str | None = None) -> list[Receipt]:
    """All receipts of a test set, or those of one team, oldest first."""
    lines = redis.lrange(keys.key("testset-receipts", testset_id), 0, -1)
    found = [Receipt(**json.loads(line)) for line in lines]
    return [receipt for receipt in found if team in (None, receipt.team)]


class SharedTaskStore(Shelf[SharedTaskRecord]):
    """Reads shared tasks. Raises what redis raises."""

    kind, noun, listed = "shared-task", "task", "tasks"

    def stored(self, name: str) -> SharedTaskRecord | None:
        """A task as it is now, unless it expired, was deleted or never was."""
        with self.redis.pipeline() as pipe:
            pipe.hmget(keys.key("shared-task", name), ("settings", "published", *COMMON))
            pipe.time()
            (settings, published, *held), (seconds, micros) = pipe.execute()
        if settings is None:
            return None
        return SharedTaskRecord(
            **self.common(name, held),
            settings=SharedTaskRequest.of(json.loads(settings)),
            published_at=float(published) if published else None,
            seen_at=seconds + micros / 1e6,
        )
