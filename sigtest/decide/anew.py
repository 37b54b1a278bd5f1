"""A finished report decided in another way, from what was counted: nothing is drawn.

p-values are those of the report. Intervals stay at the level that they were drawn for, which the
report then names. All else is what a comparison with this alpha and correction and as many
resamples reports.
"""

from __future__ import annotations

import re
from collections.abc import Sequence
from dataclasses import dataclass, replace

import numpy as np

from sigtest.data.choices import choose
from sigtest.decide.decisions import Limit, correct, detectable_in_errors
from sigtest.decide.methods import decided_anew
from sigtest.decide.ranks import power_of, rank_confidence, ranked
from sigtest.decide.verdict import verdict
from sigtest.decide.warnings import (
    FEW_RESAMPLES,
    JOINT,
    NOTHING,
    UNITS,
    few_resamples,
    nothing_to_find,
    warnings_of_several,
)
from sigtest.decide.wins import decided_wins
from sigtest.errors import RecipeError
from sigtest.report import PairReport, Report, WinsReport
from sigtest.requests.recipe import check_alpha, resamples_needed
from sigtest.significance import ALTERNATIVES, CORRECTIONS, TESTS, Alternative
from sigtest.significance.levels import experimentwise_error

DRAWN = re.compile(r"\|alternative:([a-z-]+)\|resamples:(\d+)\|seed:")


@dataclass(frozen=True)
class Anew:
    """How a report is decided now, and what does not change.

    Attributes:
        limit: Correction, level and size of a family.
        old: The same as it was.
        alternative: The claim.
        resamples: R.
    """

    limit: Limit
    old: Limit
    alternative: Alternative
    resamples: int


def decided(report: Report, alpha: float | None = None, correction: str | None = None) -> Report:
    """The report with another alpha or correction; the same where neither is another.

    Args:
        report: On one test set or on several.
        alpha: Level of decisions; as it was where there is none.
        correction: Name of the correction; as it was where there is none.

    Raises:
        RecipeError: No such level or correction; or a correction that counts in draws, which a
            report does not hold.
    """
    alpha = report.alpha if alpha is None else alpha
    correction = report.correction if correction is None else correction
    check_alpha(alpha)
    choose(correction, CORRECTIONS, "correction", "correction")
    if not report.pairs or (alpha, correction) == (report.alpha, report.correction):
        return report
    if CORRECTIONS[correction].joint:
        raise RecipeError(
            f"correction {correction} counts in the draws of all pairs together, which a report "
            "does not hold; ask for a comparison with it.",
            field="correction",
        )
    drawn = DRAWN.search(report.signature)
    if drawn is None:
        raise RecipeError("The signature of this report cannot be read.", field="correction")
    family = report.comparisons
    old = Limit(report.correction, report.alpha, family)
    claim = next(own for own in ALTERNATIVES if own == drawn[1])
    anew = Anew(Limit(correction, alpha, family), old, claim, int(drawn[2]))
    return _on_several(report, anew) if report.several else _on_one(report, anew)


def _on_one(report: Report, anew: Anew) -> Report:
    (pairs,) = _decided([report], anew)
    return replace(_with(report, anew, pairs), warnings=_warnings(report, anew))


def _on_several(report: Report, anew: Anew) -> Report:
    """The pairs of every test set and of all together are one family."""
    assert report.several is not None
    several = report.several
    own = [entry.report for entry in several.testsets]
    *each, last = _decided([*own, report], anew)
    testsets = tuple(
        replace(
            entry,
            report=replace(
                _with(entry.report, anew, pairs), warnings=_warnings(entry.report, anew)
            ),
        )
        for entry, pairs in zip(several.testsets, each, strict=True)
    )
    size = several.comparisons // (len(own) + 1)
    wins = _wins(several.wins, replace(anew.limit, family=size))
    return replace(
        _with(report, anew, last),
        several=replace(several, testsets=testsets, wins=wins),
        warnings=warnings_of_several(len(own), anew.alternative, anew.limit.alpha),
    )


def _decided(reports: Sequence[Report], anew: Anew) -> list[list[PairReport]]:
    """The pairs of each report; those of one metric and test are one family."""
    made: list[list[PairReport]] = [[] for _ in reports]
    first = reports[0]
    for metric, told in first.metrics.items():
        for test in first.tests:
            rows = [
                [pair for pair in own.pairs if (pair.metric, pair.test) == (metric, test)]
                for own in reports
            ]
            family = [pair for own in rows for pair in own]
            found = iter(_pairs(family, anew, told.higher_is_better))
            for pairs, own in zip(made, rows, strict=True):
                pairs += [next(found) for _ in own]
    return made


def _pairs(family: Sequence[PairReport], anew: Anew, higher: bool) -> list[PairReport]:
    """One family, corrected and decided."""
    limit = anew.limit
    p = np.array([pair.p_value for pair in family])
    ends = np.array([pair.p_interval or (pair.p_value, pair.p_value) for pair in family]).T
    sides = TESTS[family[0].test].sides(anew.alternative)
    adjusted, unsure, needed = correct(limit, p, (ends[0], ends[1]), anew.resamples, sides)
    plain, corrected = detectable_in_errors(limit, anew.alternative)
    made = []
    for row, pair in enumerate(family):
        own = replace(
            pair,
            p_adjusted=float(adjusted[row]),
            significant=bool(adjusted[row] <= limit.alpha),
            undecided=bool(unsure[row]),
            resamples_needed=needed.get(row),
            detectable=(pair.stderr * plain, pair.stderr * corrected),
        )
        made.append(replace(own, verdict=verdict(own, higher, limit.correction, limit.family)))
    return made


def _with(report: Report, anew: Anew, pairs: Sequence[PairReport]) -> Report:
    """A report with these decisions, and what follows from them but for its warnings."""
    limit = anew.limit
    drawn = report.signature.partition("|decided:")[0]
    drawn_for = report.alpha if report.interval_alpha is None else report.interval_alpha
    systems = report.systems
    if any(system.ranks for system in systems):
        systems = ranked(systems, report.metrics, report.tests, pairs)
    methods = report.methods
    if methods is not None:
        coming = report.family.systems if report.family else None
        methods = decided_anew(methods, anew.old, limit, coming)
    return replace(
        report,
        signature=f"{drawn}|decided:alpha={limit.alpha},correction={limit.correction}",
        alpha=limit.alpha,
        correction=limit.correction,
        experimentwise_error=experimentwise_error(limit.alpha, limit.family),
        systems=systems,
        pairs=tuple(pairs),
        methods=methods,
        interval_alpha=None if drawn_for == limit.alpha else drawn_for,
        rank_confidence=(
            rank_confidence(limit, pairs, report.rank_doubt)
            if any(own.ranks for own in systems)
            else None
        ),
        discriminative_power=power_of(pairs) if report.discriminative_power is not None else None,
    )


def _warnings(report: Report, anew: Anew) -> tuple[str, ...]:
    """The sentences that still hold, and whether there were enough resamples and units."""
    limit = anew.limit
    outdated = (f"{anew.resamples:,}{FEW_RESAMPLES}", NOTHING, *JOINT)
    kept = [said for said in report.warnings if not said.startswith(outdated)]
    size, of_documents = report.testset, "|unit:document|" in report.signature
    nothing = nothing_to_find(
        () if "|replicas:" in report.signature else report.tests,
        anew.alternative,
        (size.documents or 0, "document") if of_documents else (size.segments, "segment"),
        len({frozenset((pair.a, pair.b)) for pair in report.pairs}),
        limit,
    )
    if nothing is not None:
        kept.insert(sum(said.startswith(UNITS) for said in kept), nothing)
    sides = max(TESTS[test].sides(anew.alternative) for test in report.tests)
    fixed = report.family is not None
    correction = CORRECTIONS[limit.correction]
    needed = resamples_needed(correction, limit.alpha, sides, limit.family, fixed)
    if anew.resamples < needed and not _all_exact(report):
        kept.insert(0, few_resamples(anew.resamples, needed, limit))
    return tuple(kept)


def _all_exact(report: Report) -> bool:
    """Whether no p-value depends on the number of resamples."""
    return all(pair.exact for pair in report.pairs if TESTS[pair.test].draws != "none")


def _wins(rows: Sequence[WinsReport], limit: Limit) -> tuple[WinsReport, ...]:
    """Won and lost test sets, each metric's tests corrected."""
    made: list[WinsReport] = []
    for metric in dict.fromkeys(row.metric for row in rows):
        family = [row for row in rows if row.metric == metric]
        signs = decided_wins([row.sign_test.p_value for row in family], limit)
        ranks = decided_wins([row.signed_rank.p_value for row in family], limit)
        for row, sign_test, signed_rank in zip(family, signs, ranks, strict=True):
            made.append(replace(row, sign_test=sign_test, signed_rank=signed_rank))
    return tuple(made)
