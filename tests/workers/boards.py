"""A test set on a running service and the comparison that its leaderboard must equal."""

import random
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from service import CALLER, EXAMPLE, until

from sigtest.comparison.parse import parse_comparison, parse_system
from sigtest.comparison.recipe import Recipe
from sigtest.data.testset import TestSet
from sigtest.data.text import parse_lines
from sigtest.engine import compare
from sigtest.render import RENDERERS
from workers.drafts import Draft
from workers.store.boards import Choice, Leaderboard, TestSetRecord
from workers.testsets import Leaderboards

Lines = tuple[str, ...]
Output = Lines | tuple[Lines, ...]  # hypotheses, or those of several replicas
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

    boards: Leaderboards
    id: str
    recipe: dict[str, Any]
    systems: dict[str, Output]
    reference: Lines = REFERENCE
    documents: Lines | None = DOCUMENTS

    def put(self, name: str, output: Output, replaces: bool = False) -> str:
        system = parse_system(entry(name, output), name)
        self.boards.check(self.id, CALLER, system)
        _, verdict = self.boards.put(self.id, CALLER, system, replaces, 60, "max_systems")
        self.systems[name] = output
        return verdict

    def remove(self, name: str) -> None:
        self.boards.remove(self.id, CALLER, name)
        del self.systems[name]

    @property
    def record(self) -> TestSetRecord:
        return self.boards.find(self.id, CALLER)

    def settled(self) -> None:
        until(lambda: not self.record.pending)

    def shown(self, **choices: Any) -> Leaderboard:
        """The leaderboard once it is fresh and whole."""
        self.settled()
        choice = self.boards.choice(self.id, CALLER, **choices)

        def fresh() -> Leaderboard | None:
            found, _ = self.boards.leaderboard(self.id, CALLER, choice)
            return found if found and found.fresh else None

        found: Leaderboard = until(fresh)
        return found

    def expected(self, choice: Choice) -> bytes:
        """The report of all systems at once."""
        comparison = parse_comparison(
            {
                "references": [self.reference],
                "documents": self.documents,
                "systems": [entry(name, output) for name, output in sorted(self.systems.items())],
                **self.recipe,
                "metrics": [choice.metric],
                "tests": [choice.test],
                "alpha": choice.alpha,
                "correction": choice.correction,
            }
        )
        return RENDERERS["json"](compare(comparison)).encode()

    def is_right(self, **choices: Any) -> None:
        shown = self.shown(**choices)
        assert shown.report == self.expected(shown.choice)
        assert not shown.pending
        assert not shown.failed


def board_on(boards: Leaderboards, name: str, replicas: int = 1, **choices: Any) -> Board:
    recipe = {**RECIPE, **choices}
    draft = Draft.of(name, TestSet.of([REFERENCE], DOCUMENTS), Recipe.of(recipe), replicas)
    record, _ = boards.create(draft, CALLER)
    return Board(boards, record.id, recipe, {})


def garbled(output: Lines, seed: int = 0) -> Lines:
    rng = random.Random(seed)
    return tuple(" ".join(rng.sample(words := line.split(), len(words))) for line in output)
