"""docs/VALIDITY.md: every number on it comes from a run, none is typed."""

from __future__ import annotations

import platform
import subprocess
from dataclasses import dataclass
from datetime import UTC, datetime
from importlib.metadata import version
from pathlib import Path

from sigtest.version import __version__
from validation.populations import ROOT
from validation.results import Part, Table
from validation.settings import SEED, Settings

PAGE = ROOT / "docs" / "VALIDITY.md"
PICTURES = ROOT / "docs" / "validity"
PACKAGES = ("numpy", "scipy", "numba", "sacrebleu")


@dataclass(frozen=True)
class Run:
    """What a run is identified by.

    Attributes:
        started: When, UTC.
        seconds: How long it took.
        commit: Of the repository.
        settings: Sizes.
        sources: Test sets that were drawn from.
    """

    started: datetime
    seconds: float
    commit: str
    settings: Settings
    sources: str


def commit() -> str:
    """The commit that is checked, and whether the library differs from it."""
    shown = _git("rev-parse", "--short=12", "HEAD")
    changed = _git("status", "--porcelain", "--", "sigtest", "validation")
    if not shown:
        return "unknown"
    return f"{shown} with uncommitted changes" if changed else shown


def _git(*words: str) -> str:
    try:
        done = subprocess.run(
            ("git", *words), cwd=ROOT, capture_output=True, text=True, check=False
        )
    except FileNotFoundError:  # an unpacked archive on a machine without git
        return ""
    return done.stdout.strip()


def write(parts: list[Part], run: Run) -> None:
    """Write the page and its pictures."""
    PICTURES.mkdir(parents=True, exist_ok=True)
    for old in PICTURES.glob("*.svg"):
        old.unlink()
    for part in parts:
        for figure in part.figures:
            (PICTURES / f"{figure.name}.svg").write_text(figure.svg, encoding="utf-8")
    PAGE.write_text(render(parts, run), encoding="utf-8")


def render(parts: list[Part], run: Run) -> str:
    """The page as Markdown."""
    blocks = [
        "# Are sigtest's p-values right?",
        "This page is written by `make validate`; no number on it was typed.",
        _summary(parts),
        "## Which table answers my doubt?",
        _contents(parts),
        "## The run",
        _run(run, parts),
        *(_section(part) for part in parts),
    ]
    return "\n\n".join(blocks) + "\n"


def _summary(parts: list[Part]) -> str:
    checks = [check for part in parts for check in part.checks]
    failed = [check for check in checks if not check.passed]
    verdict = f"{len(checks) - len(failed)} of {len(checks)} checks hold."
    if failed:
        verdict += f" Failed: {', '.join(check.name for check in failed)}."
    lines = [f"- **{verdict}**"]
    for part in parts:
        held = "" if not part.failed else "**A check of this part fails.** "
        lines.append(f"- {held}{part.headline} ([part {part.number}](#{_anchor(part)}))")
    return "\n".join(lines)


def _contents(parts: list[Part]) -> str:
    lines = ["| doubt | answer | checks |", "| --- | --- | --- |"]
    for part in parts:
        held = f"{len(part.checks) - len(part.failed)} of {len(part.checks)}"
        tables = "".join(f"<br>[{table.title}](#{_slug(table)})" for table in part.tables)
        link = f"[{part.number}. {part.title}](#{_anchor(part)}){tables}"
        lines.append(f"| {part.question} | {link} | {held} |")
    return "\n".join(lines)


def _run(run: Run, parts: list[Part]) -> str:
    settings = run.settings
    packages = ", ".join(f"{name} {version(name)}" for name in PACKAGES)
    took = ", ".join(f"part {part.number}: {_minutes(part.seconds)}" for part in parts)
    return "\n".join(
        (
            f"- sigtest {__version__}, commit {run.commit}; Python {platform.python_version()}, "
            f"{packages}",
            f"- {run.started:%Y-%m-%d %H:%M} UTC; {_minutes(run.seconds)} with "
            f"{settings.workers} processes ({took})",
            f"- seed {SEED}: the same seed, settings and versions give the same numbers",
            f"- test sets: {run.sources}",
            f"- {settings.simulations:,} null simulations a cell, {settings.resamples:,} resamples "
            "each, at n = " + ", ".join(f"{n:,}" for n in settings.sizes),
            "- run it again: `make validate`, with `SIGTEST_DATA` naming the folder of the test "
            "sets; `make validate QUICK=1` does the same with fewer simulations in under three "
            "minutes, also without any data (on `examples/shared-task`), and writes nothing",
        )
    )


def _minutes(seconds: float) -> str:
    return f"{seconds:.0f} s" if seconds < 100 else f"{seconds / 60:.0f} min"


def _section(part: Part) -> str:
    blocks = [f"## {part.number}. {part.title}", f"*{part.question}*", *part.text]
    lines = ["| check | asserts | result |", "| --- | --- | --- |"]
    for check in part.checks:
        mark = "holds" if check.passed else "**FAILS**"
        lines.append(f"| {check.name} | {_cell(check.asserts)} | {mark}: {_cell(check.result)} |")
    blocks.append("\n".join(lines))
    for figure in part.figures:
        blocks.append(f"![{figure.caption}](validity/{figure.name}.svg)\n\n{figure.caption}")
    blocks += [_table(table) for table in part.tables]
    return "\n\n".join(blocks)


def _table(table: Table) -> str:
    lines = [
        f"### {table.title}",
        "",
        "| " + " | ".join(table.header) + " |",
        "|" + " --- |" * len(table.header),
        *("| " + " | ".join(map(_cell, row)) + " |" for row in table.rows),
    ]
    return "\n".join(lines) + (f"\n\n{table.note}" if table.note else "")


def _cell(text: str) -> str:
    return text.replace("|", "\\|").replace("\n", " ").replace("*", "\\*")


def _anchor(part: Part) -> str:
    return _as_anchor(f"{part.number}. {part.title}")


def _slug(table: Table) -> str:
    return _as_anchor(table.title)


def _as_anchor(heading: str) -> str:
    """The anchor that GitHub gives a heading."""
    kept = "".join(c for c in heading.lower() if c.isalnum() or c in " -_")
    return kept.replace(" ", "-")


def relative(path: Path) -> str:
    """A path as the repository knows it."""
    return str(path.relative_to(ROOT))


def now() -> datetime:
    """The time, UTC."""
    return datetime.now(UTC)
