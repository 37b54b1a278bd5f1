"""Test sets with systems that arrive over time, and their leaderboards. `app` calls this.

Every function may raise StorageError, and those that take an id raise NotFoundError for one that
is unknown or another caller's and GoneError for one that expired or was deleted.
"""

from __future__ import annotations

import json
from collections.abc import Callable, Mapping, Sequence
from contextlib import suppress
from dataclasses import dataclass, replace
from types import MappingProxyType
from typing import Any

import numpy as np
from redis.exceptions import OutOfMemoryError

from sigtest.comparison.comparison import part_of, require_units
from sigtest.comparison.plan import Part
from sigtest.data.names import check_name, require_distinct_names
from sigtest.data.testset import System, TestSet
from sigtest.decide.facts import no_rows
from sigtest.decide.summary import report_of_rows
from sigtest.errors import InputError, LimitError, RecipeError, SigtestError
from sigtest.metrics.scores import ScoreMetric
from sigtest.report import Report, WarningReport
from sigtest.requests.comparisons import CAPACITY
from sigtest.requests.notes import NEVER, Noted
from sigtest.requests.recipe import Recipe
from sigtest.requests.shared_tasks import Phase
from sigtest.significance import units_tests
from workers.errors import CapacityError, NotReadyError, TakenError, guarded
from workers.queue import Context
from workers.store import codec, keys, totals
from workers.store.boards import (
    Column,
    SystemRecord,
    TestSetRecord,
    TestSetStore,
    row_name,
)
from workers.store.codec import decoded
from workers.store.lasting import unseen
from workers.store.questions import finished
from workers.store.records import FIELDS, Check, Link, Record, Task, clock, fields_of
from workers.store.shared_tasks import (
    Entry,
    SharedTaskStore,
    admit,
    note,
    receipts_of,
    standing,
)
from workers.store.usage import check_lasting, check_room
from workers.tasks import boards

NOTHING: Noted = MappingProxyType({})
Room = Callable[[TestSetRecord], tuple[int, str]]  # systems that it may have, by which setting


@dataclass(frozen=True)
class NewTestSet:
    """A test set that is asked for, checked.

    Attributes:
        name: What its caller calls it.
        testset: References, documents, labels.
        part: The settings, without systems; its `replicas` are those of every system to come.
        capacity: How many systems may be submitted; the size of its family.
    """

    name: str
    testset: TestSet
    part: Part
    capacity: int

    @classmethod
    def of(
        cls,
        name: str,
        testset: TestSet,
        recipe: Recipe,
        replicas: int = 1,
        capacity: int = CAPACITY,
    ) -> NewTestSet:
        """Check that test set and settings fit each other.

        Args:
            name: What to call it.
            testset: References, documents, labels.
            recipe: What to compute.
            replicas: Training replicas that every system brings; 1 for plain hypotheses.
            capacity: How many systems may be submitted, from first to last.

        Raises:
            SigtestError: A bad name, or settings that a leaderboard cannot work with.
        """
        check_name(name, "test set")
        if recipe.baselines:
            raise RecipeError("A leaderboard compares all pairs; leave pairs out.", field="pairs")
        if recipe.studentised:
            raise RecipeError(
                "A leaderboard keeps no standard errors of resamples; take the bootstrap with "
                "percentile intervals here, and for bootstrap_t a comparison whose family is the "
                f"capacity ({capacity}).",
                field="interval" if recipe.interval == "bootstrap_t" else "tests",
            )
        for test in units_tests(recipe.tests):
            raise RecipeError(
                f"A leaderboard keeps no statistics that {test} could look at; take "
                "approximate_randomization or another test that draws.",
                field="tests",
            )
        _require_measurable(testset, recipe, replicas)
        require_units(testset, recipe)
        full = boards.decided(recipe, capacity)
        fixed = full.fitted([testset]).but(resamples=full.resolved(1))
        return cls(name, testset, part_of(testset, fixed, (), (), replicas), capacity)


def _require_measurable(testset: TestSet, recipe: Recipe, replicas: int) -> None:
    """Check that there can be systems which bring what the metrics measure."""
    for label, metric in zip(recipe.labels, recipe.metrics, strict=True):
        supplied = isinstance(metric, ScoreMetric)
        if supplied and replicas > 1:
            raise RecipeError(
                f"{label} is about scores computed elsewhere, which systems with replicas do not "
                "bring; leave out one of the two.",
                field="metrics",
            )
        if supplied:
            continue
        if not testset.references:
            raise InputError(f"{label} needs references; none are given.", field="references")
        # what says the same as the references can be measured, or nothing can
        metric.check(testset, System("reference", testset.references[0]))


@dataclass(frozen=True)
class Leaderboard:
    """What a leaderboard shows.

    Attributes:
        testset: The test set.
        record: The comparison that it shows; nothing before there is one.
        fresh: Whether it has every system that is measured.
    """

    testset: TestSetRecord
    record: Record | None
    fresh: bool

    @property
    def comparison(self) -> str | None:
        """Id of the comparison."""
        return self.record.id if self.record is not None else None

    @property
    def systems(self) -> tuple[str, ...]:
        """Names of the systems that are in it."""
        return self.record.about.systems if self.record is not None else ()

    @property
    def pending(self) -> tuple[str, ...]:
        """Names of the systems that are to be measured, or not in it yet."""
        there = {*self.systems, *self.testset.failed}.difference(self.testset.pending)
        return tuple(name for name in sorted(self.testset.digests) if name not in there)

    @property
    def lacking(self) -> tuple[str, ...]:
        """Those of them that are not in it."""
        return tuple(name for name in self.pending if name not in self.systems)

    @property
    def renewed(self) -> tuple[str, ...]:
        """Those of them that are in it as they were."""
        return tuple(name for name in self.pending if name in self.systems)


@dataclass(frozen=True)
class Claim:
    """A significant difference that a leaderboard has shown.

    Attributes:
        a: First system.
        b: Second system.
        claimed_at: When it was first shown, seconds since the epoch.
    """

    a: str
    b: str
    claimed_at: float


@guarded
class TestSets(TestSetStore):
    """The test sets of all callers; safe to share between threads.

    Args:
        context: The stores and the queue.
    """

    def __init__(self, context: Context) -> None:
        super().__init__(context.redis, context.settings)
        self._context = context
        self._feed = context.feed

    # test sets

    def make(
        self, wanted: NewTestSet, caller: str, notes: Noted = NOTHING
    ) -> tuple[TestSetRecord, bool]:
        """Make a test set; equal content and settings from the same caller are the same one.

        Args:
            wanted: The test set.
            caller: Whose it is.
            notes: What is written on it; on one that exists, what is not said stays.

        Returns:
            The test set, and whether it was made.
        """
        check_room(self.redis, self.settings, caller)
        part, texts = wanted.part, wanted.testset
        sizes = (str(part.replicas), str(wanted.capacity))
        testset_id = keys.hashed(caller, "testset", wanted.name, part.key, *sizes, part.testset)
        summary = {
            "name": wanted.name,
            "content": _content(part, texts),
            "settings": {**part.recipe.as_json(), "replicas": part.replicas},
            "metrics": part.recipe.labels,
        }
        facts = {
            "part": codec.pack_json(part.as_json()),
            "summary": json.dumps(summary),
            "resamples": part.resamples,
            "capacity": wanted.capacity,
        }
        text = codec.pack_json(texts.as_json() | {"segments": texts.segments})
        return self.create(testset_id, caller, facts, notes, text=text)

    def raise_resamples(
        self, testset_id: str, caller: str, resamples: int, check: Check = unseen
    ) -> TestSetRecord:
        """Draw more resamples, the first of which stay; every system is measured again.

        Raises:
            RecipeError: Fewer than there are, or more than there can be.
        """
        self.part(testset_id).recipe.but(resamples=resamples)  # checks the range
        record = keys.key("testset", testset_id)
        forgotten = ("testset-rows", "testset-failures", "attempts")

        def write(pipe: Any) -> bool:
            before = int(pipe.hget(record, "resamples"))
            if resamples < before:
                raise RecipeError(
                    f"The test set has {before:,} resamples already; more can be asked for, not "
                    f"{resamples:,}.",
                    field="resamples",
                )
            pipe.multi()
            if resamples > before:
                pipe.hset(record, "resamples", resamples)
                pipe.delete(*(keys.key(part, testset_id) for part in forgotten))
                pipe.sadd(keys.JOINING, testset_id)
            return True

        self.change(testset_id, caller, write, check)
        state = self.find(testset_id, caller)
        self._feed.add(caller, state.joins)
        return state

    def enrol(self, task_id: str, caller: str, families: Mapping[str, int]) -> None:
        """Let test sets belong to a shared task, all or none; `auto` resamples follow.

        Args:
            task_id: The task.
            caller: Whose they are.
            families: By test set, of how many systems all pairs are corrected together.

        Raises:
            TakenError: One belongs to another task, or has systems and another family.
        """

        def write(pipe: Any) -> None:
            for name, family in families.items():
                own = self.find(name, caller)
                other = keys.key("shared-task", own.task or "")
                if own.task != task_id and pipe.exists(other):
                    raise TakenError(f"The test set {name} has another task.", field="testsets")
                if own.submissions and family != own.family:
                    raise TakenError(
                        f"The test set {name} has systems already: how many pairs are corrected "
                        "together is fixed by then. Take family testset, or make a new test set.",
                        field="family",
                    )
            pipe.multi()
            for record, family in zip(records, families.values(), strict=True):
                pipe.hset(record, mapping={"task": task_id, "family": family})

        records = [keys.key("testset", name) for name in families]
        self.redis.transaction(write, *records)
        for name, family in families.items():
            part = self.part(name)
            auto, capacity = part.recipe.but(resamples="auto"), self.find(name, caller).capacity
            before, now = (boards.decided(auto, own).resolved(1) for own in (capacity, family))
            if part.resamples == before < now:
                self.raise_resamples(name, caller, now)

    def warnings(self, testset_id: str, system: SystemRecord) -> list[WarningReport]:
        """What health checks say of a system; nothing before it is measured."""
        (packed,) = self.rows(testset_id, [row_name("said", system.digest)])
        if packed is None:
            return []
        notes: Any = codec.unpack_json(packed)
        return boards.SystemNotes(*notes).warnings(system.name)

    def delete(self, name: str, caller: str, check: Check = unseen) -> None:
        """Delete a test set with its systems and everything that was computed."""
        super().delete(name, caller, check)
        totals.forget(self.redis, name)
        with suppress(OutOfMemoryError):  # of the tasks that come next; they come later
            self._feed.drop(name)

    # systems

    def put(
        self,
        testset_id: str,
        caller: str,
        system: System,
        replaces: bool,
        room: Room,
        notes: Noted = NOTHING,
        check: Check | None = None,
        entry: Entry | None = None,
    ) -> tuple[SystemRecord, str]:
        """Add a system, or replace one by other content, and write on it; a worker measures it.

        Args:
            testset_id: The test set.
            caller: Whose it is.
            system: What it brings.
            replaces: Whether other content under the same name may go.
            room: How many systems there may be.
            notes: What is written on it; what is not said stays.
            check: Raises where the system that is there is not what its caller thinks.
            entry: Of a team of a shared task, whose rules hold, and whose receipt is written, too.

        Returns:
            The system, and what was done: `created`, `replaced`, `known`, or `again` where the
            same content had failed.

        Raises:
            SigtestError: It does not fit its test set, or lacks what the metrics measure.
            TakenError: Other content is there under this name, or it is one of a team's.
            LimitError: The test set has as many systems as it may have.
            CapacityError: It has taken as many as were declared when it was made.
        """
        state = self._fitting(testset_id, caller, system)
        most, limit = room(state)
        check_room(self.redis, self.settings, caller)
        name, digest = system.name, system.sha256
        output = codec.pack_json(system.as_json())
        written = {f"{part} {name}": value for part, value in fields_of(notes).items()}
        record = keys.key("testset", testset_id)
        systems, failures, left, envelopes, *_ = watched = _changed(testset_id, entry)

        def write(pipe: Any) -> str:
            if check is not None:
                check(self.system(testset_id, caller, name).etag)
            fields = ["capacity", "submissions", "resamples", "expires", "task"]
            capacity, submissions, resamples, expires, task = pipe.hmget(record, fields)
            before = decoded(pipe.hget(systems, name) or b"")
            count = pipe.hlen(systems)
            failed = pipe.hexists(failures, digest)
            back = pipe.sismember(left, f"{digest} {name}")
            new = before != digest
            size = len(output) if new else 0
            check_lasting(self.redis, self.settings, caller, int(expires or 0), size)
            task_id = decoded(task or b"")
            receipt, reserved = admit(pipe, testset_id, task_id, entry, name, digest, before)
            own = replaces if receipt is None else receipt.event == "replaced"
            spends = new and not back  # what comes back has its place: its pairs never left
            places = int(submissions or 0), int(capacity)
            holds = (
                before != "" and new and not own,
                not before and count >= most,
                spends and places[1] - places[0] <= reserved,
            )
            if True in holds:
                raise _refusal(name, entry, holds, (most, limit), places)
            digests = list(map(decoded, pipe.hvals(systems)))
            pipe.multi()
            pipe.hincrby(record, "submissions", int(spends))
            verdict = "again" if failed else "known"
            if failed:
                pipe.hdel(failures, digest)
                join = Task("join", testset_id, (digest, int(resamples or 0)))
                pipe.hdel(keys.key("attempts", testset_id), join.key)
            if new:
                verdict = "replaced" if before else "created"
                pipe.hset(systems, name, digest)
                pipe.hset(keys.key("testset-outputs", testset_id), digest, output)
                if before:
                    _leave(pipe, testset_id, name, before, digests)
            if verdict != "known":
                pipe.sadd(keys.JOINING, testset_id)
            if written:
                pipe.hset(envelopes, mapping=written)
            note(pipe, testset_id, receipt)
            return verdict

        verdict = self.change(testset_id, caller, write, watched=watched)
        state = self.find(testset_id, caller)
        if verdict != "known":
            self._feed.add(caller, [join for join in state.joins if digest in join.arguments])
        return state.system(name), verdict

    def remove(
        self,
        testset_id: str,
        caller: str,
        name: str,
        check: Check = unseen,
        entry: Entry | None = None,
    ) -> None:
        """Delete a system with its texts; `check` and `entry` as for `put`.

        Raises:
            NotFoundError: There is none of this name.
        """
        systems, _, _, envelopes, *_ = watched = _changed(testset_id, entry)

        def write(pipe: Any) -> str:
            check(self.system(testset_id, caller, name).etag)
            held = pipe.hget(systems, name)
            digests = list(map(decoded, pipe.hvals(systems)))
            before = receipts_of(pipe, testset_id)
            receipt = standing(before).get(name)
            if entry is not None:
                receipt = entry.receipt(pipe, before, decoded(held or b""), withdrawn=True)
            elif receipt is not None:
                receipt = replace(receipt, at=clock(pipe), event="removed")
            pipe.multi()
            note(pipe, testset_id, receipt)
            pipe.hdel(systems, name)
            pipe.hdel(envelopes, *(f"{part} {name}" for part in FIELDS))
            _leave(pipe, testset_id, name, decoded(held), digests)
            pipe.sadd(keys.JOINING, testset_id)
            return "removed"

        self.change(testset_id, caller, write, watched=watched)
        with suppress(OutOfMemoryError):
            self.redis.set(keys.ERASE, 1)

    def _fitting(self, testset_id: str, caller: str, system: System) -> TestSetRecord:
        """A test set that a system fits, which brings what its metrics measure."""
        record = self.find(testset_id, caller)
        require_distinct_names({*record.digests, system.name})
        part = self.part(testset_id)
        brought = len(system.runs)
        if brought != part.replicas:
            raise InputError(
                f"System {system.name!r} brings {_replicas(brought)}; every system of this test "
                f"set brings {_replicas(part.replicas)}.",
                field="replicas",
                system=system.name,
            )
        system.require_segments(part.segments)
        testset = self.testset(testset_id)
        for metric in part.recipe.metrics:
            for run in system.runs:
                metric.check(testset, run)
        return record

    def system(self, testset_id: str, caller: str, name: str) -> SystemRecord:
        """One system of a test set.

        Raises:
            NotFoundError: There is none of this name.
        """
        return self.find(testset_id, caller).system(name)

    def systems(
        self, testset_id: str, caller: str, after: str | None, limit: int
    ) -> tuple[list[SystemRecord], str | None]:
        """Systems in the order of their names, and the name after which the next page starts."""
        record = self.find(testset_id, caller)
        names = sorted(name for name in record.digests if after is None or name > after)
        page = names[:limit]
        following = page[-1] if len(names) > limit else None
        return [record.system(name) for name in page], following

    # leaderboards

    def leaderboard(self, testset_id: str, caller: str, asked: set[str]) -> Leaderboard:
        """A leaderboard as far as it is made; a worker is asked for what is missing.

        Args:
            testset_id: The test set.
            caller: Whose it is.
            asked: Comparisons that a worker was asked for when it was looked at before; gets those
                of this time.
        """
        state = self.find(testset_id, caller)
        part = boards.shown_part(self.part(testset_id), state)
        wanted = boards.id_of(state, part, boards.p_values_of_gone(self, state, part))
        record = self._context.questions.stored(wanted)
        fresh = record is not None
        if not fresh:
            start = Task(boards.join.__name__, testset_id).key
            joins = any(task.startswith(start) for task in self._feed.jobs.running())
            if wanted not in asked and not joins:  # who joins writes it
                self._feed.add_view(caller, state.refreshing(wanted))
                asked.add(wanted)
            record = self._context.questions.stored(self.shown(testset_id))
        return Leaderboard(state, record, fresh)

    def behind(self, link: Link) -> Record:
        """What the public link of a board leads to: the comparison that it shows now.

        Raises:
            NotReadyError: It shows none yet, or that of a task which is not published.
        """
        board = self.stored(link.name)
        if board is None:
            raise self.gone(link.name)
        tasks = SharedTaskStore(self.redis, self.settings)
        task = tasks.stored(board.task) if board.task else None
        if task is not None and task.phase is not Phase.PUBLISHED:
            raise NotReadyError("The boards of this task are not published yet.")
        shown = self.leaderboard(link.name, board.caller, set())
        if shown.record is None:
            raise NotReadyError("The board is still to be written; ask again.")
        return replace(shown.record, link=replace(link, title=board.name))

    def freeze(self, board: Leaderboard, notes: Noted) -> tuple[Record, bool]:
        """Let what a leaderboard shows stay as it is, whatever becomes of its test set.

        Args:
            board: The leaderboard, which has everything that is measured.
            notes: What is written on the frozen comparison; the title is the board's name.

        Returns:
            The frozen comparison, whose id is a function of test set and comparison; whether it was
            made.

        Raises:
            NotReadyError: Systems are still to be measured, or there are none.
            GoneError: The comparison is no longer there.
            BudgetError: The caller has too much that lasts.
        """
        shown = board.record
        if shown is None or board.pending or not (board.fresh and board.systems):
            waits = f"Not in it yet: {', '.join(board.pending)}; ask" if board.pending else "Ask"
            raise NotReadyError(
                f"A board is frozen when all its systems are measured. {waits} again."
            )
        questions, testset = self._context.questions, board.testset
        record, report = questions.with_report(shown.id)
        if record is None or report is None:
            raise self.gone(testset.id)
        outline = questions.read(shown.id)[1]
        facts = {
            **finished(record.kind, record.about, outline, record.pictures, record.computed_with),
            **fields_of({"title": testset.name}),
            "testset": testset.id,
            "frozen": 1,
        }
        frozen_id = keys.hashed("frozen", testset.id, shown.id)
        packed = codec.pack_bytes(report)
        lasting = {**notes, "expires": NEVER}
        return questions.create(frozen_id, testset.caller, facts, lasting, text=packed)

    def claims(
        self, board: TestSetRecord, column: Column, pairs: Sequence[tuple[str, str]]
    ) -> tuple[Claim, ...]:
        """When the significant differences of a leaderboard were first shown.

        Args:
            board: The test set.
            column: The metric and test.
            pairs: Names of the systems that differ.
        """
        columns, rows = self.claimed(board.id)
        if column not in columns:
            return ()
        place = len(columns) + columns.index(column)
        digests = board.digests
        held = [rows.get(((a, digests.get(a, "")), (b, digests.get(b, "")))) for a, b in pairs]
        return tuple(
            Claim(a, b, float(row[place]))
            for (a, b), row in zip(pairs, held, strict=True)
            if row is not None and not np.isnan(row[place])  # or one was replaced since
        )

    def empty(self, board: TestSetRecord) -> Report:
        """What a leaderboard shows before any system is measured."""
        alone = boards.shown_part(self.part(board.id), replace(board, digests={}))
        rows = [no_rows(alone) for _ in alone.recipe.metrics]
        return report_of_rows(alone, rows, rows)


def _changed(testset_id: str, entry: Entry | None) -> list[str]:
    """Keys of what changes when a system comes or goes, and of the task whose rules hold."""
    parts = ("systems", "failures", "left", "envelopes", "receipts")
    names = [keys.key(f"testset-{part}", testset_id) for part in parts]
    return names if entry is None else [*names, entry.record]


def _leave(pipe: Any, testset_id: str, name: str, digest: str, digests: list[str]) -> None:
    """Note that a system leaves; its content goes where no other of these is the same."""
    pipe.sadd(keys.key("testset-left", testset_id), f"{digest} {name}")
    if digests.count(digest) == 1:
        pipe.hdel(keys.key("testset-outputs", testset_id), digest)
        pipe.hdel(keys.key("testset-failures", testset_id), digest)


def _refusal(
    name: str,
    entry: Entry | None,
    holds: tuple[bool, bool, bool],
    room: tuple[int, str],
    places: tuple[int, int],
) -> SigtestError:
    """Why a system is not taken.

    Args:
        name: Of the system.
        entry: Of a team of a shared task, where one submits it.
        holds: Whether its name is taken, the test set full, or its capacity spent.
        room: How many systems there may be, and the setting that says so.
        places: How many were there, from first to last, and the capacity.
    """
    taken, full, _ = holds
    if entry is not None and taken:
        words = f"A system that is not yours has the name {entry.system!r}; take another."
        return TakenError(words, field="name", system=entry.system)
    if entry is not None:  # no numbers: they are other teams'
        words = "The test set has no more room for your team; ask its organiser."
        return CapacityError(words, field="name")
    if taken:
        words = (
            f"The test set has a system {name!r} with other content; replace it (?replace=true, "
            "--replace, or the box of the form), or take another name."
        )
        return TakenError(words, field="name", system=name)
    if full:
        most, limit = room
        words = (
            f"The test set has {most:,} system{'' if most == 1 else 's'} already, the most that "
            f"{limit} allows with its replicas, metrics and resamples."
        )
        return LimitError(words, limit=limit, field="name", system=name)
    words = (
        f"The test set has taken {places[0]} systems, deleted and replaced ones among them, and "
        f"its capacity is {places[1]}: its claims count with no more. Make a test set with a "
        "larger capacity."
    )
    return CapacityError(words, field="name", system=name)


def _content(part: Part, testset: TestSet) -> dict[str, Any]:
    content: dict[str, Any] = {"segments": part.segments, "references": part.references}
    if part.document_count:
        content["documents"] = part.document_count
    if testset.labels is not None:
        content["labels"] = len(set(testset.labels))
    return {**content, "sha256": part.testset}


def _replicas(count: int) -> str:
    return f"{count} replicas" if count > 1 else "no replicas"
