"""Which comparisons a leaderboard corrects for: those shown, those to come, and those gone.

A claim must not fall when a system is submitted. So a family has room for all systems that may
come, and the p-value of a pair stays in it when one of its systems is deleted or replaced;
adjusted p-values can only fall then.
"""

from __future__ import annotations

import numpy as np

from sigtest.comparison.plan import Part
from sigtest.decide.summary import Gone
from sigtest.report import Report
from workers.store.boards import State
from workers.store.claims import Pair
from workers.store.testsets import TestSetStore


def gone(store: TestSetStore, state: State, part: Part) -> Gone:
    """The p-values of pairs that were shown before a system of theirs left, by metric and test."""
    if part.recipe.family == "present" or not state.left:
        return {}
    rows = [
        np.frombuffer(row)
        for pair, row in sorted(store.claims.seen(state.record.id).items())
        if state.left.intersection(pair)
    ]
    columns = [(label, test) for label in part.recipe.labels for test in part.recipe.tests]
    if not rows:
        return {}
    return dict(zip(columns, np.array(rows).T.copy(), strict=True))


def note(store: TestSetStore, state: State, part: Part, report: Report) -> None:
    """Keep what a report decided as its test set says; other choices are views of it."""
    pairs = _pairs(part)
    size = len(pairs)
    if not size:
        return
    p = np.array([row.p_value for row in report.pairs]).reshape(-1, size).T
    claims = [
        (row.metric, row.test, pairs[i % size])
        for i, row in enumerate(report.pairs)
        if row.significant
    ]
    rows = {pair: np.ascontiguousarray(own).tobytes() for pair, own in zip(pairs, p, strict=True)}
    store.note_claims(state.record.id, rows, claims)


def _pairs(part: Part) -> list[Pair]:
    members = list(zip(part.systems, part.digests, strict=True))
    return [(members[a], members[b]) for a, b in part.pairs.tolist()]
