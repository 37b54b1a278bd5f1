"""What people's judgements found, in a sentence or two."""

from __future__ import annotations

from sigtest.questions.human.report import HumanReport
from sigtest.render.answer import leaders


def answer(report: HumanReport) -> tuple[str, ...]:
    """Whom people find best, and into how many clusters they put the systems."""
    ranges = {system.name: system.range for system in report.systems}
    clusters = len({system.cluster for system in report.systems})
    several = "one cluster: no system is told apart" if clusters == 1 else f"{clusters} clusters"
    return (
        leaders(ranges, "as people judge", "system"),
        f"{len(ranges)} systems fall into {several}.",
    )
