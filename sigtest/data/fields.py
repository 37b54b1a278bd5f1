"""What a field of a request may be: said once, for its check, its JSON schema and the shell.

Fields of one value are here, those of several in `compound.py`.
"""

from __future__ import annotations

import math
from abc import ABC, abstractmethod
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import Any, ClassVar

from sigtest.data.choices import choose
from sigtest.errors import RecipeError, quoted

SHOWN = 40  # characters of a wrong value that messages repeat
MOST_DIGITS = 308  # of a whole number in words: no float has more


@dataclass(frozen=True)
class Field(ABC):
    """One field.

    Attributes:
        name: In the request.
        about: What it says, in a phrase.
        option: What the shell calls it; its name where nothing is said.
        default: Its value where it is left out; none where the rest of the request decides.
    """

    repeatable: ClassVar[bool] = False
    metavar: ClassVar[str] = "TEXT"

    name: str
    about: str
    option: str = ""
    default: object = None

    @abstractmethod
    def check(self, value: object, path: str) -> Any:
        """The value as the question holds it.

        Args:
            value: As it came in.
            path: Where it stands in the request.

        Raises:
            RecipeError: It is of the wrong type, unknown or out of range.
        """

    @property
    @abstractmethod
    def form(self) -> dict[str, Any]:
        """JSON schema of the value."""

    def read(self, words: Sequence[str]) -> object:
        """What the shell's words mean, unchecked; one for each time that the option is given."""
        return list(words) if self.repeatable else words[-1]

    @property
    def flag(self) -> str:
        """The option of the shell."""
        return f"--{(self.option or self.name).replace('_', '-')}"

    @property
    def help(self) -> str:
        """What the shell says of it."""
        usual = self.default if isinstance(self.default, str | int | float) else None
        known = self.form.get("enum", ())
        parts = [
            self.about,
            *([f"one of {', '.join(known)}"] if known else []),
            *(["repeatable"] if self.repeatable else []),
            *([f"default {usual}"] if usual is not None and usual is not False else []),
        ]
        return "; ".join(parts)

    @property
    def schema(self) -> dict[str, Any]:
        """JSON schema of the field."""
        usual = {"default": self.default} if isinstance(self.default, str | int | float) else {}
        return {**self.form, "description": f"{self.about[:1].upper()}{self.about[1:]}.", **usual}


@dataclass(frozen=True)
class Text(Field):
    """Text that is not empty."""

    def check(self, value: object, path: str) -> str:
        return text(value, path)

    @property
    def form(self) -> dict[str, Any]:
        return {"type": "string", "minLength": 1}


@dataclass(frozen=True)
class Choice(Field):
    """One of several names.

    Attributes:
        known: The names.
        what: What they are names of.
    """

    metavar = "NAME"

    known: Sequence[str] = ()
    what: str = ""

    def check(self, value: object, path: str) -> str:
        return str(choose(value, self.known, path, self.what))

    @property
    def form(self) -> dict[str, Any]:
        return {"type": "string", "enum": list(self.known)}


@dataclass(frozen=True)
class Flag(Field):
    """True or false."""

    def check(self, value: object, path: str) -> bool:
        if not isinstance(value, bool):
            raise RecipeError(f"{path} must be true or false.", field=path)
        return value

    @property
    def form(self) -> dict[str, Any]:
        return {"type": "boolean"}


@dataclass(frozen=True)
class Number(Field):
    """A number between two others, which it does not reach.

    Attributes:
        low: Lower bound.
        high: Upper bound.
    """

    metavar = "NUMBER"

    low: float = 0.0
    high: float = 1.0

    def check(self, value: object, path: str) -> float:
        found = number(value, path)
        if not self.low < found < self.high:
            raise RecipeError(
                f"{path} must lie between {self.low:g} and {self.high:g}, not {found:g}.",
                field=path,
            )
        return found

    @property
    def form(self) -> dict[str, Any]:
        return {"type": "number", "exclusiveMinimum": self.low, "exclusiveMaximum": self.high}

    def read(self, words: Sequence[str]) -> object:
        return spelled(words[-1], float)


@dataclass(frozen=True)
class Whole(Field):
    """A whole number in a range.

    Attributes:
        low: The least.
        high: The greatest.
    """

    metavar = "N"

    low: int = 0
    high: int = 1

    def check(self, value: object, path: str) -> int:
        found = whole(value)
        if found is None or not self.low <= found <= self.high:
            raise RecipeError(
                f"{path} must be a whole number from {self.low} to {self.high}, "
                f"not {quoted(value, SHOWN)}.",
                field=path,
            )
        return found

    @property
    def form(self) -> dict[str, Any]:
        return {"type": "integer", "minimum": self.low, "maximum": self.high}

    def read(self, words: Sequence[str]) -> object:
        return spelled(words[-1], int)


def text(value: object, path: str) -> str:
    """A value that must be text."""
    if not isinstance(value, str) or not value:
        raise RecipeError(f"{path} must be text, not {quoted(value, SHOWN)}.", field=path)
    return value


def number(value: object, path: str) -> float:
    """A value that must be a finite number."""
    if isinstance(value, bool) or not isinstance(value, int | float) or abs(value) > 1e300:
        raise RecipeError(f"{path} must be a number, not {quoted(value, SHOWN)}.", field=path)
    if not math.isfinite(value):
        raise RecipeError(f"{path} must be a finite number.", field=path)
    return float(value)


def in_digits(text: str) -> bool:
    """Whether an id is a number in digits, no more than MOST_DIGITS."""
    return text.isdecimal() and len(text) <= MOST_DIGITS


def whole(value: object) -> int | None:
    """A whole number, however JSON writes it (1000, 1e3, 1000.0); nothing where it is none."""
    if isinstance(value, float) and value.is_integer():
        return int(value)
    return value if isinstance(value, int) and not isinstance(value, bool) else None


def spelled(word: str, kind: Callable[[str], float]) -> object:
    """A number as the shell spells it; other words are left for the check to refuse."""
    try:
        return kind(word)
    except ValueError:
        return word
