"""Questions for those who serve them: submit, watch, read, cancel. `app` calls this and no more.

Every function may raise StorageError, and those that take an id raise NotFoundError for one that
is unknown or another caller's and GoneError for one that expired or was deleted.
"""

from __future__ import annotations

from collections.abc import Sequence
from contextlib import suppress
from dataclasses import dataclass, replace
from types import MappingProxyType

from redis.exceptions import OutOfMemoryError

from sigtest.comparison.plan import Part, Plan
from sigtest.data.names import choose
from sigtest.draws.distribution import Distribution, pair_of
from sigtest.errors import RecipeError
from sigtest.kinds import KINDS, Question
from sigtest.requests.notes import Noted
from sigtest.segments import Segments
from workers.errors import (
    BusyError,
    ConflictError,
    CostlyError,
    FullError,
    GoneError,
    NotFoundError,
    NotReadyError,
    OnBoardError,
    gone,
    guarded,
)
from workers.queue import Context
from workers.settings import Settings
from workers.store import keys
from workers.store.lasting import linked, unseen
from workers.store.questions import Cut, Pieces, QuestionStore, Verdict, shares_key
from workers.store.records import (
    Check,
    Link,
    Record,
    Status,
    Task,
)
from workers.store.server import check_disk, connect
from workers.store.usage import Storage, check_room, storage
from workers.tasks.questions import Statistics

DISTRIBUTE_SECONDS = 0.1
PROBE_SECONDS = 10


@dataclass(frozen=True)
class PairChoice:
    """Which pseudo-statistics are asked for.

    Attributes:
        a: First system.
        b: Second system.
        metric: Label of the metric.
        test: Name of the significance test.
        testset: Name of a test set, where there are several.
    """

    a: str
    b: str
    metric: str
    test: str
    testset: str | None = None


@guarded
class Questions(QuestionStore):
    """The questions of all callers; safe to share between threads.

    Args:
        context: The stores and the queue.

    Attributes:
        context: The same.
        close: Closes the connections.
    """

    def __init__(self, context: Context) -> None:
        super().__init__(context.redis, context.settings)
        self.context = context
        self.close = context.redis.close
        self._feed = context.feed

    @classmethod
    def connect(cls, settings: Settings) -> Questions:
        """Questions on the server that the settings name, which need not be up yet."""
        return cls(Context.on(connect(settings), settings))

    def submit(
        self,
        kind: str,
        question: Question,
        caller: str,
        idempotency_key: str | None = None,
        budget: int | None = None,
        notes: Noted = MappingProxyType({}),
    ) -> tuple[Record, bool]:
        """Accept a question; once this returns it survives any crash.

        Args:
            kind: Path of its kind.
            question: What is asked.
            caller: Who asks; callers do not see each other's questions.
            idempotency_key: Another submission with this key must have the same content.
            budget: Seconds of one core that the caller's unfinished questions may be predicted to
                take together; the service's own where there is none.
            notes: What the caller writes on it; on one that exists, what is not said stays.

        Returns:
            The question, and whether it was created: equal content from the same caller is the
            same question, which runs again only if it failed or was cancelled. What was created is
            as at its acceptance, whatever is cached.

        Raises:
            ConflictError: The key was used with different content.
            BusyError: The caller has too much unfinished.
            CostlyError: It is more than a caller may have, by itself.
            BudgetError: It is to last, and the caller has too much that does.
        """
        question_id = keys.hashed(caller, kind, question.key)
        left = check_room(self.redis, self.settings, caller)
        cut = Cut.of(question, self.settings.workers, self.settings.block)
        most = budget or self.settings.budget
        while True:
            verdict = self.accept(
                question_id, kind, question, cut, caller, idempotency_key, most, left, notes
            )
            if verdict.word != "known":
                break
            with suppress(GoneError):  # it was deleted or expired in between
                return self.describe(verdict.id, caller, notes), False
        if verdict.word == "conflict":
            raise ConflictError("This Idempotency-Key was used with different content.")
        if verdict.word in {"many", "seconds", "bytes", "full"}:
            raise refusal(self.settings, verdict, question.seconds, most)
        pieces = Pieces(cut, verdict.measured, frozenset())
        self._feed.add(caller, pieces.tasks(question_id))
        assert verdict.stored is not None
        nothing = Pieces(cut, frozenset(), frozenset()).progress
        return replace(verdict.stored, progress=nothing), True

    def find(
        self, question_id: str, caller: str, kind: str | None = None, how_far: bool = True
    ) -> Record:
        """A question of the caller, of one kind where that is said.

        Args:
            question_id: The question.
            caller: Whose it is.
            kind: Path of its kind.
            how_far: Whether to look which pieces of an unfinished one exist.
        """
        record = self.stored(question_id, how_far)
        return self._own(record, question_id, caller, kind)

    def report(self, question_id: str, caller: str) -> bytes:
        """The report of a finished question as canonical JSON.

        Raises:
            NotReadyError: It is unfinished, failed or cancelled.
        """
        stored, report = self.with_report(question_id)
        record = self._own(stored, question_id, caller)
        if not record.status.finished:
            record = replace(record, progress=self.find(question_id, caller).progress)
        _require_success(record)
        if report is None:
            raise gone(question_id)
        return report

    def question(self, question_id: str, caller: str) -> Question:
        """A finished question, with what was brought.

        Raises:
            NotReadyError: It is unfinished, failed or cancelled.
            RecipeError: It is what a leaderboard shows, whose texts are those of a test set.
        """
        record = _require_success(self.find(question_id, caller))
        if record.testset is not None:
            raise RecipeError(
                f"This comparison is shown by the leaderboard of test set {record.testset}, which "
                "has its texts; compare systems of that test set instead."
            )
        contents = self.contents(question_id)
        asked: Question = KINDS[record.kind].load(self.read(question_id)[1], contents)
        return asked

    def distribution(
        self, question_id: str, caller: str, pair: PairChoice, asked: bool
    ) -> Distribution | None:
        """The pseudo-statistics of one pair of a comparison, as far as they are made.

        Args:
            question_id: The comparison.
            caller: Whose it is.
            pair: What is asked for.
            asked: Whether a worker has been asked for them before.

        Raises:
            RecipeError: A system, metric, test or test set that is no part of the comparison.
            NotReadyError: The comparison has no report.
        """
        record, plan, number = self._part(question_id, caller, pair)
        part = plan.parts[number]
        restricted, systems = pair_of(part, pair.a, pair.b, pair.metric, pair.test)
        found = self.cache(record.space).values(restricted.key)
        if found is not None:
            return Distribution(pair.a, pair.b, pair.metric, pair.test, *found)
        self._require_systems(record, part, systems)
        if not asked:
            places = part.recipe.labels.index(pair.metric), part.recipe.tests.index(pair.test)
            self._add_view(record, "distribute", number, *systems, *places)
        return None

    def segments(
        self, question_id: str, caller: str, pair: PairChoice, asked: bool
    ) -> Segments | None:
        """The segments of one pair with their shares of its difference, as far as they are made.

        Args:
            question_id: The comparison.
            caller: Whose it is.
            pair: What is asked for; shares are the same for every test.
            asked: Whether a worker has been asked for them before.

        Raises:
            RecipeError: A system, metric or test set that is no part of the comparison.
            NotReadyError: The comparison has no report.
        """
        record, plan, number = self._part(question_id, caller, pair)
        part = plan.parts[number]
        a = part.systems.index(choose(pair.a, part.systems, "a", "system"))
        b = part.systems.index(choose(pair.b, part.systems, "b", "system"))
        labels = part.recipe.labels
        metric = labels.index(choose(pair.metric, labels, "metric", "metric"))
        self._require_systems(record, part, (a, b))
        found = self.cache(record.space).values(shares_key(part, a, b, metric))
        if found is None:
            if not asked:
                self._add_view(record, "attribute", number, a, b, metric)
            return None
        texts = Statistics(self.context, plan, record.id, record.caller, record.testset)
        testset, first = texts.testset(number), number * len(plan.systems)
        one, other = (texts.system(first + system).runs[0].hypotheses for system in (a, b))
        return Segments(
            shares=found[1],
            reference=testset.references[0].lines if testset.references else None,
            a=one.lines if one is not None else None,
            b=other.lines if other is not None else None,
            source=testset.source.lines if testset.source is not None else None,
            documents=testset.documents,
        )

    def _part(self, question_id: str, caller: str, pair: PairChoice) -> tuple[Record, Plan, int]:
        """A comparison that has a report, and which of its test sets a pair is of."""
        record = _require_success(self.find(question_id, caller))
        plan = Plan.of(self.read(question_id)[1])
        return record, plan, plan.number_of(pair.testset)

    def _add_view(self, record: Record, name: str, *arguments: int) -> None:
        """Ask a worker for what only a reader wants to see."""
        task = Task(name, record.id, arguments, DISTRIBUTE_SECONDS)
        self._feed.add_view(record.caller, task)

    def _require_systems(self, record: Record, part: Part, systems: Sequence[int]) -> None:
        """Check that systems which a leaderboard shows still have their texts."""
        if record.testset is None:
            return
        for system in systems:
            if not self.context.testsets.has(record.testset, part.digests[system]):
                raise GoneError(
                    f"System {part.systems[system]!r} of this leaderboard was deleted or replaced."
                )

    def share(self, name: str, caller: str, origins: Sequence[str] = ()) -> Link:
        """Give a report a public link.

        Raises:
            NotReadyError: There is no report.
        """
        _require_success(self.find(name, caller))
        return super().share(name, caller, origins)

    def linked(self, word: str) -> Link:
        """The public link of this address, of whatever kind.

        Raises:
            NotFoundError: There is none, or it was taken back.
        """
        return linked(self.redis, word)

    def behind(self, link: Link) -> Record:
        """What the public link of a question leads to."""
        record = self.stored(link.name)
        if record is None:
            raise gone(link.name)
        return replace(record, link=link)

    def remove(self, question_id: str, caller: str, check: Check = unseen) -> Record | None:
        """Cancel an unfinished question and return it, or delete a finished one with its texts.

        Args:
            question_id: The question.
            caller: Whose it is.
            check: Raises where the question is not what its caller thinks.

        Raises:
            OnBoardError: It is what a leaderboard shows, and goes with its test set.
        """
        record = self.find(question_id, caller)
        if record.testset is not None and not record.frozen:
            raise OnBoardError(
                f"This comparison is shown by the leaderboard of test set {record.testset}; "
                "it is deleted with the test set."
            )
        check(record.etag)
        if self.commit(question_id, Status.CANCELLED):
            with suppress(OutOfMemoryError):  # of the tasks that come next; they come later
                self._feed.drop(question_id)
            return self.find(question_id, caller)
        # it may have ended just now
        self.delete(question_id, caller, check)
        return None

    def storage(self, caller: str) -> Storage:
        """What a caller has of the store."""
        return storage(self.redis, self.settings, caller)

    def check(self) -> None:
        """Write something, to see that it can be done."""
        check_disk(self.settings)
        self.redis.set(keys.PROBE, b"", ex=PROBE_SECONDS)

    def workers(self) -> int:
        """How many workers are alive, here and on other machines."""
        return self._feed.jobs.workers()

    def _own(
        self, record: Record | None, question_id: str, caller: str, kind: str | None = None
    ) -> Record:
        """What was found under an id, where it is the caller's and of the kind."""
        if record is None and self.was(question_id, caller):
            raise gone(question_id)
        if record is None or record.caller != caller or kind not in (None, record.kind):
            name = "question" if kind is None else KINDS[kind].name
            raise NotFoundError(f"There is no {name} {question_id}.")
        return record


def _require_success(record: Record) -> Record:
    if record.status is not Status.SUCCEEDED:
        raise NotReadyError(f"It is {record.status}; there is no report.", record=record)
    return record


__all__ = ["GoneError", "PairChoice", "Questions", "Record", "Status"]


LONGEST_WAIT = 3600


def refusal(
    settings: Settings, verdict: Verdict, seconds: float, most: int
) -> CostlyError | FullError:
    """The error for a question that is too much, or too much now.

    Args:
        settings: How much is accepted.
        verdict: What was too much, and what its caller has unfinished.
        seconds: Predicted for the question, of one core.
        most: Seconds that its caller's unfinished questions may be predicted to take.
    """
    predicted = {
        "seconds": seconds,
        "unfinished_seconds": verdict.seconds,
        "accepted_seconds": most,
        "bytes": verdict.size,
        "unfinished_bytes": verdict.bytes,
        "accepted_bytes": settings.room,
    }
    if verdict.word == "full":
        return FullError(
            f"This question is predicted to take {verdict.size:,} bytes of the store, which has "
            f"{max(0, verdict.bytes):,.0f} left besides what unfinished ones are to take; ask for "
            "fewer systems, metrics or resamples, delete something, or try again later."
        )
    limit, unit = "SIGTEST_BUDGET", "seconds of one core"
    asked, load, accepted = seconds, verdict.seconds, most
    if verdict.word == "bytes":
        limit, unit = "SIGTEST_ROOM", "bytes in the store"
        asked, load, accepted = verdict.size, verdict.bytes, settings.room
    words = f"This question is predicted to take {asked:,.0f} {unit}"
    if verdict.word == "many":
        limit, share = "SIGTEST_PENDING", 1 / settings.pending
        words = (
            f"You have {settings.pending:,} unfinished questions, the most that this service "
            "accepts of one caller; try again later."
        )
    elif asked > accepted:
        words += (
            f", more than the {accepted:,} that one caller may have unfinished; ask for fewer "
            "systems, metrics or resamples."
        )
        return CostlyError(words, limit=limit, predicted=predicted)
    else:
        share = min(1.0, (asked + load - accepted) / load)
        words += (
            f" and your unfinished ones {load:,.0f}, together more than the {accepted:,} that one "
            "caller may have unfinished; try again later."
        )
    wait = round(share * verdict.seconds / settings.workers)
    wait = min(LONGEST_WAIT, max(1, wait))
    return BusyError(words, limit=limit, predicted=predicted, seconds=wait)
