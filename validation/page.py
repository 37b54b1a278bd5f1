"""docs/VALIDITY.md: every number on it comes from a run, none is typed."""

from __future__ import annotations

import platform
import subprocess
from collections.abc import Sequence
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
APART = "<!-- apart: what follows is written by commands of its own -->"
OTHERS = (  # what each answers, and its heading
    (
        "What if neither system is better on average, but differences are skewed?",
        "10. Skewed differences: every test and interval",
    ),
    (
        "Are standard errors from influence values good enough for BLEU?",
        "11. The bootstrap-t on corpus scores",
    ),
    (
        "Do the tests of judgements, metrics, labels and folds keep their level?",
        "12. Tests of judgements, metrics, labels and folds",
    ),
    (
        "Documents are of very unequal size: what does the bootstrap-t say then?",
        "13. Documents of unequal size",
    ),
    (
        "How sure are plans, correlations with people and soft accuracies?",
        "14. Intervals of plans and of metrics",
    ),
    (
        "Do the tests of recognisers keep their level?",
        "15. Tests of recognisers of speech",
    ),
    (
        "Does the true best stay among those that may be the best?",
        "16. Comparisons with the best",
    ),
    (
        "Do intervals of shares hold the truth with 12, 20 or 50 items?",
        "17. Shares of few items",
    ),
    (
        "May one look after every item, and stop?",
        "18. Races: a look after every item",
    ),
    (
        "Do strengths from comparisons of two systems keep their level, and hold what is true?",
        "19. Strengths from comparisons of two systems",
    ),
    (
        "Another seed, another p: does the interval of p say how far?",
        "20. P-values of other seeds",
    ),
)
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
    before = PAGE.read_text(encoding="utf-8") if PAGE.exists() else ""
    _, apart, rest = before.partition(APART)
    after = f"\n{apart}{rest}" if apart else ""
    PAGE.write_text(render(parts, run) + after, encoding="utf-8")


def render(parts: list[Part], run: Run) -> str:
    """The page as Markdown."""
    blocks = [
        "# Are sigtest's p-values right?",
        "This page is written by `make validate`, from part 10 on by the commands named there; no "
        "number on it was typed.",
        summary(parts),
        "## Which table answers my doubt?",
        contents(parts, OTHERS),
        "## The run",
        _run(run, parts),
        *(section(part) for part in parts),
    ]
    return "\n\n".join(blocks) + "\n"


def summary(parts: Sequence[Part]) -> str:
    """How many checks hold, and one sentence of each part."""
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


def contents(parts: Sequence[Part], others: Sequence[tuple[str, str]] = ()) -> str:
    """Which part answers which doubt.

    Args:
        parts: Of the page.
        others: Further doubts, and the titles of the sections that answer them.
    """
    lines = ["| doubt | answer | checks |", "| --- | --- | --- |"]
    for part in parts:
        held = f"{len(part.checks) - len(part.failed)} of {len(part.checks)}"
        link = f"[{part.number}. {part.title}](#{_anchor(part)})"
        lines.append(f"| {part.question} | {link} | {held} |")
    lines += [f"| {asked} | [{title}](#{_as_anchor(title)}) | |" for asked, title in others]
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
            "sets, which then holds parts 13, 14 and 20, rank ranges and gates against their "
            "bounds; `make validate QUICK=1` does parts 1 to 9 with fewer simulations in under "
            "three minutes, also without any data (on `examples/shared-task`), and writes nothing",
        )
    )


def _minutes(seconds: float) -> str:
    return f"{seconds:.0f} s" if seconds < 100 else f"{seconds / 60:.0f} min"


def section(part: Part) -> str:
    """One part: its question, checks, figures and tables."""
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
