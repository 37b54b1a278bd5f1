"""`sigtest metrics`: what can be asked for, read off the registries."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import MISSING, fields

from sigtest.kinds import KINDS
from sigtest.metrics import METRICS, Metric
from sigtest.render.formats import FORMATS
from sigtest.significance import TESTS
from sigtest.significance.corrections import CORRECTIONS


def listing() -> str:
    """Metrics with their options and defaults, tests, corrections, formats, pictures."""
    lines = ["metrics (--metric NAME:OPTION=VALUE,...)"]
    for name, kind in METRICS.items():
        lines += _entry(name, _summary(kind))
        lines += [f"      {option}" for option in _options(kind)]
    lines += ["", "significance tests (--test NAME)"]
    for name, test in TESTS.items():
        trust = "" if test.calibrated else " Not calibrated."
        lines += _entry(name, f"{_summary(type(test))}{trust}")
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
            lines += _entry(picture.name, f"{picture.title} (of sigtest {asked.command}).")
    return "\n".join(lines) + "\n"


def _entry(name: str, summary: str) -> list[str]:
    return [f"  {name}", f"    {summary}"]


def _summary(documented: object) -> str:
    return (documented.__doc__ or "").strip().partition("\n")[0]


def _options(kind: type[Metric]) -> Iterable[str]:
    for field in fields(kind):
        if field.default is not MISSING:
            default = field.default
            shown = str(default).lower() if isinstance(default, bool) else str(default)
            yield f"{field.name}={shown}"
