"""What a metric evaluation found, in a sentence or two."""

from __future__ import annotations

from sigtest.questions.meta.report import MetaReport
from sigtest.render.answer import leaders, listed


def answer(report: MetaReport) -> tuple[str, ...]:
    """Which metrics may agree best with people, and which beat the baseline, on a single set."""
    said = []
    ranges = {own.label: own.range for own in report.metrics if own.range is not None}
    if len(ranges) > 1:
        said.append(leaders(ranges, "at agreeing with people", "metric"))
    beating = [list(own.beats_baseline) for own in report.sets]
    if report.baseline is not None and len(beating) == 1:
        (names,) = beating
        whom = listed(names) if names else "No metric"
        verb = "agree" if len(names) > 1 else "agrees"
        said.append(f"{whom} {verb} better with people than {report.baseline}.")
    return tuple(said)
