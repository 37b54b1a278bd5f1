"""`sigtest gate` and `verify`, exit statuses for continuous integration; and `classify`.

`classify` compares labels with gold labels, and scores over data sets, in few words.
"""

import json
import os
import re
import sys
from collections.abc import Iterator
from contextlib import suppress
from dataclasses import fields, replace
from functools import partial
from pathlib import Path
from shlex import quote
from typing import Any

import numpy as np

from sigtest.cli import files
from sigtest.cli.compare import compare, layout_of, read_files
from sigtest.cli.options import Chosen, UsageError
from sigtest.cli.shell import bar
from sigtest.comparison.comparison import Comparison, parse_comparison
from sigtest.data.names import is_reference
from sigtest.data.testset import LABEL
from sigtest.decide.summary import decided, with_gone
from sigtest.engine import compare as compare_here
from sigtest.errors import InputError, SigtestError, quoted
from sigtest.files.file import File
from sigtest.files.gathering import Entry, read_path
from sigtest.files.join import Joining, join
from sigtest.files.material import OVER_DATA_SETS, Material, examples, metrics_of
from sigtest.files.registry import format_of
from sigtest.gates import Gated, check_choices
from sigtest.gates import gate as decide
from sigtest.kinds import KINDS
from sigtest.metrics import METRICS
from sigtest.metrics.labels import Accuracy
from sigtest.render.formats import FORMATS, Presented
from sigtest.render.model import Document, Paragraph, Sheet
from sigtest.render.records import FinishedReport, render_json, sheet
from sigtest.render.words import printable
from sigtest.report import ENVELOPE, LeaderboardReport, Report, WarningReport, decode, select
from sigtest.requests.recipe import Recipe
from sigtest.significance.intervals import clopper_pearson
from sigtest.version import __version__

STATUS = {"pass": 0, "fail": 1, "undecided": 3}


def gate(options: Chosen) -> int:
    """Decide, say so, and return the exit status.

    Raises:
        UsageError: Options that contradict each other.
        SigtestError: Bad input.
        OSError: A file that cannot be read or written.
    """
    layout_of(options, str)
    if options.aa and options.equivalent:
        raise UsageError("--aa and --equivalent are two claims; take one")
    claim = "same" if options.aa else "equivalent" if options.equivalent else "not_worse"
    margin = None if options.margin is None else files.number(options.margin, "margin", float)
    check_choices(files.choices_of(options, []))
    comparison = files.read_comparison(options)
    with bar() as progress:
        report = decide(comparison, margin, claim, progress)
    rows = partial(sheet, [field.name for field in fields(Gated)], report.systems)
    presented = Presented(report.as_json, report.document, {"": rows})
    files.write(FORMATS[options.format].render(presented).encode(), options.output)
    return STATUS[report.outcome]


# Parts of a signature, in order, and which of them not all have. Labels of scores and names of
# systems may hold every sign that stands between the parts.
PARTS = ("tests", "alternative", "resamples", "seed", "alpha", "correction", "family", "pairs",
         "exact", "unit", "stratified", "unpaired", "interval", "replicas", "sigtest")  # fmt: skip
OPTIONAL = ("family", "stratified", "unpaired", "interval", "replicas")
PLAIN = tuple(part for part in PARTS if part not in ("tests", "pairs", "replicas", "sigtest"))
SIGNATURE = re.compile(
    r"(testsets:.+\|average:(?P<average>macro|pooled)\|)?\((?P<metrics>.+)\)"
    + "".join(
        rf"(\|{part}:(?P<{part}>{'.' if part == 'pairs' else '[^|]'}+)){'?' * (part in OPTIONAL)}"
        for part in PARTS
    )
    + r"(\|decided:alpha=(?P<new_alpha>\d*\.?\d+(e-?\d+)?),"
    r"correction=(?P<new_correction>[^|]+))?",
    re.DOTALL,
)


def recipe_of(signature: str) -> dict[str, Any]:
    """The options of the command line that a report's signature stands for.

    In `decided` are the alpha and the correction that it was decided with later, if it was.

    Raises:
        InputError: A signature that cannot be read.
    """
    found = SIGNATURE.fullmatch(signature)
    # one metric ends where the next begins, with its name and its number of references
    between = rf"\)\+\((?=(?:{'|'.join(map(re.escape, METRICS))})\|nrefs:\d+\|)"
    metrics = [_metric(one) for one in re.split(between, found["metrics"])] if found else []
    if found is None or None in metrics:
        raise InputError(
            f"The report's signature cannot be read: {quoted(signature, 200)}. verify takes "
            "reports of comparisons, suites and leaderboards."
        )
    alpha, pairs = found["new_alpha"], found["pairs"]
    return {
        **{part: found[part] for part in PLAIN},
        "metrics": metrics,
        "tests": found["tests"].split("+"),
        "baseline": pairs.removeprefix("baseline=").split("/") if pairs != "all" else None,
        "unpaired": found["unpaired"] is not None,
        "stratified": found["stratified"] is not None,
        "pooled": found["average"] == "pooled",
        "decided": (alpha and float(alpha), found["new_correction"]),
    }


def _metric(signature: str) -> dict[str, Any] | None:
    """A metric as recipes have it, from its own signature; none of another one."""
    name = signature.partition("|")[0]
    if name not in METRICS:
        return None
    options = [field.name for field in fields(METRICS[name])]
    shown = "".join(rf"(\|{option}:(?P<{option}>.*?))?" for option in options)
    found = re.fullmatch(rf"{re.escape(name)}\|nrefs:\d+{shown}(\|[^|]*)?", signature, re.DOTALL)
    if found is None:
        return None
    return {"name": name, **{key: value for key, value in found.groupdict().items() if value}}


MOST = 20  # differences that are listed
ENVELOPED = (
    " of the report; what the leaderboard says above its signature (claims and their times, "
    "systems submitted) is in no file and was not checked"
)


def verify(options: Chosen) -> int:
    """Compute a report again and say what differs; return the exit status.

    Raises:
        UsageError: No report.
        SigtestError: A file that is no report of a comparison, or files that do not fit it.
        OSError: A file that cannot be read.
    """
    if options.report is None:
        raise UsageError("verify which REPORT? Give its JSON file (see sigtest verify --help)")
    stored = files.read_bytes(options.report)
    body = _report(stored, files.shown(options.report))
    for name, value in recipe_of(body["signature"]).items():
        setattr(options, name, value)
    comparison = _ordered(_read(options, body), body)
    with bar() as progress:
        made = with_gone(compare_here(comparison, progress), body.get("family"))
        made = decided(made, *options.decided)
        again = render_json(_shown(made, body)).encode()
    if again == stored:
        more = ENVELOPED if _on_a_board(body) else ""
        sys.stdout.write(f"{printable(files.shown(options.report))}: verified, every byte{more}\n")
        return 0
    found = list(differences(body, json.loads(again)))
    if not found:
        found = ["the same numbers and words in another layout"]
    lines = [
        f"{files.shown(options.report)}: {len(found)} difference{'' if len(found) == 1 else 's'}"
    ]
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


def _shown(made: Report, body: dict[str, Any]) -> FinishedReport:
    """The report, or what a leaderboard shows of it; the envelope is the service's own."""
    told = [decode(WarningReport, own) for own in body["warnings"] if isinstance(own, dict)]
    report = made
    if "|family:" in body["signature"] or _on_a_board(body):
        # systems come to a board one by one: it does not say what they share, but who left
        known = {own.code for own in told}
        kept = [own for own in made.warnings if own.code != "equals-system" or own.code in known]
        for i, own in enumerate(told):
            if own.code == "systems-gone":
                kept.insert(i, own)
        report = replace(made, warnings=tuple(kept))
    if not _on_a_board(body):
        return report
    envelope = {field: body[field] for field in ENVELOPE if field in body}
    return LeaderboardReport(envelope, select(report, body["metric"], body["test"]))


def _short(value: Any) -> str:
    text = json.dumps(value, ensure_ascii=False)
    return text if len(text) <= 60 else f"{text[:57]}..."


def _report(stored: bytes, path: str) -> dict[str, Any]:
    """The report of a comparison that a file has; those of gates and plans are none."""
    try:
        body = json.loads(stored)
    except ValueError:
        raise InputError(f"{path} is no JSON; verify takes reports of --format json.") from None
    with suppress(KeyError, TypeError):
        shown = body["overall"] if "testsets" in body else body
        named = [*_names(shown["systems"]), *_names(body.get("testsets", []))]
        words = all(isinstance(word, str) for word in (body["signature"], *named))
        if words and "version" in body and "pairs" in shown:
            return dict(body)
    raise InputError(f"{path} is no report of a comparison.")


def _read(options: Chosen, body: dict[str, Any]) -> Comparison:
    """What the files bring: folders where the report is about several test sets."""
    if "testsets" not in body:
        return files.read_comparison(options)
    few = len(options.systems) < 2
    if few or options.reference or options.scores or options.replicas:
        names = ", ".join(_names(body["testsets"]))
        raise UsageError(f"the report is about the test sets {names}: name the folder of each")
    options.folders = options.systems
    return files.read_folders(options)


def _ordered(comparison: Comparison, body: dict[str, Any]) -> Comparison:
    """The comparison with its test sets and systems in the order of the report.

    Raises:
        InputError: Other systems or test sets than the report has.
    """
    several = "testsets" in body
    names = _names((body["overall"] if several else body)["systems"])
    own = dict(zip(comparison.names or ("",), comparison.entries, strict=True))
    testsets = _names(body["testsets"]) if several else [""]
    _check("test sets", testsets, list(own))
    entries = []
    for entry in (own[name] for name in testsets):
        systems = {system.name: system for system in entry.systems}
        _check("systems", names, list(systems))
        entries.append(replace(entry, systems=tuple(systems[name] for name in names)))
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


# what files are


def look(options: Chosen) -> None:
    """Say what is in files, what can be asked of them, and what is missing.

    Raises:
        OSError: A file that cannot be read.
    """
    found, lines, commands = list[Material](), list[str](), ["compare", "board"]
    try:
        for path in options.files:
            try:
                own = read_path(path)
            except InputError:
                own, commands = read_path(path, how=Joining(columns="systems")), ["board"]
            found.append(own)
            names, labels = (examples(of, 8) or "-" for of in (own.system_names, own.score_labels))
            lines.append(
                f"{path}: {own.format}; segments {len(own)}; systems {names}; scores {labels}"
            )
        if all(material.texts for material in found):
            ordered = sorted(options.files, key=lambda p: not is_reference(os.path.basename(p)))
            if len(ordered) == 1:
                raise InputError("texts to compare it with: a reference, or outputs of systems.")
            lines.append(f"ask: sigtest compare -r {' '.join(map(quote, ordered))}")
        else:
            whole = join([material.of_known_role() for material in found])
            made = parse_comparison({**whole.as_json(), "metrics": metrics_of(whole)})
            commands = commands if len(made.plan.systems) > 1 else ["compare"]
            given = " ".join(f"--from {quote(path)}" for path in options.files)
            lines += [f"ask: sigtest {command} {given}" for command in commands]
    except SigtestError as error:
        kind = KINDS["human-evaluations"]
        try:
            lines += kind.recognised(kind.parse({}, read_files("judgements", options.files)))
            lines.append(f"ask: sigtest human {' '.join(map(quote, options.files))}")
        except (SigtestError, OSError):
            lines.append(f"missing: {error}")
    sys.stdout.write("".join(f"{printable(line)}\n" for line in lines))


# labels, and scores over data sets

MOST_COUNTED = 100_000


def classify(options: Chosen) -> None:
    """Compare labels or scores; or say how exact the accuracy of one system is.

    Raises:
        UsageError: Nothing to compare, or more than one thing.
        SigtestError: Bad input, or a service that refuses or cannot be reached.
        OSError: A file that cannot be read or written.
    """
    ways = {"--gold": options.gold, "--table": options.wide, "--correct": options.correct}
    given = [way for way, value in ways.items() if value]
    if len(given) != 1:
        raise UsageError(
            f"one of {', '.join(ways)} says what to compare (see sigtest classify --help)"
        )
    alone = len(options.correct) == 1 or (options.gold and len(options.systems) == 1)
    if options.baseline or not alone:
        compare(options, read_counts if options.correct else read_labels)
        return
    for option in ("alternative", "plots"):
        if getattr(options, option):
            raise UsageError(f"--{option} of one system needs a --baseline NUMBER")
    layout_of(options, str)
    content = FORMATS[options.format].render(_proportion(options))
    files.write(content.encode(), options.output)


def read_labels(options: Chosen) -> Comparison:
    """The comparison of labels with gold labels, or of the columns of a table.

    Raises:
        SigtestError: A file or an option that cannot be used.
        OSError: A file that cannot be read.
    """
    if options.wide is not None:
        options.tests = options.tests or list(OVER_DATA_SETS)
        options.metrics = options.metrics or ["scores"]
        choices = files.choices_of(options, ())
        Recipe.of(choices)  # a wrong option is cheaper to find than a wrong file
        how = replace(files.joining_of(options), columns=options.columns or "tasks")
        material = files.read([Entry("scores", Path(options.wide), label=LABEL)], how)
        return parse_comparison({**material.as_json(), **choices})
    options.metrics = options.metrics or ["accuracy"]
    if options.tests is None and options.metrics == ["accuracy"]:
        options.tests = ["mcnemar"]
    options.reference = [options.gold]
    for entry in (*files.references_of(options), *files.systems_of(options)):
        if (path := str(entry.where)) != files.STDIN:
            known = format_of(File(path, files.read_bytes(path)))
            if known.name not in ("text", "numbers"):
                raise InputError(f"{path} is {known.title}; give labels alone, one line an item.")
    return files.read_comparison(options)


def _proportion(options: Chosen) -> Presented:
    """How many of how many are right, as counted by the caller or of one system's labels."""
    name = ""
    if options.correct:
        ((correct, n),) = _counts(options)
        alpha = Recipe.of(files.choices_of(options, ["accuracy"])).alpha
    else:
        comparison = read_labels(options)
        (entry,), alpha = comparison.entries, comparison.recipe.alpha
        right = Accuracy().statistics(entry.testset, entry.systems[0])[:, 0]
        correct, n, name = int(np.count_nonzero(right)), len(right), entry.systems[0].name
    ends = clopper_pearson(np.array([correct]), n, 1 - alpha)
    low, high = (float(end[0]) for end in ends)
    words = (
        f"{name}{': ' * bool(name)}{correct} of {n} {'is' if correct == 1 else 'are'} correct, "
        f"{correct / n:.4f}; {100 * (1 - alpha):g} % interval [{low:.4f}, {high:.4f}] "
        "(Clopper-Pearson)."
    )
    body = {"correct": correct, "n": n, "proportion": correct / n, "ci": [low, high]}
    body |= {"alpha": alpha} | ({"name": name} if name else {})
    columns = ("name", "correct", "n", "proportion", "ci_low", "ci_high", "alpha")
    records = Sheet(columns, [(name, correct, n, correct / n, low, high, alpha)])
    document = Document("Proportion", (), (Paragraph(words),))
    return Presented(lambda: body, lambda: document, {"": lambda: records})


def _counts(options: Chosen) -> list[tuple[int, int]]:
    """How many of how many are right, of each system."""
    if len(options.correct) != len(options.n):
        raise UsageError("--correct K goes with --n N (see sigtest classify --help)")
    correct, n = (
        [files.number(own, name, int) for own in getattr(options, name)]
        for name in ("correct", "n")
    )
    for k, size in zip(correct, n, strict=True):
        if not 0 <= k <= size or size < 1:
            raise InputError(f"{k} of {size} is no proportion; correct goes from 0 to n.")
    return [*zip(correct, n, strict=True)]


def read_counts(options: Chosen) -> Comparison:
    """The comparison of systems of which it is known how many of their own items are right.

    Raises:
        UsageError: A count without the other.
        InputError: Counts that are no part and whole.
    """
    systems = {}
    for i, (correct, n) in enumerate(_counts(options), 1):
        if n > MOST_COUNTED:
            raise InputError(f"n is {n:,}; counts of up to {MOST_COUNTED:,} are compared.")
        right = [1] * correct + [0] * (n - correct)
        systems[f"{i} ({correct} of {n})"] = {"scores": {"accuracy": right}}
    choices = files.choices_of(options, ["scores:of=accuracy"])
    return parse_comparison({"systems": systems, **choices, "unpaired": len(systems) > 1})
