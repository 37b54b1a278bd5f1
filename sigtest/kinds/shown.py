"""Reports of any kind that show themselves: as tables when printed, with pictures in a notebook."""

from __future__ import annotations

from typing import Any, TypeVar

from sigtest.kinds.base import Kind
from sigtest.render import html, text

T = TypeVar("T")


def shown(kind: Kind[Any], report: T) -> T:
    """The same report, an instance of its own class that also shows itself."""
    own = type(report)

    def printed(self: T) -> str:
        return text.render(kind.present(self).document())

    def displayed(self: T) -> str:
        return html.fragment(kind.present(self).document())

    methods = {"__str__": printed, "_repr_html_": displayed, "__doc__": own.__doc__}
    made: T = type(own.__name__, (own,), methods)(**vars(report))
    return made
