"""`sigtest gate` and `verify`: exit statuses for continuous integration."""

from __future__ import annotations

import argparse
import json
import re
import sys
from collections.abc import Iterator
from dataclasses import fields, replace
from typing import Any

from sigtest.cli.files import check_output, read_bytes, shown, write
from sigtest.cli.parser import UsageError
from sigtest.cli.request import choices_of, number, read_comparison, read_folders
from sigtest.cli.terminal import bar
from sigtest.comparison.comparison import Comparison
from sigtest.comparison.findings import findings_of
from sigtest.data.choices import choose
from sigtest.decide.anew import decided
from sigtest.engine import compare
from sigtest.errors import InputError, quoted
from sigtest.gates import check_choices
from sigtest.gates import gate as decide
from sigtest.metrics import METRICS
from sigtest.render.json import FinishedReport, render
from sigtest.render.names import printable
from sigtest.report import ENVELOPE, LeaderboardReport, Report, select
from sigtest.version import __version__

STATUS = {"pass": 0, "fail": 1, "undecided": 3}


def gate(options: argparse.Namespace) -> int:
    """Decide, say so, and return the exit status.

    Raises:
        UsageError: Options that contradict each other.
        SigtestError: Bad input.
        OSError: A file that cannot be read or written.
    """
    choose(options.format, ("text", "json"), "format", "format of gates")
    if options.aa and options.equivalent:
        raise UsageError("--aa and --equivalent are two claims; take one")
    claim = "same" if options.aa else "equivalent" if options.equivalent else "not_worse"
    check_output(options.output)
    margin = number(options.margin, "margin")
    check_choices(choices_of(options, []))
    comparison = read_comparison(options)
    with bar() as progress:
        report = decide(comparison, margin, claim, progress)
    content = render(report) if options.format == "json" else str(report)
    write(content.encode(), options.output)
    return STATUS[report.outcome]


RECIPE = ("alternative", "resamples", "seed", "alpha", "correction", "family", "exact", "unit",
          "interval")  # fmt: skip
# Labels of scores and names of systems may hold every sign that stands between the parts.
PARTS = re.compile(
    r"(testsets:.+\|average:(?P<average>macro|pooled)\|)?"
    r"\((?P<metrics>.+)\)"
    r"\|tests:(?P<tests>[^|]+)"
    r"\|alternative:(?P<alternative>[^|]+)"
    r"\|resamples:(?P<resamples>\d+)"
    r"\|seed:(?P<seed>\d+)"
    r"\|alpha:(?P<alpha>[^|]+)"
    r"\|correction:(?P<correction>[^|]+)"
    r"(\|family:(?P<family>\d+))?"
    r"\|pairs:(?P<pairs>.+)"
    r"\|exact:(?P<exact>[^|]+)"
    r"\|unit:(?P<unit>[^|]+)"
    r"(\|stratified:(?P<stratified>true))?"
    r"(\|interval:(?P<interval>[^|]+))?"
    r"(\|replicas:\d+)?"
    r"\|sigtest:[^|]+"
    r"(\|decided:alpha=(?P<anew_alpha>[^,|]+),correction=(?P<anew_correction>[^|]+))?",
    re.DOTALL,
)


def recipe_of(signature: str) -> dict[str, Any]:
    """The options of the command line that a report's signature stands for.

    Raises:
        InputError: A signature that cannot be read.
    """
    parts = _parts(signature)
    pairs = parts["pairs"]
    # one metric ends where the next begins, with its name and its number of references
    between = rf"\)\+\((?=(?:{'|'.join(map(re.escape, METRICS))})\|nrefs:\d+\|)"
    return {
        "metrics": [_metric(own, signature) for own in re.split(between, parts["metrics"])],
        "tests": parts["tests"].split("+"),
        "baseline": pairs.removeprefix("baseline=") if pairs != "all" else None,
        "stratified": parts["stratified"] is not None,
        "pooled": parts["average"] == "pooled",
        **{name: parts[name] for name in RECIPE},
    }


def anew_of(signature: str) -> tuple[float | None, str | None]:
    """With which alpha and correction a report was decided after it was computed, if it was.

    Raises:
        InputError: A signature that cannot be read.
    """
    parts = _parts(signature)
    if parts["anew_alpha"] is None:
        return None, None
    try:
        return float(parts["anew_alpha"]), parts["anew_correction"]
    except ValueError:
        raise _unreadable(signature) from None


def _parts(signature: str) -> dict[str, str]:
    found = PARTS.fullmatch(signature)
    if found is None:
        raise _unreadable(signature)
    return found.groupdict()


def _metric(own: str, signature: str) -> dict[str, Any]:
    """A metric as recipes have it, from its own signature."""
    name = own.partition("|")[0]
    if name not in METRICS:
        raise _unreadable(signature)
    options = [field.name for field in fields(METRICS[name])]
    shown = "".join(rf"(\|{option}:(?P<{option}>.*?))?" for option in options)
    found = re.fullmatch(rf"{re.escape(name)}\|nrefs:\d+{shown}(\|[^|]*)?", own, re.DOTALL)
    if found is None:
        raise _unreadable(signature)
    return {"name": name, **{key: value for key, value in found.groupdict().items() if value}}


def _unreadable(signature: str) -> InputError:
    return InputError(
        f"The report's signature cannot be read: {quoted(signature, 200)}. verify takes reports of "
        "comparisons, suites and leaderboards."
    )


MOST = 20  # differences that are listed
ENVELOPED = (
    " of the report; what the leaderboard says above its signature (claims and their times, "
    "systems submitted) is in no file and was not checked"
)


def verify(options: argparse.Namespace) -> int:
    """Compute a report again and say what differs; return the exit status.

    Raises:
        UsageError: No report.
        SigtestError: A file that is no report of a comparison, or files that do not fit it.
        OSError: A file that cannot be read.
    """
    if options.report is None:
        raise UsageError("verify which REPORT? Give its JSON file (see sigtest verify --help)")
    stored = read_bytes(options.report)
    body = _report(stored, shown(options.report))
    for name, value in recipe_of(body["signature"]).items():
        setattr(options, name, value)
    comparison = _ordered(_read(options, body), body)
    with bar() as progress:
        made = decided(compare(comparison, progress), *anew_of(body["signature"]))
        again = render(_shown(made, body, comparison)).encode()
    if again == stored:
        said = ENVELOPED if _on_a_board(body) else ""
        sys.stdout.write(f"{printable(shown(options.report))}: verified, every byte{said}\n")
        return 0
    found = list(differences(body, json.loads(again)))
    if not found:
        found = ["the same numbers and words in another layout"]
    lines = [f"{shown(options.report)}: {len(found)} difference{'' if len(found) == 1 else 's'}"]
    if body["version"] != __version__:
        lines.append(f"  it was made by sigtest {body['version']}; this is {__version__}")
    if options.source is None and any("sha256" in line for line in found):
        lines.append("  a source counts as well: if --from brought one, give it by --source FILE")
    lines += [f"  {line}" for line in found[:MOST]]
    if len(found) > MOST:
        lines.append(f"  and {len(found) - MOST} more")
    sys.stdout.write("".join(f"{printable(line)}\n" for line in lines))
    return 1


def differences(reported: Any, again: Any, path: str = "") -> Iterator[str]:
    """Where two JSON values differ, with both values.

    Args:
        reported: As the report has it.
        again: As it was computed now.
        path: Where in the report.
    """
    if isinstance(reported, dict) and isinstance(again, dict):
        for key in [*reported, *(key for key in again if key not in reported)]:
            here = f"{path}.{key}" if path else key
            if key not in again:
                yield f"{here}: reported, and not computed"
            elif key not in reported:
                yield f"{here}: computed, and not reported"
            else:
                yield from differences(reported[key], again[key], here)
    elif isinstance(reported, list) and isinstance(again, list) and len(reported) == len(again):
        for i, both in enumerate(zip(reported, again, strict=True)):
            yield from differences(*both, f"{path}[{i}]")
    elif reported != again:
        yield f"{path}: {_short(reported)} is reported, {_short(again)} computed"


def _on_a_board(body: dict[str, Any]) -> bool:
    """Whether this is what a leaderboard shows: a report below an envelope."""
    return (
        "testsets" not in body
        and "claims" in body
        and all(isinstance(body.get(own), str) for own in ("metric", "test"))
    )


def _shown(made: Report, body: dict[str, Any], comparison: Comparison) -> FinishedReport:
    """The report, or what a leaderboard shows of it; the envelope is the service's own."""
    if not _on_a_board(body):
        return made
    (entry,) = comparison.entries
    found = findings_of(entry.testset, entry.systems, comparison.recipe)
    shared = {finding.sentence for finding in found if finding.kind == "equals_system"}
    # systems come to a board one by one: it does not say what they share
    report = replace(made, warnings=tuple(w for w in made.warnings if w not in shared))
    envelope = {field: body[field] for field in ENVELOPE if field in body}
    return LeaderboardReport(envelope, select(report, body["metric"], body["test"]))


def _short(value: Any) -> str:
    text = json.dumps(value, ensure_ascii=False)
    return text if len(text) <= 60 else f"{text[:57]}..."


def _report(stored: bytes, path: str) -> dict[str, Any]:
    try:
        body = json.loads(stored)
    except ValueError:
        raise InputError(f"{path} is no JSON; verify takes reports of --format json.") from None
    if not _compared(body):
        raise InputError(f"{path} is no report of a comparison.")
    return body


def _compared(body: Any) -> bool:
    """Whether this looks like the report of a comparison; those of gates and plans do not."""
    if not isinstance(body, dict) or not {"signature", "version"} <= body.keys():
        return False
    several = "testsets" in body
    shown = body.get("overall") if several else body
    return (
        isinstance(body["signature"], str)
        and isinstance(shown, dict)
        and "pairs" in shown
        and _named(shown.get("systems"))
        and (not several or _named(body["testsets"]))
    )


def _named(listed: Any) -> bool:
    return isinstance(listed, list) and all(
        isinstance(own, dict) and isinstance(own.get("name"), str) for own in listed
    )


def _read(options: argparse.Namespace, body: dict[str, Any]) -> Comparison:
    """What the files bring: folders where the report is about several test sets."""
    if "testsets" not in body:
        return read_comparison(options)
    few = len(options.systems) < 2
    if few or options.reference or options.scores or options.replicas:
        names = ", ".join(_names(body["testsets"]))
        raise UsageError(f"the report is about the test sets {names}: name the folder of each")
    options.folders = options.systems
    return read_folders(options)


def _ordered(comparison: Comparison, body: dict[str, Any]) -> Comparison:
    """The comparison with its test sets and systems in the order of the report.

    Raises:
        InputError: Other systems or test sets than the report has.
    """
    several = "testsets" in body
    names = _names((body["overall"] if several else body)["systems"])
    found = dict(zip(comparison.names or ("",), comparison.entries, strict=True))
    testsets = _names(body["testsets"]) if several else [""]
    _check("test sets", testsets, list(found))
    entries = []
    for entry in (found[name] for name in testsets):
        given = {system.name: system for system in entry.systems}
        _check("systems", names, list(given))
        entries.append(replace(entry, systems=tuple(given[name] for name in names)))
    return replace(comparison, entries=tuple(entries), names=tuple(testsets) if several else ())


def _check(what: str, reported: list[str], given: list[str]) -> None:
    if sorted(reported) != sorted(given):
        raise InputError(
            f"The report is about the {what} {', '.join(reported)}; the files are of "
            f"{', '.join(given)}.",
            field=what.replace(" ", ""),
        )


def _names(listed: list[dict[str, Any]]) -> list[str]:
    return [own["name"] for own in listed]
