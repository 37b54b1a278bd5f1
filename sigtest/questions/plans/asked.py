"""What is asked of a plan, validated."""

from __future__ import annotations

import hashlib
import json
from collections.abc import Mapping
from dataclasses import dataclass
from functools import cached_property
from typing import Any

from sigtest.comparison.comparison import Comparison
from sigtest.comparison.parse import parse_comparison
from sigtest.version import __version__


@dataclass(frozen=True)
class Asked:
    """A pilot and what to plan from it, validated when parsed.

    Attributes:
        pilot: A comparison on one test set by one metric.
        pair: Names of the two systems to plan for, or nothing for all pairs.
        difference: True difference that is to show, or nothing.
        units: A number of units to plan for besides the usual ones, or nothing.
        corrected: Whether the level is the strictest one of the correction.
    """

    pilot: Comparison
    pair: tuple[str, str] | None
    difference: float | None
    units: int | None
    corrected: bool

    @cached_property
    def key(self) -> str:
        """Hash of everything that the report is a function of."""
        content = [__version__, "plan", self.pilot.plan.key, self._rest()]
        return hashlib.sha256(json.dumps(content, sort_keys=True).encode()).hexdigest()

    def as_json(self) -> dict[str, Any]:
        """A JSON object that `load` turns into this."""
        return {"pilot": self.pilot.as_json(), **self._rest()}

    def _rest(self) -> dict[str, Any]:
        return {
            "pair": None if self.pair is None else list(self.pair),
            "difference": self.difference,
            "units": self.units,
            "corrected": self.corrected,
        }

    @classmethod
    def load(cls, stored: Mapping[str, Any]) -> Asked:
        """What `as_json` wrote."""
        pair = stored["pair"]
        return cls(
            pilot=parse_comparison(stored["pilot"]),
            pair=None if pair is None else (pair[0], pair[1]),
            difference=stored["difference"],
            units=stored["units"],
            corrected=stored["corrected"],
        )
