"""The size of the house may only fall: `python -m benchmarks.ratchet`.

Counts lines of code (no blanks, comments, docstrings), functions, modules and tokens of `app`,
`workers` and `sigtest`, and the functions and modules on the way of one pair through the service
(`benchmarks.walk`). Exit status 1 where a figure is above the one in `ratchet.toml` plus the
allowance that an issue states there, or where lines are packed. `--folders` shows every folder,
`--record` writes lower figures into the file.
"""

import argparse
import ast
import io
import re
import subprocess
import sys
import tokenize
import tomllib
from collections import Counter
from pathlib import Path

from benchmarks import walk

ROOT = Path(__file__).parents[1]
RECORD = Path(__file__).with_suffix(".toml")
PACKAGES = ("app", "workers", "sigtest")
SPACE = {
    tokenize.COMMENT,
    tokenize.NL,
    tokenize.NEWLINE,
    tokenize.INDENT,
    tokenize.DEDENT,
    tokenize.ENDMARKER,
}
DOCUMENTED = (ast.Module, ast.ClassDef, ast.FunctionDef, ast.AsyncFunctionDef)
WALKS = 3  # a round of the reconciler may fall into one


def measure(source: str) -> Counter[str]:
    """Lines of code, functions and tokens of a module."""
    documented: set[int] = set()
    functions = 0
    for node in ast.walk(ast.parse(source)):
        if isinstance(node, DOCUMENTED):
            functions += isinstance(node, ast.FunctionDef | ast.AsyncFunctionDef)
            first = node.body[0] if node.body else None
            if (
                isinstance(first, ast.Expr)
                and isinstance(first.value, ast.Constant)
                and isinstance(first.value.value, str)
            ):
                documented.update(range(first.lineno, (first.end_lineno or 0) + 1))
    lines: set[int] = set()
    tokens = 0
    for token in tokenize.generate_tokens(io.StringIO(source).readline):
        if token.type not in SPACE:
            new = set(range(token.start[0], token.end[0] + 1)) - documented
            lines |= new
            tokens += bool(new)
    return Counter(lines=len(lines), functions=functions, modules=1, tokens=tokens)


def folders() -> dict[str, Counter[str]]:
    """Sizes by folder, one and two deep; a folder counts what lies below it."""
    command = ["git", "ls-files", "--cached", "--others", "--exclude-standard", "*.py"]
    files = subprocess.run(command, cwd=ROOT, capture_output=True, text=True, check=True).stdout
    sizes: dict[str, Counter[str]] = {}
    for file in files.splitlines():
        if (ROOT / file).exists():
            parts = Path(file).parent.parts
            size = measure((ROOT / file).read_text(encoding="utf-8"))
            for depth in range(1, min(len(parts), 2) + 1):
                sizes.setdefault("/".join(parts[:depth]), Counter()).update(size)
    return sizes


def product(sizes: dict[str, Counter[str]]) -> Counter[str]:
    """The three packages together."""
    total: Counter[str] = Counter()
    for package in PACKAGES:
        total.update(sizes[package])
    return total


def walked(allowed: dict[str, float]) -> Counter[str]:
    """The shortest of some walks; the first that is within what is allowed will do."""
    found: list[tuple[int, int]] = []
    for _ in range(WALKS):
        entered = walk.walked()
        found.append((len(entered), len({file for file, _ in entered})))
        if found[-1][0] <= allowed["walk_functions"] and found[-1][1] <= allowed["walk_modules"]:
            break
    functions, modules = min(found)
    return Counter(walk_functions=functions, walk_modules=modules)


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--no-walk", action="store_true", help="do not start a service")
    parser.add_argument("--folders", action="store_true", help="show every folder")
    parser.add_argument("--record", action="store_true", help="lower the recorded figures")
    choices = parser.parse_args()
    text = RECORD.read_text(encoding="utf-8")
    record = tomllib.loads(text)
    allowed = Counter(record["recorded"])
    for allowance in record.get("allowance", {}).values():
        allowed.update(allowance)
    sizes = folders()
    if choices.folders:
        for folder, size in sorted(sizes.items()):
            figures = "".join(f"{size[k]:>10,}" for k in ("lines", "functions", "modules"))
            print(f"{folder:28}{figures}")
    figures = product(sizes)
    density = figures.pop("tokens") / figures["lines"]
    if not choices.no_walk:
        figures.update(walked(allowed))
    above = [name for name in figures if figures[name] > allowed[name]]
    for name, figure in figures.items():
        print(f"{name:16}{figure:>8,} of {allowed[name]:,}{' ABOVE' * (name in above)}")
    packed = density > record["tokens_a_line"]
    print(f"tokens a line   {density:8.2f} of {record['tokens_a_line']}{' ABOVE' * packed}")
    if choices.record and not above:
        for name, figure in figures.items():
            lower = min(figure, record["recorded"][name])
            text = re.sub(rf"^{name} = \d+$", f"{name} = {lower}", text, count=1, flags=re.M)
        RECORD.write_text(text, encoding="utf-8")
    if above or packed:
        sys.exit(
            "The house has grown: make it smaller; only an issue's allowance may raise a figure."
        )


if __name__ == "__main__":
    main()
