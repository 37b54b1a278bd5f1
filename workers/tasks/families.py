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
from workers.store.claims import Column
from workers.store.testsets import TestSetStore


def gone(store: TestSetStore, state: State, part: Part) -> Gone:
    """The p-values of pairs that were shown before a system of theirs left, by metric and test."""
    if part.recipe.family == "present" or not state.left:
        return {}
    rows = [
        row
        for pair, row in sorted(store.claims.seen(state.record.id).items())
        if state.left.intersection(pair)
    ]
    return dict(zip(_columns(part), np.array(rows).T.copy(), strict=True)) if rows else {}


def note(store: TestSetStore, state: State, part: Part, report: Report) -> None:
    """Keep what a report decided as its test set says; other choices are views of it."""
    members = list(zip(part.systems, part.digests, strict=True))
    pairs = [(members[a], members[b]) for a, b in part.pairs.tolist()]
    if not pairs:
        return
    columns = _columns(part)
    p = np.array([row.p_value for row in report.pairs]).reshape(len(columns), -1).T
    claimed = np.array([row.significant for row in report.pairs]).reshape(len(columns), -1).T
    store.note_claims(state.record.id, columns, pairs, p, claimed)


def _columns(part: Part) -> list[Column]:
    """Metric and test of each family, in the order of the report's pairs."""
    return [(label, test) for label in part.recipe.labels for test in part.recipe.tests]
