"""`sigtest gate`: an exit status for continuous integration."""

from __future__ import annotations

import argparse

from sigtest.bounds import bound
from sigtest.cli.files import check_output, write
from sigtest.cli.parser import UsageError
from sigtest.cli.progress import bar
from sigtest.cli.request import choices_of, number, read_comparison
from sigtest.data.choices import choose
from sigtest.gates import Gated, GateReport, check_choices
from sigtest.gates import gate as decide
from sigtest.render.json import render
from sigtest.render.names import printable

STATUS = {"pass": 0, "fail": 1, "undecided": 3}
MEANT = {
    "not_worse": "not worse than {baseline} by {margin:g} {metric}",
    "equivalent": "within {margin:g} {metric} of {baseline}",
    "same": "no significant difference from {baseline} (A/A)",
}


def gate(options: argparse.Namespace) -> int:
    """Decide, say so, and return the exit status.

    Raises:
        UsageError: Options that contradict each other.
        SigtestError: Bad input.
        OSError: A file that cannot be read or written.
    """
    choose(options.format, ("text", "json"), "format", "format of gates")
    if options.aa and options.equivalent:
        raise UsageError("--aa and --equivalent are two claims; take one")
    claim = "same" if options.aa else "equivalent" if options.equivalent else "not_worse"
    check_output(options.output)
    margin = number(options.margin, "margin")
    check_choices(choices_of(options, []))
    comparison = read_comparison(options)
    with bar() as progress:
        report = decide(comparison, margin, claim, progress)
    content = render(report) if options.format == "json" else told(report)
    write(content.encode(), options.output)
    return STATUS[report.outcome]


def told(report: GateReport) -> str:
    """The outcome, a line for each system, and the signature."""
    meant = MEANT[report.claim].format(
        baseline=report.baseline, margin=report.margin or 0.0, metric=report.metric
    )
    lines = [f"{report.outcome}: {meant}, one-sided at {report.alpha:g}"]
    if report.claim == "same":
        lines = [f"{report.outcome}: {meant}, two-sided at {report.alpha:g}"]
    lines += [_line(system, report) for system in report.systems]
    if any(system.power < 0.8 for system in report.systems):
        lines.append(
            "A power below .8: this test set often cannot tell, even where nothing differs; take "
            "more segments or a wider margin."
        )
    lines += [f"Warning: {said}" for said in report.warnings]
    if report.claim == "same" and report.outcome == "pass":
        lines.append(
            "That no difference shows does not prove that there is none; --equivalent can."
        )
    lines.append(f"Signature: {report.signature}")
    return "".join(f"{printable(line)}\n" for line in lines)


def _line(system: Gated, report: GateReport) -> str:
    low, high = map(bound, system.ci)
    corrected = len(report.systems) > 1 or system.p_adjusted != system.p_value
    adjusted = f", {system.p_adjusted:.2g} adjusted" if corrected else ""
    power = "" if report.claim == "same" else f"; power {system.power:.2f} where nothing differs"
    return (
        f"  {system.outcome:9}  {system.system}: {system.difference:+.3g} {report.metric} "
        f"[{low:.3g}, {high:.3g}], p = {system.p_value:.2g}{adjusted}{power}"
    )
