"""Test sets with systems that arrive over time, and their leaderboards. `app` calls this.

Every function may raise StorageError, and those that take an id raise NotFoundError for one that
is unknown or somebody else's and GoneError for one that expired or was deleted.
"""

from __future__ import annotations

import hashlib
import json
from dataclasses import replace

from sigtest.data.testset import System, TestSet
from sigtest.data.text import Text
from sigtest.decide.rows import shown
from sigtest.draws.distribution import Distribution
from sigtest.errors import InputError, LimitError, RecipeError
from workers import leaderboard_tasks
from workers.drafts import Draft
from workers.errors import NotFoundError, TakenError, VersionError
from workers.guard import storage
from workers.leaderboard_distributions import distributing, field_of
from workers.leaderboard_records import (
    Choice,
    Leaderboard,
    State,
    SystemRecord,
    TestSetRecord,
)
from workers.leaderboard_store import LeaderboardStore, gone
from workers.queue import Queue
from workers.server import connect
from workers.settings import Settings

PATIENCE = 1.0  # seconds that putting a leaderboard together may take before somebody else does


class Leaderboards:
    """The test sets of all callers; safe to share between threads.

    Args:
        store: Where test sets are.
        queue: Where tasks go.
    """

    def __init__(self, store: LeaderboardStore, queue: Queue) -> None:
        self._store = store
        self._queue = queue

    @classmethod
    def connect(cls, settings: Settings) -> Leaderboards:
        """Leaderboards on the server that the settings name, which need not be up yet."""
        redis = connect(settings)
        return cls(LeaderboardStore(redis, settings), Queue(redis, settings))

    def close(self) -> None:
        """Close the connections."""
        self._store.redis.close()

    # test sets

    @storage()
    def create(self, draft: Draft, caller: str) -> tuple[TestSetRecord, bool]:
        """Make a test set; equal content and settings from the same caller are the same one.

        Returns:
            The test set, and whether it was made.
        """
        plan = draft.plan
        content = json.dumps([caller, draft.name, plan.key, plan.replicas, plan.testset])
        testset_id = hashlib.sha256(f"testset {content}".encode()).hexdigest()[:32]
        created = self._store.create(testset_id, draft.name, caller, draft.testset, plan)
        return self._state(testset_id, caller).record, created

    @storage()
    def find(self, testset_id: str, caller: str) -> TestSetRecord:
        """A test set of the caller."""
        return self._state(testset_id, caller).record

    @storage()
    def testset(self, testset_id: str, caller: str) -> TestSet:
        """References, documents and labels of a test set."""
        self._state(testset_id, caller)
        return self._store.testset(testset_id)

    @storage()
    def listing(
        self, caller: str, cursor: str | None, limit: int
    ) -> tuple[list[TestSetRecord], str | None]:
        """The caller's test sets, newest first, and the cursor of the next page if there is one.

        Raises:
            InputError: A cursor that no listing gave.
        """
        return self._store.listing(caller, cursor, limit)

    @storage()
    def raise_resamples(self, testset_id: str, caller: str, resamples: int) -> TestSetRecord:
        """Draw more resamples, the first of which stay; every system is measured again.

        Raises:
            RecipeError: Fewer than there are, or more than there can be.
        """
        state = self._state(testset_id, caller)
        plan = self._store.plan(testset_id)
        replace(plan.recipe, resamples=resamples)  # checks the range
        verdict = self._store.raise_resamples(testset_id, resamples)
        if verdict == "gone":
            raise gone(testset_id)
        if verdict == "fewer":
            raise RecipeError(
                f"The test set has {state.resamples:,} resamples already; more can be asked for, "
                f"not {resamples:,}.",
                field="resamples",
            )
        state = self._state(testset_id, caller)
        self._queue.add(leaderboard_tasks.joins(state))
        return state.record

    @storage()
    def delete(self, testset_id: str, caller: str) -> None:
        """Delete a test set with its systems and everything that was computed."""
        state = self._state(testset_id, caller)
        self._queue.drop(testset_id)
        self._forget(testset_id, *set(state.digests.values()))
        self._store.delete(testset_id, caller)

    # systems

    @storage()
    def put(
        self,
        testset_id: str,
        caller: str,
        system: System,
        replaces: bool,
        most: int,
        limit: str,
    ) -> tuple[SystemRecord, str]:
        """Add a system, or replace one by other content.

        Args:
            testset_id: The test set.
            caller: Whose it is.
            system: What it brings, checked by `check`.
            replaces: Whether other content under the same name may go.
            most: Systems that the test set may have.
            limit: The setting that says so.

        Returns:
            The system, and what was done: `created`, `replaced`, `known`, or `again` where the
            same content had failed.

        Raises:
            TakenError: Other content is there under this name.
            LimitError: The test set has as many systems as it may have.
        """
        verdict, unused = self._store.put(testset_id, system, replaces, most)
        if verdict == "gone":
            raise gone(testset_id)
        if verdict == "taken":
            raise TakenError(
                f"The test set has a system {system.name!r} with other content; "
                "replace it with ?replace=true (--replace), or take another name.",
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
        self._forget(testset_id, unused)
        state = self._state(testset_id, caller)
        if verdict != "known":
            self._queue.add(
                task for task in leaderboard_tasks.joins(state) if system.sha256 in task.arguments
            )
        return self._system(state, system.name), verdict

    @storage()
    def check(self, testset_id: str, caller: str, system: System) -> None:
        """Check that a system fits its test set and brings what its metrics measure.

        Raises:
            SigtestError: It does not.
        """
        self._state(testset_id, caller)
        plan = self._store.plan(testset_id)
        brought = len(system.runs)
        if brought != plan.replicas:
            raise InputError(
                f"System {system.name!r} brings {_replicas(brought)}; every system of this test "
                f"set brings {_replicas(plan.replicas)}.",
                field="replicas",
                system=system.name,
            )
        system.require_segments(plan.segments)
        # metrics look whether there are references, not at them
        testset = TestSet(plan.segments, (Text(()),) * plan.references)
        for metric in plan.recipe.metrics:
            metric.check(testset, system.runs[0])

    @storage()
    def system(self, testset_id: str, caller: str, name: str) -> SystemRecord:
        """One system of a test set.

        Raises:
            NotFoundError: There is none of this name.
        """
        return self._system(self._state(testset_id, caller), name)

    @storage()
    def joined(self, testset_id: str, record: SystemRecord) -> bool:
        """Whether the leaderboard has a system of `put`, or never will; costs little."""
        return self._store.joined(testset_id, record.name, record.digest)

    @storage()
    def systems(
        self, testset_id: str, caller: str, after: str | None, limit: int
    ) -> tuple[list[SystemRecord], str | None]:
        """Systems in the order of their names, and the name after which the next page starts."""
        state = self._state(testset_id, caller)
        names = sorted(name for name in state.digests if after is None or name > after)
        page = names[:limit]
        following = page[-1] if len(names) > limit else None
        return self._store.systems(state, page), following

    @storage()
    def remove(self, testset_id: str, caller: str, name: str) -> None:
        """Delete a system with everything that was computed of it.

        Raises:
            NotFoundError: There is none of this name.
        """
        self._system(self._state(testset_id, caller), name)
        _, unused = self._store.remove(testset_id, name)
        self._forget(testset_id, unused)

    # leaderboards

    @storage()
    def choice(
        self,
        testset_id: str,
        caller: str,
        metric: str | None = None,
        test: str | None = None,
        alpha: float | None = None,
        correction: str | None = None,
    ) -> Choice:
        """What to show; what is left out is as the test set has it, its first metric and test.

        Raises:
            RecipeError: A metric or test that the test set has not, or an impossible choice.
        """
        self._state(testset_id, caller)
        plan = self._store.plan(testset_id)
        recipe = plan.recipe
        choice = Choice(
            metric if metric is not None else recipe.labels[0],
            test if test is not None else recipe.tests[0],
            recipe.alpha if alpha is None else alpha,
            recipe.correction if correction is None else correction,
        )
        shown(plan, choice.metric, choice.test, choice.alpha, choice.correction)
        return choice

    @storage()
    def leaderboard(
        self, testset_id: str, caller: str, choice: Choice, asked: str = "", waited: float = 0.0
    ) -> tuple[Leaderboard | None, str]:
        """A leaderboard as far as it is made; a worker is asked for what is missing.

        Args:
            testset_id: The test set.
            caller: Whose it is.
            choice: From `choice`.
            asked: What the call before returned, where this is not the first.
            waited: Seconds since the first.

        Returns:
            The leaderboard, where there is one; and for which state it was asked for.
        """
        state = self._state(testset_id, caller)
        view = self._store.results.view(testset_id, choice.field)
        fresh = view is not None and view[0] == state.revision
        wanted = f"{state.era} {state.revision}"
        if not fresh and wanted != asked:
            plan = self._store.plan(testset_id)
            default = choice == leaderboard_tasks.default_choice(plan)
            if default and state.showing == state.revision and waited < PATIENCE:
                wanted = asked  # who measured the last system is at it
            else:
                self._queue.add([leaderboard_tasks.showing(plan, state, choice)], front=True)
        if view is None:
            return None, wanted
        _, names, report = view
        failed = state.failed
        made = Leaderboard(
            testset_id,
            state.record.name,
            choice,
            report,
            systems=tuple(sorted(names)),
            pending=tuple(sorted(state.digests.keys() - names - failed.keys())),
            failed=failed,
            fresh=fresh,
            era=state.era,
        )
        return made, wanted

    @storage()
    def distribution(
        self, shown: Leaderboard, caller: str, a: str, b: str, asked: bool
    ) -> Distribution | None:
        """The pseudo-statistics of one pair of a leaderboard, as far as they are made.

        Args:
            shown: The leaderboard, just read.
            caller: Whose it is.
            a: First system.
            b: Second system.
            asked: Whether a worker has been asked for them before.

        Raises:
            SigtestError: See `distributing`.
        """
        state = self._state(shown.testset, caller)
        task = distributing(self._store.plan(shown.testset), state, shown, a, b)
        found = self._store.results.values(shown.testset, field_of(task.arguments))
        if found is not None:
            return Distribution(a, b, shown.choice.metric, shown.choice.test, *found)
        if not asked:
            self._queue.add([task], front=True)
        return None

    def _state(self, testset_id: str, caller: str) -> State:
        state = self._store.state(testset_id)
        if state is not None and state.caller == caller:
            return state
        if state is None and self._store.was(testset_id, caller):
            raise gone(testset_id)
        raise NotFoundError(f"There is no test set {testset_id}.")

    def _system(self, state: State, name: str) -> SystemRecord:
        if name not in state.digests:
            raise NotFoundError(
                f"The test set {state.record.id} has no system {name!r}.", system=name
            )
        return self._store.systems(state, [name])[0]

    def _forget(self, testset_id: str, *digests: str) -> None:
        """Drop what is cached of content that nobody has any longer."""
        try:
            plan = self._store.plan(testset_id)
        except VersionError:
            return  # what another version has measured is under other keys, and expires
        for digest in filter(None, digests):
            self._store.forget_statistics(plan, digest)


def _replicas(count: int) -> str:
    return f"{count} replicas" if count > 1 else "no replicas"
