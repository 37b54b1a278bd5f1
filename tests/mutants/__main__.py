"""Mutation testing: does a test notice when an operator, a number or a comparison is changed?

    python tests/mutants [MODULE...]      (names of modules.toml without folder and suffix)

cosmic-ray makes the mutants, in a copy of the project. A mutant that no test notices is a hole in
the tests, or it computes the same: then `equivalents.tsv` says why. Exit status 1 where fewer than
95 % of the others are noticed in some module.

Left out are mutants of annotations, and those that would only flatter the tests: bits of floating
point numbers, powers for other operators, identity for equality.
"""

from __future__ import annotations

import ast
import csv
import json
import os
import re
import shlex
import shutil
import signal
import sqlite3
import subprocess
import sys
import tempfile
import time
import tomllib
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path
from typing import Any

HERE = Path(__file__).parent
ROOT = HERE.parents[1]
BAR = 0.95
NUMBERS = "Add|Sub|Mul|Div|FloorDiv|Mod|Pow"
BITS = "BitOr|BitAnd|BitXor|RShift|LShift"
LEFT_OUT = re.compile(
    rf"_({NUMBERS})_({BITS}|Pow)$|_({BITS})_({NUMBERS}|RShift|LShift)$"
    r"|_(Eq|NotEq|Lt|LtE|Gt|GtE)_(Is|IsNot)$"
)
SECONDS = 20  # of a processor for one mutant; a loop that never ends counts as noticed

CONFIG = """
[cosmic-ray]
module-path = "{path}"
timeout = {timeout}
excluded-modules = []
test-command = {command}

[cosmic-ray.distributor]
name = "local"
"""


@dataclass(frozen=True)
class Survivor:
    """A mutant that no test noticed: what stood there, and what stands there now."""

    module: str
    definition: str
    before: str
    after: str


@dataclass(frozen=True)
class Result:
    """What became of the mutants of a module."""

    module: str
    killed: int
    equivalent: int
    survivors: tuple[Survivor, ...]

    @property
    def rate(self) -> float:
        """Share of the mutants that are noticed, of those that can change a result."""
        return self.killed / max(1, self.killed + len(self.survivors))


def main(wanted: list[str]) -> int:
    """Mutate all modules, or the named ones."""
    chosen = tomllib.loads((HERE / "modules.toml").read_text())["module"]
    known = equivalents()
    worst = 1.0
    with tempfile.TemporaryDirectory(prefix="mutants") as room:
        copy = Path(room) / "project"
        for folder in ("sigtest", "tests", "examples"):
            ignore = shutil.ignore_patterns("__pycache__")
            shutil.copytree(ROOT / folder, copy / folder, ignore=ignore)
        shutil.copy(ROOT / "pyproject.toml", copy)
        for entry in chosen:
            if wanted and Path(entry["path"]).stem not in wanted:
                continue
            found = mutate(copy, entry, known)
            worst = min(worst, found.rate)
            print(
                f"{found.module:42} {found.killed:5} killed {found.equivalent:4} equivalent "
                f"{len(found.survivors):4} survived  {found.rate:6.1%}",
                flush=True,
            )
            for survivor in found.survivors:
                print(f"    {survivor.definition}: {survivor.before}  ->  {survivor.after}")
    return 0 if worst >= BAR else 1


def equivalents() -> dict[Survivor, str]:
    """Mutants that compute the same, and why."""
    with (HERE / "equivalents.tsv").open(newline="") as lines:
        rows = csv.DictReader(lines, delimiter="\t", quoting=csv.QUOTE_NONE)
        return {
            Survivor(row["module"], row["definition"], row["before"], row["after"]): row["reason"]
            for row in rows
        }


def mutate(copy: Path, entry: dict[str, Any], known: dict[Survivor, str]) -> Result:
    """Try all mutants of one module, as modules.toml describes it."""
    path, compiled = str(entry["path"]), bool(entry.get("compiled"))
    session, config, place = copy / "session.sqlite", copy / "config.toml", copy / "socket"
    for old in (session, place):
        old.unlink(missing_ok=True)
    tests = [*(f"tests/{test}" for test in entry["tests"]), *entry.get("options", [])]
    asked = [sys.executable, "-SE", str(HERE / "forks.py"), "ask", str(place), *tests]
    command = json.dumps(shlex.join(asked))  # as TOML spells text, too
    if compiled:
        _compile(copy, tests)
    config.write_text(CONFIG.format(path=path, timeout=12.0 * SECONDS, command=command))
    with forks(copy, place, compiled):
        _pass_unchanged(asked)
        ray("init", str(config), str(session), cwd=copy)
        leave_out(session, (copy / path).read_text())
        ray("exec", str(config), str(session), cwd=copy)
        _pass_unchanged(asked)
    killed, survivors = outcome(session, path)
    unknown = tuple(s for s in survivors if s not in known)
    return Result(path, killed, len(survivors) - len(unknown), unknown)


def _compile(copy: Path, tests: list[str]) -> None:
    """Have the kernels that tests need on disk, for which a mutant has no time."""
    command = [sys.executable, "-B", "-m", "pytest", "-q", "-p", "no:cacheprovider", *tests]
    environment = {**os.environ, "PYTHONPATH": str(copy)}
    subprocess.run(command, cwd=copy, env=environment, stdout=subprocess.DEVNULL, check=True)


def _pass_unchanged(asked: list[str]) -> None:
    if subprocess.run(asked).returncode:
        raise SystemExit(f"{' '.join(asked)} fails without any mutation.")


@contextmanager
def forks(copy: Path, place: Path, compiled: bool) -> Iterator[None]:
    """A process that runs tests in forks, as long as it is needed."""
    environment = {
        **os.environ,
        "PYTHONPATH": str(copy),
        "NUMBA_DISABLE_JIT": "0" if compiled else "1",
    }
    command = [sys.executable, str(HERE / "forks.py"), "serve", str(place), str(copy), str(SECONDS)]
    server = subprocess.Popen(command, env=environment)
    try:
        while not place.exists():
            if server.poll() is not None:
                raise SystemExit("The process that runs the tests has ended.")
            time.sleep(0.1)
        yield
    finally:
        server.send_signal(signal.SIGKILL)
        server.wait()


def ray(*arguments: str, cwd: Path) -> None:
    """Run cosmic-ray, from the environment that runs this."""
    program = Path(sys.executable).with_name("cosmic-ray")
    subprocess.run([str(program), *arguments], cwd=cwd, check=True)


def leave_out(session: Path, source: str) -> None:
    """Take out mutants that say nothing of the tests."""
    spans = [
        (node.lineno, node.col_offset, node.end_lineno or 0, node.end_col_offset or 0)
        for node in annotations(ast.parse(source))
    ]
    with sqlite3.connect(session) as mutants:
        for job, operator, *where in mutants.execute(
            "select job_id, operator_name, start_pos_row, start_pos_col, end_pos_row, end_pos_col "
            "from mutation_specs"
        ).fetchall():
            first, last = tuple(where[:2]), tuple(where[2:])
            annotates = any(span[:2] <= first and last <= span[2:] for span in spans)
            if annotates or LEFT_OUT.search(operator):
                mutants.execute("delete from mutation_specs where job_id = ?", (job,))
                mutants.execute("delete from work_items where job_id = ?", (job,))


def annotations(tree: ast.AST) -> Iterator[ast.expr]:
    """Every annotation of a variable, a parameter or a result."""
    for node in ast.walk(tree):
        for field in ("annotation", "returns"):
            found = getattr(node, field, None)
            if found is not None:
                yield found


def outcome(session: Path, path: str) -> tuple[int, list[Survivor]]:
    """How many mutants were noticed, and those that were not."""
    with sqlite3.connect(session) as mutants:
        rows = mutants.execute(
            "select test_outcome, definition_name, diff from work_results "
            "join mutation_specs using (job_id)"
        ).fetchall()
    survivors = [
        Survivor(path, definition or "", *changed(diff))
        for result, definition, diff in rows
        if result == "SURVIVED"
    ]
    return len(rows) - len(survivors), survivors


def changed(diff: str) -> tuple[str, str]:
    """The lines that a diff takes out and puts in."""
    lines = [line for line in diff.splitlines() if not line.startswith(("---", "+++", "@@"))]
    before, after = (
        " ".join(line[1:].strip() for line in lines if line.startswith(sign)) for sign in "-+"
    )
    return before, after


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
