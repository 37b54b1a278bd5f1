"""Pages of boards: test sets whose systems arrive over time."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Annotated

from fastapi import Path, Request
from starlette.concurrency import run_in_threadpool
from starlette.datastructures import FormData, UploadFile
from starlette.responses import RedirectResponse, Response

from app.http.negotiation import AsPage, Wish
from app.http.state import Boards, Cursor, Limits, in_turn, routing
from app.http.waiting import Watch
from app.pages import forms, site
from app.pages.reports import decidable, of_report
from app.pages.site import Visitor
from app.questions.options import View, Viewed
from app.requests.bodies import (
    Brought,
    Parse,
    WantedTestSets,
    files_of,
    form_of,
    plain,
    size_of,
    text_of,
)
from app.requests.limits import room
from app.requests.testsets import system_of_form, testset_of_form
from app.schema.models import TestSetListing, TestSetResource
from app.settings import Settings
from app.testsets import boards as answers
from app.testsets.boards import Board, board_of
from sigtest.data.names import system_name
from sigtest.data.testset import System
from sigtest.errors import InputError
from sigtest.render.standings import better
from sigtest.report.methods import listed
from sigtest.requests.notes import apart
from workers.creation import NewTestSet
from workers.store.boards import Choice

PAGE = 50
CHOSEN_SECONDS = 10  # for another alpha or correction, without which there is nothing to show
router = routing(prefix="/boards", include_in_schema=False)

Id = Annotated[str, Path(alias="id")]


@router.get("")
def boards_page(
    request: Request,
    caller: Visitor,
    boards: Boards,
    settings: Limits,
    as_page: AsPage,
    wanted: WantedTestSets,
    cursor: Cursor = None,
) -> Response:
    """The caller's boards, newest first, and a form for another."""
    records, after = boards.listing(caller.name, cursor, min(PAGE, settings.max_page), wanted)
    if not as_page:
        told = [TestSetResource.of(record) for record in records]
        body = TestSetListing(testsets=told, next_cursor=after)
        return Response(body.model_dump_json(), media_type="application/json")
    return site.page(
        request,
        "boards.html",
        records=records,
        after=after,
        wanted=wanted,
        metrics=forms.measurable(),
    )


@router.post("")
async def make_board(
    request: Request, caller: Visitor, boards: Boards, settings: Limits, parser: Parse
) -> Response:
    """Make a board."""
    async with form_of(request, settings) as form:
        asked = await parser.run(size_of(form), _asked, form, settings)
    record, _ = await run_in_threadpool(boards.create, asked.asked, caller.name, asked.notes)
    return RedirectResponse(f"/boards/{record.id}", 303)


@router.get("/{id}")
async def board_page(
    request: Request,
    board_id: Id,
    caller: Visitor,
    boards: Boards,
    watch: Watch,
    view: Viewed,
    as_page: AsPage,
) -> Response:
    """A board with what it shows, what is still to be measured, and a form for another system."""
    wait = CHOSEN_SECONDS if view.choice != Choice() else None
    board = await board_of(board_id, caller.name, boards, watch, view, view.choice, wait)
    if not as_page:
        return await in_turn(answers.leaderboard, board, Wish("application/json"))
    return await in_turn(_page, request, board, view)


def _page(request: Request, board: Board, view: View) -> Response:
    """The page of a board, whose pairs and downloads are those of its comparison."""
    here = f"/comparisons/{board.record.id}" if board.record else ""
    opens = board.record is not None
    shown = of_report(board.whole, view, here, opens=opens, pairs_at=here)
    if board.report.pairs:
        settings = board.shown.testset.settings
        shown = decidable(shown, float(settings["alpha"]), str(settings["correction"]))
    return site.page(
        request,
        "board.html",
        board=board.shown,
        record=board.record,
        shown=shown,
        claims=_history(board),
    )


@dataclass(frozen=True)
class Claimed:
    """What became significant at one moment.

    Attributes:
        pairs: How many.
        said: Who is better than whom.
    """

    pairs: int
    said: str


def _history(board: Board) -> dict[str, Claimed]:
    """What became significant when, newest first."""
    pairs = {(pair.a, pair.b): pair for pair in board.report.pairs}
    higher = board.report.metrics[board.metric].higher_is_better
    won: dict[str, dict[str, list[str]]] = {}
    for claim in sorted(board.claims, key=lambda own: -own.claimed_at):
        pair = pairs.get((claim.a, claim.b))
        winner = better(pair, higher) if pair is not None else None
        if winner is not None:
            beaten = won.setdefault(site.moment(claim.claimed_at), {}).setdefault(winner, [])
            beaten.append(claim.b if winner == claim.a else claim.a)
    return {when: claimed(beaten) for when, beaten in won.items()}


def claimed(beaten: dict[str, list[str]]) -> Claimed:
    """Those that are better than the same systems are told in one sentence."""
    winners: dict[tuple[str, ...], list[str]] = {}
    for winner, losers in beaten.items():
        winners.setdefault(tuple(sorted(losers)), []).append(winner)
    said = "; ".join(
        f"{listed(own)} {'is' if len(own) == 1 else 'are'} better than {listed(losers)}"
        for losers, own in winners.items()
    )
    return Claimed(sum(map(len, beaten.values())), f"{said}.")


@router.post("/{id}/systems")
async def put_system(
    request: Request,
    board_id: Id,
    caller: Visitor,
    boards: Boards,
    settings: Limits,
    parser: Parse,
) -> Response:
    """Submit a system to a board."""
    async with form_of(request, settings) as form:
        system = await parser.run(size_of(form), _system, form, settings)
        replace = bool(form.get("replace"))
    found = await run_in_threadpool(boards.check, board_id, caller.name, system)
    await run_in_threadpool(
        boards.put, board_id, caller.name, system, replace, *room(found, settings)
    )
    return RedirectResponse(f"/boards/{board_id}", 303)


@router.post("/{id}/describe")
async def describe_board(
    request: Request, board_id: Id, caller: Visitor, boards: Boards, settings: Limits
) -> Response:
    """Write title and tags on a board."""
    async with form_of(request, settings) as form:
        notes, _ = apart(forms.written(form))
    await run_in_threadpool(boards.describe, board_id, caller.name, notes)
    return RedirectResponse(f"/boards/{board_id}", 303)


@router.post("/{id}/delete")
def remove_board(board_id: Id, caller: Visitor, boards: Boards) -> Response:
    """Delete a board with all its systems."""
    boards.delete(board_id, caller.name)
    return RedirectResponse("/boards", 303)


def _asked(form: FormData, settings: Settings) -> Brought[NewTestSet]:
    """The test set that the form of the page asks for."""
    choices = {**forms.choices_of(form), "name": text_of(form, "name").strip()}
    if capacity := text_of(form, "capacity").strip():
        if not capacity.isdecimal() or len(capacity) > 9:
            raise InputError("capacity must be a whole number.", field="capacity")
        choices["capacity"] = int(capacity)
    files = [
        (part, file)
        for part in ("references", "documents", "labels")
        for file in files_of(form, part)
    ]
    return testset_of_form(forms.with_request(files, choices), settings)


def _system(form: FormData, settings: Settings) -> System:
    """The system that the form of the page brings: one file is its output, several its runs."""
    files = files_of(form, "hypotheses")
    if not files:
        raise InputError("No file was chosen: the output of the system.", field="hypotheses")
    brought: list[tuple[str, UploadFile | str]] = [("hypotheses", file) for file in files]
    name = text_of(form, "name").strip() or system_name(plain(files[0].filename))
    return system_of_form(name, FormData(brought), settings).asked
