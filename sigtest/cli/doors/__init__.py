"""What the command of each kind of question takes besides the kind's fields, and what it brings.

Each door is a module of its own, which is loaded when its command is run.
"""

from __future__ import annotations

import argparse
from collections.abc import Callable, Container, Sequence
from dataclasses import dataclass
from importlib import import_module
from typing import Any

from sigtest.cli.files import STDIN, read_bytes, shown
from sigtest.errors import InputError
from sigtest.kinds import File

# the module of each command; what it calls DOOR is the way in
DOORS = {
    "human": "sigtest.cli.doors.human",
    "meta": "sigtest.cli.doors.meta",
    "accuracy": "sigtest.cli.doors.accuracy",
    "plan": "sigtest.cli.doors.plan",
}

Request = dict[str, Any]
Brought = tuple[Request, list[File]]


@dataclass(frozen=True)
class Door:
    """The way in of one command.

    Attributes:
        kind: Path of the kind that it asks.
        takes: What must follow the command, a line for each way of asking.
        add: Adds its own options.
        read: A request with what these options bring, and files to send with it.
        epilog: What else to know.
        own: Fields of the kind for which its own options stand.
    """

    kind: str
    takes: tuple[str, ...]
    add: Callable[[argparse._ArgumentGroup], None]
    read: Callable[[argparse.Namespace, Request], Brought]
    epilog: str = ""
    own: Container[str] = ()


def door_of(command: str) -> Door:
    """The way in of a command."""
    door: Door = import_module(DOORS[command]).DOOR
    return door


def read_files(part: str, paths: Sequence[str]) -> list[File]:
    """Files as they are sent, decompressed.

    Raises:
        InputError: Standard input is given twice, or a damaged gzip file.
        OSError: One cannot be read.
    """
    if list(paths).count(STDIN) > 1:
        raise InputError("Standard input (-) can be only one of the files.")
    return [File(part, shown(path).removesuffix(".gz"), read_bytes(path)) for path in paths]
