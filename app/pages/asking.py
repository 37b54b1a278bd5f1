"""Forms of kinds of questions: made of what a request of each may say, read as the shell reads it.

A kind gets its form from its fields, its parts and what it may name; none has a template.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from typing import Any

from starlette.datastructures import FormData

from app.pages import forms
from app.requests.form import files_of, text_of
from app.requests.question import Sent, read_form
from app.settings import Settings
from sigtest.data.choices import choose
from sigtest.errors import InputError
from sigtest.kinds import Kind, Reference
from sigtest.kinds.comparisons import Comparisons
from sigtest.requests.options import Option
from workers.questions import Record

WORDS = {"a": "first system", "b": "second system"}
PLAIN = ("TEXT", "NAME")  # what to write is clear without a pattern


@dataclass(frozen=True)
class Control:
    """One thing to be chosen.

    Attributes:
        name: What the form calls it: the way to it in a request.
        label: Above it.
        about: One sentence.
        look: `select`, `box`, `boxes`, `text` or `lines`.
        options: To choose from.
        hint: What stands in an empty one.
        digits: Whether a number belongs there.
    """

    name: str
    label: str
    about: str
    look: str
    options: tuple[str, ...] = ()
    hint: str = ""
    digits: bool = False


@dataclass(frozen=True)
class Named:
    """A finished question that may be named instead of bringing what it says.

    Attributes:
        name: What the form calls it.
        kind: What it is.
        records: Those of the caller, newest first.
    """

    name: str
    kind: str
    records: tuple[Record, ...]


def controls(fields: Iterable[Option], inside: str = "") -> tuple[Control, ...]:
    """What there is to choose.

    Args:
        fields: Of a request, or of an object in it.
        inside: Name of that object.
    """
    return tuple(_control(field, inside) for field in fields)


def _control(field: Option, inside: str) -> Control:
    about = f"{field.about[:1].upper()}{field.about[1:]}."
    usual = field.default
    words = str(usual) if isinstance(usual, str | int | float) and usual is not False else ""
    look = "text"
    if field.kind is bool:
        look = "box"
    elif field.known:
        look = "boxes" if field.several else "select"
    elif field.repeatable:
        look, about = "lines", f"{about} One a line."
    label = WORDS.get(field.name, field.name.replace("_", " "))
    return Control(
        name=f"{inside}.{field.name}" if inside else field.name,
        label=f"{label[:1].upper()}{label[1:]}",
        about=about,
        look=look,
        options=tuple(field.known),
        hint=words or _pattern(field, look),
        digits=field.kind in (int, float),
    )


def _pattern(field: Option, look: str) -> str:
    """How what is written looks, where that is not clear."""
    written = look in {"text", "lines"} and field.metavar not in PLAIN
    return field.metavar if written else ""


def references(kind: Kind[Any]) -> Iterator[tuple[str, Reference]]:
    """Where a form may name finished questions; those in the sets of a request stay to JSON."""
    for reference in kind.named:
        if "*" not in reference.place:
            yield ".".join(reference.place), reference


def sent(form: FormData, kind: Kind[Any], settings: Settings) -> Sent:
    """The request and the files that a form of the page brings.

    Raises:
        SigtestError: Nothing was brought, or something that cannot be read.
    """
    if isinstance(kind, Comparisons):
        return read_form(forms.service_form(form), kind, settings, forms.USUAL)
    request = request_of(form, kind)
    parts = [
        (part, file)
        for part in (*kind.parts, *(forms.PARTS if kind.compares else ()))
        for file in files_of(form, part)
    ]
    if kind.compares:
        parts += forms.recognised_parts(form)
    others = (forms.FURTHER, *(name for name, _ in references(kind)))
    if not parts and not any(form.get(name) for name in others):
        raise InputError(
            "No files yet: choose them here, or try the example.",
            field=next(iter(kind.parts), "files"),
        )
    return read_form(forms.with_request(parts, request), kind, settings)


def example_of(kind: Kind[Any], name: str) -> Sent:
    """One of the kind's examples.

    Raises:
        RecipeError: It has no such.
    """
    examples = kind.examples
    return Sent(examples[choose(name, examples, "example", "example")]["value"], ())


def request_of(form: FormData, kind: Kind[Any]) -> dict[str, Any]:
    """What the choices of a form mean, as a request has it; empty ones have their defaults.

    Raises:
        InputError: The further choices are no JSON object.
    """
    request = forms.further_of(form)
    request |= _chosen(form, kind.fields, "") | forms.written(form)
    for inside, fields in kind.inside.items():
        if chosen := _chosen(form, fields, f"{inside}."):
            request[inside] = _object(request, inside) | chosen
    if kind.compares and (chosen := forms.choices_of(_within(form, kind.compares))):
        request[kind.compares] = _object(request, kind.compares) | chosen
    for name, reference in references(kind):
        if question_id := text_of(form, name):
            *way, last = reference.place
            inner = request
            for step in way:
                inner = inner.setdefault(step, {})
            inner[last] = question_id
    return request


def _object(request: Mapping[str, Any], name: str) -> dict[str, Any]:
    found = request.get(name)
    return dict(found) if isinstance(found, Mapping) else {}


def _within(form: FormData, inside: str) -> FormData:
    """The entries of a form that are about an object of the request, under their own names."""
    start = f"{inside}."
    entries = form.multi_items()
    return FormData([(k.removeprefix(start), v) for k, v in entries if k.startswith(start)])


def _chosen(form: FormData, fields: Sequence[Option], start: str) -> dict[str, Any]:
    """What was chosen of these fields, as the shell's words would be read."""
    chosen: dict[str, Any] = {}
    for field in fields:
        given = [entry for entry in form.getlist(f"{start}{field.name}") if isinstance(entry, str)]
        words = [word for entry in given for word in _words(entry, field)]
        if words:
            chosen[field.name] = True if field.kind is bool else field.read(words)
    return chosen


def _words(entry: str, field: Option) -> list[str]:
    """One a line; numbers also side by side."""
    numbers = field.several and field.kind is float
    parts = entry.replace(",", " ").split() if numbers else entry.splitlines()
    return [part.strip() for part in parts if part.strip()]
