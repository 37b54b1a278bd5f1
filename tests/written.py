"""Reports for tests of renderers: small, real, and with names that no system should have."""

import json
from dataclasses import replace
from functools import cache
from typing import Any

from sigtest.comparison.comparison import parse_comparison
from sigtest.engine import compare
from sigtest.render.comparison import present
from sigtest.render.formats import FORMATS, Layout
from sigtest.report import NamedReport, Report, WarningReport

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


def reported_on_several(
    names: tuple[str, ...] = ("A", "B", "C"),
    testsets: tuple[str, ...] = ("news", "talks"),
    **choices: object,
) -> Report:
    """The same systems on parts of the test set that have different sizes."""
    request = {"metrics": ["bleu", "ter"], "resamples": 199, **choices}
    made = _computed_on_several(len(names), len(testsets), json.dumps(request))
    assert made.several is not None
    entries = zip(testsets, made.several.testsets, strict=True)
    named = tuple(NamedReport(name, renamed(entry.report, names)) for name, entry in entries)
    new = {system.name: name for system, name in zip(made.systems, names, strict=True)}
    wins = tuple(replace(row, a=new[row.a], b=new[row.b]) for row in made.several.wins)
    return replace(renamed(made, names), several=replace(made.several, testsets=named, wins=wins))


@cache
def _computed_on_several(size: int, testsets: int, request: str) -> Report:
    bodies = []
    for t in range(testsets):
        lines = slice(None, 40 - 5 * t)
        systems = [{"name": name, "hypotheses": text[lines]} for name, text in _outputs(size)]
        bodies.append({"name": f"part-{t}", "references": REFERENCES[lines], "systems": systems})
    return compare(parse_comparison({"testsets": bodies, **json.loads(request)}))


@cache
def _computed(size: int, request: str) -> Report:
    systems = [{"name": name, "hypotheses": lines} for name, lines in _outputs(size)]
    body = {"references": [REFERENCES], "systems": systems, **json.loads(request)}
    return compare(parse_comparison(body))


def _outputs(size: int) -> list[tuple[str, list[str]]]:
    outputs = []
    for s in range(size):
        damaged = 40 * (size - 1 - s) // size
        lines = [f"x y {line[12:]}" if i < damaged else line for i, line in enumerate(REFERENCES)]
        outputs.append((f"system-{s}", lines))
    return outputs


def hostile() -> Report:
    """What `check_name` refuses, past every check, and into the warnings and the signature too."""
    made = report(HOSTILE)
    said = tuple(WarningReport("other", own, (own,)) for own in HOSTILE)
    return replace(made, warnings=said, signature=" ".join(HOSTILE))


def rendered(form: str, made: Report, **layout: Any) -> str:
    """The report in one of the formats, laid out as asked."""
    return FORMATS[form].render(present(made, Layout(**layout)))


def renamed(made: Report, names: tuple[str, ...]) -> Report:
    """The report with other names for its systems."""
    new = {system.name: name for system, name in zip(made.systems, names, strict=True)}
    systems = tuple(replace(system, name=new[system.name]) for system in made.systems)
    pairs = tuple(replace(pair, a=new[pair.a], b=new[pair.b]) for pair in made.pairs)
    return replace(made, systems=systems, pairs=pairs)


def with_pair(made: Report, **changes: object) -> Report:
    """The report with its first pair changed."""
    first = replace(made.pairs[0], **changes)  # type: ignore[arg-type]
    return replace(made, pairs=(first, *made.pairs[1:]))
