"""Answers with their headers: test sets, systems, leaderboards."""

from __future__ import annotations

import json
from dataclasses import replace

from fastapi import Request
from starlette.responses import Response

from app import answers
from app.errors import TooFewError
from app.negotiation import MEDIA_TYPES
from app.testset_schemas import PATH, SystemResource, TestSetResource, system_path
from sigtest.render import RENDERERS
from sigtest.report import Report
from workers.leaderboard_records import Leaderboard, Standing, SystemRecord, TestSetRecord

DONE = {"created": 201, "replaced": 200, "known": 200, "again": 200}


def found(record: TestSetRecord) -> Response:
    """A test set as it stands."""
    headers = {"ETag": f'"{record.etag}"'}
    body = TestSetResource.of(record).model_dump_json(exclude_none=True)
    return Response(body, 200, headers, "application/json")


def made(record: TestSetRecord, created: bool) -> Response:
    """201 for a test set that is new, 200 otherwise."""
    answer = found(record)
    answer.status_code = 201 if created else 200
    answer.headers["Location"] = f"{PATH}/{record.id}"
    return answer


def system(
    testset_id: str, record: SystemRecord, status: int = 200, wait: int | None = None
) -> Response:
    """A system as it stands."""
    headers = {}
    if record.standing is Standing.PENDING:
        headers["Retry-After"] = str(answers.RETRY_SECONDS)
    if wait is not None:
        headers["Preference-Applied"] = f"wait={wait}"
    body = SystemResource.of(testset_id, record).model_dump_json()
    return Response(body, status, headers, "application/json")


def submitted(testset_id: str, record: SystemRecord, verdict: str, wait: int | None) -> Response:
    """202 for a system that is new here and still to be measured."""
    waits = record.standing is Standing.PENDING and verdict != "known"
    answer = system(testset_id, record, 202 if waits else DONE[verdict], wait)
    answer.headers["Location"] = system_path(testset_id, record.name)
    return answer


def leaderboard(shown: Leaderboard, kind: str) -> Response:
    """A leaderboard in one of its formats; in JSON the report is as it is stored, byte for byte."""
    if kind == "json":
        head = json.dumps(shown.head, ensure_ascii=False, indent=1)
        content: bytes | str = head.encode()[:-2] + b"," + shown.report[1:]
    else:
        content = RENDERERS[kind](_annotated(shown))
    headers = {
        "ETag": f'"{shown.etag}-{kind}"',
        "Cache-Control": "private, no-cache",
        "Vary": "Accept",
        "Content-Security-Policy": answers.INERT,
    }
    if not shown.fresh:
        headers["Retry-After"] = str(answers.RETRY_SECONDS)
    return Response(content, 200, headers, MEDIA_TYPES[kind])


def picture(request: Request, shown: Leaderboard, svg: str) -> Response:
    """A picture of a leaderboard, or 304 where the client has it already."""
    answer = answers.picture(request, svg)
    if not shown.fresh:
        answer.headers["Retry-After"] = str(answers.RETRY_SECONDS)
    return answer


def report_of(shown: Leaderboard) -> Report:
    """The report of a leaderboard with pairs.

    Raises:
        TooFewError: It has none.
    """
    if len(shown.systems) < 2:
        raise TooFewError(
            f"Tables and pictures need two measured systems; measured: {len(shown.systems)}, "
            f"pending: {len(shown.pending)}. JSON has what there is."
        )
    return Report.from_json(json.loads(shown.report))


def _annotated(shown: Leaderboard) -> Report:
    """The report with a warning about every system that it lacks."""
    report = report_of(shown)
    said = [f"System {name} cannot be measured: {why}" for name, why in shown.failed.items()]
    if shown.pending:
        said.append(f"Still to be measured: {', '.join(shown.pending)}.")
    return replace(report, warnings=(*report.warnings, *said))
