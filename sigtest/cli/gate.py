"""`sigtest gate`: an exit status for continuous integration."""

from __future__ import annotations

import argparse

from sigtest.cli.files import check_output, write
from sigtest.cli.parser import UsageError
from sigtest.cli.progress import bar
from sigtest.cli.request import choices_of, number, read_comparison
from sigtest.data.choices import choose
from sigtest.gates import check_choices
from sigtest.gates import gate as decide
from sigtest.render.json import render

STATUS = {"pass": 0, "fail": 1, "undecided": 3}


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
    content = render(report) if options.format == "json" else str(report)
    write(content.encode(), options.output)
    return STATUS[report.outcome]
