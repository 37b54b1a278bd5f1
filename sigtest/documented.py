"""What docstrings say of the attributes of a class, for lists and schemas that people read."""

from __future__ import annotations

import inspect
import re

_ATTRIBUTE = re.compile(r"^ {4}(\w+): (.*)$")


def described(kind: type) -> dict[str, str]:
    """What a class says of each of its attributes, under `Attributes:`."""
    text = inspect.cleandoc(kind.__doc__ or "").partition("Attributes:\n")[2]
    words: dict[str, str] = {}
    name = ""
    for line in text.splitlines():
        if match := _ATTRIBUTE.match(line):
            name, words[match[1]] = match[1], match[2]
        elif name and line.startswith(" " * 8):
            words[name] += " " + line.strip()
    return words
