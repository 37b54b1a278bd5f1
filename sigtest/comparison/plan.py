"""What a comparison resamples and reports, without its texts: all that is left after measuring."""

from __future__ import annotations

import hashlib
import json
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from functools import cached_property
from typing import Any

import numpy as np

from sigtest.arrays import Counts
from sigtest.comparison.recipe import Recipe
from sigtest.metrics import Metric
from sigtest.version import __version__


@dataclass(frozen=True)
class Plan:
    """Names, sizes and content hashes of a validated comparison, and its recipe.

    Attributes:
        systems: Names, in input order, which pairs keep.
        digests: Content hash of each system.
        segments: Segments in the test set.
        references: Reference sets of the test set.
        documents: Document id of each segment, or none known.
        testset: Content hash of the test set.
        recipe: What to compute.
        labels: Label of each segment where draws are stratified by it, or none.
        replicas: Replicas of each system, m; 1 where systems bring plain hypotheses.
        stream: Random stream of the first stratum where the test set is one of a suite, or 0.
    """

    systems: tuple[str, ...]
    digests: tuple[str, ...]
    segments: int
    references: int
    documents: tuple[str, ...] | None
    testset: str
    recipe: Recipe
    labels: tuple[str, ...] | None = None
    replicas: int = 1
    stream: int = 0

    @cached_property
    def pairs(self) -> Counts:
        """(P, 2) indices a, b of the systems compared; b is the baseline where there is one."""
        size = len(self.systems)
        if self.recipe.baseline is None:
            return np.stack(np.triu_indices(size, 1), axis=1).astype(np.int64)
        base = self.systems.index(self.recipe.baseline)
        return np.array([(s, base) for s in range(size) if s != base], dtype=np.int64)

    @cached_property
    def resamples(self) -> int:
        """R, resolved where the recipe leaves it open."""
        return self.recipe.resolved(len(self.pairs))

    @cached_property
    def document_index(self) -> Counts:
        """(n,) number of each segment's document, numbered in order of first appearance."""
        return _numbered(self.documents or ())

    @cached_property
    def strata(self) -> Counts:
        """(units,) number of each unit's stratum, numbered in order of first appearance."""
        labels = _numbered(self.labels or ())
        if self.recipe.unit == "segment":
            return labels
        _, first_segments = np.unique(self.document_index, return_index=True)
        return labels[first_segments]

    @property
    def streams(self) -> int:
        """How many random streams the bootstrap takes: one a stratum."""
        return int(self.strata.max()) + 1 if self.labels else 1

    @property
    def document_count(self) -> int:
        """Number of documents; 0 where none are known."""
        return int(self.document_index.max()) + 1 if self.documents else 0

    @property
    def units(self) -> int:
        """How many units are resampled, each with all replicas."""
        return self.document_count if self.recipe.unit == "document" else self.segments

    @cached_property
    def key(self) -> str:
        """Hash of everything the report is a function of: content, recipe and versions."""
        content: dict[str, Any] = {
            "sigtest": __version__,
            "metrics": [metric.implementation for metric in self.recipe.metrics],
            "testset": self.testset,
            "systems": [self.systems, self.digests],
            "recipe": self.recipe.as_json(),
        }
        if self.stream:
            content["stream"] = self.stream
        return _digest(content)

    def statistics_key(self, system: int, metric: Metric) -> str:
        """Hash of everything that one system's statistics are a function of."""
        content = {
            "sigtest": __version__,
            "metric": metric.signature(self.references),
            "testset": self.testset,
            "system": self.digests[system],
        }
        return _digest(content)

    @property
    def signature(self) -> str:
        """The line that reproduces the report: metric options, tests, resamples, seed, versions."""
        recipe = self.recipe
        parts = [
            "+".join(f"({metric.signature(self.references)})" for metric in recipe.metrics),
            f"tests:{'+'.join(recipe.tests)}",
            f"alternative:{recipe.alternative}",
            f"resamples:{self.resamples}",
            f"seed:{recipe.seed}",
            f"alpha:{recipe.alpha}",
            f"correction:{recipe.correction}",
            f"pairs:{'all' if recipe.baseline is None else 'baseline=' + recipe.baseline}",
            f"exact:{recipe.exact}",
            f"unit:{recipe.unit}",
            *(["stratified:true"] if recipe.stratified else []),
            *([f"replicas:{self.replicas}"] if self.replicas > 1 else []),
            *([f"stream:{self.stream}"] if self.stream else []),
            f"sigtest:{__version__}",
        ]
        return "|".join(parts)

    def as_json(self) -> dict[str, Any]:
        """A JSON object that `of` turns into this plan."""
        own = {name: getattr(self, name) for name in self.__dataclass_fields__}
        return {**own, "recipe": self.recipe.as_json()}

    @classmethod
    def of(cls, body: Mapping[str, Any]) -> Plan:
        """The plan that `as_json` wrote."""
        documents, labels = body["documents"], body.get("labels")
        return cls(
            systems=tuple(body["systems"]),
            digests=tuple(body["digests"]),
            segments=body["segments"],
            references=body["references"],
            documents=tuple(documents) if documents is not None else None,
            testset=body["testset"],
            recipe=Recipe.of(body["recipe"]),
            labels=tuple(labels) if labels is not None else None,
            replicas=body.get("replicas", 1),
            stream=body.get("stream", 0),
        )


def _numbered(names: Sequence[str]) -> Counts:
    """A number for each name, equal for equal names, in order of first appearance."""
    numbers: dict[str, int] = {}
    return np.array([numbers.setdefault(name, len(numbers)) for name in names], dtype=np.int64)


def _digest(content: Mapping[str, Any]) -> str:
    return hashlib.sha256(json.dumps(content, sort_keys=True).encode()).hexdigest()
