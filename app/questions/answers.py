"""Answers with their headers: questions, reports, distributions, pictures."""

from __future__ import annotations

import hashlib
import json
from collections.abc import Sequence
from functools import lru_cache
from typing import Any

from fastapi import Request
from starlette.responses import Response

from app.http.negotiation import Wish, choose_format, matches
from app.schema.answers import DistributionBody, QuestionBody
from sigtest.draws.distribution import Distribution
from sigtest.kinds import KINDS, Kind
from sigtest.render.formats import FORMATS
from sigtest.render.layout import Layout
from workers.questions import Record

RETRY_SECONDS = 1
LARGE = 8_000_000  # bytes of a report that is not held in memory from one request to the next
# Of what a browser opens as a document of our origin: it runs nothing and loads nothing.
INERT = "default-src 'none'; style-src 'unsafe-inline'; sandbox"


def question(record: Record, status: int = 200, wait: int | None = None) -> Response:
    """A question as it stands.

    Args:
        record: The question.
        status: Status code.
        wait: Seconds that were granted to `Prefer: wait`.
    """
    headers = {"ETag": f'"{record.etag}"', "Cache-Control": "private, no-cache"}
    if not record.status.finished:
        headers["Retry-After"] = str(RETRY_SECONDS)
    if wait is not None:
        headers["Preference-Applied"] = f"wait={wait}"
    body = QuestionBody.of(record).model_dump_json()
    return Response(body, status, headers, "application/json")


def submitted(record: Record, created: bool, wait: int | None) -> Response:
    """202 for a question that is new and still to be computed, 200 otherwise."""
    answer = question(record, 202 if created and not record.status.finished else 200, wait)
    answer.headers["Location"] = f"/v1/{record.kind}/{record.id}"
    return answer


def unless_held(request: Request, answer: Response) -> Response:
    """An answer, or 304 where the client has it already."""
    if not matches(request, answer.headers["ETag"]):
        return answer
    kept = {"etag", "cache-control", "vary", "retry-after"}
    return Response(status_code=304, headers={k: v for k, v in answer.headers.items() if k in kept})


def read(stored: bytes, record: Record) -> Any:
    """A report as it is stored, as an object of its kind.

    The tables and pictures of a page are asked for one by one, all of the same report.
    """
    decode = _decoded if len(stored) <= LARGE else _decoded.__wrapped__
    return decode(stored, record.kind)


@lru_cache(maxsize=4)
def _decoded(stored: bytes, kind: str) -> Any:
    return KINDS[kind].read(json.loads(stored))


def report(stored: bytes, record: Record, wish: Wish) -> Response:
    """A report in the format that a client wants; JSON is what was stored, byte for byte."""
    name = choose_format(wish)
    content: bytes | str = stored
    if name != "json":
        presented = KINDS[record.kind].lay_out(read(stored, record), wish.layout)
        content = FORMATS[name].render(presented)
    # A report is a function of its id, which has the versions in it: it never changes.
    return document(content, name, f"{record.id}-{name}{laid_out(wish.layout)}", record.id)


def laid_out(layout: Layout) -> str:
    """What an ETag says of a layout: nothing of the one that no client asked for."""
    if layout == Layout():
        return ""
    return "-" + hashlib.sha256(repr(layout).encode()).hexdigest()[:16]


def document(content: bytes | str, name: str, etag: str, stem: str) -> Response:
    """A report in one of the formats.

    Args:
        content: The report.
        name: Of the format.
        etag: Changes when the content does.
        stem: What to call a file that a browser saves.
    """
    form = FORMATS[name]
    shown = "attachment" if form.saved else "inline"
    headers = {
        "ETag": f'"{etag}"',
        "Cache-Control": "private, no-cache",
        "Vary": "Accept",
        "Content-Security-Policy": INERT,
        "Content-Disposition": f'{shown}; filename="{stem}.{form.suffix}"',
    }
    return Response(content, 200, headers, form.media_type)


def distribution(drawn: Distribution, values: bool) -> Response:
    """The pseudo-statistics of one pair; all of them, or binned alone."""
    body = DistributionBody.of(drawn, values).model_dump_json(exclude_none=True)
    return Response(body, media_type="application/json")


def picture(request: Request, svg: str) -> Response:
    """A picture, or 304 where the client has it already."""
    headers = {
        "ETag": f'"{hashlib.sha256(svg.encode()).hexdigest()[:32]}"',
        "Cache-Control": "private, no-cache",
        "Content-Security-Policy": INERT,
    }
    return unless_held(request, Response(svg, 200, headers, "image/svg+xml"))


def listing(kind: Kind[Any], records: Sequence[Record], after: str | None) -> Response:
    """A page of a listing, whose entries stand under the name of their kind's path."""
    told = [QuestionBody.of(record).model_dump(mode="json") for record in records]
    body = json.dumps({kind.path: told, "next_cursor": after}, ensure_ascii=False)
    return Response(body, media_type="application/json")
