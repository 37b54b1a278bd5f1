"""What workers do for leaderboards: measure a system that joins, and write what is shown.

A leaderboard shows the ordinary comparison of the systems that are measured. Its report is put
together from rows, which are functions of what they are about, so that each may be made twice.

A claim must not fall when a system is submitted. So a family has room for all systems that may
come, and the p-value of a pair stays in it when one of its systems is deleted or replaced;
adjusted p-values can only fall then.
"""

from collections.abc import Sequence
from contextlib import suppress
from dataclasses import dataclass, replace
from typing import NamedTuple

import numpy as np

from sigtest.arrays import Array
from sigtest.comparison.notes import errors_of, exact_notes, findings_of, proportions_of
from sigtest.comparison.plan import ClusteredError, Part, Plan
from sigtest.data.health import OF_REFERENCES
from sigtest.decide.facts import no_rows, pair_rows, system_row
from sigtest.decide.summary import Gone, report_of_rows
from sigtest.draws.sample import Sample
from sigtest.draws.totals import (
    SwapFact,
    Totals,
    exact_fact,
    resample,
    swap_fact,
    wants_statistics,
)
from sigtest.kinds import KINDS
from sigtest.render.records import render_json
from sigtest.report import Report, WarningReport, warned_of_names
from sigtest.requests.recipe import Recipe
from sigtest.significance import CORRECTIONS, resampling_tests
from sigtest.significance.best import most_draws
from workers.errors import GoneError
from workers.queue import Context
from workers.store import codec, keys, totals
from workers.store.boards import TestSetRecord, TestSetStore, row_name
from workers.tasks.questions import Statistics


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


class SystemNotes(NamedTuple):
    """What is said of one system's content, whatever it is called.

    Attributes:
        findings: Sentences and codes of health checks; a sentence that is about the system (true)
            follows its name.
        proportions: See `notes.proportions_of`.
        clustered: See `notes.errors_of`.
    """

    findings: list[tuple[bool, str, str]]
    proportions: list[str]
    clustered: dict[str, float]

    def warnings(self, system: str) -> list[WarningReport]:
        """The findings about a system of this name."""
        return [
            WarningReport(
                code,
                f"{system}{words}" if named else words,
                (system,) if named else (),
            )
            for named, words, code in self.findings
        ]


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

    def members(self, digests: Sequence[str]) -> dict[str, Member]:
        """Systems, ready to be compared with many.

        Raises:
            GoneError: One of them was removed.
        """
        found = zip(digests, self._parts(digests, totals.names(self.part)), strict=True)
        return {own: Member(own, parts, totals.unpack(self.part, parts)) for own, parts in found}

    def scores(self, digests: Sequence[str], m: int) -> Array:
        """(S, R) bootstrap scores of metric m; raises as `members` does."""
        rows = [totals.scores(parts, m) for parts in self._parts(digests, [f"scores:{m}"])]
        return np.stack(rows) if rows else np.empty((0, self.part.draws))

    def table(self, member: Member, m: int) -> Array:
        """(n, k) statistics of one system."""
        kept = totals.table(member.parts, m)
        return kept if kept is not None else self.statistics(member.digest, m)

    def with_kept(self, member: Member, m: int) -> Totals:
        """Totals with those of metric m under swaps."""
        if f"kept:{m}" in member.parts:
            return member.totals
        return replace(member.totals, swap_sums=self._resample(member.digest)[0].swap_sums)

    def statistics(self, digest: str, m: int) -> Array:
        """(n, k) statistics of what one system brought."""
        return self._texts(digest).table([0], m)[0]

    def notes(self, digest: str) -> SystemNotes:
        """What reports say of one system besides what they say of its totals.

        Raises:
            GoneError: The system was removed.
        """
        part, recipe = self.part, self.part.recipe
        texts = self._texts(digest)
        output = texts.system(0)
        testset = texts.testset(0)
        found = findings_of(testset, [replace(output, name="")], recipe)
        return SystemNotes(
            findings=[(own.code not in OF_REFERENCES, own.message, own.code) for own in found],
            proportions=proportions_of(output, recipe),
            clustered=errors_of(testset, output, recipe, part.document_index),
        )

    def _parts(self, digests: Sequence[str], names: Sequence[str]) -> list[dict[str, bytes]]:
        """Parts of totals; those that were evicted are made again and kept."""
        places = [keys.totals(self.testset_id, self.part.resamples, digest) for digest in digests]
        found = totals.find(self.context.redis, places, names)
        own = zip(digests, places, found, strict=True)
        return [parts or self._made(digest, place) for digest, place, parts in own]

    def _made(self, digest: str, place: str) -> dict[str, bytes]:
        drawn, tables = self._resample(digest)
        parts = totals.pack(self.part, drawn, tables)
        _, expiry = self._store.holder(self.testset_id)
        totals.keep(self.context.redis, self.context.settings, place, parts, expiry)
        return parts

    def _resample(self, digest: str) -> tuple[Totals, list[Array]]:
        """Totals of one system, and the statistics they are made of."""
        texts = self._texts(digest)
        texts.fill(0, 1)
        (tables,) = texts.tables()
        return resample(self._alone(digest), tables), [table[0] for table in tables]

    def _texts(self, digest: str) -> Statistics:
        owner, (caller, _) = self.testset_id, self._store.holder(self.testset_id)
        return Statistics(self.context, Plan((self._alone(digest),)), owner, caller, owner)

    def _alone(self, digest: str) -> Part:
        return replace(self.part, systems=("system",), digests=(digest,))


TOGETHER = 960_000  # resamples of all systems whose totals are in memory at the same time


def join(context: Context, testset_id: str, digest: str, resamples: int) -> None:
    """Measure what one system brought and compare it with every other that is measured.

    Of two that join at the same time each writes its row before it looks for others; so the later
    one finds the other.
    """
    sampling = Sampling(context, testset_id, context.testsets.part(testset_id))
    part = sampling.part
    if part.resamples != resamples:
        return  # raised meanwhile; another task has the new number
    member = sampling.members([digest])[digest]
    row = [system_row(part, m, member.totals) for m in range(len(part.recipe.metrics))]
    rows = {row_name(resamples, digest): np.concatenate(row).tobytes()}
    if context.testsets.rows(testset_id, [row_name("said", digest)]) == [None]:
        rows[row_name("said", digest)] = codec.pack_json(sampling.notes(digest))
    context.testsets.add_rows(testset_id, rows)
    state = context.testsets.stored(testset_id)
    if state is None:
        return
    pairs = _pairs(shown_part(part, state))
    _make_rows(sampling, [pair for pair in pairs if digest in pair], {digest: member})
    if not state.pending:
        refresh(context, testset_id)


def refresh(context: Context, testset_id: str, *_: str) -> None:
    """Write the report of the systems that are measured now, where it is not there.

    What comes meanwhile is for who brings it, and for the reconciler.
    """
    state = context.testsets.stored(testset_id)
    if state is None:
        return
    if not _measured_anew(context, state):
        sampling = Sampling(context, testset_id, context.testsets.part(testset_id))
        part = shown_part(sampling.part, state)
        gone = p_values_of_gone(context.testsets, state, part)
        question_id = id_of(state, part, gone)
        made: tuple[bytes, Sequence[str]] = (b"", ())
        if context.questions.stored(question_id) is None:
            report = _report(sampling, state, part, gone)
            context.testsets.note_claims(testset_id, part, report)
            made = render_json(report).encode(), KINDS["comparisons"].drawable(report)
        context.testsets.show(state, question_id, Plan((part,)), *made)
    if state.pending:  # for the reconciler
        context.testsets.unsettle(state.id)
    else:
        context.testsets.settle(state.id, state)


def _measured_anew(context: Context, state: TestSetRecord) -> bool:
    """Whether what is shown has systems that wait to be measured once more; then it stays.

    After an upgrade no system is measured, and for more resamples none is.
    """
    with suppress(GoneError):
        _, outline = context.questions.read(context.testsets.shown(state.id))
        (part,) = Plan.of(outline).parts
        held = dict(zip(part.systems, part.digests, strict=True))
        return any(held.get(name) == state.digests[name] for name in state.pending)
    return False


def shown_part(part: Part, state: TestSetRecord) -> Part:
    """What a leaderboard compares: the systems that are measured, by name."""
    names = state.measured
    digests = tuple(state.digests[name] for name in names)
    recipe = decided(part.recipe, state.family)
    return replace(part, systems=names, digests=digests, recipe=recipe)


def decided(recipe: Recipe, family: int) -> Recipe:
    """The recipe in a family of so many systems: as many as may come, or more.

    A joint correction leaves only the test that it goes with, and the systems present.
    """
    joint = CORRECTIONS[recipe.correction].joint
    tests = (joint,) if joint in recipe.tests else recipe.tests
    return recipe.but(family="present" if joint else family, tests=tests)


def id_of(state: TestSetRecord, part: Part, gone: Gone) -> str:
    """Id of the comparison that a leaderboard shows: its test set's own, not its caller's.

    A report is a function of what has left, too, as far as it was shown: a system that comes back
    meets others, and leaves more behind when it leaves again.
    """
    return keys.hashed("testset", state.id, part.key, *([repr(gone)] if gone else ()))


def _pairs(part: Part) -> list[tuple[str, str]]:
    """Digests of all pairs."""
    return [(part.digests[a], part.digests[b]) for a, b in part.pairs.tolist()]


def _make_rows(
    sampling: Sampling, pairs: Sequence[tuple[str, str]], known: dict[str, Member]
) -> list[bytes]:
    """The rows of these pairs, (M, 9 + 3 tests) each; what is missing is made, some at a time.

    Raises as `Sampling.members` does.
    """
    testsets, testset_id, part = sampling.context.testsets, sampling.testset_id, sampling.part
    names = {pair: row_name(part.resamples, *pair) for pair in pairs}
    rows = dict(zip(names, testsets.rows(testset_id, [*names.values()]), strict=True))
    wanted = [pair for pair, row in rows.items() if row is None]
    size = max(1, TOGETHER // part.resamples)
    for first in range(0, len(wanted), size):
        batch = wanted[first : first + size]
        others = {digest for pair in batch for digest in pair} - known.keys()
        members = known | sampling.members(sorted(others))
        place = {digest: i for i, digest in enumerate(members)}
        systems = [member.totals for member in members.values()]
        places = np.array([(place[a], place[b]) for a, b in batch])
        by_metric = []
        for m in range(len(part.recipe.metrics)):
            swaps = [_swaps(sampling, m, members[a], members[b]) for a, b in batch]
            by_metric.append(pair_rows(part, m, systems, places, swaps))
        made = zip(batch, np.stack(by_metric, axis=1), strict=True)
        new = {pair: row.tobytes() for pair, row in made}
        testsets.add_rows(testset_id, {names[pair]: row for pair, row in new.items()})
        rows |= new
    return [rows[pair] or b"" for pair in pairs]


def _swaps(sampling: Sampling, m: int, a: Member, b: Member) -> SwapFact:
    """What randomization says of a pair."""
    part = sampling.part
    tests = resampling_tests(part.recipe.tests).values()
    if all(test.draws != "swaps" for test in tests):
        return SwapFact(0, None)
    if wants_statistics(part, m, a.totals, b.totals):
        # totals under swaps are not kept where the exact p-value is as good as certain
        fact = exact_fact(part, m, (sampling.table(a, m), sampling.table(b, m)))
        if fact is not None:
            return fact
    return swap_fact(part, m, sampling.with_kept(a, m), sampling.with_kept(b, m))


def _report(sampling: Sampling, state: TestSetRecord, part: Part, gone: Gone) -> Report:
    """The report; raises as `Sampling.members` does."""
    systems = [state.rows[digest] for digest in part.digests]
    rows = _make_rows(sampling, _pairs(part), {})
    draws, ranges = _joint(sampling, part)
    own, both = _by_metric(part, systems), _by_metric(part, rows)
    return report_of_rows(_with_notes(sampling, part), own, both, draws, ranges, gone)


def _with_notes(sampling: Sampling, part: Part) -> Part:
    """The part with what is said of its systems' contents, by their names."""
    names = [row_name("said", digest) for digest in part.digests]
    rows = sampling.context.testsets.rows(sampling.testset_id, names)
    said = {
        system: SystemNotes(*codec.unpack_json(row))
        for system, row in zip(part.systems, rows, strict=True)
        if row is not None
    }
    labels = part.recipe.labels if said else ()
    proportions = tuple(own for own in labels if all(own in s.proportions for s in said.values()))
    notes = [words for system, own in said.items() for words in own.warnings(system)]
    notes += exact_notes(proportions, len(said), part.recipe)
    notes += warned_of_names(part.systems)
    return replace(
        part,
        notes=tuple(dict.fromkeys(notes)),
        proportions=proportions,
        clustered=tuple(
            ClusteredError(system, label, stderr)
            for system, own in said.items()
            for label, stderr in own.clustered.items()
        ),
    )


def _joint(sampling: Sampling, part: Part) -> tuple[list[Array], list[Array]]:
    """Draws and ranges of all systems, as far as they are looked at together."""
    metrics = range(len(part.recipe.metrics))
    size = len(part.systems)
    if CORRECTIONS[part.recipe.correction].joint is None or size < 2:
        if not part.with_best:
            return [], []
        first = most_draws(size)
        return [
            np.stack([sampling.scores([digest], m)[0, :first] for digest in part.digests])
            for m in metrics
        ], []
    ranges: list[Array] = []
    if part.recipe.correction == "tukey":
        tables = [
            np.stack([sampling.statistics(digest, m) for digest in part.digests]) for m in metrics
        ]
        ranges = list(Sample(part, tables).ranges(0, part.resamples))
    return [sampling.scores(part.digests, m) for m in metrics], ranges


def _by_metric(part: Part, rows: Sequence[bytes]) -> list[Array]:
    """For each metric, the rows of all systems or pairs."""
    size = len(part.recipe.metrics)
    if not rows:
        return [no_rows(part) for _ in range(size)]
    numbers = np.frombuffer(b"".join(rows)).reshape(len(rows), size, -1)
    return [np.ascontiguousarray(numbers[:, m]) for m in range(size)]


def p_values_of_gone(store: TestSetStore, state: TestSetRecord, part: Part) -> Gone:
    """The p-values of pairs that were shown before a system of theirs left, by metric and test."""
    if part.recipe.family == "present" or not state.left:
        return {}
    held = sorted(store.claimed(state.id)[1].items())
    rows = [row for pair, row in held if state.left.intersection(pair)]
    if not rows:
        return {}
    tests, columns = part.recipe.tests, iter(np.array(rows).T.tolist())
    return {label: {test: tuple(next(columns)) for test in tests} for label in part.recipe.labels}
