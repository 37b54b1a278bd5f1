"""`functools.cached_property` without the lock that Python 3.11 has in it.

That lock is one for all objects: while one thread computes the property of one, which takes seconds
where somebody asks much, the threads of all others who want that of theirs wait for it.
"""

from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from functools import cached_property  # noqa: TID251  # the same to who checks types
else:

    class cached_property:  # noqa: N801  # as functools has it
        """Computed when it is first asked for; where two threads ask at once, by both."""

        def __init__(self, compute: Any) -> None:
            self._compute = compute
            self.__doc__ = compute.__doc__

        def __set_name__(self, owner: type, name: str) -> None:
            self._name = name

        def __get__(self, thing: object, owner: type | None = None) -> Any:
            if thing is None:
                return self
            value = self._compute(thing)
            vars(thing)[self._name] = value  # which is found before this is asked again
            return value


__all__ = ["cached_property"]
