"""How often tests conclude what people conclude, in a sentence or two."""

from __future__ import annotations

from sigtest.questions.accuracy.report import AccuracyReport
from sigtest.render.answer import listed


def answer(report: AccuracyReport) -> tuple[str, ...]:
    """Which metric and test are right most often, at the first level, and how often the least."""
    alpha = report.alphas[0]
    rows = [row for row in report.rows if row.alpha == alpha]
    if not rows:
        return ()
    most, least = (choose(row.correct for row in rows) for choose in (max, min))
    best = [f"{row.metric} by {row.test.replace('_', ' ')}" for row in rows if row.correct == most]
    verb = "conclude" if len(best) > 1 else "concludes"
    pairs = f"{most} of {rows[0].n} pairs of systems"
    said = f"At alpha {alpha:g}, {listed(best)} {verb} what people conclude for {pairs}"
    return (f"{said}." if least == most else f"{said}, others for {least} at the least.",)
