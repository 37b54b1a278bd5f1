"""The totals of a test set's systems: taken from where they are kept, made again where not."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace
from functools import cached_property

import numpy as np

from sigtest import engine
from sigtest.arrays import Array
from sigtest.comparison.plan import Plan
from sigtest.data.testset import TestSet
from sigtest.draws.totals import Totals, resample
from workers import totals
from workers.errors import GoneError
from workers.leaderboard_store import LeaderboardStore, gone
from workers.store import Store


@dataclass(frozen=True)
class Member:
    """What is kept of one system.

    Attributes:
        digest: Its content.
        parts: Its totals as they are stored.
        totals: The same, but for what is large and not always needed.
    """

    digest: str
    parts: totals.Parts
    totals: Totals


class Sampling:
    """Totals and statistics of one test set's systems.

    Args:
        cache: Where statistics are, shared with comparisons.
        store: Where test sets and totals are.
        testset_id: The test set.
        plan: Its settings.
    """

    def __init__(self, cache: Store, store: LeaderboardStore, testset_id: str, plan: Plan) -> None:
        self.testset_id = testset_id
        self.plan = plan
        self._cache = cache
        self._store = store

    def member(self, digest: str) -> Member | None:
        """One system, ready to be compared with many; nothing where it was removed."""
        found = self.members([digest]).get(digest)
        if found is None:
            return None
        observed = found.totals.observed
        kept = [totals.kept(found.parts, m, sums) for m, sums in enumerate(observed)]
        filled = tuple(
            nothing if sums is None else sums
            for sums, nothing in zip(kept, found.totals.kept, strict=True)
        )
        return replace(found, totals=replace(found.totals, kept=filled))

    def members(self, digests: Sequence[str]) -> dict[str, Member]:
        """Those systems that were not removed."""
        distinct = list(dict.fromkeys(digests))
        found = self._parts(distinct, totals.names(self.plan))
        return {
            digest: Member(digest, parts, totals.unpack(self.plan, parts))
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
        return np.stack(rows) if rows else np.empty((0, self.plan.resamples))

    def table(self, member: Member, m: int) -> Array:
        """(n, k) statistics of one system."""
        kept = totals.table(member.parts, m)
        return kept if kept is not None else self.statistics(member.digest, [m])[m]

    def with_kept(self, member: Member, m: int) -> Totals:
        """Totals with those of metric m under swaps."""
        if member.totals.kept[m].shape[1]:
            return member.totals
        sums = totals.kept(member.parts, m, member.totals.observed[m])
        if sums is None:
            sums = self._resample(member.digest)[0].kept[m]
        kept = list(member.totals.kept)
        kept[m] = sums
        return replace(member.totals, kept=tuple(kept))

    def _parts(self, digests: Sequence[str], names: Sequence[str]) -> list[dict[str, bytes]]:
        """Parts of totals; those that were evicted are made again and kept."""
        found = self._store.results.totals(self.testset_id, self.plan.resamples, digests, names)
        return [parts or self._made(digest) for digest, parts in zip(digests, found, strict=True)]

    def _made(self, digest: str) -> dict[str, bytes]:
        try:
            drawn, tables = self._resample(digest)
        except GoneError:
            return {}
        parts = totals.pack(self.plan, drawn, tables)
        self._store.results.keep(self.testset_id, self.plan.resamples, digest, parts)
        return parts

    def _resample(self, digest: str) -> tuple[Totals, list[Array]]:
        """Totals of one system, and the statistics they are made of."""
        measured = self.statistics(digest, range(len(self.plan.recipe.metrics)))
        tables = [measured[m] for m in sorted(measured)]
        return resample(self._alone(digest), [table[None] for table in tables]), tables

    def statistics(self, digest: str, metrics: Sequence[int]) -> dict[int, Array]:
        """Statistics of one system by metric, from the cache or from its text."""
        keys = {m: self._key(digest, m) for m in metrics}
        found = self._cache.statistics(list(keys.values()))
        missing = [m for m in metrics if keys[m] not in found]
        if missing:
            output = self._store.output(self.testset_id, digest)
            if output is None:
                raise gone(self.testset_id)
            kinds = self.plan.recipe.metrics
            made = {keys[m]: engine.measure(self._testset, output, kinds[m]) for m in missing}
            self._cache.add_statistics(made)
            found |= made
        return {m: found[key] for m, key in keys.items()}

    @cached_property
    def _testset(self) -> TestSet:
        return self._store.testset(self.testset_id)

    def _alone(self, digest: str) -> Plan:
        return replace(self.plan, systems=("system",), digests=(digest,))

    def _key(self, digest: str, m: int) -> str:
        return self._alone(digest).statistics_key(0, self.plan.recipe.metrics[m])
