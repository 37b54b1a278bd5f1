"""Reports of any kind that show themselves: as tables when printed, with pictures in a notebook."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import fields
from functools import cache
from typing import Any, TypeVar

from sigtest.kinds import KINDS
from sigtest.kinds.base import Kind
from sigtest.render import html, text

T = TypeVar("T")


def shown(kind: Kind[Any], report: T) -> T:
    """The same report, an instance of its own class that also shows itself."""
    made: T = _made(kind.path, type(report), vars(report))
    return made


def _made(path: str, own: type[Any], values: Mapping[str, Any]) -> Any:
    return _showing(path, own)(**values)  # type: ignore[arg-type]  # a class is hashable


@cache
def _showing(path: str, own: type[Any]) -> type[Any]:
    """The class: one for each kind, so that equal reports are equal."""
    kind = KINDS[path]

    def printed(self: Any) -> str:
        return text.render(kind.present(self).document())

    def displayed(self: Any) -> str:
        return html.fragment(kind.present(self).document())

    def reduced(self: Any) -> tuple[Any, ...]:
        values = {field.name: getattr(self, field.name) for field in fields(own)}
        return _made, (path, own, values)

    methods = {
        "__str__": printed,
        "_repr_html_": displayed,
        "__reduce__": reduced,
        "__doc__": own.__doc__,
    }
    return type(own.__name__, (own,), methods)
