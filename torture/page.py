"""docs/TRUST.md: every number on it comes from the runs that were kept, none is typed."""

from __future__ import annotations

import json
import os
import platform
from collections.abc import Sequence

from torture.judged import JUDGES
from torture.parts import PARTS
from torture.results import KEPT, Run, Total
from torture.service import ROOT
from validation.page import contents, section, summary
from validation.results import Check, Part

PAGE = ROOT / "docs" / "TRUST.md"
WITHDRAWN = KEPT.with_name("withdrawn.jsonl")


def write(runs: Sequence[Run]) -> list[Check]:
    """Write the page; its checks."""
    parts = judged(runs)
    PAGE.write_text(render(parts, runs), encoding="utf-8")
    return [check for part in parts for check in part.checks]


def judged(runs: Sequence[Run]) -> list[Part]:
    """The parts of which there are runs, each held against its bars."""
    found = []
    for number, (name, part) in enumerate(PARTS.items(), 1):
        total = Total.of(run for run in runs if run.part == name)
        if not total.runs:
            continue
        checks, tables, headline = JUDGES[name](total)
        text = tuple(f"- {f}" for run in total.runs for f in run.findings if name != "faults")
        found.append(
            Part(
                number, part.title, part.question, tuple(checks),
                ("\n".join(text),) if text else (),
                tuple(tables), headline=headline, seconds=total.seconds,
            )
        )  # fmt: skip
    return found


def render(parts: Sequence[Part], runs: Sequence[Run]) -> str:
    """The page as Markdown."""
    blocks = [
        "# Can the service be trusted with other people's work?",
        "This page is written by `make torture`; no number of the record was typed.",
        summary(parts),
        "## Which part answers my doubt?",
        contents(parts),
        "## The run",
        _run(parts, runs),
        *(section(part) for part in parts),
        *_withdrawn(),
    ]
    return "\n\n".join(blocks) + "\n"


def _withdrawn() -> list[str]:
    """What was taken out of the record by hand, and why."""
    if not WITHDRAWN.exists():
        return []
    rows = [json.loads(line) for line in WITHDRAWN.read_text().splitlines()]
    lines = [f"- {r['part']}, seed {r['seed']}: {r['seen']} {r['why']}" for r in rows]
    return ["## What was taken out of the record, and why", "\n".join(lines)]


def _run(parts: Sequence[Part], runs: Sequence[Run]) -> str:
    commits = ", ".join(dict.fromkeys(run.commit for run in runs))
    began, ended = min(run.when for run in runs), max(run.when for run in runs)
    loads = [run.load for run in runs]
    took = ", ".join(f"part {part.number}: {part.seconds / 60:.0f} min" for part in parts)
    return "\n".join(
        (
            f"- commit {commits}; Python {platform.python_version()}",
            f"- {len(runs)} runs that began from {began} to {ended} UTC, some side by side and "
            f"next to other work; added up: {took}",
            f"- processes that wanted one of the {os.cpu_count()} cores, on average over the last "
            f"minute of each run: {min(loads):.0f} to {max(loads):.0f}",
            "- each run starts a service of its own: embedded store, front end, two workers, on "
            "loopback; a small file system of its own for the state where it may be filled",
            "- all that decides about answers is as it is by default, `SIGTEST_ATTEMPTS` included",
            "- everything that a run asks, and how it hurts, follows from its seed; when a signal "
            "arrives in a computation does not",
            f"- run it again: `make torture`; finished runs are kept in `{KEPT.relative_to(ROOT)}`"
            ", and a run that is there is not made again. `python -m torture storm --seeds 20-29` "
            "adds ten runs with other seeds",
        )
    )
