"""What a suite resamples and reports, without its texts: all that is left after measuring."""

from __future__ import annotations

import hashlib
import json
from collections.abc import Iterable, Mapping
from dataclasses import dataclass, replace
from functools import cached_property
from typing import Any

from sigtest.arrays import Counts
from sigtest.comparison.plan import Plan
from sigtest.comparison.recipe import Recipe
from sigtest.report.suite_report import Average


@dataclass(frozen=True)
class SuitePlan:
    """The plans of a validated suite, and how its test sets are put together.

    Attributes:
        names: Of the test sets.
        plans: One a test set, each on random streams of its own, with R resolved.
        pooled: Whether all test sets together are one; their scores are averaged otherwise.
    """

    names: tuple[str, ...]
    plans: tuple[Plan, ...]
    pooled: bool

    @property
    def systems(self) -> tuple[str, ...]:
        """Names, in input order: those of every test set."""
        return self.plans[0].systems

    @property
    def recipe(self) -> Recipe:
        """What is computed on every test set."""
        return self.plans[0].recipe

    @property
    def pairs(self) -> Counts:
        """(P, 2) indices a, b of the systems compared on every test set."""
        return self.plans[0].pairs

    @property
    def resamples(self) -> int:
        """R of every test set."""
        return self.plans[0].resamples

    @property
    def average(self) -> Average:
        """How the test sets are put together."""
        return "pooled" if self.pooled else "macro"

    @property
    def size(self) -> int:
        """Comparisons in a family: the pairs of every test set, and of all together."""
        return (len(self.plans) + 1) * len(self.pairs)

    @cached_property
    def whole(self) -> Plan:
        """What is computed on all test sets as one, each a stratum or several.

        Strata are numbered as in `plans`, so that the bootstrap of the whole draws exactly what
        the bootstraps of the parts draw.
        """
        first = self.plans[0]
        documents = [name for t, p in enumerate(self.plans) for name in _within(t, p.documents)]
        segments = sum(plan.segments for plan in self.plans)
        labels = [
            label
            for t, plan in enumerate(self.plans)
            for label in _within(t, plan.labels or ("",) * plan.segments)
        ]
        return replace(
            first,
            digests=tuple(
                _joined(plan.digests[s] for plan in self.plans) for s in range(len(first.systems))
            ),
            segments=segments,
            documents=tuple(documents) if len(documents) == segments else None,
            labels=tuple(labels),
            testset=_joined(plan.testset for plan in self.plans),
            recipe=replace(first.recipe, stratified=True),
            stream=0,
        )

    @property
    def signature(self) -> str:
        """The line that reproduces the report."""
        plain = replace(self.plans[0], stream=0)
        return f"suite:{'+'.join(self.names)}|average:{self.average}|{plain.signature}"

    @cached_property
    def key(self) -> str:
        """Hash of everything the report is a function of: content, recipe and versions."""
        content = {
            "names": self.names,
            "plans": [plan.key for plan in self.plans],
            "pooled": self.pooled,
        }
        return hashlib.sha256(json.dumps(content, sort_keys=True).encode()).hexdigest()

    def as_json(self) -> dict[str, Any]:
        """A JSON object that `of` turns into this plan."""
        plans = [plan.as_json() for plan in self.plans]
        return {"names": list(self.names), "plans": plans, "pooled": self.pooled}

    @classmethod
    def of(cls, body: Mapping[str, Any]) -> SuitePlan:
        """The plan that `as_json` wrote."""
        return cls(tuple(body["names"]), tuple(map(Plan.of, body["plans"])), body["pooled"])


def _within(number: int, names: tuple[str, ...] | None) -> list[str]:
    """Names that may occur in several test sets, told apart."""
    return [f"{number}\n{name}" for name in names or ()]


def _joined(digests: Iterable[str]) -> str:
    return hashlib.sha256("\n".join(digests).encode()).hexdigest()
