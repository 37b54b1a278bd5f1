"""Leaderboards from systems that come and go, against the comparison of all of them at once."""

import json
import random
import threading
import time
from collections.abc import Iterator
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any

import pytest
from service import CALLER, EXAMPLE, Service, kill, started, until

from sigtest.comparison import Comparison
from sigtest.engine import compare
from sigtest.errors import LengthError, LimitError, RecipeError
from sigtest.recipe import Recipe
from sigtest.render import RENDERERS
from sigtest.testset import System, TestSet
from sigtest.text import parse_lines
from workers.errors import GoneError, NotFoundError, TakenError
from workers.leaderboard_records import Choice, Leaderboard, Standing, TestSetRecord
from workers.leaderboards import Draft, Leaderboards
from workers.server import connect
from workers.settings import Settings

Outputs = dict[str, tuple[str, ...]]
RECIPE: dict[str, Any] = {
    "metrics": ["bleu", "chrf", "ter"],
    "tests": ["approximate_randomization", "bootstrap"],
    "resamples": 600,
}


def lines(path: Path) -> tuple[str, ...]:
    return parse_lines(path.read_bytes(), path.name)


REFERENCE = lines(EXAMPLE / "reference.en")
DOCUMENTS = lines(EXAMPLE / "documents.txt")
SYSTEMS: Outputs = {f.stem: lines(f) for f in sorted((EXAMPLE / "systems").iterdir())}


@dataclass(frozen=True)
class Board:
    """One test set and what should be in it."""

    boards: Leaderboards
    id: str
    recipe: dict[str, Any]
    systems: Outputs

    def put(self, name: str, output: tuple[str, ...], replaces: bool = False) -> str:
        system = System.of(name, output)
        self.boards.check(self.id, CALLER, system)
        _, verdict = self.boards.put(self.id, CALLER, system, replaces, 60)
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
        comparison = Comparison.of(
            {
                "references": [REFERENCE],
                "documents": DOCUMENTS,
                "systems": [
                    {"name": name, "hypotheses": output}
                    for name, output in sorted(self.systems.items())
                ],
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


def board_on(boards: Leaderboards, name: str, **choices: Any) -> Board:
    recipe = {**RECIPE, **choices}
    draft = Draft.of(name, TestSet.of([REFERENCE], DOCUMENTS), Recipe.of(recipe))
    record, _ = boards.create(draft, CALLER)
    return Board(boards, record.id, recipe, {})


@pytest.fixture(scope="module")
def boards(service: Service) -> Iterator[Leaderboards]:
    boards = Leaderboards.connect(service.settings)
    yield boards
    boards.close()


@pytest.fixture
def board(boards: Leaderboards, request: pytest.FixtureRequest) -> Board:
    """With all systems of the example."""
    board = board_on(boards, request.node.name[:50])
    for name, output in SYSTEMS.items():
        board.put(name, output)
    return board


def garbled(output: tuple[str, ...], seed: int = 0) -> tuple[str, ...]:
    rng = random.Random(seed)
    return tuple(" ".join(rng.sample(words := line.split(), len(words))) for line in output)


def test_systems_that_come_and_go_leave_the_comparison_of_those_there(board: Board) -> None:
    board.is_right()
    board.put("cedar", garbled(SYSTEMS["cedar"]), replaces=True)
    board.remove("elm")
    board.put("Zelkova", garbled(SYSTEMS["elm"]))
    for metric in RECIPE["metrics"]:
        for test in RECIPE["tests"]:
            board.is_right(metric=metric, test=test)
