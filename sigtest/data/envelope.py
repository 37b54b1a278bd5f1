"""What people write on something to find it again: a title, tags, metadata of their programs.

It stands in listings and records and is no part of what is asked: ids, caches and reports know
nothing of it.
"""

from __future__ import annotations

import json
import unicodedata
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any

from sigtest.errors import InputError, quoted

MAX_TITLE = 200  # characters
MAX_TAGS = 20
MAX_TAG = 50  # characters
MAX_METADATA = 4096  # bytes, as JSON

Said = Mapping[str, Any]  # those of PARTS that were said, checked


@dataclass(frozen=True)
class Envelope:
    """What is written on a question, a test set or a system.

    Attributes:
        title: What its owner calls it; empty where nothing was said.
        tags: Words to find it by, each once.
        metadata: A JSON object that only its owner understands.
    """

    title: str = ""
    tags: tuple[str, ...] = ()
    metadata: Mapping[str, Any] = field(default_factory=dict)

    @classmethod
    def of(cls, said: Said) -> Envelope:
        """An envelope that says this and nothing else."""
        return cls(said.get("title", ""), tuple(said.get("tags", ())), said.get("metadata", {}))

    def as_json(self) -> dict[str, Any]:
        """As a request says it; nothing of what is empty."""
        said = {"title": self.title, "tags": list(self.tags), "metadata": dict(self.metadata)}
        return {name: value for name, value in said.items() if value}


def opened(request: Mapping[str, Any]) -> tuple[Said, dict[str, Any]]:
    """What a request writes on the envelope, and the request without it.

    Raises:
        InputError: A title, tags or metadata that cannot be kept.
    """
    rest = {name: value for name, value in request.items() if name not in PARTS}
    said = {name: check(request[name]) for name, check in PARTS.items() if name in request}
    return said, rest


def _title(value: object) -> str:
    return _words(value, "title", MAX_TITLE)


def _tags(value: object) -> list[str]:
    if not isinstance(value, Sequence) or isinstance(value, str | bytes):
        raise InputError('tags must be a list of words, such as ["nightly"].', field="tags")
    if len(value) > MAX_TAGS:
        raise InputError(f"There may be {MAX_TAGS} tags at most, not {len(value):,}.", field="tags")
    tags = [_words(tag, f"tags[{i}]", MAX_TAG) for i, tag in enumerate(value)]
    for i, tag in enumerate(tags):
        if not tag or "," in tag:
            raise InputError(
                f"tags[{i}] must be a word or words without a comma, not {tag!r}.",
                field=f"tags[{i}]",
            )
    return list(dict.fromkeys(tags))


def _metadata(value: object) -> dict[str, Any]:
    if not isinstance(value, Mapping):
        raise InputError("metadata must be a JSON object.", field="metadata")
    try:
        size = len(json.dumps(value, ensure_ascii=False, allow_nan=False).encode())
    except (TypeError, ValueError) as error:  # UnicodeEncodeError is a ValueError
        raise InputError(
            f"metadata must be JSON with whole Unicode characters: {error}", field="metadata"
        ) from None
    if size > MAX_METADATA:
        raise InputError(
            f"metadata takes {size:,} bytes as JSON; {MAX_METADATA:,} are kept at most.",
            field="metadata",
        )
    return dict(value)


PARTS: Mapping[str, Callable[[object], Any]] = {
    "title": _title,
    "tags": _tags,
    "metadata": _metadata,
}


def _words(value: object, where: str, most: int) -> str:
    """One line of text, without blanks at its ends."""
    if not isinstance(value, str):
        raise InputError(f"{where} must be text, not {quoted(value)}.", field=where)
    words = value.strip()
    if len(words) > most:
        raise InputError(
            f"{where} may have {most} characters; this has {len(words):,}.", field=where
        )
    bad = sorted({c for c in words if unicodedata.category(c) in {"Cc", "Cs", "Zl", "Zp"}})
    if bad:
        raise InputError(
            f"{where} contains {', '.join(map(ascii, bad[:5]))}; it is one line, without control "
            "characters.",
            field=where,
        )
    return words
