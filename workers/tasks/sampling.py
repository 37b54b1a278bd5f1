"""The totals of a test set's systems: taken from where they are kept, made again where not."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace
from typing import NamedTuple

import numpy as np

from sigtest import engine
from sigtest.arrays import Array
from sigtest.cached import cached_property
from sigtest.comparison import proportions
from sigtest.comparison.clusters import errors_of
from sigtest.comparison.findings import findings_of
from sigtest.comparison.plan import Part
from sigtest.data.health import OF_REFERENCES
from sigtest.data.testset import TestSet
from sigtest.draws.totals import Totals, resample
from workers.errors import GoneError
from workers.store import keys, totals
from workers.store.testsets import gone
from workers.tasks.context import Context


@dataclass(frozen=True)
class Member:
    """What is kept of one system.

    Attributes:
        digest: Its content.
        parts: Its totals as they are stored.
        totals: The same as arrays; nothing under swaps where these are not kept.
    """

    digest: str
    parts: totals.Parts
    totals: Totals


class Said(NamedTuple):
    """What is said of one system's content, whatever it is called.

    Attributes:
        findings: Sentences of health checks; one that is about the system (true) follows its name.
        right: See `proportions.right_of`.
        clustered: See `clusters.errors_of`.
    """

    findings: list[tuple[bool, str]]
    right: dict[str, int | None]
    clustered: dict[str, float]


class Sampling:
    """Totals and statistics of one test set's systems.

    Args:
        context: Where they are kept.
        testset_id: The test set.
        part: Its settings.
    """

    def __init__(self, context: Context, testset_id: str, part: Part) -> None:
        self.context = context
        self.testset_id = testset_id
        self.part = part
        self._store = context.testsets
        self._cache = context.questions.cache(testset_id)

    def members(self, digests: Sequence[str]) -> dict[str, Member]:
        """Those systems that were not removed, ready to be compared with many."""
        distinct = list(dict.fromkeys(digests))
        found = self._parts(distinct, totals.names(self.part))
        return {
            digest: Member(digest, parts, totals.unpack(self.part, parts))
            for digest, parts in zip(distinct, found, strict=True)
            if parts
        }

    def scores(self, digests: Sequence[str], m: int) -> Array:
        """(S, R) bootstrap scores of metric m.

        Raises:
            GoneError: A system was removed.
        """
        found = self._parts(digests, [f"scores:{m}"])
        if not all(found):
            raise gone(self.testset_id)
        rows = [totals.scores(parts, m) for parts in found]
        return np.stack(rows) if rows else np.empty((0, self.part.resamples))

    def table(self, member: Member, m: int) -> Array:
        """(n, k) statistics of one system."""
        kept = totals.table(member.parts, m)
        return kept if kept is not None else self.statistics(member.digest, [m])[m]

    def with_kept(self, member: Member, m: int) -> Totals:
        """Totals with those of metric m under swaps."""
        if totals.has_kept(member.parts, m):
            return member.totals
        return replace(member.totals, kept=self._resample(member.digest)[0].kept)

    def statistics(self, digest: str, metrics: Sequence[int]) -> dict[int, Array]:
        """Statistics of one system by metric, from the cache or from its text."""
        kinds = self.part.recipe.metrics
        alone = replace(self.part, systems=("system",), digests=(digest,))
        names = {m: alone.statistics_key(0, kinds[m]) for m in metrics}
        found = self._cache.find([*names.values()])
        missing = [m for m in metrics if names[m] not in found]
        if missing:
            output = self._store.output(self.testset_id, digest)
            if output is None:
                raise gone(self.testset_id)
            made = {names[m]: engine.measure(self._testset, output, kinds[m]) for m in missing}
            self._cache.add(made)
            found |= made
        return {m: found[name] for m, name in names.items()}

    def said(self, digest: str) -> Said:
        """What reports say of one system besides what they say of its totals.

        Raises:
            GoneError: The system was removed.
        """
        output = self._store.output(self.testset_id, digest)
        if output is None:
            raise gone(self.testset_id)
        part, recipe = self.part, self.part.recipe
        found = findings_of(self._testset, [replace(output, name="")], recipe)
        return Said(
            findings=[(finding.kind not in OF_REFERENCES, finding.sentence) for finding in found],
            right=proportions.right_of(output, recipe),
            clustered=errors_of(self._testset, output, recipe, part.document_index),
        )

    def _parts(self, digests: Sequence[str], names: Sequence[str]) -> list[dict[str, bytes]]:
        """Parts of totals; those that were evicted are made again and kept."""
        places = [keys.totals(self.testset_id, self.part.resamples, digest) for digest in digests]
        found = self._store.kept.read(places, names)
        return [parts or self._made(digest) for digest, parts in zip(digests, found, strict=True)]

    def _made(self, digest: str) -> dict[str, bytes]:
        try:
            drawn, tables = self._resample(digest)
        except GoneError:
            return {}
        parts = totals.pack(self.part, drawn, tables)
        self._store.keep(self.testset_id, self.part.resamples, digest, parts)
        return parts

    def _resample(self, digest: str) -> tuple[Totals, list[Array]]:
        """Totals of one system, and the statistics they are made of."""
        measured = self.statistics(digest, range(len(self.part.recipe.metrics)))
        tables = [measured[m] for m in sorted(measured)]
        alone = replace(self.part, systems=("system",), digests=(digest,))
        return resample(alone, [table[None] for table in tables]), tables

    @cached_property
    def _testset(self) -> TestSet:
        return self._store.testset(self.testset_id)
