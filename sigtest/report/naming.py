"""The same report under other names."""

from __future__ import annotations

from collections.abc import Collection, Iterable, Iterator, Mapping
from dataclasses import fields, is_dataclass, replace
from typing import Any, TypeVar

from sigtest.errors import RecipeError
from sigtest.report.report import Report

IN_COMPARISONS = (  # fields that hold names of systems and metrics
    "name", "a", "b", "ahead", "metric", "metrics", "scores", "ranks", "discriminative_power",
)  # fmt: skip
T = TypeVar("T")


def renamed(report: Report, names: Mapping[str, str]) -> Report:
    """The report with other names for some of its metrics and systems; sentences stay as they are.

    Args:
        report: On one test set or on several.
        names: By the names that the report has; those of others change nothing.

    Raises:
        RecipeError: Two metrics or two systems of the same name.
    """
    if not names:
        return report
    _check_distinct((names.get(own.name, own.name) for own in report.systems), "systems")
    _check_distinct((names.get(label, label) for label in report.metrics), "metrics")
    made = renamed_in(report, IN_COMPARISONS, names)
    if made.several is None or report.several is None:
        return made
    testsets = tuple(
        replace(own, name=before.name)  # a test set may be called as a system is
        for own, before in zip(made.several.testsets, report.several.testsets, strict=True)
    )
    return replace(made, several=replace(made.several, testsets=testsets))


def _check_distinct(shown: Iterable[str], what: str) -> None:
    seen: set[str] = set()
    for name in shown:
        if name in seen:
            raise RecipeError(f"names calls two {what} {name!r}.", field="names")
        seen.add(name)


def names_in(report: object, where: Collection[str]) -> Iterator[str]:
    """The names that stand in some fields of a report of any kind, each as often as it does.

    Args:
        report: A dataclass, or what it is made of.
        where: Those fields: of dataclasses that hold a name, or several.
    """
    if is_dataclass(report):
        for field in fields(report):
            value = getattr(report, field.name)
            if field.name in where:
                yield from (value,) if isinstance(value, str) else value or ()
            else:
                yield from names_in(value, where)
    elif isinstance(report, tuple):
        for own in report:
            yield from names_in(own, where)


def renamed_in(report: T, where: Collection[str], names: Mapping[str, str]) -> T:
    """A report of any kind under other names; see `names_in`."""
    return report if not names else _changed(report, where, names)


def _changed(value: Any, where: Collection[str], names: Mapping[str, str]) -> Any:
    if isinstance(value, tuple):
        return tuple(_changed(own, where, names) for own in value)
    if not is_dataclass(value) or isinstance(value, type):
        return value
    own = {field.name: getattr(value, field.name) for field in fields(value)}
    held = {
        name: _called(known, names) if name in where else _changed(known, where, names)
        for name, known in own.items()
    }
    return replace(value, **held)


def _called(held: Any, names: Mapping[str, str]) -> Any:
    if isinstance(held, str):
        return names.get(held, held)
    if isinstance(held, Mapping):
        return {names.get(name, name): value for name, value in held.items()}
    return held and tuple(names.get(name, name) for name in held)
