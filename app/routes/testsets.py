"""The routes of test sets, their systems and their leaderboards."""

from __future__ import annotations

from dataclasses import dataclass
from functools import partial
from typing import Annotated

from fastapi import Path, Query, Request
from starlette.concurrency import run_in_threadpool
from starlette.datastructures import FormData, UploadFile
from starlette.responses import RedirectResponse, Response

from app.answers import questions
from app.answers import testsets as answers
from app.answers.options import PairNamed, PictureNamed, View, Viewed
from app.answers.questions import distribution_of, draw
from app.answers.testsets import Board, ShownBoard, board_of
from app.http.auth import Caller
from app.http.negotiation import (
    Wait,
    Wish,
    Wished,
    choose_picture_format,
    require_match,
    wants_page,
)
from app.http.state import Boards, Cursor, Limit, Limits, in_turn, routing
from app.http.waiting import Watch
from app.pages import forms, site
from app.pages.reports import decidable, of_report
from app.requests.bodies import (
    Parse,
    Submission,
    TestSetFilter,
    files_of,
    form_of,
    plain,
    size_of,
    text_of,
)
from app.requests.limits import check_scores, room
from app.requests.testsets import Changed, Drafted, Put, system_of_form, testset_of_form
from app.schema import document
from app.schema.models import (
    TESTSETS,
    DistributionBody,
    SystemListing,
    SystemResource,
    TestSetListing,
    TestSetResource,
)
from app.settings import Settings
from sigtest.data.names import system_name
from sigtest.data.testset import System
from sigtest.errors import InputError
from sigtest.kinds import KINDS
from sigtest.render.standings import better
from sigtest.report.methods import listed
from sigtest.requests.notes import apart
from workers.store.boards import Choice, Standing
from workers.testsets import NewTestSet

router = routing(prefix=TESTSETS, tags=["leaderboards"], responses=document.PROBLEMS)

PAGE = 100
DRAWN = document.pictures(KINDS["comparisons"])

CHOSEN_SECONDS = 10  # for another alpha or correction, without which there is nothing to show
people = routing(prefix="/boards", include_in_schema=False)

Id = Annotated[str, Path(alias="id", description="Id of a test set.")]
Name = Annotated[str, Path(alias="name", description="Name of the system.")]


@router.post("", status_code=201, openapi_extra=document.CREATION, responses=document.CREATED)
def create_testset(caller: Caller, boards: Boards, draft: Drafted) -> Response:
    """Make a test set; equal content and settings are the same test set (200)."""
    record, created = boards.create(draft.content, caller.name, draft.notes)
    return answers.made(record, created)


@people.get("")
@router.get("", responses={200: {"model": TestSetListing}})
def list_testsets(
    request: Request,
    caller: Caller,
    boards: Boards,
    settings: Limits,
    wanted: TestSetFilter,
    cursor: Cursor = None,
    limit: Limit = PAGE,
) -> Response:
    """The caller's test sets, newest first; `title` finds their names, too."""
    records, after = boards.listing(caller.name, cursor, min(limit, settings.max_page), wanted)
    if wants_page(request):
        return site.page(
            request, "boards.html", records=records, after=after, wanted=wanted,
            metrics=forms.measurable(),
        )  # fmt: skip
    body = TestSetListing(testsets=[TestSetResource.of(r) for r in records], next_cursor=after)
    return Response(body.model_dump_json(), media_type="application/json")


@router.get("/{id}", openapi_extra=document.CACHING, responses=document.TESTSET)
def get_testset(request: Request, testset_id: Id, caller: Caller, boards: Boards) -> Response:
    """A test set, its settings and how many systems it has."""
    record = boards.find(testset_id, caller.name)
    return questions.unless_held(request, answers.of_testset(record))


@router.patch("/{id}", openapi_extra=document.RAISE, responses=document.RAISED)
def change_testset(
    request: Request,
    testset_id: Id,
    caller: Caller,
    boards: Boards,
    settings: Limits,
    change: Changed,
) -> Response:
    """Write title, tags or metadata, or draw more resamples.

    Every system is pending until it is measured with these. All other settings are fixed when a
    test set is made.
    """
    check = partial(require_match, request)
    if change.resamples is None:
        return answers.of_testset(boards.describe(testset_id, caller.name, change.notes, check))
    found = boards.find(testset_id, caller.name)
    check(found.etag)
    check_scores(max(1, found.systems), len(found.metrics), change.resamples, settings)
    boards.raise_resamples(testset_id, caller.name, change.resamples, check)
    return answers.of_testset(boards.describe(testset_id, caller.name, change.notes))


@router.delete("/{id}", status_code=204, openapi_extra=document.MATCHED)
def delete_testset(request: Request, testset_id: Id, caller: Caller, boards: Boards) -> Response:
    """Delete a test set with its systems and everything that was computed."""
    boards.delete(testset_id, caller.name, partial(require_match, request))
    return Response(status_code=204)


@router.get("/{id}/systems", responses={200: {"model": SystemListing}})
def list_systems(
    testset_id: Id,
    caller: Caller,
    boards: Boards,
    settings: Limits,
    cursor: Cursor = None,
    limit: Limit = PAGE,
) -> SystemListing:
    """The systems of a test set in the order of their names."""
    most = min(limit, settings.max_page)
    records, after = boards.systems(testset_id, caller.name, cursor, most)
    told = [SystemResource.of(testset_id, record) for record in records]
    return SystemListing(systems=told, next_cursor=after)


@router.put("/{id}/systems/{name:path}", status_code=202, openapi_extra=document.PUT,
            responses=document.SYSTEM_PUT)  # fmt: skip
async def put_system(
    request: Request,
    testset_id: Id,
    caller: Caller,
    boards: Boards,
    settings: Limits,
    watch: Watch,
    submission: Put,
    wait: Wait,
    replace: Annotated[bool, Query(description="Whether other content may be replaced.")] = False,
) -> Response:
    """Submit a system, which is measured and compared with all others of its test set.

    The same content again changes nothing (200). `Prefer: wait=N` waits up to N seconds until it is
    measured. `If-Match` is about the system of this name: 404 where there is none.
    """
    check = partial(require_match, request) if "if-match" in request.headers else None
    found = await run_in_threadpool(boards.check, testset_id, caller.name, submission.content)
    most, limit = room(found, settings)
    record, verdict = await run_in_threadpool(
        boards.put,
        testset_id,
        caller.name,
        submission.content,
        replace,
        most,
        limit,
        submission.notes,
        check,
    )
    if wait and record.standing is Standing.PENDING:
        record = await watch.until(
            testset_id,
            lambda: boards.system(testset_id, caller.name, record.name),
            lambda now: now.standing is not Standing.PENDING or now.digest != record.digest,
            wait,
        )
    return answers.submitted(testset_id, record, verdict, wait)


@router.get("/{id}/systems/{name:path}", openapi_extra=document.CACHING,
            responses=document.SYSTEM)  # fmt: skip
def get_system(
    request: Request, testset_id: Id, name: Name, caller: Caller, boards: Boards
) -> Response:
    """A system: pending, measured or failed, and its scores."""
    made = answers.system(testset_id, boards.system(testset_id, caller.name, name))
    return questions.unless_held(request, made)


@router.delete("/{id}/systems/{name:path}", status_code=204, openapi_extra=document.MATCHED)
def delete_system(
    request: Request, testset_id: Id, name: Name, caller: Caller, boards: Boards
) -> Response:
    """Delete a system; the others stay as they are."""
    boards.remove(testset_id, caller.name, name, partial(require_match, request))
    return Response(status_code=204)


@router.get("/{id}/leaderboard", openapi_extra=document.CACHING, responses=document.leaderboard())
async def leaderboard(request: Request, board: ShownBoard, wish: Wished, wait: Wait) -> Response:
    """Systems by name with scores, clusters and rank ranges, and all pairs; one metric and test.

    It shows the comparison of the systems that are measured; `comparison` says where that has all
    metrics and tests. `alpha` and `correction` change what is shown and nothing else. Systems that
    are not in it yet are `pending`. `Prefer: wait=N` waits up to N seconds, instead of two, until
    all that are measured are in it: another `alpha` is computed when it is asked for.
    """
    made = await in_turn(answers.leaderboard, board, wish, wait)
    return questions.unless_held(request, made)


@router.get("/{id}/leaderboard/plots/{picture}", openapi_extra=DRAWN,
            responses=document.PICTURE, response_class=Response)  # fmt: skip
async def leaderboard_picture(
    request: Request,
    caller: Caller,
    watch: Watch,
    board: ShownBoard,
    picture: Annotated[str, Path(description="Which picture.")],
    options: PictureNamed,
) -> Response:
    """A picture of what the leaderboard shows, as SVG, PDF or PNG."""
    name, suffix = choose_picture_format(request, picture, options.format)
    record = board.require_record(options)
    svg = await draw(name, record, caller.name, watch, options)
    return await questions.picture(request, svg, suffix)


@router.get("/{id}/leaderboard/distribution", responses={200: {"model": DistributionBody}})
async def leaderboard_distribution(
    caller: Caller,
    watch: Watch,
    board: ShownBoard,
    options: PairNamed,
    values: Annotated[bool, Query(description="Every pseudo-statistic as well.")] = False,
) -> Response:
    """The pseudo-statistics that one pair's observed difference is held against."""
    record = board.require_record(options)
    drawn = await distribution_of(record, caller.name, watch, options)
    return await in_turn(questions.distribution, drawn, values)


@people.post("")
async def make_board(
    request: Request, caller: Caller, boards: Boards, settings: Limits, parser: Parse
) -> Response:
    """Make a board."""
    async with form_of(request, settings) as form:
        draft = await parser.run(size_of(form), _draft, form, settings)
    record, _ = await run_in_threadpool(boards.create, draft.content, caller.name, draft.notes)
    return RedirectResponse(f"/boards/{record.id}", 303)


@people.get("/{id}")
async def board_page(
    request: Request,
    testset_id: Id,
    caller: Caller,
    boards: Boards,
    watch: Watch,
    view: Viewed,
) -> Response:
    """A board with what it shows, what is still to be measured, and a form for another system."""
    wait = CHOSEN_SECONDS if view.choice != Choice() else None
    board = await board_of(testset_id, caller.name, boards, watch, view, view.choice, wait)
    if not wants_page(request):
        return await in_turn(answers.leaderboard, board, Wish("application/json"))
    return await in_turn(_page, request, board, view)


def _page(request: Request, board: Board, view: View) -> Response:
    """The page of a board, whose pairs and downloads are those of its comparison."""
    here = f"/comparisons/{board.record.id}" if board.record else ""
    opens = board.record is not None
    report = of_report(board.whole, view, here, opens=opens, pairs_at=here)
    if board.report.pairs:
        settings = board.current.testset.settings
        report = decidable(report, float(settings["alpha"]), str(settings["correction"]))
    return site.page(
        request,
        "board.html",
        board=board.current,
        record=board.record,
        shown=report,
        claims=_history(board),
    )


@dataclass(frozen=True)
class Claimed:
    """What became significant at one moment.

    Attributes:
        pairs: How many.
        words: Who is better than whom.
    """

    pairs: int
    words: str


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


@people.post("/{id}/systems")
async def put_system_from_page(
    request: Request,
    testset_id: Id,
    caller: Caller,
    boards: Boards,
    settings: Limits,
    parser: Parse,
) -> Response:
    """Submit a system to a board."""
    async with form_of(request, settings) as form:
        system = await parser.run(size_of(form), _system, form, settings)
        replace = bool(form.get("replace"))
    found = await run_in_threadpool(boards.check, testset_id, caller.name, system)
    await run_in_threadpool(
        boards.put, testset_id, caller.name, system, replace, *room(found, settings)
    )
    return RedirectResponse(f"/boards/{testset_id}", 303)


@people.post("/{id}/describe")
async def describe_board(
    request: Request, testset_id: Id, caller: Caller, boards: Boards, settings: Limits
) -> Response:
    """Write title and tags on a board."""
    async with form_of(request, settings) as form:
        notes, _ = apart(forms.written(form))
    await run_in_threadpool(boards.describe, testset_id, caller.name, notes)
    return RedirectResponse(f"/boards/{testset_id}", 303)


@people.post("/{id}/delete")
def remove_board(testset_id: Id, caller: Caller, boards: Boards) -> Response:
    """Delete a board with all its systems."""
    boards.delete(testset_id, caller.name)
    return RedirectResponse("/boards", 303)


def _draft(form: FormData, settings: Settings) -> Submission[NewTestSet]:
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
    submission: list[tuple[str, UploadFile | str]] = [("hypotheses", file) for file in files]
    name = text_of(form, "name").strip() or system_name(plain(files[0].filename))
    return system_of_form(name, FormData(submission), settings).content


router.routes.extend(people.routes)
