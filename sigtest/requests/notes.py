"""What people write on something: a title, tags, metadata of their programs, how long it lasts.

It stands in listings and records and is no part of a question: ids, caches and reports know
nothing of it.
"""

from __future__ import annotations

import json
import unicodedata
from collections.abc import Mapping
from datetime import UTC, datetime
from typing import Annotated, Any

from pydantic import AfterValidator, FailFast, Field

from sigtest.errors import InputError
from sigtest.requests.model import Must, Request, wrong

MAX_VALUE = 200  # characters
MAX_TAGS = 20
MAX_TAG = 50  # characters
MAX_METADATA = 4096  # bytes, as JSON
NEVER = "never"
LAST = 253_402_214_400_000  # milliseconds; calendars end with this day, 9999-12-31


def _line(text: str, most: int) -> str:
    """One line of text, without blanks at its ends."""
    words = text.strip()
    if len(words) > most:
        raise wrong(f"may have {most} characters; this has {len(words):,}", error=InputError)
    bad = sorted({c for c in words if unicodedata.category(c) in {"Cc", "Cs", "Zl", "Zp"}})
    if bad:
        shown = ", ".join(map(ascii, bad[:5]))
        raise wrong(
            f"contains {shown}; it is one line, without control characters", error=InputError
        )
    return words


def _tag(text: str) -> str:
    words = _line(text, MAX_TAG)
    if not words or "," in words:
        raise wrong(f"must be a word or words without a comma, not {words!r}", error=InputError)
    return words


def _once(tags: tuple[str, ...]) -> tuple[str, ...]:
    if len(tags) > MAX_TAGS:
        raise wrong(f"may be {MAX_TAGS} at most, not {len(tags):,}", error=InputError)
    return tuple(dict.fromkeys(tags))


def _small(metadata: dict[str, Any]) -> dict[str, Any]:
    try:
        size = len(json.dumps(metadata, ensure_ascii=False, allow_nan=False).encode())
    except (TypeError, ValueError) as error:  # UnicodeEncodeError is a ValueError
        raise wrong(
            f"must be JSON with whole Unicode characters: {error}", error=InputError
        ) from None
    if size > MAX_METADATA:
        raise wrong(
            f"takes {size:,} bytes as JSON; {MAX_METADATA:,} are kept at most", error=InputError
        )
    return metadata


def milliseconds(expires: str) -> int:
    """When it is over that lasts until then, since the epoch; 0 where nothing is said."""
    words = expires.strip()
    if words in ("", NEVER):
        return LAST if words else 0
    try:
        moment = datetime.fromisoformat(words)
    except ValueError:
        moment = datetime.min  # without an offset
    if "T" not in words and ":" not in words and moment != datetime.min:
        moment = moment.replace(tzinfo=UTC)
    if moment.tzinfo is None or not 0 < moment.timestamp() * 1000 <= LAST:
        raise wrong(
            'must be "never", a date such as 2027-06-30 (its start, UTC) or a date with time and '
            f"offset such as 2027-06-30T12:00:00+02:00, not {words[:60]!r}",
            error=InputError,
        )
    return int(moment.timestamp()) * 1000


def spelled(end: int) -> str:
    """The one spelling of what `milliseconds` read."""
    if end in (0, LAST):
        return NEVER if end else ""
    return datetime.fromtimestamp(end // 1000, UTC).isoformat().replace("+00:00", "Z")


Tag = Annotated[str, AfterValidator(_tag), Must("text", InputError)]


class PlainNotes(Request):
    """What is written on a question, a test set or a system; no part of what is computed.

    Where the thing exists, what is said is written over, and what is left out stays.

    Attributes:
        title: One line, shown in listings; finds it.
        tags: Words to find it by, without commas.
    """

    title: Annotated[
        str, AfterValidator(lambda text: _line(text, MAX_VALUE)), Must("text", InputError)
    ] = ""
    tags: Annotated[
        tuple[Tag, ...],
        FailFast(),
        AfterValidator(_once),
        Must('a list of words, such as ["nightly"]', InputError),
    ] = ()
    metadata: Annotated[
        dict[str, Any], AfterValidator(_small), Must("a JSON object", InputError)
    ] = Field(
        default={},
        description=f"anything that your programs want to find here again; {MAX_METADATA:,} bytes "
        "as JSON at most",
    )

    def as_json(self) -> dict[str, Any]:
        """As a request says it; nothing of what is empty."""
        return {name: value for name, value in self.model_dump(mode="json").items() if value}

    def written(self) -> Noted:
        """What the request writes, as JSON has it, perhaps over what is there."""
        return self.model_dump(mode="json", include={*PARTS}, exclude_unset=True)


class Notes(PlainNotes):
    """What is written on a question or a test set, and how long that lasts.

    Where the thing exists, what is said is written over, and what is left out stays.
    """

    expires: Annotated[
        str, AfterValidator(lambda text: spelled(milliseconds(text))), Must("text", InputError)
    ] = Field(
        default="",
        description="until when it lasts, if longer than the service's retention: "
        '`"never"`, a date (its start, UTC) or date-time with offset; empty for the retention',
    )


PARTS = tuple(Notes.model_fields)
Noted = Mapping[str, Any]  # those of PARTS that are written, as JSON has them
