"""A test set on a running service and the comparison that its leaderboard must equal."""

import json
import random
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any, NamedTuple

import numpy as np
from computed import sample_of
from service import CALLER, EXAMPLE, until

from sigtest.comparison.comparison import Comparison, parse_comparison
from sigtest.comparison.plan import Plan
from sigtest.data.testset import TestSet
from sigtest.data.text import parse_lines
from sigtest.decide.facts import gather
from sigtest.decide.summary import Gone, decided, summarise
from sigtest.render.records import render_json
from sigtest.report import Report
from sigtest.requests.comparisons import SystemRequest, system_of
from sigtest.requests.recipe import Recipe
from workers.questions import Questions
from workers.queue import Context
from workers.store.boards import TestSetRecord
from workers.testsets import Leaderboard, NewTestSet, TestSets

Lines = tuple[str, ...]
Output = Lines | tuple[Lines, ...]  # hypotheses, or those of several replicas


class Choice(NamedTuple):
    """How a report is decided, where not as the test set says."""

    alpha: float | None = None
    correction: str | None = None


EVERYTHING = Choice()
RECIPE: dict[str, Any] = {
    "metrics": ["bleu", "chrf", "ter"],
    "tests": ["approximate_randomization", "bootstrap"],
    "resamples": 600,
}


def lines(path: Path) -> Lines:
    return parse_lines(path.read_bytes(), path.name)


REFERENCE = lines(EXAMPLE / "reference.en")
DOCUMENTS = lines(EXAMPLE / "documents.txt")
SYSTEMS: dict[str, Lines] = {f.stem: lines(f) for f in sorted((EXAMPLE / "systems").iterdir())}


def entry(name: str, output: Output) -> dict[str, Any]:
    """A system as a request has it."""
    return {"name": name, "hypotheses" if isinstance(output[0], str) else "replicas": output}


@dataclass(frozen=True)
class Board:
    """One test set and what should be in it."""

    context: Context
    id: str
    recipe: dict[str, Any]
    systems: dict[str, Output]
    reference: Lines = REFERENCE
    documents: Lines | None = DOCUMENTS
    capacity: int = 64

    @property
    def testsets(self) -> TestSets:
        return TestSets(self.context)

    def put(self, name: str, output: Output, replaces: bool = False) -> str:
        system = system_of(SystemRequest.of(entry(name, output)), name)
        room = 60, "max_systems"
        _, verdict = self.testsets.put(self.id, CALLER, system, replaces, lambda _: room)
        self.systems[name] = output
        return verdict

    def remove(self, name: str) -> None:
        self.testsets.remove(self.id, CALLER, name)
        del self.systems[name]

    @property
    def record(self) -> TestSetRecord:
        return self.testsets.find(self.id, CALLER)

    @property
    def state(self) -> TestSetRecord:
        state = self.context.testsets.stored(self.id)
        assert state is not None
        return state

    def settled(self) -> None:
        until(lambda: not self.record.pending, pause=0.05)

    def look(self) -> Leaderboard:
        """The leaderboard as it is now; a worker is asked for what is missing."""
        return self.testsets.leaderboard(self.id, CALLER, set())

    def shown(self) -> Leaderboard:
        """The leaderboard once it is fresh and whole."""
        self.settled()
        asked: set[str] = set()

        def fresh() -> Leaderboard | None:
            found = self.testsets.leaderboard(self.id, CALLER, asked)
            return found if found.fresh else None

        found: Leaderboard = until(fresh, pause=0.05)
        return found

    def report(self) -> bytes:
        """What it shows, read as any other comparison is."""
        comparison = self.shown().comparison
        assert comparison is not None
        return Questions(self.context).report(comparison, CALLER)

    def comparison(self, choice: Choice = EVERYTHING) -> Comparison:
        """The comparison of all systems at once."""
        correction = choice.correction or self.recipe.get("correction", "holm")
        joint = correction in {"max_t", "tukey"}
        family = {} if joint else {"family": self.capacity}
        decided = {"alpha": choice.alpha, "correction": choice.correction, **family}
        return parse_comparison(
            {
                "references": [self.reference],
                "documents": self.documents,
                "systems": [entry(name, output) for name, output in sorted(self.systems.items())],
                **self.recipe,
                **{field: value for field, value in decided.items() if value is not None},
            }
        )

    def expected(self, choice: Choice = EVERYTHING) -> Report:
        """The report of all systems at once, with the p-values of pairs that left in its family."""
        comparison = self.comparison(choice)
        sample = sample_of(comparison)
        facts = gather(sample, [sample.block(0, sample.part.resamples)])
        (part,) = comparison.plan.parts
        # a leaderboard does not look how much of one system's output is another's
        notes = tuple(note for note in part.notes if note.code != "equals-system")
        plan = Plan((replace(part, notes=notes),))
        return summarise(plan, [facts], self.gone(comparison))

    def gone(self, comparison: Comparison) -> Gone:
        recipe = comparison.recipe
        if recipe.family == "present":
            return {}
        there = set(self.state.digests.items())
        seen = self.context.testsets.claimed(self.id)[1].items()
        rows = [np.frombuffer(row) for (a, b), row in sorted(seen) if not {a, b} <= there]
        found: dict[str, dict[str, tuple[float, ...]]] = {}
        names = [(label, test) for label in recipe.labels for test in recipe.tests]
        for i, (label, test) in enumerate(names if rows else ()):
            found.setdefault(label, {})[test] = tuple(float(row[i]) for row in rows)
        return found

    def is_right(self, choice: Choice = EVERYTHING) -> None:
        shown = self.shown()
        assert self.report() == render_json(self.expected()).encode()
        anew = decided(Report.from_json(json.loads(self.report())), *choice)
        assert decisions(anew) == decisions(self.expected(choice))
        assert shown.systems == tuple(sorted(self.systems))
        assert not shown.pending
        assert not shown.testset.failed


def decisions(report: Report) -> dict[Any, Any]:
    """What follows from the level and the correction, but for sentences about intervals."""
    ranks = {system.name: system.ranks for system in report.systems}
    pairs = {
        (pair.a, pair.b, pair.metric, pair.test): (
            pair.p_adjusted,
            pair.significant,
            pair.undecided,
            pair.detectable,
        )
        for pair in report.pairs
    }
    return {"ranks": ranks, "rank_confidence": report.rank_confidence, **pairs}


def board_on(
    context: Context, name: str, replicas: int = 1, capacity: int = 64, **choices: Any
) -> Board:
    recipe = {**RECIPE, **choices}
    testset = TestSet.of([REFERENCE], DOCUMENTS)
    asked = NewTestSet.of(name, testset, Recipe.of(recipe), replicas, capacity)
    record, _ = TestSets(context).make(asked, CALLER)
    return Board(context, record.id, recipe, {}, capacity=capacity)


def garbled(output: Lines, seed: int = 0) -> Lines:
    rng = random.Random(seed)
    return tuple(" ".join(rng.sample(words := line.split(), len(words))) for line in output)
