"""Test sets with systems that arrive over time, and their leaderboards. `app` calls this.

Every function may raise StorageError, and those that take an id raise NotFoundError for one that
is unknown or another caller's and GoneError for one that expired or was deleted.
"""

from __future__ import annotations

import json
from collections.abc import Mapping, Sequence
from contextlib import suppress
from dataclasses import dataclass, replace
from typing import Any

from redis.exceptions import OutOfMemoryError

from sigtest.comparison.comparison import part_of, require_units
from sigtest.comparison.plan import Part
from sigtest.data.names import check_name, require_distinct_names
from sigtest.data.testset import System, TestSet
from sigtest.decide.facts import no_rows
from sigtest.decide.summary import report_of_rows
from sigtest.errors import InputError, RecipeError
from sigtest.metrics.scores import ScoreMetric
from sigtest.report import Report, WarningReport
from sigtest.requests.comparisons import CAPACITY
from sigtest.requests.notes import Noted
from sigtest.requests.recipe import Recipe
from sigtest.requests.shared_tasks import Phase
from sigtest.significance import units_tests
from workers.errors import NotReadyError, guarded
from workers.queue import Context
from workers.store import codec, keys
from workers.store.boards import (
    NOTHING,
    Choice,
    Column,
    SystemRecord,
    TestSetRecord,
    TestSetStore,
    row_name,
)
from workers.store.lasting import unseen
from workers.store.records import Check, Link, Record, Task
from workers.store.shared_tasks import Entry, SharedTaskStore
from workers.store.usage import check_room
from workers.tasks import boards


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
        full = boards.decided(recipe, Choice(), capacity)
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
        comparison: Id of the comparison that it shows; nothing before there is one.
        systems: Names of the systems that are in it.
        names: Names of all systems of the test set.
        waiting: Names of those that are to be measured, perhaps once more.
        failed: Why systems could not be measured, by name.
        fresh: Whether it has every system that is measured.
        binding: Whether it is decided as its test set says; only then a significant difference is
            a claim.
    """

    testset: TestSetRecord
    comparison: str | None
    systems: tuple[str, ...]
    names: tuple[str, ...]
    waiting: tuple[str, ...]
    failed: Mapping[str, str]
    fresh: bool
    binding: bool

    @property
    def pending(self) -> tuple[str, ...]:
        """Names of the systems that are to be measured, or not in it yet."""
        there = {*self.systems, *self.failed}.difference(self.waiting)
        return tuple(name for name in self.names if name not in there)

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
        record = super().raise_resamples(testset_id, caller, resamples, check)
        self._feed.add(caller, boards.joins(record))
        return record

    def enrol(self, testset_id: str, caller: str, task_id: str, family: int) -> None:
        """Let a test set belong to a shared task; `auto` resamples follow from its family.

        Raises:
            TakenError: It belongs to another task, or has systems and another family.
        """
        super().enrol(testset_id, caller, task_id, family)
        part, capacity = self.part(testset_id), self.find(testset_id, caller).capacity
        auto = part.recipe.but(resamples="auto")
        before, now = (
            boards.decided(auto, Choice(), own).resolved(1) for own in (capacity, family)
        )
        if part.resamples == before < now:
            super().raise_resamples(testset_id, caller, now)

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
        with suppress(OutOfMemoryError):  # of the tasks that come next; they come later
            self._feed.drop(name)

    # systems

    def check(self, testset_id: str, caller: str, system: System) -> TestSetRecord:
        """Check that a system fits its test set and brings what its metrics measure.

        Returns:
            The test set.

        Raises:
            SigtestError: It does not.
        """
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

    def put(
        self,
        testset_id: str,
        caller: str,
        system: System,
        replaces: bool,
        most: int,
        limit: str,
        notes: Noted = NOTHING,
        check: Check | None = None,
        entry: Entry | None = None,
    ) -> tuple[SystemRecord, str]:
        """Add a system, or replace one by other content; a worker measures it."""
        check_room(self.redis, self.settings, caller)
        own, verdict = super().put(
            testset_id, caller, system, replaces, most, limit, notes, check, entry
        )
        if verdict != "known" and (record := self.stored(testset_id)) is not None:
            joins = [e for e in boards.joins(record) if system.sha256 in e.arguments]
            self._feed.add(caller, joins)
        return own, verdict

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

    def leaderboard(
        self, testset_id: str, caller: str, choice: Choice, asked: str = ""
    ) -> tuple[Leaderboard, str]:
        """A leaderboard as far as it is made; a worker is asked for what is missing.

        Args:
            testset_id: The test set.
            caller: Whose it is.
            choice: How it is decided.
            asked: What the call before returned, where this is not the first.

        Returns:
            The leaderboard; and the comparison that a worker was asked for.

        Raises:
            RecipeError: An impossible choice.
        """
        record = self.find(testset_id, caller)
        settings = self.part(testset_id)
        choice = choice.beside(settings.recipe)
        part = boards.shown_part(settings, record, choice)
        wanted = boards.id_of(record, part, boards.p_values_of_gone(self, record, part))
        shown: str | None = wanted
        stored = self._context.questions.stored(wanted)
        if stored is None:
            own = choice == Choice() and self._joins(testset_id)  # who joins writes it
            if wanted != asked and not own:
                task = boards.refreshing(record, wanted, choice)
                self._feed.add_view(caller, task)
            shown = self.comparison_of(testset_id, choice.spelled)
            stored = self._context.questions.stored(shown) if shown is not None else None
        systems = stored.about.systems if stored is not None else ()
        return (
            Leaderboard(
                testset=record,
                comparison=shown if stored is not None else None,
                systems=systems,
                names=tuple(sorted(record.digests)),
                waiting=record.pending,
                failed=record.failed,
                fresh=shown == wanted,
                binding=choice == Choice(),
            ),
            wanted,
        )

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
        shown, _ = self.leaderboard(link.name, board.caller, Choice())
        record = self._context.questions.stored(shown.comparison or "")
        if record is None:
            raise NotReadyError("The board is still to be written; ask again.")
        return replace(record, link=replace(link, title=board.name))

    def freeze_board(self, shown: Leaderboard, notes: Noted) -> tuple[Record, bool]:
        """Let what a leaderboard shows stay as it is, as a comparison of its own.

        Args:
            shown: The leaderboard, which has everything that is measured.
            notes: What is written on the frozen comparison; the title is the board's name.

        Returns:
            The frozen comparison, and whether it was made.

        Raises:
            NotReadyError: Systems are still to be measured, or there are none.
        """
        record = self._context.questions.stored(shown.comparison or "")
        if record is None or shown.pending or not (shown.fresh and shown.systems):
            waits = f"Not in it yet: {', '.join(shown.pending)}; ask" if shown.pending else "Ask"
            raise NotReadyError(
                f"A board is frozen when all its systems are measured. {waits} again."
            )
        frozen_id, created = self.freeze(record, shown.testset.name, notes)
        frozen = self._context.questions.stored(frozen_id)
        if frozen is None:
            raise self.gone(shown.testset.id)  # somebody deleted it in between
        return frozen, created

    def claims(
        self, testset_id: str, caller: str, column: Column, pairs: Sequence[tuple[str, str]]
    ) -> tuple[Claim, ...]:
        """When the significant differences of a binding leaderboard were first shown.

        Args:
            testset_id: The test set.
            caller: Whose it is.
            column: The metric and test.
            pairs: Names of the systems that differ.
        """
        digests = self.find(testset_id, caller).digests
        shown = [pair for pair in pairs if digests.keys() >= set(pair)]
        if not shown:
            return ()
        asked = [((a, digests[a]), (b, digests[b])) for a, b in shown]
        times = self.times_of_claims(testset_id, column, asked)
        return tuple(
            Claim(a, b, when)
            for (a, b), when in zip(shown, times, strict=True)
            if when is not None  # one of them was replaced since
        )

    def empty(self, testset_id: str, caller: str, choice: Choice) -> Report:
        """What a leaderboard shows before any system is measured."""
        part = self.part(testset_id)
        family = self.find(testset_id, caller).family
        recipe = boards.decided(part.recipe, choice, family)
        alone = replace(part, systems=(), digests=(), recipe=recipe)
        rows = [no_rows(alone) for _ in part.recipe.metrics]
        return report_of_rows(alone, rows, rows)

    def _joins(self, testset_id: str) -> bool:
        """Whether a worker measures a system of a test set, and will write what is shown."""
        start = Task(boards.join.__name__, testset_id).key
        return any(task.startswith(start) for task in self._feed.jobs.running())


def _content(part: Part, testset: TestSet) -> dict[str, Any]:
    content: dict[str, Any] = {"segments": part.segments, "references": part.references}
    if part.document_count:
        content["documents"] = part.document_count
    if testset.labels is not None:
        content["labels"] = len(set(testset.labels))
    return {**content, "sha256": part.testset}


def _replicas(count: int) -> str:
    return f"{count} replicas" if count > 1 else "no replicas"
