"""What a comparison resamples and reports, without its texts: all that is left after measuring.

A `Part` is one test set of it; a `Plan` is all of them, mostly one.
"""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from typing import Annotated, Any, Literal, NamedTuple, Self

import numpy as np
from pydantic import PlainSerializer, PlainValidator

from sigtest.arrays import Array, Counts
from sigtest.cached import cached_property
from sigtest.data.names import choose
from sigtest.data.runs import Crossed
from sigtest.errors import RecipeError
from sigtest.metrics import Measurable
from sigtest.report import Warnings, decode, digest, encode, joined
from sigtest.requests.recipe import Recipe
from sigtest.significance import resampling_tests
from sigtest.significance.best import LEAST_UNITS
from sigtest.version import __version__

Average = Literal["macro", "pooled"]

INTERVAL_DRAWS = 9_999  # bootstrap resamples that intervals take where no test looks at them
DIGITS = 6  # of sums of shares: further ones are rounding


@dataclass(frozen=True)
class ClusteredError:
    """How exact a mean of one system is, over items that come in clusters.

    Attributes:
        system: Whose.
        metric: Label of the metric.
        stderr: See `notes.clustered_error`.
    """

    system: str
    metric: str
    stderr: float


class Telling(NamedTuple):
    """How much the units of some strata tell of how a score varies, where all units vary alike.

    Attributes:
        units: As many of one stratum tell it as surely (Satterthwaite 1946).
        hidden: Share of the variance that resamples do not show: 1 / u in a stratum of u units.
        smallest: Units of the smallest of those strata that the recipe asks for.
        dependent: Whether they are segments of documents, and those of one are not independent.
    """

    units: float
    hidden: float
    smallest: float = math.inf
    dependent: bool = False

    @classmethod
    def of(cls, sizes: Counts, weights: Array | Counts) -> Telling:
        """From the (H,) units of each stratum, and in what proportion they add variance."""
        shares = weights / weights.sum()
        known, freedom = shares[sizes > 1], sizes[sizes > 1] - 1
        found = known.sum() ** 2 / (known**2 / freedom).sum() if len(known) else 0.0
        hidden = float((shares / sizes).sum())
        return cls(round(1 + float(found), DIGITS), round(hidden, DIGITS))


class Stored:
    """What JSON can hold."""

    def as_json(self) -> dict[str, Any]:
        """A JSON object that `of` turns into the same."""
        body: dict[str, Any] = encode(self)
        return body

    @classmethod
    def of(cls, body: Mapping[str, Any]) -> Self:
        """What `as_json` wrote."""
        return decode(cls, body)


@dataclass(frozen=True)
class Part(Stored):
    """Names, sizes and content hashes of what is compared on one test set, and the recipe.

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
        stream: Random stream of the first stratum where the test set is one of several, or 0.
        notes: Warnings about the texts, which the report has among its own.
        proportions: Labels of the metrics that give every segment of every system 0 or 1.
        runs: What is known of runs whose means are the scores.
        clustered: Standard errors of means over clusters, where these are the unit.
    """

    systems: tuple[str, ...]
    digests: tuple[str, ...]
    segments: int
    references: int
    documents: tuple[str, ...] | None
    testset: str
    recipe: Annotated[Recipe, PlainValidator(Recipe.of), PlainSerializer(Recipe.as_json)]
    labels: tuple[str, ...] | None = None
    replicas: int = 1
    stream: int = 0
    notes: Warnings = ()
    proportions: tuple[str, ...] = ()
    runs: tuple[Crossed, ...] = ()
    clustered: tuple[ClusteredError, ...] = ()

    @cached_property
    def pairs(self) -> Counts:
        """(P, 2) indices a, b of the systems compared; b is a baseline where there are some.

        One-sided, all pairs are compared in both orders, each a claim of its own, so that no
        answer depends on the order of the input.
        """
        size = len(self.systems)
        if self.recipe.both_claims:
            return np.argwhere(~np.eye(size, dtype=bool))
        if not self.recipe.baselines:
            return np.stack(np.triu_indices(size, 1), axis=1).astype(int)
        known = [self.systems.index(name) for name in self.recipe.baselines]
        two_sided, found = self.recipe.alternative == "two-sided", []
        for i, base in enumerate(known):
            before = known[:i] if two_sided else []  # which compare it already
            found += [(s, base) for s in range(size) if s not in (base, *before)]
        return np.array(found, int).reshape(-1, 2)  # of the baseline alone none

    @cached_property
    def resamples(self) -> int:
        """R, resolved where the recipe leaves it open."""
        return self.recipe.resolved(len(self.pairs))

    @property
    def draws(self) -> int:
        """Bootstrap resamples: R where a test looks at them, else at most what intervals need."""
        tests = resampling_tests(self.recipe.tests).values()
        looks = self.recipe.studentised or any(test.draws == "counts" for test in tests)
        return self.resamples if looks else min(self.resamples, INTERVAL_DRAWS)

    @property
    def shares(self) -> tuple[str, ...]:
        """Labels of the metrics whose intervals are those of shares, not of the bootstrap."""
        drawn = self.recipe.stratified or self.recipe.interval != "percentile"
        return () if drawn else self.proportions

    @cached_property
    def document_index(self) -> Counts:
        """(n,) number of each segment's document, numbered in order of first appearance."""
        return _numbered(self.documents or ())

    @cached_property
    def strata(self) -> Counts:
        """(units,) number of each unit's stratum, numbered in order of first appearance."""
        labels = _numbered(self.labels or ())
        if self.recipe.unit != "document":
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

    @property
    def with_best(self) -> bool:
        """Whether systems are compared with the best."""
        many = self.units >= LEAST_UNITS and len(self.systems) > 2
        return many and not self.recipe.baselines

    @property
    def sizes(self) -> Counts:
        """(H,) units of each stratum; one stratum where draws are not stratified."""
        return np.bincount(self.strata) if self.labels else np.array([self.units])

    @property
    def dependent(self) -> bool:
        """Whether segments are the unit although it is known of which document each is."""
        return self.recipe.unit != "document" and self.documents is not None

    @property
    def spread_known(self) -> bool:
        """Whether any stratum has two units; nothing else says how scores vary."""
        return self.units > self.streams

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
        further = {
            "stream": self.stream,
            "notes": [str(note) for note in self.notes],
            "runs": [encode(own) for own in self.runs],
        }
        content |= {name: value for name, value in further.items() if value}
        return digest(content)

    def statistics_key(self, system: int, metric: Measurable) -> str:
        """Hash of everything that one system's statistics are a function of."""
        content = {
            "sigtest": __version__,
            "metric": metric.signature(self.references),
            "testset": self.testset,
            "system": self.digests[system],
        }
        return digest(content)

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
            *([f"family:{recipe.family}"] if recipe.family != "present" else []),
            f"pairs:{'baseline=' + '/'.join(recipe.baselines) if recipe.baselines else 'all'}",
            f"exact:{recipe.exact}",
            f"unit:{recipe.unit}",
            *(["stratified:true"] if recipe.stratified else []),
            *(["unpaired:true"] if recipe.unpaired else []),
            *([f"interval:{recipe.interval}"] if recipe.interval != "percentile" else []),
            *([f"replicas:{self.replicas}"] if self.replicas > 1 else []),
            *([f"stream:{self.stream}"] if self.stream else []),
            f"sigtest:{__version__}",
        ]
        return "|".join(parts)


@dataclass(frozen=True)
class Plan(Stored):
    """What is computed on every test set, and how the test sets are put together.

    Attributes:
        parts: One a test set. Of several, each has random streams of its own, and R resolved.
        names: Of the test sets, where there are several.
        pooled: Whether all test sets together are one; their scores are averaged otherwise.
    """

    parts: tuple[Part, ...]
    names: tuple[str, ...] = ()
    pooled: bool = False

    @property
    def systems(self) -> tuple[str, ...]:
        """Names, in input order: those of every test set."""
        return self.parts[0].systems

    @property
    def recipe(self) -> Recipe:
        """What is computed on every test set."""
        return self.parts[0].recipe

    @property
    def pairs(self) -> Counts:
        """(P, 2) indices a, b of the systems compared on every test set."""
        return self.parts[0].pairs

    @property
    def resamples(self) -> int:
        """R of every test set."""
        return self.parts[0].resamples

    @property
    def average(self) -> Average:
        """How several test sets are put together."""
        return "pooled" if self.pooled else "macro"

    @cached_property
    def all_parts(self) -> tuple[Part, ...]:
        """The parts, and where there are several, all together as one more."""
        return (*self.parts, self.whole) if self.names else self.parts

    @property
    def pair_count(self) -> int:
        """Comparisons of one metric and test: the pairs of every test set, and of all together."""
        return len(self.all_parts) * len(self.pairs)

    @property
    def numbers_per_draw(self) -> int:
        """Numbers of each metric and resample that are kept until all are drawn.

        Scores of systems; with standard errors in resamples those of systems and of pairs, too.
        """
        systems, erring = len(self.systems), self.recipe.studentised
        return len(self.parts) * (systems + erring * (systems + len(self.pairs)))

    @property
    def comparisons(self) -> int:
        """Size of a family: those, and where its size is fixed, all that may come."""
        return self.recipe.comparisons(len(self.pairs), len(self.all_parts))

    @cached_property
    def whole(self) -> Part:
        """What is computed on all test sets as one, each a stratum or several.

        Strata are numbered as in `parts`, so that the bootstrap of the whole draws exactly what
        the bootstraps of the parts draw. Of one test set it is that part.
        """
        first = self.parts[0]
        if not self.names:
            return first
        documents = [name for t, p in enumerate(self.parts) for name in _within(t, p.documents)]
        segments = sum(part.segments for part in self.parts)
        labels = [
            label
            for t, part in enumerate(self.parts)
            for label in _within(t, part.labels or ("",) * part.segments)
        ]
        return replace(
            first,
            digests=tuple(
                joined(part.digests[s] for part in self.parts) for s in range(len(first.systems))
            ),
            segments=segments,
            documents=tuple(documents) if len(documents) == segments else None,
            labels=tuple(labels),
            testset=joined(part.testset for part in self.parts),
            recipe=first.recipe.but(stratified=True),
            stream=0,
            notes=(),
            proportions=(),
            runs=(),
            clustered=(),
        )

    @cached_property
    def tellings(self) -> tuple[Telling, ...]:
        """How much the units of each of `all_parts` tell of how its scores vary.

        In a mean over test sets each counts alike, so that a small one has most of the variance.
        """
        found = [Telling.of(part.sizes, part.sizes) for part in self.all_parts]
        if self.names and not self.pooled:
            weights = np.concatenate([part.sizes / part.units**2 for part in self.parts])
            found[-1] = Telling.of(self.whole.sizes, weights)
        groups = [(part,) for part in self.parts] + [self.parts] * bool(self.names)
        asked = self.recipe.stratified
        return tuple(
            telling._replace(
                smallest=min(part.sizes.min() for part in own) if asked else math.inf,
                dependent=any(part.dependent for part in own),
            )
            for telling, own in zip(found, groups, strict=True)
        )

    def number_of(self, testset: str | None) -> int:
        """Which part a test set's name means.

        Raises:
            RecipeError: No name where there are several, or a name that none has.
        """
        if testset is not None and not self.names:
            raise RecipeError("There is one test set; leave testset out.", field="testset")
        if testset is not None:
            return self.names.index(choose(testset, self.names, "testset", "test set"))
        if self.names:
            raise RecipeError(
                f"testset must name one of the test sets: {', '.join(self.names)}.",
                field="testset",
            )
        return 0

    @property
    def signature(self) -> str:
        """The line that reproduces the report."""
        if not self.names:
            return self.parts[0].signature
        plain = replace(self.parts[0], stream=0)
        return f"testsets:{'+'.join(self.names)}|average:{self.average}|{plain.signature}"

    @cached_property
    def key(self) -> str:
        """Hash of everything the report is a function of: content, recipe and versions."""
        if not self.names:
            return self.parts[0].key
        keys = [part.key for part in self.parts]
        return digest({"names": self.names, "parts": keys, "pooled": self.pooled})


def _within(number: int, names: tuple[str, ...] | None) -> list[str]:
    """Names that may occur in several test sets, told apart."""
    return [f"{number}\n{name}" for name in names or ()]


def _numbered(names: Sequence[str]) -> Counts:
    """A number for each name, equal for equal names, in order of first appearance."""
    numbers: dict[str, int] = {}
    return np.array([numbers.setdefault(name, len(numbers)) for name in names], int)
