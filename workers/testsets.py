"""Test sets with systems that arrive over time, and their leaderboards. `app` calls this.

Every function may raise StorageError, and those that take an id raise NotFoundError for one that
is unknown or another caller's and GoneError for one that expired or was deleted.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from contextlib import suppress
from dataclasses import dataclass, replace
from types import MappingProxyType
from typing import Any

from redis.exceptions import OutOfMemoryError

from sigtest.comparison.comparison import part_of, require_units
from sigtest.comparison.plan import Part
from sigtest.data.names import check_name, require_own_names
from sigtest.data.testset import System, TestSet
from sigtest.decide.facts import no_rows
from sigtest.decide.summary import report_of_rows
from sigtest.errors import InputError, LimitError, RecipeError
from sigtest.metrics.scores import ScoreMetric
from sigtest.report import Report, WarningReport
from sigtest.requests.comparisons import CAPACITY
from sigtest.requests.notes import Noted
from sigtest.requests.recipe import Recipe
from sigtest.requests.shared_tasks import Phase
from sigtest.significance import own_tests
from workers.errors import CapacityError, NotFoundError, NotReadyError, TakenError, guarded
from workers.queue import Context
from workers.store import codec, keys
from workers.store.boards import (
    KIND,
    Choice,
    Column,
    Rows,
    State,
    SystemRecord,
    TestSetRecord,
    gone,
)
from workers.store.records import ALL, Check, Filter, Link, Record, Task, page
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
        for test in own_tests(recipe.tests):
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
class TestSets:
    """The test sets of all callers; safe to share between threads.

    Args:
        context: The stores and the queue.
    """

    def __init__(self, context: Context) -> None:
        self._context = context
        self._store = context.testsets
        self._feed = context.feed

    # test sets

    def create(
        self, asked: NewTestSet, caller: str, notes: Noted = MappingProxyType({})
    ) -> tuple[TestSetRecord, bool]:
        """Make a test set; equal content and settings from the same caller are the same one.

        Args:
            asked: The test set.
            caller: Whose it is.
            notes: What is written on it; on one that exists, what is not said stays.

        Returns:
            The test set, and whether it was made.
        """
        check_room(self._store.redis, self._context.settings, caller)
        part = asked.part
        sizes = (str(part.replicas), str(asked.capacity))
        testset_id = keys.hashed(caller, "testset", asked.name, part.key, *sizes, part.testset)
        while True:
            created = self._store.create(
                testset_id, asked.name, caller, asked.testset, part, asked.capacity, notes
            )
            state = self._store.state(testset_id)
            if state is not None:
                return state.record, created  # otherwise somebody deleted it in between

    def find(self, testset_id: str, caller: str) -> TestSetRecord:
        """A test set of the caller."""
        return self._state(testset_id, caller).record

    def testset(self, testset_id: str, caller: str) -> TestSet:
        """References, documents and labels of a test set."""
        self._state(testset_id, caller)
        return self._store.testset(testset_id)

    def listing(
        self, caller: str, cursor: str | None, limit: int, wanted: Filter = ALL
    ) -> tuple[list[TestSetRecord], str | None]:
        """The caller's test sets, newest first, and the cursor of the next page if there is one.

        Raises:
            InputError: A cursor that no listing gave.
        """

        def passes(state: State) -> bool:
            return wanted.passes(state.record.envelope, name=state.record.name)

        listing = keys.of_caller("listing", caller, KIND)
        found, following = page(
            self._store.redis, listing, cursor, limit, self._store.state, passes
        )
        return [state.record for state in found], following

    def describe(
        self, testset_id: str, caller: str, notes: Noted, check: Check = lambda etag: None
    ) -> TestSetRecord:
        """Write on a test set; what is not said stays.

        Args:
            testset_id: The test set.
            caller: Whose it is.
            notes: What is written.
            check: Raises where the test set is not what its caller thinks.
        """
        own = self._checked(testset_id, caller, check)
        if not self._store.describe(testset_id, caller, notes, own):
            raise gone(testset_id)
        return self._state(testset_id, caller).record

    def raise_resamples(
        self, testset_id: str, caller: str, resamples: int, check: Check = lambda etag: None
    ) -> TestSetRecord:
        """Draw more resamples, the first of which stay; every system is measured again.

        Args:
            testset_id: The test set.
            caller: Whose it is.
            resamples: How many.
            check: Raises where the test set is not what its caller thinks.

        Raises:
            RecipeError: Fewer than there are, or more than there can be.
        """
        state = self._state(testset_id, caller)
        part = self._store.part(testset_id)
        part.recipe.but(resamples=resamples)  # checks the range
        own = self._checked(testset_id, caller, check)
        verdict = self._store.raise_resamples(testset_id, caller, resamples, own)
        if verdict == "gone":
            raise gone(testset_id)
        if verdict == "fewer":
            raise RecipeError(
                f"The test set has {state.resamples:,} resamples already; more can be asked for, "
                f"not {resamples:,}.",
                field="resamples",
            )
        state = self._state(testset_id, caller)
        self._feed.add(caller, boards.joins(state))
        return state.record

    def enrol(self, testset_id: str, caller: str, task_id: str, family: int) -> None:
        """Let a test set belong to a shared task; `auto` resamples follow from its family.

        Args:
            testset_id: The test set.
            caller: Whose it is.
            task_id: The task.
            family: Of how many systems all pairs are corrected together.

        Raises:
            TakenError: It belongs to another task, or has systems and another family.
        """
        verdict = self._store.enrol(testset_id, caller, task_id, family)
        if verdict == "gone":
            raise gone(testset_id)
        if verdict == "elsewhere":
            raise TakenError(f"The test set {testset_id} has another task.", field="testsets")
        if verdict == "begun":
            raise TakenError(
                f"The test set {testset_id} has systems already: how many pairs are corrected "
                "together is fixed by then. Take family testset, or make a new test set.",
                field="family",
            )
        part, capacity = self._store.part(testset_id), self.find(testset_id, caller).capacity
        auto = part.recipe.but(resamples="auto")
        before, now = (
            boards.decided(auto, Choice(), own).resolved(1) for own in (capacity, family)
        )
        if part.resamples == before < now:
            self._store.raise_resamples(testset_id, caller, now)

    def warnings(self, testset_id: str, system: SystemRecord) -> list[WarningReport]:
        """What health checks say of a system; nothing before it is measured."""
        (packed,) = self._store.rows(testset_id, [Rows(0).said(system.digest)])
        if packed is None:
            return []
        notes: Any = codec.unpack_json(packed)
        return boards.SystemNotes(*notes).warnings(system.name)

    def delete(self, testset_id: str, caller: str, check: Check = lambda etag: None) -> None:
        """Delete a test set with its systems and everything that was computed.

        Args:
            testset_id: The test set.
            caller: Whose it is.
            check: Raises where the test set is not what its caller thinks.
        """
        self._store.delete(testset_id, caller, self._checked(testset_id, caller, check))
        with suppress(OutOfMemoryError):  # of the tasks that come next; they come later
            self._feed.drop(testset_id)

    # systems

    def check(self, testset_id: str, caller: str, system: System) -> TestSetRecord:
        """Check that a system fits its test set and brings what its metrics measure.

        Returns:
            The test set.

        Raises:
            SigtestError: It does not.
        """
        state = self._state(testset_id, caller)
        require_own_names({*state.digests, system.name})
        part = self._store.part(testset_id)
        brought = len(system.runs)
        if brought != part.replicas:
            raise InputError(
                f"System {system.name!r} brings {_replicas(brought)}; every system of this test "
                f"set brings {_replicas(part.replicas)}.",
                field="replicas",
                system=system.name,
            )
        system.require_segments(part.segments)
        testset = self._store.testset(testset_id)
        for metric in part.recipe.metrics:
            for run in system.runs:
                metric.check(testset, run)
        return state.record

    def put(
        self,
        testset_id: str,
        caller: str,
        system: System,
        replaces: bool,
        most: int,
        limit: str,
        notes: Noted = MappingProxyType({}),
        check: Check | None = None,
        entry: Entry | None = None,
    ) -> tuple[SystemRecord, str]:
        """Add a system, or replace one by other content.

        Args:
            testset_id: The test set.
            caller: Whose it is.
            system: What it brings, checked by `check`.
            replaces: Whether other content under the same name may go.
            most: Systems that the test set may have.
            limit: The setting that says so.
            notes: What is written on it; what is not said stays.
            check: Raises where the system that is there is not what its caller thinks.
            entry: Of a team of a shared task, whose rules hold.

        Returns:
            The system, and what was done: `created`, `replaced`, `known`, or `again` where the
            same content had failed.

        Raises:
            TakenError: Other content is there under this name.
            LimitError: The test set has as many systems as it may have.
            CapacityError: It has taken as many as were declared when it was made.
        """
        check_room(self._store.redis, self._context.settings, caller)
        own = None if check is None else self._seen(testset_id, caller, system.name, check)
        verdict = self._store.put(testset_id, caller, system, replaces, most, notes, own, entry)
        if verdict == "gone":
            raise gone(testset_id)
        if entry is not None and verdict in ("full", "spent"):
            raise CapacityError(  # no numbers: they are other teams'
                "The test set has no more room for your team; ask its organiser.", field="name"
            )
        if entry is not None and verdict == "taken":
            raise TakenError(
                f"A system that is not yours has the name {entry.system!r}; take another.",
                field="name",
                system=entry.system,
            )
        if verdict == "foreign":
            team = system.name.partition(".")[0]
            raise TakenError(
                f"{system.name!r} is a name of the team {team!r}, which submits with its token; "
                "take a name that does not begin so.",
                field="name",
                system=system.name,
            )
        if verdict == "taken":
            raise TakenError(
                f"The test set has a system {system.name!r} with other content; replace "
                "it (?replace=true, --replace, or the box of the form), or take another name.",
                field="name",
                system=system.name,
            )
        if verdict == "full":
            raise LimitError(
                f"The test set has {most:,} system{'' if most == 1 else 's'} already, the most "
                f"that {limit} allows with its replicas, metrics and resamples.",
                limit=limit,
                field="name",
                system=system.name,
            )
        state = self._state(testset_id, caller)
        if verdict == "spent":
            raise CapacityError(
                f"The test set has taken {state.record.submissions} systems, deleted and replaced "
                f"ones among them, and its capacity is {state.record.capacity}: its claims count "
                "with no more. Make a test set with a larger capacity.",
                field="name",
                system=system.name,
            )
        if verdict != "known":
            joins = [e for e in boards.joins(state) if system.sha256 in e.arguments]
            self._feed.add(caller, joins)
        return self._system(state, system.name), verdict

    def system(self, testset_id: str, caller: str, name: str) -> SystemRecord:
        """One system of a test set.

        Raises:
            NotFoundError: There is none of this name.
        """
        return self._system(self._state(testset_id, caller), name)

    def systems(
        self, testset_id: str, caller: str, after: str | None, limit: int
    ) -> tuple[list[SystemRecord], str | None]:
        """Systems in the order of their names, and the name after which the next page starts."""
        state = self._state(testset_id, caller)
        names = sorted(name for name in state.digests if after is None or name > after)
        page = names[:limit]
        following = page[-1] if len(names) > limit else None
        return [state.system(name) for name in page], following

    def remove(
        self,
        testset_id: str,
        caller: str,
        name: str,
        check: Check = lambda etag: None,
        entry: Entry | None = None,
    ) -> None:
        """Delete a system with its texts.

        Args:
            testset_id: The test set.
            caller: Whose it is.
            name: The system's name.
            check: Raises where the system is not what its caller thinks.
            entry: Of a team of a shared task, whose rules hold.

        Raises:
            NotFoundError: There is none of this name.
        """
        own = self._seen(testset_id, caller, name, check)
        self._store.remove(testset_id, caller, name, own, entry)

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
        state = self._state(testset_id, caller)
        settings = self._store.part(testset_id)
        choice = choice.beside(settings.recipe)
        part = boards.shown_part(settings, state, choice)
        wanted = boards.id_of(state, part, boards.p_values_of_gone(self._store, state, part))
        shown: str | None = wanted
        stored = self._context.questions.find(wanted)
        if stored is None:
            own = choice == Choice() and self._joins(testset_id)  # who joins writes it
            if wanted != asked and not own:
                task = boards.refreshing(state, wanted, choice)
                self._feed.add_view(caller, task)
            shown = self._store.comparison_of(testset_id, choice.spelled)
            stored = self._context.questions.find(shown) if shown is not None else None
        systems = stored.about.systems if stored is not None else ()
        return (
            Leaderboard(
                testset=state.record,
                comparison=shown if stored is not None else None,
                systems=systems,
                names=tuple(sorted(state.digests)),
                waiting=state.pending,
                failed=state.failed,
                fresh=shown == wanted,
                binding=choice == Choice(),
            ),
            wanted,
        )

    def linked(self, link: Link) -> Record:
        """What a public link leads to: a question, or the comparison that its board shows now.

        Raises:
            NotReadyError: It shows none yet, or that of a task which is not published.
        """
        state = self._store.state(link.name)
        if state is None:
            record = self._context.questions.find(link.name)
            if record is None:
                raise gone(link.name)
            return replace(record, link=link)
        store = SharedTaskStore(self._store.redis, self._context.settings)
        task = store.find(state.record.task) if state.record.task else None
        if task is not None and task.phase is not Phase.PUBLISHED:
            raise NotReadyError("The boards of this task are not published yet.")
        shown, _ = self.leaderboard(link.name, state.caller, Choice())
        record = self._context.questions.find(shown.comparison or "")
        if record is None:
            raise NotReadyError("The board is still to be written; ask again.")
        return replace(record, link=replace(link, title=shown.testset.name))

    def freeze(self, shown: Leaderboard, caller: str, notes: Noted) -> tuple[Record, bool]:
        """Let what a leaderboard shows stay as it is, as a comparison of its own.

        Args:
            shown: The leaderboard, which has everything that is measured.
            caller: Whose it is.
            notes: What is written on the frozen comparison; the title is the board's name.

        Returns:
            The frozen comparison, and whether it was made.

        Raises:
            NotReadyError: Systems are still to be measured, or there are none.
        """
        record = self._context.questions.find(shown.comparison or "")
        if record is None or shown.pending or not (shown.fresh and shown.systems):
            waits = f"Not in it yet: {', '.join(shown.pending)}; ask" if shown.pending else "Ask"
            raise NotReadyError(
                f"A board is frozen when all its systems are measured. {waits} again."
            )
        frozen_id, created = self._store.freeze(record, shown.testset.name, notes)
        frozen = self._context.questions.find(frozen_id)
        if frozen is None:
            raise gone(shown.testset.id)  # somebody deleted it in between
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
        digests = self._state(testset_id, caller).digests
        shown = [pair for pair in pairs if digests.keys() >= set(pair)]
        if not shown:
            return ()
        asked = [((a, digests[a]), (b, digests[b])) for a, b in shown]
        times = self._store.times_of_claims(testset_id, column, asked)
        return tuple(
            Claim(a, b, when)
            for (a, b), when in zip(shown, times, strict=True)
            if when is not None  # one of them was replaced since
        )

    def empty(self, testset_id: str, caller: str, choice: Choice) -> Report:
        """What a leaderboard shows before any system is measured."""
        part = self._store.part(testset_id)
        family = self._state(testset_id, caller).record.family
        recipe = boards.decided(part.recipe, choice, family)
        alone = replace(part, systems=(), digests=(), recipe=recipe)
        rows = [no_rows(alone) for _ in part.recipe.metrics]
        return report_of_rows(alone, rows, rows)

    def _joins(self, testset_id: str) -> bool:
        """Whether a worker measures a system of a test set, and will write what is shown."""
        start = Task(boards.join.__name__, testset_id).key
        return any(task.startswith(start) for task in self._feed.jobs.running())

    def _checked(self, testset_id: str, caller: str, check: Check) -> Callable[[], None]:
        """Checks a test set of the caller as it is when it is called."""
        return lambda: check(self._state(testset_id, caller).record.etag)

    def _seen(self, testset_id: str, caller: str, name: str, check: Check) -> Callable[[], None]:
        """Checks a system as it is when it is called."""
        return lambda: check(self.system(testset_id, caller, name).etag)

    def _state(self, testset_id: str, caller: str) -> State:
        state = self._store.state(testset_id)
        if state is not None and state.caller == caller:
            return state
        if state is None and self._context.questions.was(testset_id, caller):
            raise gone(testset_id)
        raise NotFoundError(f"There is no test set {testset_id}.")

    def _system(self, state: State, name: str) -> SystemRecord:
        if name not in state.digests:
            raise NotFoundError(
                f"The test set {state.record.id} has no system {name!r}.", system=name
            )
        return state.system(name)


def _replicas(count: int) -> str:
    return f"{count} replicas" if count > 1 else "no replicas"
