"""Fields of requests as options of the shell and controls of forms, read off the models."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import Any, Union, get_args, get_origin

from pydantic.fields import FieldInfo

from sigtest.errors import RecipeError
from sigtest.requests.model import OneOf, Request, field_types, noted, unwrapped

Words = Sequence[str]


@dataclass(frozen=True)
class Option:
    """One field of a request, as it is asked for in words.

    Attributes:
        name: In the request.
        info: What the model says of it.
        kind: The type of one of its values, without notes; an object's model.
        several: Whether it holds a list of them.
        known: The names to choose from, where there are some.
    """

    name: str
    info: FieldInfo
    kind: Any
    several: bool
    known: tuple[str, ...]

    @property
    def about(self) -> str:
        """What it says, in a phrase."""
        return self.info.description or ""

    @property
    def default(self) -> str | float | None:
        """Its value where it is left out, where that can be said in a word."""
        usual = self.info.get_default()
        return usual if isinstance(usual, str | int | float) and usual is not False else None

    @property
    def word(self) -> str:
        """What the shell calls it."""
        return self.info.title or self.name

    @property
    def flag(self) -> str:
        """The option of the shell."""
        return f"--{self.word.replace('_', '-')}"

    @property
    def repeatable(self) -> bool:
        """Whether the shell takes it more than once."""
        return self.several or get_origin(self.kind) is dict

    @property
    def metavar(self) -> str:
        """What stands for its value."""
        if _is_request(self.kind):
            needed = all(info.is_required() for info in self.kind.model_fields.values())
            return "FIELD=VALUE,..." if needed else "VALUE[:FIELD=VALUE,...]"
        written = {dict: "FROM=TO", tuple: "LOW,HIGH", float: "NUMBER", int: "N", Union: "N"}
        usual = "NAME" if self.known or self.several else "TEXT"
        return written.get(get_origin(self.kind) or self.kind, usual)

    @property
    def help(self) -> str:
        """What the shell says of it."""
        some = f"{'some' if self.several else 'one'} of {', '.join(self.known)}"
        parts = (
            self.about,
            some if self.known else "",
            "repeatable" if self.repeatable else "",
            "" if self.default is None else f"default {self.default}",
        )
        return "; ".join(filter(None, parts))

    def read(self, words: Words) -> object:
        """What words mean, unchecked; one for each time that the option is given."""
        if self.several:
            return [self._value(word) for word in words]
        return _renames(self.name, words) if self.repeatable else self._value(words[-1])

    def _value(self, word: str) -> object:
        if _is_request(self.kind):
            return _members(self.name, self.kind, word)
        if get_origin(self.kind) is tuple:
            return [spelled(end, float) for end in word.split(",")]
        if self.kind is bool:
            return True
        if get_origin(self.kind) is Union:  # a whole number, or a word in its place
            return spelled(word, int)
        return spelled(word, self.kind) if self.kind in (int, float) else word


def options(model: type[Request], without: Sequence[str] = ()) -> tuple[Option, ...]:
    """The fields of a model that can be said in words."""
    types = field_types(model).items()
    return tuple(_option(model, name, kind) for name, kind in types if name not in without)


def words_of(fields: Sequence[Option], namespace: object) -> dict[str, Any]:
    """What options say, as a request has it.

    Args:
        fields: Of the request.
        namespace: Has the words of each option that is given, under its field's name.

    Raises:
        RecipeError: An option that says nothing of the kind that it must.
    """
    request: dict[str, Any] = {}
    for field in fields:
        given = getattr(namespace, field.name)
        if given:
            words = [given] if isinstance(given, str) else given
            request[field.name] = given if field.kind is bool else field.read(words)
    return request


def _option(model: type[Request], name: str, annotation: Any) -> Option:
    kind, notes = unwrapped(annotation)
    several = get_origin(kind) is tuple and get_args(kind)[-1] is Ellipsis
    if several:
        kind, notes = unwrapped(get_args(kind)[0])
    elif get_origin(kind) is dict and _is_request(get_args(kind)[1]):
        kind = get_args(kind)[1]  # words say one of them
    known = next((tuple(note.known) for note in noted(notes) if isinstance(note, OneOf)), ())
    return Option(name, model.model_fields[name], kind, several, known)


def _is_request(kind: Any) -> bool:
    return isinstance(kind, type) and issubclass(kind, Request)


def _renames(name: str, words: Words) -> dict[str, str]:
    """New names by old ones."""
    found: dict[str, str] = {}
    for word in words:
        old, equals, new = word.rpartition("=")
        if not equals:
            raise RecipeError(f"{name} takes FROM=TO, not {word!r}.", field=name)
        if found.setdefault(old, new) != new:
            raise RecipeError(f"{name} gives {old!r} two names.", field=name)
    return found


def _members(name: str, model: type[Request], word: str) -> dict[str, object]:
    """An object, whose first field may be given by its value alone."""
    first, _, rest = word.partition(":")
    if "=" in first:
        first, rest = "", word
    known = {option.name: option for option in options(model)}
    found: dict[str, object] = {next(iter(known)): first} if first else {}
    for part in filter(None, rest.split(",")):
        field, equals, value = part.partition("=")
        if not equals:
            raise RecipeError(f"{name}: {part!r} needs a value: {part}=VALUE.", field=name)
        found[field] = known[field].read([value]) if field in known else value
    return found


def spelled(word: str, kind: Callable[[str], float]) -> object:
    """A number as it is spelled in words; other words are left for the check to refuse."""
    try:
        return kind(word)
    except ValueError:
        return word
