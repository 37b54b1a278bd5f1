"""Reports for tests of renderers: small, real, and with names that nobody should be given."""

import json
from dataclasses import replace
from functools import cache

from sigtest.comparison.parse import parse_comparison
from sigtest.engine import compare
from sigtest.render.comparison import present
from sigtest.render.formats import FORMATS
from sigtest.report import Report

HOSTILE = (
    "=cmd|' /C calc'!A0",
    "</script><script>alert(1)</script>",
    r"\input{/etc/passwd}",
    "100 % & more #1 _a_ ^b^ ~c~ {d} $e$ [f] *g* --h-- `i` | j",
    "a\nb\r\tc\x1b[31m\u202ed\x00",
    "*[x]\"'<>",
)
REFERENCES = [f"line {i} of the reference text is word{i % 7} here" for i in range(40)]


def report(names: tuple[str, ...] = ("A", "B", "C"), **choices: object) -> Report:
    """Systems that are the worse the earlier they come, compared by BLEU and TER."""
    request = {"metrics": ["bleu", "ter"], "resamples": 199, **choices}
    return renamed(_computed(len(names), json.dumps(request)), names)


@cache
def _computed(size: int, request: str) -> Report:
    systems = []
    for s in range(size):
        damaged = 40 * (size - 1 - s) // size
        lines = [f"x y {line[12:]}" if i < damaged else line for i, line in enumerate(REFERENCES)]
        systems.append({"name": f"system-{s}", "hypotheses": lines})
    body = {"references": [REFERENCES], "systems": systems, **json.loads(request)}
    return compare(parse_comparison(body))


def hostile() -> Report:
    """What `check_name` refuses, past every check, and into the warnings and the signature too."""
    made = report(HOSTILE)
    return replace(made, warnings=HOSTILE, signature=" ".join(HOSTILE))


def rendered(form: str, made: Report, *, every_pair: bool = False) -> str:
    """The report in one of the formats."""
    return FORMATS[form].render(present(made, every_pair=every_pair))


def renamed(made: Report, names: tuple[str, ...]) -> Report:
    """The report with other names for its systems."""
    new = {system.name: name for system, name in zip(made.systems, names, strict=True)}
    systems = tuple(replace(system, name=new[system.name]) for system in made.systems)
    pairs = tuple(pair._replace(a=new[pair.a], b=new[pair.b]) for pair in made.pairs)
    return replace(made, systems=systems, pairs=pairs)


def with_pair(made: Report, **changes: object) -> Report:
    """The report with its first pair changed."""
    first = made.pairs[0]._replace(**changes)  # type: ignore[arg-type]
    return replace(made, pairs=(first, *made.pairs[1:]))
