"""Envelopes as fields of a hash: each part by itself, so that one can be written over alone."""

from __future__ import annotations

import json
from collections.abc import Mapping, Sequence

from sigtest.data.envelope import PARTS, Envelope, Said
from workers.store.codec import decoded

FIELDS = tuple(PARTS)


def fields_of(said: Said) -> dict[str, str]:
    """What is said, by field."""
    return {name: json.dumps(value) for name, value in said.items()}


def envelope_of(values: Sequence[bytes | str | None]) -> Envelope:
    """The envelope whose FIELDS have these values."""
    held = zip(FIELDS, values, strict=True)
    return Envelope.of({name: json.loads(value) for name, value in held if value is not None})


def by_name(held: Mapping[bytes, bytes]) -> dict[str, Envelope]:
    """Envelopes of several things, whose fields are a part and a name."""
    said: dict[str, dict[str, object]] = {}
    for field, value in held.items():
        part, _, name = decoded(field).partition(" ")
        said.setdefault(name, {})[part] = json.loads(value)
    return {name: Envelope.of(own) for name, own in said.items()}
