"""The errors sigtest raises: what was wrong, where, and what would be right.

    SigtestError
    ├── InputError          texts, scores or documents that cannot be used
    │   └── LengthError     lists that should be as long as each other and are not
    ├── RecipeError         an unknown or impossible choice of what to compute
    ├── LimitError          more than this installation accepts
    ├── UnavailableError    a part that is not installed here
    └── ServiceError        a running sigtest service refused or could not be reached

`sigtest` knows no status codes; a service maps these types to them.
"""

from __future__ import annotations

import json
import os
from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from dataclasses import KW_ONLY, dataclass
from dataclasses import field as attribute
from pathlib import Path
from typing import Any

LISTED = 5  # names in a folder, where none is near
NEAR = 0.75  # how alike a name is that may have been meant, suffix included
REPEATED = 60  # characters of a wrong value that messages repeat


@dataclass(eq=False, repr=False)
class SigtestError(Exception):
    """Any error whose message is meant for the user.

    Attributes:
        message: One sentence: what was wrong, where, what would be right.
        field: The part of the request it is about, as a path (`systems[2].hypotheses`).
        system: The system's name, where one is to blame.
        line: 1-based line (segment), where one is to blame.
        others: What else is wrong with the same request.
    """

    message: str
    _: KW_ONLY
    field: str | None = None
    system: str | None = None
    line: int | None = None
    others: tuple[SigtestError, ...] = attribute(default=(), init=False)

    def __reduce__(self) -> tuple[Any, ...]:
        """Pickled without asking again for what only keywords give."""
        return Exception.__new__, (type(self), *self.args), self.__dict__


class InputError(SigtestError):
    """Texts, scores or documents that cannot be used as they are."""


def at_line(name: str, line: int, why: str, field: str | None = None) -> InputError:
    """A line of a file that cannot be used.

    Args:
        name: What messages call the file.
        line: Which, from 1.
        why: What is wrong and what would be right, as a sentence.
        field: The part of the request that it is about, where that is known.
    """
    return InputError(f"{name}, line {line}: {why}", field=field, line=line)


class LengthError(InputError):
    """Two lists that should have one entry for every segment differ in length."""


class RecipeError(SigtestError):
    """An unknown metric, test or option, or a number outside its range."""


@dataclass(eq=False, repr=False, kw_only=True)
class LimitError(SigtestError):
    """More than this installation accepts.

    Attributes:
        limit: Name of the setting that says how much is accepted.
    """

    limit: str


class UnavailableError(SigtestError):
    """A metric or tokenizer that needs something which is not installed here."""


@dataclass(eq=False, repr=False, kw_only=True)
class ServiceError(SigtestError):
    """A running sigtest service refused the request or could not be reached.

    Attributes:
        problem: What the service calls the kind of problem, such as `gone` or `name-taken`: the end
            of the `type` of its document. None where it told none.
    """

    problem: str | None = None


def quoted(value: object, room: int = REPEATED) -> str:
    """What was given, as messages repeat it: text in quotation marks, the rest as JSON writes it.

    Args:
        value: Anything that a request, a file or a notebook may hold.
        room: Characters that are repeated.
    """
    if isinstance(value, str):
        return repr(_cut(value, room))
    try:
        return _cut(json.dumps(value), room)
    except (TypeError, ValueError, RecursionError):  # from a notebook
        return _cut(repr(value), room)


def _cut(words: str, room: int) -> str:
    return words if len(words) <= room else f"{words[:room]}..."


@contextmanager
def inside(field: str) -> Iterator[None]:
    """Errors of a part of a request name fields as they stand in the whole.

    Args:
        field: Where the part stands; empty where it is the whole.
    """
    try:
        yield
    except SigtestError as error:
        for flaw in (error, *error.others) if field else ():
            flaw.field = f"{field}.{flaw.field}" if flaw.field else field
        raise


@contextmanager
def readable() -> Iterator[None]:
    """A file that is missing, or that cannot be read, is an input that cannot be used.

    Raises:
        InputError: Instead of the error that says so; names the file, and what to give.
    """
    try:
        yield
    except OSError as error:
        raise InputError(unreadable(error)) from error
    except ValueError as error:  # what the system's calls say of such a path
        if str(error) != "embedded null byte":
            raise
        raise InputError("A path has a NUL character; no file's name has one.") from error


ADVICE: dict[type[OSError], str] = {
    IsADirectoryError: ". Name a file in it.",
    FileExistsError: ". Name a folder.",
    PermissionError: ". Give one that you may read and write.",
}


def unreadable(error: OSError) -> str:
    """What cannot be read or written, why, and what would be right."""
    if error.filename is None:
        return f"{error.strerror or error}"
    said = f"{error.filename}: {error.strerror or error}"
    if isinstance(error, FileNotFoundError):
        return f"{said}. {_instead(Path(os.fsdecode(error.filename)))}"
    return said + ADVICE.get(type(error), "")


def _instead(path: Path) -> str:
    """What lies where a path was looked for: the nearest name, or some of them."""
    from difflib import get_close_matches  # late: most runs find their files

    while not path.parent.is_dir():
        path = path.parent
    folder = path.parent
    try:
        names = sorted(entry.name for entry in folder.iterdir() if not entry.name.startswith("."))
    except OSError:
        return f"You may not look into {folder}."
    folded = {name.casefold(): name for name in reversed(names)}
    near = get_close_matches(path.name.casefold(), folded, 1, NEAR)
    if near:
        return f"Did you mean {str(folder / folded[near[0]])!r}?"
    where = "This folder" if folder == Path() else str(folder)
    more = f" and {len(names) - LISTED:,} more" if len(names) > LISTED else ""
    return f"{where} has {', '.join(names[:LISTED]) or 'no files'}{more}."


_ERRORS: dict[str, type[InputError | RecipeError]] = {
    "invalid-input": InputError,
    "length-mismatch": LengthError,
    "malformed-body": InputError,
    "invalid-recipe": RecipeError,
}


def of_problem(problem: Mapping[str, Any]) -> InputError | RecipeError | LimitError | ServiceError:
    """The error that a problem document stands for."""
    kind = str(problem.get("type", "")).rpartition("/")[2].rpartition(":")[2]
    entries = problem.get("errors") or [{}]
    where = {key: entries[0].get(key) for key in ("field", "system", "line")}
    message = f"The service refuses: {problem['detail']}"
    if kind == "limit-exceeded":
        return LimitError(message, limit=str(problem.get("limit", "")), **where)
    if kind in _ERRORS:
        return _ERRORS[kind](message, **where)
    return ServiceError(message, problem=kind or None, **where)
