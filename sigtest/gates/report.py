"""What a gate decides of each system, and of all."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any, Literal, get_args

from sigtest.render.digits import percent
from sigtest.render.names import printable
from sigtest.report import encode
from sigtest.report.parts import Ends

Claim = Literal["not_worse", "equivalent", "same"]
Outcome = Literal["pass", "fail", "undecided"]
CLAIMS: tuple[Claim, ...] = get_args(Claim)
MEANT = {
    "not_worse": "not worse than {baseline} by {margin:g} {metric}",
    "equivalent": "within {margin:g} {metric} of {baseline}",
    "same": "no significant difference from {baseline} (A/A)",
}


@dataclass(frozen=True)
class Gated:
    """One system at the gate.

    Attributes:
        system: Its name.
        difference: Its score less the baseline's, not oriented.
        ci: Bootstrap-t interval of the difference, level 1 - 2 alpha: what both one-sided tests at
            alpha look at. Of the claim `same`, level 1 - alpha.
        p_value: Of the null hypothesis that it must not pass.
        p_adjusted: Corrected over the systems.
        p_fail: Of the null hypothesis that it should pass.
        p_fail_adjusted: Corrected over the systems; a small one fails it.
        outcome: Whether it passes, fails, or the test set cannot tell.
        power: How likely a system without any difference passes: at the strictest level of the
            correction, as a lone one of several.
    """

    system: str
    difference: float
    ci: Ends
    p_value: float
    p_adjusted: float
    p_fail: float
    p_fail_adjusted: float
    outcome: Outcome
    power: float


@dataclass(frozen=True, repr=False)
class GateReport:
    """What a gate decides.

    Attributes:
        signature: The line that reproduces the comparison behind it.
        version: Of sigtest.
        claim: What lets a system pass: `not_worse` by the margin, `equivalent` within it, or, for
            two runs of one system (A/A), `same`: no significant difference.
        margin: How much worse, in units of the metric; nothing for `same`.
        metric: Its label.
        alpha: Level of every one-sided test; two-sided for `same`.
        correction: For several systems; of passes and of failures, each by themselves.
        baseline: What they are held against.
        systems: All others, in input order.
        outcome: `fail` where any system fails, `pass` where all pass.
        warnings: Sentences that must not be overlooked.
    """

    signature: str
    version: str
    claim: Claim
    margin: float | None
    metric: str
    alpha: float
    correction: str
    baseline: str
    systems: tuple[Gated, ...]
    outcome: Outcome
    warnings: tuple[str, ...]

    def as_json(self) -> dict[str, Any]:
        """The report as JSON has it."""
        body: dict[str, Any] = encode(self)
        return body

    def __str__(self) -> str:
        """The outcome, a line for each system, and the signature."""
        meant = MEANT[self.claim].format(
            baseline=self.baseline, margin=self.margin or 0.0, metric=self.metric
        )
        side, times = ("two", 1) if self.claim == "same" else ("one", 2)
        level = percent(1 - times * self.alpha)
        lines = [f"{self.outcome}: {meant}, {side}-sided at {self.alpha:g}; {level} intervals"]
        lines += [_line(system, self) for system in self.systems]
        if any(system.power < 0.8 for system in self.systems):
            lines.append(
                "A power below .8: this test set often cannot tell, even where nothing differs; "
                "take more segments or a wider margin."
            )
        lines += [f"Warning: {said}" for said in self.warnings]
        if self.claim == "same" and self.outcome == "pass":
            lines.append(
                "That no difference shows does not prove that there is none; the claim equivalent "
                "can (--equivalent in the shell)."
            )
        lines.append(f"Signature: {self.signature}")
        return "".join(f"{printable(line)}\n" for line in lines)

    def __repr__(self) -> str:
        return str(self)


def _line(system: Gated, report: GateReport) -> str:
    low, high = system.ci
    corrected = len(report.systems) > 1 or system.p_adjusted != system.p_value
    adjusted = f", {system.p_adjusted:.2g} adjusted" if corrected else ""
    power = "" if report.claim == "same" else f"; power {system.power:.2f} where nothing differs"
    return (
        f"  {system.outcome:9}  {system.system}: {system.difference:+.3g} {report.metric} "
        f"[{low:.3g}, {high:.3g}], p = {system.p_value:.2g}{adjusted}{power}"
    )
