"""Long simulations in short runs: what is finished is kept, and their tables are written to docs.

A file has one line a run, as JSON. A run that is there is not made again: stop a simulation when
you like, and go on later, with more of it.
"""

from __future__ import annotations

import argparse
import json
from collections.abc import Callable, Mapping, Sequence
from pathlib import Path

from validation.parallel import one_thread
from validation.populations import ROOT

Numbers = list[int] | list[float]
Task = tuple[str | int, ...]
Found = dict[str, Numbers]  # what a run counted, by name
PAGE = ROOT / "docs" / "VALIDITY.md"


def arguments(name: str, about: str | None, simulations: int) -> argparse.Namespace:
    """What every simulation is told: how many, where its runs are kept, whether to write."""
    parser = argparse.ArgumentParser(prog=f"python -m validation.{name}", description=about)
    parser.add_argument("--simulations", type=int, default=simulations, help="of every cell")
    parser.add_argument("--keep", type=Path, required=True, help="file of finished runs")
    parser.add_argument("--write", action="store_true", help="put the tables into docs/")
    return parser.parse_args()


def found_in(path: Path) -> dict[Task, Found]:
    """The runs of a file, from which a last line that was cut off is taken."""
    whole, _, rest = path.read_text().rpartition("\n") if path.exists() else ("", "", "")
    if rest:
        path.write_text(whole + "\n" if whole else "")
    runs = (json.loads(line) for line in whole.splitlines())
    return {tuple(run["task"]): run["found"] for run in runs}


def resumed(
    path: Path, tasks: Sequence[Task], work: Callable[[Task], Mapping[str, Numbers]]
) -> dict[Task, Found]:
    """Make the runs that are missing, one after the other; what all runs of the file found."""
    one_thread()
    there = found_in(path)
    for task in tasks:
        if task in there:
            continue
        there[task] = dict(work(task))
        with path.open("a") as file:
            file.write(json.dumps({"task": task, "found": there[task]}) + "\n")
    return there


def write(name: str, block: str) -> None:
    """Put a block of Markdown into docs/VALIDITY.md, in the place that has its name.

    Raises:
        ValueError: The page has no such place.
    """
    opens, closes = f"<!-- {name} -->\n", f"\n<!-- end of {name} -->"
    text = PAGE.read_text(encoding="utf-8")
    before, found, rest = text.partition(opens)
    _, ends, after = rest.partition(closes)
    if not found or not ends:
        raise ValueError(f"{PAGE} has no place for {name}: {opens.strip()} ... {closes.strip()}")
    PAGE.write_text(f"{before}{opens}\n{block}\n{closes}{after}", encoding="utf-8")


def table(header: Sequence[str], rows: Sequence[Sequence[str]]) -> str:
    """A table in Markdown."""
    lines = [header, ["---"] * len(header), *rows]
    return "\n".join(f"| {' | '.join(line)} |" for line in lines)
