"""What a client would like: a format, a conditional answer, to wait."""

from __future__ import annotations

import re
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Annotated

from fastapi import Depends, Query, Request

from app.dependencies import Limits
from app.errors import NotAcceptableError
from sigtest.render import RENDERERS

MEDIA_TYPES = {
    "json": "application/json",
    "text": "text/plain",
    "csv": "text/csv",
    "markdown": "text/markdown",
    "latex": "application/x-latex",
    "html": "text/html",
}
ALIASES = {"application/x-tex": "latex", "text/x-tex": "latex", "text/x-latex": "latex"}
FORMATS = tuple(name for name in MEDIA_TYPES if name in RENDERERS)
SUITE_FORMATS = ("json", "text")  # of reports on several test sets


@dataclass(frozen=True)
class Wish:
    """What a client said of formats.

    Attributes:
        accept: Its `Accept` header; nothing accepts everything.
        asked: Its `?format=`, which overrides the header.
    """

    accept: str
    asked: str | None = None


def choose_format(wish: Wish, formats: Sequence[str] = FORMATS) -> str:
    """The name of the format that a client wants most.

    Args:
        wish: What it said.
        formats: Names of those that there are.

    Raises:
        NotAcceptableError: It wants none that there is.
    """
    if wish.asked is not None:
        if wish.asked not in formats:
            raise NotAcceptableError(
                f"This report has no format {wish.asked[:60]!r}; "
                f"choose one of {', '.join(formats)}.",
                field="format",
            )
        return wish.asked
    ranges = dict(_ranges(wish.accept)) or {"*/*": 1.0}
    weighed = [(_weight(name, ranges), name) for name in formats]
    # max takes the first of equals, so JSON where nothing is preferred
    (quality, _), best = max(weighed, key=lambda entry: entry[0])
    if quality <= 0:
        offered = ", ".join(MEDIA_TYPES[name] for name in formats)
        raise NotAcceptableError(f"This report is available as {offered}.", field="Accept")
    return best


def _ranges(accept: str) -> list[tuple[str, float]]:
    """Media ranges and their quality, as RFC 9110 section 12.5.1 writes them."""
    found = []
    for part in filter(None, (part.strip() for part in accept.split(","))):
        name, *parameters = (piece.strip().lower() for piece in part.split(";"))
        weights = [p[2:] for p in parameters if p.startswith("q=")] or ["1"]
        valid = re.fullmatch(r"[01](\.\d{0,3})?", weights[0])
        found.append((name, min(float(weights[0]), 1.0) if valid else 0.0))
    return found


def _weight(name: str, ranges: dict[str, float]) -> tuple[float, int]:
    """Quality of a format, then how precisely it was named."""
    media = MEDIA_TYPES[name]
    spellings = [media, *(alias for alias, meant in ALIASES.items() if meant == name)]
    for spelling in spellings:
        if spelling in ranges:
            return ranges[spelling], 2
    if (group := media.partition("/")[0] + "/*") in ranges:
        return ranges[group], 1
    return ranges.get("*/*", 0.0), 0


async def _wish(
    request: Request,
    asked: Annotated[
        str | None,
        Query(
            alias="format",
            description="Overrides Accept.",
            json_schema_extra={"enum": list(FORMATS)},
        ),
    ] = None,
) -> Wish:
    return Wish(",".join(request.headers.getlist("accept")), asked)


async def _format(wish: Annotated[Wish, Depends(_wish)]) -> str:
    return choose_format(wish)


async def _wait(request: Request, settings: Limits) -> int | None:
    """Seconds of `Prefer: wait=N` (RFC 7240), as far as the service grants them."""
    preferences = ",".join(request.headers.getlist("prefer"))
    found = re.search(r'(?:^|[,;])\s*wait\s*=\s*"?(\d{1,9})"?\s*(?=[,;]|$)', preferences, re.I)
    return min(int(found[1]), settings.max_wait_seconds) if found else None


def matches(request: Request, etag: str) -> bool:
    """Whether the client has this very representation already (RFC 9110 section 13.1.2)."""
    held = ",".join(request.headers.getlist("if-none-match"))
    tags = [tag.strip().removeprefix("W/") for tag in held.split(",")]
    return etag.removeprefix("W/") in tags or "*" in tags


Wished = Annotated[Wish, Depends(_wish)]
Format = Annotated[str, Depends(_format)]
Wait = Annotated[int | None, Depends(_wait)]
