"""The registry of kinds of questions, by the name that their path has."""

from __future__ import annotations

from collections.abc import Iterator, MutableMapping
from importlib import import_module
from typing import Any

from sigtest.kinds.base import About, File, Finished, Kind, Question, Reference

__all__ = ["KINDS", "About", "File", "Finished", "Kind", "Question", "Reference"]


class Kinds(MutableMapping[str, Kind[Any]]):
    """Kinds by path, each made when it is first looked at: it brings its statistics along.

    Args:
        places: Module and class of each, by path.
    """

    def __init__(self, places: dict[str, str]) -> None:
        self._found: dict[str, str | Kind[Any]] = {**places}

    def __getitem__(self, path: str) -> Kind[Any]:
        found = self._found[path]
        if isinstance(found, str):
            module, _, name = found.partition(":")
            found = self._found[path] = getattr(import_module(module), name)()
        return found

    def __setitem__(self, path: str, kind: Kind[Any]) -> None:
        self._found[path] = kind

    def __delitem__(self, path: str) -> None:
        del self._found[path]

    def __iter__(self) -> Iterator[str]:
        return iter(self._found)

    def __len__(self) -> int:
        return len(self._found)


KINDS = Kinds(
    {
        "comparisons": "sigtest.kinds.comparisons:Comparisons",
        "human-evaluations": "sigtest.kinds.human:HumanEvaluations",
        "metric-evaluations": "sigtest.kinds.meta:MetricEvaluations",
        "test-accuracy": "sigtest.kinds.accuracy:AccuracyOfTests",
        "plans": "sigtest.kinds.plans:Plans",
    }
)
