"""What is loaded when it is first used: most runs use few of the things that registries list."""

from collections import UserDict
from collections.abc import Callable, Mapping
from importlib import import_module
from typing import Any, TypeVar

T = TypeVar("T")


class Registry(UserDict[str, T]):
    """Things by name; those that are text are places, and loaded when they are looked at.

    Args:
        places: By name, where a thing is: its module, a colon, and its name there.
        made: Whether what stands there is a class, of which the thing is an instance.
    """

    def __init__(self, places: Mapping[str, str], made: bool = False) -> None:
        super().__init__()
        self._made = made
        self.data.update(places)  # type: ignore[arg-type]

    def __getitem__(self, name: str) -> T:
        thing = self.data[name]
        if isinstance(thing, str):
            found = _at(thing)
            thing = self.data[name] = found() if self._made else found
        return thing


def late(place: str) -> Callable[..., Any]:
    """A function that is loaded when it is called.

    Args:
        place: Its module, a colon, and its name there.
    """
    return lambda *given, **named: _at(place)(*given, **named)


def _at(place: str) -> Any:
    module, _, name = place.partition(":")
    return getattr(import_module(module), name)
