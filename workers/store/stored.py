"""A question as its fields in the store tell of it."""

from __future__ import annotations

import json
from collections.abc import Mapping
from dataclasses import asdict, dataclass
from typing import Any

from sigtest.kinds import About, Question
from workers.store import codec, keys
from workers.store.codec import decoded
from workers.store.envelopes import FIELDS, envelope_of
from workers.store.make import MAKE
from workers.store.records import Progress, Record, Status

SHOWN = (
    "caller", "kind", "created", "expiry", "size", "about", "testset", "started", "outcome",
    "progress", "computed_with", "pictures", "error", *FIELDS,
)  # fmt: skip
NOTHING_SEEN = Progress("report", 0, 1)


@dataclass(frozen=True)
class Stored:
    """A question as it is stored.

    Attributes:
        record: What its caller is told.
        caller: Whose it is.
    """

    record: Record
    caller: str

    @property
    def space(self) -> str:
        """Where what it computes is cached."""
        return self.record.testset or keys.space_of(self.caller)


def facts_of(question: Question) -> dict[str, str | bytes]:
    """What its fields say of a question of itself."""
    return {
        "about": json.dumps(asdict(question.about)),
        "accepted_with": MAKE,
        "outline": codec.pack_json(question.outline()),
    }


def stored_of(question_id: str, fields: Mapping[str, Any]) -> Stored | None:
    """A question by its fields SHOWN, unless it is gone.

    Its progress is NOTHING_SEEN while it is unfinished: which pieces exist stands elsewhere.
    """
    facts: dict[str, Any] = {**dict.fromkeys(SHOWN), **fields}
    if facts["caller"] is None:
        return None
    text = {
        name: decoded(facts[name]) or None
        for name in ("testset", "computed_with", "error")
        if facts[name] is not None
    }
    progress = NOTHING_SEEN
    if facts["outcome"] is not None:
        status = Status(decoded(facts["outcome"]))
        progress = Progress(**json.loads(facts["progress"]))
    else:
        status = Status.QUEUED if facts["started"] is None else Status.RUNNING
    names = {field: tuple(held) for field, held in json.loads(facts["about"]).items()}
    record = Record(
        id=question_id,
        kind=decoded(facts["kind"]),
        status=status,
        progress=progress,
        created_at=float(facts["created"]),
        expires_at=int(facts["expiry"]) / 1000,
        size=int(facts["size"] or 0),
        about=About(**names),
        testset=text.get("testset"),
        computed_with=text.get("computed_with") if status is Status.SUCCEEDED else None,
        pictures=tuple(json.loads(facts["pictures"] or "[]")),
        error=text.get("error"),
        envelope=envelope_of([facts[name] for name in FIELDS]),
    )
    return Stored(record, decoded(facts["caller"]))
