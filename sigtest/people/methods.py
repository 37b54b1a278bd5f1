"""What a paper says of a human evaluation."""

from __future__ import annotations

from collections.abc import Iterator

from sigtest.people.report import AnnotatorsReport, HumanReport, judged
from sigtest.report.methods import Sources, listed
from sigtest.significance import CORRECTIONS

TESTS = {
    "rank_sum": ("the rank-sum test", ("mann-whitney-1947-test",)),
    "signed_rank": ("the signed-rank test", ("wilcoxon-1945-individual",)),
    "approximate_randomization": ("approximate randomization", ("noreen-1989-computer",)),
    "sign": ("the sign test", ("dixon-mood-1946-sign",)),
}
QUALITY = {
    "paired_t": ("degraded copies score lower, paired t-test", "student-1908-probable"),
    "signed_rank": ("degraded copies score lower, signed-rank test", "wilcoxon-1945-individual"),
    "welch": ("repeats differ less than degraded copies, Welch's test",
              "welch-1947-generalization"),
    "mann_whitney": ("repeats differ less than degraded copies, rank-sum test",
                     "mann-whitney-1947-test"),
}  # fmt: skip


def sentences(report: HumanReport, sources: Sources) -> Iterator[str]:
    """What was judged, who counts, how scores came about, and what was tested."""
    used = judged(report)
    criteria = [criterion for criterion in report.criteria if criterion]
    by = f" by {listed(criteria)}" if criteria else ""
    yield f"People judged {len(report.systems)} systems{by} in {used:,} judgements."
    if report.annotators and report.annotators.filtered:
        yield _filtered(report.annotators, sources)
    if report.tested == "z" and report.standardise != "none":
        without = " over systems' outputs" if report.standardise == "annotator_no_refs" else ""
        yield (
            "Scores are standardised by each annotator's mean and standard deviation"
            f"{without}{sources.cite('graham-etal-2013-continuous')}."
        )
    elif report.tested == "z":
        yield "Scores were already standardised in the files of judgements."
    yield _tests(report, sources)
    if len(report.criteria) > 1:
        yield (
            f"Of {listed(report.criteria)} the first that separates two systems decides"
            f"{sources.cite('graham-etal-2014-randomized')}."
        )
    if report.agreement:
        yield (
            "Agreement is kappa, with chance from annotators' own use of the categories"
            f"{sources.cite('cohen-1960-coefficient')} and with uniform chance."
        )
    if report.gain:
        yield (
            "Gain is that of the best systems, corrected for the difficulty of the test sets"
            f"{sources.cite('graham-etal-2014-better')}."
        )


def _filtered(annotators: AnnotatorsReport, sources: Sources) -> str:
    words, paper = QUALITY[annotators.test]
    return (
        f"Judgements count of the {annotators.kept} of {annotators.n} annotators who pass quality "
        f"control ({words}, p below {annotators.threshold:g})"
        f"{sources.cite('graham-etal-2013-continuous', paper)}."
    )


def _tests(report: HumanReport, sources: Sources) -> str:
    words, cited = TESTS[report.test]
    over = "comparisons" if report.tested == "rankings" else f"scores of {report.aggregate}s"
    corrected = correcting(report.correction, sources)
    return (
        f"All pairs of systems were tested by {words}{sources.cite(*cited)} on {over}, one-sided "
        f"in both directions, at level {report.alpha:g}; {corrected}. Clusters part systems where "
        "each above is significantly better than each below."
    )


def correcting(name: str, sources: Sources, over: str = "") -> str:
    """How p-values are corrected, as a clause; `over` says for what where that is not plain."""
    if name == "none":
        return "p-values are not corrected for multiple comparisons"
    correction = CORRECTIONS[name]
    cited = sources.cite(*correction.papers)
    return f"p-values are corrected{over} by the method of {correction.title}{cited}"
