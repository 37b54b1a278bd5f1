"""What is asked about the accuracy of tests, validated."""

from __future__ import annotations

import hashlib
import json
from collections.abc import Mapping
from dataclasses import dataclass
from functools import cached_property
from typing import Any

import numpy as np

from sigtest.arrays import Array
from sigtest.comparison.comparison import Comparison
from sigtest.comparison.parse import parse_comparison
from sigtest.questions.human import Asked as HumanAsked
from sigtest.version import __version__


@dataclass(frozen=True)
class Judged:
    """What people say of all pairs of systems.

    Attributes:
        criteria: In the order in which they decide.
        p_greater: (C, P) one-sided p-values of the first system being better.
        p_less: (C, P) of the second.
        notes: What the report should warn of.
        signature: How they came about.
    """

    criteria: tuple[str, ...]
    p_greater: Array
    p_less: Array
    notes: tuple[str, ...] = ()
    signature: str = "p-values:given"

    def as_json(self) -> dict[str, Any]:
        """A JSON object that `load` turns into this."""
        return {
            "criteria": list(self.criteria),
            "p_greater": self.p_greater.tolist(),
            "p_less": self.p_less.tolist(),
            "notes": list(self.notes),
            "signature": self.signature,
        }

    @classmethod
    def load(cls, stored: Mapping[str, Any]) -> Judged:
        """What `as_json` wrote."""
        return cls(
            criteria=tuple(stored["criteria"]),
            p_greater=np.array(stored["p_greater"], dtype=np.float64),
            p_less=np.array(stored["p_less"], dtype=np.float64),
            notes=tuple(stored["notes"]),
            signature=stored["signature"],
        )


@dataclass(frozen=True)
class Tested:
    """What significance tests say of all pairs of systems, by several metrics.

    Attributes:
        systems: Names.
        pairs: (P,) names of the two systems of each pair.
        metrics: Labels, M.
        tests: Names, T.
        p_greater: (M, T, P) one-sided p-values of the first system being better.
        p_less: (M, T, P) of the second.
        signature: How they came about.
    """

    systems: tuple[str, ...]
    pairs: tuple[tuple[str, str], ...]
    metrics: tuple[str, ...]
    tests: tuple[str, ...]
    p_greater: Array
    p_less: Array
    signature: str

    def as_json(self) -> dict[str, Any]:
        """A JSON object that `load` turns into this."""
        return {
            "systems": list(self.systems),
            "pairs": [list(pair) for pair in self.pairs],
            "metrics": list(self.metrics),
            "tests": list(self.tests),
            "p_greater": self.p_greater.tolist(),
            "p_less": self.p_less.tolist(),
            "signature": self.signature,
        }

    @classmethod
    def load(cls, stored: Mapping[str, Any]) -> Tested:
        """What `as_json` wrote."""
        return cls(
            systems=tuple(stored["systems"]),
            pairs=tuple((a, b) for a, b in stored["pairs"]),
            metrics=tuple(stored["metrics"]),
            tests=tuple(stored["tests"]),
            p_greater=np.array(stored["p_greater"], dtype=np.float64),
            p_less=np.array(stored["p_less"], dtype=np.float64),
            signature=stored["signature"],
        )


@dataclass(frozen=True)
class Asked:
    """Tests held against people, validated when parsed.

    Attributes:
        people: P-values of people, for the pairs of the comparison in their order; or judgements
            that they are to come from.
        comparison: What to compare; or p-values that were computed elsewhere.
        alphas: Levels of the tests.
        human_alpha: Level of the conclusions of people; that of the tests where there is none.
        notes: What the report should warn of.
    """

    people: Judged | HumanAsked
    comparison: Comparison | Tested
    alphas: tuple[float, ...]
    human_alpha: float | None
    notes: tuple[str, ...] = ()

    @cached_property
    def key(self) -> str:
        """Hash of everything that the report is a function of."""
        if isinstance(self.comparison, Comparison):
            compared: object = self.comparison.plan.key
        else:
            compared = self.comparison.as_json()
        content = [__version__, compared, self._rest()]
        return hashlib.sha256(json.dumps(content, sort_keys=True).encode()).hexdigest()

    def as_json(self) -> dict[str, Any]:
        """A JSON object that `load` turns into this."""
        made = isinstance(self.comparison, Comparison)
        return {"made": made, "comparison": self.comparison.as_json(), **self._rest()}

    def _rest(self) -> dict[str, Any]:
        return {
            "judged": isinstance(self.people, Judged),
            "people": self.people.as_json(),
            "alphas": list(self.alphas),
            "human_alpha": self.human_alpha,
            "notes": list(self.notes),
        }

    @classmethod
    def load(cls, stored: Mapping[str, Any]) -> Asked:
        """What `as_json` wrote."""
        people, body = stored["people"], stored["comparison"]
        return cls(
            people=Judged.load(people) if stored["judged"] else HumanAsked.load(people),
            comparison=parse_comparison(body) if stored["made"] else Tested.load(body),
            alphas=tuple(stored["alphas"]),
            human_alpha=stored["human_alpha"],
            notes=tuple(stored["notes"]),
        )
