"""What a plan found, in a sentence."""

from __future__ import annotations

from sigtest.questions.plans.report import PlanReport
from sigtest.render.digits import whole


def answer(report: PlanReport) -> tuple[str, ...]:
    """How many units show the difference that was asked for, or what the pilot's size shows."""
    power = f"with {100 * report.power:g} % power"
    known = [pair for pair in report.pairs if pair.sizes]
    if not known:
        return ("The systems do not differ in the pilot, which says nothing of other sizes.",)
    needing = [pair for pair in known if pair.needed is not None and pair.needed_ci is not None]
    if report.difference is not None and needing:
        most = max(needing, key=lambda pair: pair.needed or 0)
        low, high = most.needed_ci or (0, 0)
        of = f" of {most.a} and {most.b}" if len(needing) > 1 else ""
        return (
            f"A true difference of {report.difference:g} {report.metric}{of} shows {power} in "
            f"about {whole(most.needed or 0)} {report.unit}s: {whole(low)} to {whole(high)}, as "
            "far as the pilot tells.",
        )
    widest = max(known, key=lambda pair: pair.stderr)
    size = min(widest.sizes, key=lambda own: abs(own.units - report.pilot))
    return (
        f"{whole(size.units)} {report.unit}s show a true difference of {size.detectable:.2g} "
        f"{report.metric} {power}; four times as many show one of half that size.",
    )
