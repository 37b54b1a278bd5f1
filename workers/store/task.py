"""A task: a call of one of the functions that workers know, by name."""

from __future__ import annotations

import json
from dataclasses import dataclass


@dataclass(frozen=True)
class Task:
    """One call.

    Attributes:
        name: The function.
        owner: Id of the question or test set it works on.
        arguments: What else it is told.
    """

    name: str
    owner: str
    arguments: tuple[int | str, ...] = ()

    @property
    def key(self) -> str:
        """Id of the task; equal tasks have equal ids and are queued once."""
        return "-".join(str(part) for part in (self.owner, self.name, *self.arguments))

    @property
    def spelled(self) -> str:
        """A line of text that `of` turns into this task."""
        return json.dumps([self.name, self.owner, *self.arguments])

    @classmethod
    def of(cls, spelled: str) -> Task:
        """The task that `spelled` wrote."""
        name, owner, *arguments = json.loads(spelled)
        return cls(name, owner, tuple(arguments))


@dataclass(frozen=True)
class Priced:
    """A task and what it is predicted to cost.

    Attributes:
        task: What to do.
        seconds: Of one core.
    """

    task: Task
    seconds: float


def owner_of(key: str) -> str:
    """Id of the question or test set that the task with this id works on."""
    return key.partition("-")[0]
