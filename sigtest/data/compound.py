"""Fields of requests that hold several values: lists, spans, objects."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, replace
from typing import Any

from sigtest.data.choices import choose
from sigtest.data.fields import Choice, Field, Number, number, spelled, text
from sigtest.errors import RecipeError


@dataclass(frozen=True)
class Texts(Field):
    """Names, none of them twice.

    Attributes:
        what: What each names.
        reserved: A name that none may have.
    """

    repeatable = True
    metavar = "NAME"

    what: str = ""
    reserved: str = ""

    def check(self, value: object, path: str) -> tuple[str, ...]:
        names = tuple(text(entry, path) for entry in _several(value, path))
        if len(set(names)) < len(names):
            raise RecipeError(f"{path} names one {self.what} twice.", field=path)
        if self.reserved in names:
            raise RecipeError(f"{path}: no {self.what} may be called {self.reserved}.", field=path)
        return names

    @property
    def form(self) -> dict[str, Any]:
        return {"type": "array", "items": {"type": "string", "minLength": 1}, "uniqueItems": True}


@dataclass(frozen=True)
class Some(Choice):
    """Some of several names, none of them twice."""

    repeatable = True

    def check(self, value: object, path: str) -> Any:
        entries = _several(value, path)
        names = tuple(str(choose(entry, self.known, path, self.what)) for entry in entries)
        for name in names:
            if names.count(name) > 1:
                raise RecipeError(f"{path} names {name!r} {names.count(name)} times.", field=path)
        return names

    @property
    def form(self) -> dict[str, Any]:
        return {"type": "array", "items": super().form, "uniqueItems": True}

    @property
    def help(self) -> str:
        return f"{self.about}; some of {', '.join(self.known)}; repeatable"


@dataclass(frozen=True)
class Numbers(Number):
    """Numbers in a range, one at least and none of them twice."""

    repeatable = True

    def check(self, value: object, path: str) -> Any:
        entries = enumerate(_several(value, path))
        found = tuple(super(Numbers, self).check(n, f"{path}[{i}]") for i, n in entries)
        if not found or len(set(found)) < len(found):
            raise RecipeError(f"{path} must name at least one level, each once.", field=path)
        return found

    @property
    def form(self) -> dict[str, Any]:
        return {"type": "array", "items": super().form, "minItems": 1, "uniqueItems": True}

    def read(self, words: Sequence[str]) -> object:
        return [spelled(word, float) for word in words]


@dataclass(frozen=True)
class Span(Field):
    """The two ends of a scale."""

    metavar = "LOW,HIGH"

    def check(self, value: object, path: str) -> tuple[float, float]:
        if not isinstance(value, list | tuple) or len(value) != 2:
            raise RecipeError(
                f"{path} must be a list of the lowest and the highest score.", field=path
            )
        low, high = (number(end, path) for end in value)
        if low >= high:
            raise RecipeError(f"{path} must rise, not go from {low:g} to {high:g}.", field=path)
        return low, high

    @property
    def form(self) -> dict[str, Any]:
        return {"type": "array", "items": {"type": "number"}, "minItems": 2, "maxItems": 2}

    def read(self, words: Sequence[str]) -> object:
        return [spelled(end, float) for end in words[-1].split(",")]


@dataclass(frozen=True)
class Renames(Field):
    """New names by old ones."""

    repeatable = True
    metavar = "FROM=TO"

    def check(self, value: object, path: str) -> dict[str, str]:
        if not isinstance(value, Mapping):
            raise RecipeError(f"{path} must be an object of names by names.", field=path)
        return {text(old, path): text(new, f"{path}.{old}") for old, new in value.items()}

    @property
    def form(self) -> dict[str, Any]:
        return {"type": "object", "additionalProperties": {"type": "string", "minLength": 1}}

    def read(self, words: Sequence[str]) -> object:
        found: dict[str, str] = {}
        for word in words:
            old, equals, new = word.rpartition("=")
            if not equals:
                raise RecipeError(f"{self.name} takes FROM=TO, not {word!r}.", field=self.name)
            if found.setdefault(old, new) != new:
                raise RecipeError(f"{self.name} gives {old!r} two names.", field=self.name)
        return found


@dataclass(frozen=True)
class Members(Field):
    """An object with fields of its own; the shell may give the first of them by its value alone.

    Attributes:
        members: Its fields.
        make: Makes the object of those that are given.
        complete: Whether all of them must be.
    """

    metavar = "VALUE[:FIELD=VALUE,...]"

    members: Sequence[Field] = ()
    make: Callable[..., object] = dict
    complete: bool = False

    def check(self, value: object, path: str) -> Any:
        given = checked(self.members, value, path=path)
        missing = [member.name for member in self.members if member.name not in given]
        if missing and self.complete:
            raise RecipeError(f"{path} has no {missing[0]}.", field=f"{path}.{missing[0]}")
        return self.make(**given)

    @property
    def form(self) -> dict[str, Any]:
        if self.complete:
            return object_schema((), {member.name: member.schema for member in self.members})
        return object_schema(self.members)

    def read(self, words: Sequence[str]) -> object:
        first, _, rest = words[-1].partition(":")
        if "=" in first:
            first, rest = "", words[-1]
        found: dict[str, object] = {self.members[0].name: first} if first else {}
        known = {member.name: member for member in self.members}
        for part in filter(None, rest.split(",")):
            name, equals, value = part.partition("=")
            if not equals:
                raise RecipeError(
                    f"{self.name}: {part!r} needs a value: {part}=VALUE.", field=self.name
                )
            found[name] = known[name].read([value]) if name in known else value
        return found


def _several(value: object, path: str) -> Sequence[object]:
    if not isinstance(value, list | tuple):
        raise RecipeError(f"{path} must be a list.", field=path)
    return value


def checked(
    fields: Sequence[Field], body: object, others: Sequence[str] = (), path: str = ""
) -> dict[str, Any]:
    """What an object says of some fields, each value checked.

    Args:
        fields: That it may have.
        body: A request, or an object in it.
        others: Names of what else it may have, which is read elsewhere.
        path: Where it stands in the request; nothing for the request itself.

    Raises:
        RecipeError: It is no object, or has an unknown field or a wrong value.
    """
    if not isinstance(body, Mapping):
        what = f"{path} must be an" if path else "A question is asked for with a JSON"
        raise RecipeError(f"{what} object.", field=path or None)
    known = {field.name: field for field in fields}
    places = {name: f"{path}.{name}" if path else str(name) for name in body}
    for name, place in places.items():
        choose(name, (*others, *known), place, f"field of {path}" if path else "field")
    return {n: known[n].check(body[n], place) for n, place in places.items() if n in known}


def object_schema(
    fields: Sequence[Field], needed: Mapping[str, Mapping[str, Any]] | None = None
) -> dict[str, Any]:
    """JSON schema of an object.

    Args:
        fields: Those that may be left out.
        needed: Schemas of those that may not, by name.
    """
    own = needed or {}
    return {
        "type": "object",
        "properties": {**own, **{field.name: field.schema for field in fields}},
        "additionalProperties": False,
        **({"required": list(own)} if own else {}),
    }


def with_defaults(fields: Sequence[Field], usual: object) -> tuple[Field, ...]:
    """The fields with the values that an object made without them has."""
    return tuple(replace(field, default=getattr(usual, field.name)) for field in fields)
