"""The texts of a stored comparison, by the fields of the hash that has them."""

from __future__ import annotations

from concurrent.futures import ThreadPoolExecutor
from typing import Any

from sigtest.comparison.comparison import CONTENT
from workers import codec
from workers.work import Asked, comparisons

THREADS = 4


def testset_field(number: int) -> str:
    """Where a test set is: its references, documents and labels."""
    return f"testset-{number}"


def output_field(number: int) -> str:
    """Where an output is: what one system brings to one test set."""
    return f"output-{number}"


def packed(asked: Asked) -> dict[str, bytes]:
    """All uploaded content by field."""
    fields: dict[str, Any] = {}
    outputs = []
    for number, comparison in enumerate(comparisons(asked)):
        body = comparison.as_json()
        kept = {name: body[name] for name in CONTENT if name in body and name != "systems"}
        fields[testset_field(number)] = kept
        outputs += body["systems"]
    fields |= {output_field(i): own for i, own in enumerate(outputs)}
    with ThreadPoolExecutor(THREADS) as pool:  # compression lets other threads run
        return dict(zip(fields, pool.map(codec.pack_json, fields.values()), strict=True))
