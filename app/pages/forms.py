"""What forms of pages show: things to be chosen, and what was read, to be looked at."""

from __future__ import annotations

from collections.abc import Iterable
from contextlib import suppress
from dataclasses import dataclass, replace
from typing import Any, get_origin

from app.requests.forms import is_object
from sigtest.data.testset import System
from sigtest.errors import UnavailableError
from sigtest.kinds import Kind, Question
from sigtest.kinds.comparisons import Comparisons
from sigtest.metrics import METRICS
from sigtest.metrics.scores import ScoreMetric
from sigtest.requests.model import Option, options
from sigtest.requests.recipe import OPTIONS, Settings
from sigtest.significance import TESTS

LISTED = ("metrics", "tests")  # forms have boxes for each of these
CHOSEN = tuple(own for own in OPTIONS if own.name not in LISTED)
OF_BOARDS = options(Settings, LISTED)
LABELS = {"a": "first system", "b": "second system", "unit": "what is resampled"}
PLAIN = ("TEXT", "NAME")  # what to write is clear without a pattern


def measurable() -> list[str]:
    """Names of the metrics that need nothing but texts, and that can run here."""
    found = []
    for name, metric in METRICS.items():
        if metric.prose and not issubclass(metric, ScoreMetric):
            with suppress(UnavailableError):  # METEOR without its packages
                metric()
                found.append(name)
    return found


@dataclass(frozen=True)
class Control:
    """One thing to be chosen.

    Attributes:
        name: What the form calls it: the way to it in a request.
        label: Above it.
        about: One sentence.
        look: `select`, `box`, `boxes`, `text`, `lines`, or `ends`: two numbers.
        options: To choose from.
        hint: What stands in an empty one.
        digits: Whether a number belongs there.
        field: What a request calls it, where that is something else.
    """

    name: str
    label: str
    about: str
    look: str
    options: tuple[str, ...] = ()
    hint: str = ""
    digits: bool = False
    field: str = ""


def choices(kind: Kind[Any]) -> dict[str, Any]:
    """What the form of a kind has to choose from."""
    return {
        "controls": controls(kind.fields),
        "compared": controls(CHOSEN, kind.compares) if kind.compares else (),
        "inside": {name: controls(own, name) for name, own in kind.inside.items()},
        "metrics": measurable(),
        "tests": TESTS,
    }


def controls(fields: Iterable[Option], inside: str = "") -> tuple[Control, ...]:
    """What there is to choose; an object's own fields stand in its place.

    Args:
        fields: Of a request, or of an object in it.
        inside: Name of that object.
    """
    made: list[Control] = []
    for field in fields:
        own = _control(field, inside)
        if not is_object(field):
            made.append(own)
            continue
        first, *rest = (
            replace(inner, label=f"{own.label}: {inner.label.lower()}")
            for inner in controls(options(field.kind), own.name)
        )
        hint = "none" if first.look == "select" else first.hint
        made += [replace(first, about=f"{own.about} {first.about}", hint=hint), *rest]
    return tuple(made)


def _control(field: Option, inside: str) -> Control:
    about = f"{field.about[:1].upper()}{field.about[1:]}."
    look, hint = "text", str(field.default or "")
    if field.kind is bool:
        look = "box"
    elif field.known:
        look = "boxes" if field.several else "select"
    elif get_origin(field.kind) is tuple:
        look = "ends"
    elif field.repeatable:
        look, about = "lines", f"{about} One a line."
    if look in {"text", "lines"} and field.metavar not in PLAIN:
        hint = hint or field.metavar
    label = LABELS.get(field.name, field.name.replace("_", " "))
    return Control(
        name=f"{inside}.{field.name}" if inside else field.name,
        label=f"{label[:1].upper()}{label[1:]}",
        about=about,
        look=look,
        options=tuple(field.known),
        hint=hint,
        digits=field.kind in (int, float),
        field="pairs" if field.name == "baseline" else "",
    )


def looked_at(kind: Kind[Any], question: Question) -> dict[str, Any]:
    """What a question was read as, to be looked at before anything is computed."""
    comparison = kind.comparison(question)
    entries = []
    if comparison is not None:
        names = comparison.names or ("",) * len(comparison.entries)
        parts = zip(names, comparison.entries, comparison.plan.parts, strict=True)
        entries = [
            (
                name,
                entry.testset,
                list(map(_summary, entry.systems)),
                [note.message for note in part.notes],
            )
            for name, entry, part in parts
        ]
    return {
        "kind": kind,
        "found": entries,
        "sentences": () if isinstance(kind, Comparisons) else kind.recognised(question),
        "about": question.about,
        "seconds": question.seconds,
    }


def _summary(system: System) -> dict[str, Any]:
    """What one system brings: how many outputs of training runs, none where it has scores alone."""
    text = system.runs[0].hypotheses
    lines = [line or "" for line in text.lines] if text is not None else []
    return {
        "name": system.name,
        "outputs": len(system.runs) if lines else 0,
        "characters": sum(map(len, lines)) / len(lines) if lines else 0.0,
        "scores": tuple(system.scores),
        "line": lines[0] if lines else None,
    }
