"""The sentences that a human evaluation says about how far it can be trusted."""

from __future__ import annotations

from collections.abc import Mapping, Sequence

from sigtest.data.names import summaries
from sigtest.people.methods import TESTS
from sigtest.people.preparing import Prepared
from sigtest.people.report import AnnotatorsReport, JudgedPair
from sigtest.people.request.asked import Asked
from sigtest.people.statistics.agreement import MOST_PAIRS

FEW_UNITS = 15  # of the smaller sample: below, normal approximations are rough
SHOWN = 5  # pairs that one sentence names


def cautions(
    asked: Asked,
    prepared: Prepared,
    pairs: Mapping[str, Sequence[JudgedPair]],
    left_out: Sequence[str],
) -> list[str]:
    """Warnings about judgements, annotators and conclusions."""
    said = [_careless(prepared.annotators), _untested(prepared.annotators)]
    said += [*asked.notes, *summaries(prepared.systems)]
    for criterion, rows in pairs.items():
        said += [_lower_wins(criterion, rows), _few(criterion, rows)]
    if asked.choices.aggregate == "segment" and prepared.judgements.document.known:
        said.append(
            "Segments of one document are not independent, which makes p-values of segments too "
            'small; the documents are known and can be what counts instead (aggregate "document").'
        )
    said += [
        f"Agreement of distinct annotators on {criterion} is left out: more than {MOST_PAIRS:,} "
        "pairs of judgements."
        for criterion in left_out
    ]
    return [sentence for sentence in said if sentence]


def _careless(report: AnnotatorsReport | None) -> str | None:
    if report is None or report.filtered or not report.careless:
        return None
    return (
        f"{report.careless} of {report.n} annotators do not score degraded copies lower than the "
        f"outputs ({report.test}, p at least {report.threshold:g}); their judgements count all the "
        "same, as no quality control was asked for (quality)."
    )


def _untested(report: AnnotatorsReport | None) -> str | None:
    if report is None or report.untestable < report.n:
        return None
    return (
        "No annotator could be tested: the judgements have no degraded copies (BAD_REF) or too few."
    )


def _lower_wins(criterion: str, rows: Sequence[JudgedPair]) -> str | None:
    """WMT's published triangles hide these: only the better mean is tested against the worse."""
    found = []
    for row in rows:
        winner, loser = (row.a, row.b) if row.conclusion == "a" else (row.b, row.a)
        ahead = row.difference if row.conclusion == "a" else -row.difference
        if row.conclusion != "tie" and ahead < 0:
            found.append(f"{winner} over {loser}")
    if not found:
        return None
    more = f" and {len(found) - SHOWN} more" if len(found) > SHOWN else ""
    return (
        f"By {criterion}, the system with the worse mean wins: {'; '.join(found[:SHOWN])}{more}. "
        "The test compares ranks, not means; where a few scores are very low, these can disagree."
    )


def _few(criterion: str, rows: Sequence[JudgedPair]) -> str | None:
    least = min(min(row.n_a, row.n_b) for row in rows)
    if least >= FEW_UNITS or rows[0].test == "approximate_randomization":
        return None
    return (
        f"By {criterion}, some systems have only {least} score{'s' * (least != 1)} to compare; "
        f"p-values of {TESTS[rows[0].test][0]} are rough there."
    )
