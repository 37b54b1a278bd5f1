"""`sigtest metrics`: what can be asked for, read off the registries."""

from __future__ import annotations

import textwrap
from collections.abc import Iterable
from dataclasses import MISSING, fields

from sigtest.documented import described
from sigtest.kinds import KINDS
from sigtest.metrics import METRICS, Metric
from sigtest.render.formats import FORMATS
from sigtest.significance import CORRECTIONS, TESTS


def listing() -> str:
    """Metrics with their options and defaults, tests, corrections, formats, pictures."""
    lines = ["metrics (--metric NAME:OPTION=VALUE,...)"]
    for name, kind in METRICS.items():
        lines += _entry(name, _summary(kind))
        lines += _options(kind)
    lines += ["", "significance tests (--test NAME)"]
    for name, test in TESTS.items():
        trust = "" if test.calibrated else " Not calibrated."
        lines += _entry(name, f"{_summary(type(test))}{trust}")
        lines.append(f"    Null hypothesis: {test.null}.")
    lines += ["", "corrections for multiple comparisons (--correction NAME)"]
    for name, correction in CORRECTIONS.items():
        alone = f" With {correction.joint} only." if correction.joint else ""
        lines += _entry(name, f"{_summary(correction.adjust)}{alone}")
    lines += ["", "formats (--format NAME)"]
    for entry in FORMATS.values():
        lines += _entry(entry.name, f"For {entry.title}.")
    lines += ["", "pictures (sigtest plot NAME, or all of them with --plots DIR)"]
    for asked in KINDS.values():
        for picture in asked.pictures.values():
            of = f"sigtest {asked.command}" if asked.command else f"a {asked.name}"
            lines += _entry(picture.name, f"{picture.title} (of {of}).")
    return "\n".join(lines) + "\n"


def _entry(name: str, summary: str) -> list[str]:
    return [f"  {name}", f"    {summary}"]


def _summary(documented: object) -> str:
    return (documented.__doc__ or "").strip().partition("\n")[0]


def _options(kind: type[Metric]) -> Iterable[str]:
    """Each with its default, what it is for, and what it may be."""
    words, choices = [described(own) for own in kind.__mro__], kind.choices()
    for field in fields(kind):
        if field.default is not MISSING:
            default = field.default
            value = str(default).lower() if isinstance(default, bool) else str(default)
            yield f"      {field.name}={value}"
            said = next((own[field.name] for own in words if field.name in own), "")
            about = [said] if said else []
            if field.name in choices:
                about.append(f"One of {', '.join(choices[field.name])}.")
            yield from textwrap.wrap(" ".join(about), 90, initial_indent=" " * 8,
                                     subsequent_indent=" " * 8)  # fmt: skip
