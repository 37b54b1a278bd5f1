"""What a paper says of a metric evaluation."""

from __future__ import annotations

from collections.abc import Iterator

from sigtest.meta_evaluation.report import MetaReport
from sigtest.people.show import correcting
from sigtest.render.digits import counted
from sigtest.report.methods import Sources, listed

STATISTICS = {
    "pearson": ("Pearson's r", ()),
    "spearman": ("Spearman's rho", ()),
    "kendall": ("Kendall's tau-b", ()),
    "accuracy": ("pairwise accuracy", ("kocmi-etal-2021-ship",)),
    "soft_accuracy": ("soft pairwise accuracy", ("thompson-etal-2024-improving",)),
    "accuracy_ties": ("pairwise accuracy with tie calibration", ("deutsch-etal-2023-ties",)),
}
TESTS = {
    "williams": (
        "the Williams test", ("williams-1959-regression", "graham-baldwin-2014-testing")
    ),
    "perm_both": ("PERM-BOTH", ("deutsch-etal-2021-statistical",)),
}  # fmt: skip
CLAIMS = {
    "two-sided": "two-sided",
    "greater": "one-sided in both directions",
    "less": "one-sided in both directions",
}
GROUPS = {
    "none": "over all segments and systems",
    "item": "as means over segments",
    "system": "as means over systems",
}


def sentences(report: MetaReport, sources: Sources) -> Iterator[str]:
    """What was compared with what, by which statistics, and what was tested."""
    systems = [str(len(own.systems)) for own in report.sets]
    sets = f" of {len(report.sets)} sets" if len(report.sets) > 1 else ""
    yield (
        f"{counted(len(report.metrics), 'metric')} {'was' if len(report.metrics) == 1 else 'were'} "
        "compared with people's scores of "
        f"{listed(systems)} systems{sets} at the level of {report.level}s."
    )
    estimates = [
        (name, own.statistic(name))
        for own in (*report.metrics, *(m for one in report.sets for m in one.metrics))
        for name in STATISTICS
    ]
    found = {name for name, estimate in estimates if estimate is not None}
    shown = [
        f"{words}{sources.cite(*cited)}"
        for name, (words, cited) in STATISTICS.items()
        if name in found
    ]
    where = ""
    if report.level == "segment" and found != {"soft_accuracy"}:
        where = f", {GROUPS[report.group]}"
        if "soft_accuracy" in found:  # p-values over all segments, of pairs of systems
            where += " but for the soft accuracy, which is over pairs of systems"
    without = ", correlations without their sign" if report.absolute else ""
    yield f"We report {listed(shown)}{where}{without}."
    if report.pairs:
        yield _tests(report, sources)
    if any(estimate is not None and estimate.ci for _, estimate in estimates):
        level = f"{round(100 * (1 - report.alpha), 6):g}"
        cited = sources.cite("hesterberg-2015-what")
        yield f"Intervals are {level} % expanded percentile intervals of the bootstrap{cited}."


def _tests(report: MetaReport, sources: Sources) -> str:
    tests = dict.fromkeys(pair.test for pair in report.pairs)
    named = [f"{words}{sources.cite(*cited)}" for words, cited in (TESTS[name] for name in tests)]
    drawn = any(pair.resamples and not pair.exact for pair in report.pairs)
    resamples = f", with {report.resamples:,} resamples where not exact" if drawn else ""
    pairs = " for all pairs of a statistic and test"
    corrected = correcting(report.correction, sources, pairs)
    return (
        f"Metrics were compared in pairs by {listed(named)}, {CLAIMS[report.alternative]}"
        f"{resamples}, at level {report.alpha:g}; {corrected}."
    )
