"""Answers with their headers: test sets, systems, leaderboards."""

from __future__ import annotations

import hashlib
from dataclasses import replace
from typing import Any

from starlette.responses import Response

from app.http.negotiation import Wish, choose_format
from app.questions import answers as questions
from app.schema.testsets import PATH, ClaimBody, SystemResource, TestSetResource, system_path
from app.testsets.board import Board
from sigtest.render import json
from sigtest.render.comparison import present
from sigtest.render.formats import FORMATS
from sigtest.render.layout import Layout
from sigtest.report import LeaderboardReport, Report
from workers.store.boards import Standing, SystemRecord, TestSetRecord

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
    waited = questions.waited(record.standing is Standing.PENDING, wait)
    headers = {"ETag": f'"{record.etag}"', **waited}
    body = SystemResource.of(testset_id, record).model_dump_json()
    return Response(body, status, headers, "application/json")


def submitted(testset_id: str, record: SystemRecord, verdict: str, wait: int | None) -> Response:
    """202 for a system that is new here and still to be measured."""
    waits = record.standing is Standing.PENDING and verdict != "known"
    answer = system(testset_id, record, 202 if waits else DONE[verdict], wait)
    answer.headers["Location"] = system_path(testset_id, record.name)
    return answer


def leaderboard(board: Board, wish: Wish, wait: int | None = None) -> Response:
    """A leaderboard in one of the formats: one metric and test, and what is pending."""
    name = choose_format(wish)
    envelope = _envelope(board)
    if name == "json":
        told = json.render(LeaderboardReport(envelope, board.heading))
        content: bytes | str = json.with_pairs(told.encode(), board.pairs)
    else:
        content = FORMATS[name].render(present(_annotated(board), wish.layout))
    etag = hashlib.sha256(repr(envelope).encode("utf-8", "backslashreplace")).hexdigest()[:32]
    version = f"{etag}-{name}{questions.tagged(wish.layout, Layout())}"
    answer = questions.document(content, name, version, board.shown.testset.id)
    answer.headers.update(questions.waited(not board.shown.fresh, wait))
    return answer


def _envelope(board: Board) -> dict[str, Any]:
    shown = board.shown
    return {
        "id": shown.testset.id,
        "name": shown.testset.name,
        "metric": board.metric,
        "test": board.test,
        "comparison": f"/v1/comparisons/{shown.comparison}" if shown.comparison else None,
        "capacity": shown.testset.capacity,
        "submissions": shown.testset.submissions,
        "claims": [ClaimBody.of(claim).model_dump(mode="json") for claim in board.claims],
        "pending": list(shown.pending),
        "failed": dict(shown.failed),
    }


def _annotated(board: Board) -> Report:
    """The report with a warning about every system that it lacks."""
    shown, report = board.shown, board.report
    said = [f"System {name} cannot be measured: {why}" for name, why in shown.failed.items()]
    if shown.lacking:
        said.append(f"Not in it yet: {', '.join(shown.lacking)}.")
    if shown.renewed:
        said.append(f"Shown as before until they are measured: {', '.join(shown.renewed)}.")
    return replace(report, warnings=(*report.warnings, *said))
