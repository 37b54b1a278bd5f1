"""What is loaded when it is first used: most runs use few of the things that registries list."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping, MutableMapping
from importlib import import_module
from typing import Any, TypeVar

T = TypeVar("T")


class Registry(MutableMapping[str, T]):
    """Things by name.

    Args:
        places: By name, where a thing is: its module, a colon, and its name there.
        made: Whether what stands there is a class, of which the thing is an instance.
    """

    def __init__(self, places: Mapping[str, str], made: bool = False) -> None:
        self._places: dict[str, str | None] = dict(places)
        self._made = made
        self._found: dict[str, T] = {}

    def __getitem__(self, name: str) -> T:
        place = self._places[name]
        if name not in self._found and place is not None:
            self._found[name] = _at(place)() if self._made else _at(place)
        return self._found[name]

    def __setitem__(self, name: str, thing: T) -> None:
        self._places.setdefault(name, None)
        self._found[name] = thing

    def __delitem__(self, name: str) -> None:
        del self._places[name]
        self._found.pop(name, None)

    def __contains__(self, name: object) -> bool:
        return name in self._places

    def __iter__(self) -> Iterator[str]:
        return iter(self._places)

    def __len__(self) -> int:
        return len(self._places)


def late(place: str) -> Callable[..., Any]:
    """A function that is loaded when it is called.

    Args:
        place: Its module, a colon, and its name there.
    """
    return lambda *given, **named: _at(place)(*given, **named)


def _at(place: str) -> Any:
    module, _, name = place.partition(":")
    return getattr(import_module(module), name)
