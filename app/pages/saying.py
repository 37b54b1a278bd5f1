"""How to say what a report found, and what it stands on: for the end of its page."""

from __future__ import annotations

import shlex
from collections.abc import Iterator
from dataclasses import dataclass

from sigtest.kinds import KINDS
from sigtest.render.digits import whole
from sigtest.render.formats import FORMATS
from sigtest.render.layout import Layout
from sigtest.render.names import printable
from sigtest.render.standings import leading_test
from sigtest.report import Report, SystemReport
from sigtest.significance import TESTS

MANY = 12  # systems, above which not all are named


@dataclass(frozen=True)
class Basis:
    """What one significance test of a report stands on.

    Attributes:
        name: In words.
        question: What it asks.
        null: Its null hypothesis.
        level: Whether it keeps its level here.
        draws: How its p-values came about.
    """

    name: str
    question: str
    null: str
    level: str
    draws: str


@dataclass(frozen=True)
class HowToSay:
    """What a paper takes from a report.

    Attributes:
        rows: The systems as rows of a LaTeX table; nothing of many.
        verify: What the command that computes the report again takes besides the report.
        bases: Of each test.
    """

    rows: str
    verify: str
    bases: tuple[Basis, ...]


def how_to_say(report: Report) -> HowToSay | None:
    """What a paper takes, of a report on one test set with pairs and all its metrics and tests."""
    if not report.pairs or report.several is not None:
        return None
    return HowToSay(
        rows=_rows(report),
        verify=_verify(report),
        bases=tuple(_basis(report, test) for test in _in_order(report)),
    )


def _rows(report: Report) -> str:
    """Of a LaTeX table; those of many systems are a download only."""
    if len(report.systems) > MANY:
        return ""
    presented = KINDS["comparisons"].lay_out(report, Layout(table="row"))
    return FORMATS["latex"].render(presented).strip()


def _in_order(report: Report) -> list[str]:
    """The tests, the one that ranks and words follow first."""
    leading = leading_test(report)
    return sorted(report.tests, key=lambda test: test != leading)


def _verify(report: Report) -> str:
    """What computes the report again: the reader's own files."""
    shown = report.systems[:MANY]
    references = ["-r REFERENCE"] * report.testset.references
    documents = ["--documents DOCUMENTS"] if _of_documents(report) else []
    brought = [words for system in shown for words in _brought(report, system)]
    rest = ["..."] if len(report.systems) > MANY else []
    return " ".join([*references, *documents, *brought, *rest])


def _brought(report: Report, system: SystemReport) -> Iterator[str]:
    """What a system brought, as the command takes it: a text, those of several runs, scores."""
    name = printable(system.name)
    supplied = {
        label: "|of:|" not in metric.signature
        for label, metric in report.metrics.items()
        if metric.signature.endswith("|supplied")
    }
    runs = max(len(score.replicas) for score in system.scores.values())
    if runs:
        yield f"--replicas {shlex.quote(f'{name}=' + ','.join(['OUTPUT'] * runs))}"
        return
    if len(supplied) < len(report.metrics):
        yield shlex.quote(name)
    for label, labelled in supplied.items():
        start = f"{printable(label)}:" if labelled else ""
        yield f"--scores {shlex.quote(f'{start}{name}=SCORES')}"


def _of_documents(report: Report) -> bool:
    """Whether documents are resampled."""
    return "|unit:document|" in report.signature


def _basis(report: Report, test: str) -> Basis:
    pairs = [pair for pair in report.pairs if pair.test == test]
    kept = sum(pair.calibrated for pair in pairs)
    unit = "document" if _of_documents(report) else "segment"
    if kept == len(pairs):
        level = (
            f"It keeps its level here as long as {unit}s are independent of each other: a true "
            "null hypothesis is rejected as often as alpha says."
        )
    elif kept == 0:
        level = "It does not keep its level here: it rejects true null hypotheses too often."
    else:
        level = (
            f"It keeps its level for {whole(kept)} of {whole(len(pairs))} decisions; the other "
            "differences are too skewed or the units too few."
        )
    exact = sum(pair.exact for pair in pairs)
    if TESTS[test].draws == "none":
        draws = "Its p-values are computed, not drawn."
    elif exact == len(pairs):
        draws = "All its p-values are exact: every exchange of two systems' outputs is counted."
    else:
        drawn = max(pair.resamples or 0 for pair in pairs if not pair.exact)
        draws = f"{whole(drawn)} resamples"
        draws += f"; {whole(exact)} of {whole(len(pairs))} p-values are exact." if exact else "."
    own = TESTS[test]
    return Basis(
        name=test.replace("_", " "),
        question=(own.__doc__ or "").strip().partition("\n")[0],
        null=report.nulls.get(test, own.null),
        level=level,
        draws=draws,
    )
