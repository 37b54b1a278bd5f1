"""Answers with their headers: comparisons, reports, distributions, pictures."""

from __future__ import annotations

import hashlib
import json

from fastapi import Request
from starlette.responses import Response

from app.comparison_schemas import PATH, ComparisonBody
from app.negotiation import FORMATS, MEDIA_TYPES, SUITE_FORMATS, Wish, choose_format, matches
from app.schemas import DistributionBody
from sigtest.draws.distribution import Distribution
from sigtest.render import RENDERERS, suite
from sigtest.report import Report
from sigtest.report.suite_report import SuiteReport
from workers.jobs import Record

RETRY_SECONDS = 1
SUFFIXES = {"text": "txt", "markdown": "md", "latex": "tex"}
SAVED = {"csv"}  # a browser saves these and opens none of them
# Of what a browser opens as a document of our origin: it runs nothing and loads nothing.
INERT = "default-src 'none'; style-src 'unsafe-inline'; sandbox"


def comparison(record: Record, status: int = 200, wait: int | None = None) -> Response:
    """A comparison as it stands.

    Args:
        record: The comparison.
        status: Status code.
        wait: Seconds that were granted to `Prefer: wait`.
    """
    headers = {"ETag": f'"{record.etag}"'}
    if not record.status.finished:
        headers["Retry-After"] = str(RETRY_SECONDS)
    if wait is not None:
        headers["Preference-Applied"] = f"wait={wait}"
    body = ComparisonBody.of(record).model_dump_json()
    return Response(body, status, headers, "application/json")


def submitted(record: Record, created: bool, wait: int | None) -> Response:
    """202 for a comparison that is new and still to be computed, 200 otherwise."""
    answer = comparison(record, 202 if created and not record.status.finished else 200, wait)
    answer.headers["Location"] = f"{PATH}/{record.id}"
    return answer


def unless_held(request: Request, answer: Response) -> Response:
    """An answer, or 304 where the client has it already."""
    if not matches(request, answer.headers["ETag"]):
        return answer
    kept = {"etag", "cache-control", "vary", "retry-after"}
    return Response(status_code=304, headers={k: v for k, v in answer.headers.items() if k in kept})


def report(stored: bytes, record: Record, wish: Wish) -> Response:
    """A report in the format that a client wants; JSON is what was stored, byte for byte."""
    kind = choose_format(wish, SUITE_FORMATS if record.testsets else FORMATS)
    content: bytes | str = stored
    if kind != "json" and record.testsets:
        content = suite.render(SuiteReport.from_json(json.loads(stored)))
    elif kind != "json":
        content = RENDERERS[kind](Report.from_json(json.loads(stored)))
    shown = "attachment" if kind in SAVED else "inline"
    headers = {
        # A report is a function of its id, which has the versions in it: it never changes.
        "ETag": f'"{record.id}-{kind}"',
        "Cache-Control": "private, no-cache",
        "Vary": "Accept",
        "Content-Security-Policy": INERT,
        "Content-Disposition": f'{shown}; filename="{record.id}.{SUFFIXES.get(kind, kind)}"',
    }
    return Response(content, 200, headers, MEDIA_TYPES[kind])


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
