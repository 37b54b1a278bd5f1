"""What a paper says of the accuracy of tests."""

from __future__ import annotations

from collections.abc import Iterator

from sigtest.accuracy_of_tests.report import AccuracyReport
from sigtest.report.methods import Sources, listed
from sigtest.significance import TESTS


def sentences(report: AccuracyReport, sources: Sources) -> Iterator[str]:
    """Whose conclusions were compared with whose, and how agreement was judged."""
    tests = dict.fromkeys(row.test for row in report.rows)
    named = [f"{name.replace('_', ' ')}{_cited(name, sources)}" for name in tests]
    metrics = list(dict.fromkeys(row.metric for row in report.rows))
    levels = [f"{alpha:g}" for alpha in report.alphas]
    study = sources.cite("graham-etal-2014-randomized")
    yield (
        f"Conclusions of {listed(named)} by {listed(metrics)} on {len(report.pairs):,} pairs of "
        f"{len(report.systems)} systems were compared with people's conclusions by "
        f"{', then '.join(report.criteria)}{study}."
    )
    yield (
        f"A conclusion is that of both one-sided tests at level {listed(levels)}; p-values are not "
        "corrected for multiple comparisons."
    )
    cited = sources.cite("clopper-pearson-1934-use")
    yield f"Intervals of shares are 95 % Clopper-Pearson intervals{cited}."


def _cited(name: str, sources: Sources) -> str:
    """What stands behind a test; nothing for one whose p-values were given under another name."""
    return sources.cite(*TESTS[name].papers) if name in TESTS else ""
