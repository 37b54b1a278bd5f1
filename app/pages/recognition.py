"""What was recognised in files, before anything is computed."""

from __future__ import annotations

import base64
import json
import zlib
from dataclasses import dataclass
from typing import Any

from app.requests.json import parse_json
from app.requests.question import Sent
from app.settings import Settings
from sigtest.comparison.comparison import Entry
from sigtest.data.testset import System
from sigtest.errors import InputError, LimitError
from sigtest.files.tree import SMALL
from sigtest.kinds import File, Kind, Question

DAMAGED = "What was recognised came back damaged; give the files again."
SHOWN = 3  # segments that are quoted


@dataclass(frozen=True)
class Brought:
    """What one system brings.

    Attributes:
        name: Its name.
        outputs: How many outputs of training runs; 0 where it brings scores alone.
        characters: Mean length of a line.
        scores: Labels of its scores.
        lines: Its first lines.
    """

    name: str
    outputs: int
    characters: float
    scores: tuple[str, ...]
    lines: tuple[str, ...]


@dataclass(frozen=True)
class Recognised:
    """One test set and its systems, as people should check them.

    Attributes:
        name: Of the test set, where there are several.
        segments: How many.
        documents: How many, if they are known.
        labels: How many different ones, if they are known.
        references: First lines of each reference set.
        systems: In order.
        oddities: Sentences of the health checks.
    """

    name: str
    segments: int
    documents: int | None
    labels: int | None
    references: tuple[tuple[str, ...], ...]
    systems: tuple[Brought, ...]
    oddities: tuple[str, ...]


def recognised(kind: Kind[Any], question: Question) -> tuple[Recognised, ...]:
    """What a comparison was read as, or the one that a question of another kind makes."""
    comparison = kind.comparison(question)
    if comparison is None:
        return ()
    names = comparison.names or ("",) * len(comparison.entries)
    parts = zip(names, comparison.entries, comparison.plan.parts, strict=True)
    return tuple(_of_entry(name, entry, part.notes) for name, entry, part in parts)


def packed(sent: Sent) -> str:
    """What was brought as text that a form can carry back."""
    files = [[own.part, own.name, base64.b64encode(own.data).decode()] for own in sent.files]
    body = json.dumps([sent.body, files], ensure_ascii=False)
    return base64.b85encode(zlib.compress(body.encode("utf-8", "surrogatepass"), 6)).decode()


def unpacked(text: str, settings: Settings) -> Sent:
    """What `packed` wrote, within the limits of an upload.

    Args:
        text: As a form brought it back.
        settings: How large a body may be, and how far what is packed may unpack.

    Raises:
        InputError: It is damaged.
        LimitError: It is larger than what may be uploaded.
    """
    most = min(settings.max_body_bytes * 4 // 3, settings.max_archive_ratio * len(text))
    try:
        stream = zlib.decompressobj()
        data = stream.decompress(base64.b85decode(text), max(most, SMALL))
        if stream.unconsumed_tail:
            raise LimitError(
                f"What was recognised unpacks to more than {most:,} bytes, the most that this "
                "service takes (max_body_bytes, max_archive_ratio); give fewer files.",
                limit="max_body_bytes",
            )
        if not stream.eof:
            raise InputError(DAMAGED)
        request = parse_json(b'{"sent": %b}' % data, "kept")
        body, files = request["sent"]
        brought = [
            File(part, name, base64.b64decode(own, validate=True)) for part, name, own in files
        ]
    except (ValueError, TypeError, AttributeError, zlib.error) as error:
        raise InputError(DAMAGED) from error
    if not isinstance(body, dict):
        raise InputError(DAMAGED)
    return Sent(body, brought)


def _of_entry(name: str, entry: Entry, oddities: tuple[str, ...]) -> Recognised:
    testset = entry.testset
    return Recognised(
        name=name,
        segments=testset.segments,
        documents=len(set(testset.documents)) if testset.documents is not None else None,
        labels=len(set(testset.labels)) if testset.labels is not None else None,
        references=tuple(
            tuple(line or "" for line in text.lines[:SHOWN]) for text in testset.references
        ),
        systems=tuple(map(_brought, entry.systems)),
        oddities=oddities,
    )


def _brought(system: System) -> Brought:
    text = system.runs[0].hypotheses
    lines = tuple(line or "" for line in text.lines) if text is not None else ()
    return Brought(
        name=system.name,
        outputs=len(system.runs) if lines else 0,
        characters=sum(map(len, lines)) / len(lines) if lines else 0.0,
        scores=tuple(system.scores),
        lines=lines[:SHOWN],
    )
