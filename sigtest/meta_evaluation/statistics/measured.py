"""Every statistic of metrics on the cells they share, and its bootstrap draws, once."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np

from sigtest.arrays import Array
from sigtest.cached import cached_property
from sigtest.meta_evaluation.question import MetricChoices
from sigtest.meta_evaluation.statistics.spread import RESAMPLES, draw
from sigtest.meta_evaluation.statistics.values import Cells, ScoreTable, Values, evaluate


@dataclass(frozen=True)
class Shared:
    """Some metrics on the cells that all of them have.

    Attributes:
        numbers: Which metrics, in increasing order.
        cells: Their scores, and those of people.
        choices: What to compute.
        stream: Of the set's random draws.
    """

    numbers: tuple[int, ...]
    cells: Cells
    choices: MetricChoices
    stream: int

    @cached_property
    def values(self) -> dict[str, Values]:
        """Each statistic, but for soft accuracy, which has segments of its own."""
        names = [name for name in self.choices.statistics if name != "soft_accuracy"]
        return {name: evaluate(name, self.cells, self.choices.group) for name in names}

    @cached_property
    def draws(self) -> dict[str, Array | None]:
        """(M, B) each statistic on bootstrap resamples, where it has any."""
        return {name: self.drawn(name, values) for name, values in self.values.items()}

    def units(self, values: Values) -> int:
        """How many units resamples of a statistic are drawn from."""
        if self.choices.level == "system":
            return self.cells.size
        if values.shares is not None and values.shares.unit == "system":
            return values.shares.parts.shape[1]
        return self.cells.segment_count

    def drawn(self, name: str, values: Values) -> Array | None:
        """The same of one statistic."""
        return draw(
            name,
            self.cells,
            values,
            level=self.choices.level,
            seed=self.choices.seed,
            stream=self.stream,
            rows=min(self.choices.resamples, RESAMPLES),
        )


class Measured:
    """A set's metrics, measured on whatever cells they are held together on.

    Args:
        table: All scores of the set.
        choices: What to compute.
        stream: Of the set's random draws.
    """

    def __init__(self, table: ScoreTable, choices: MetricChoices, stream: int) -> None:
        self.table = table
        self.choices = choices
        self.stream = stream
        self._known: dict[tuple[int, ...], Shared] = {}

    def on(self, numbers: Sequence[int]) -> Shared:
        """Some metrics on the cells that all of them have."""
        chosen = tuple(numbers)
        if chosen not in self._known:
            cells = self.table.cells(chosen)
            self._known[chosen] = Shared(chosen, cells, self.choices, self.stream)
        return self._known[chosen]

    def own(self) -> list[Shared]:
        """Every metric on all cells that it shares with people; those with the same together."""
        alike: dict[bytes, list[int]] = {}
        for m, present in enumerate(self.table.present):
            alike.setdefault(np.packbits(present).tobytes(), []).append(m)
        return [self.on(numbers) for numbers in alike.values()]
