"""The routes of test sets, their systems and their leaderboards, for programs and for people."""

import json
from dataclasses import dataclass, replace
from functools import partial
from typing import Annotated, Any

from fastapi import Depends, Path, Query, Request
from starlette.concurrency import run_in_threadpool
from starlette.responses import RedirectResponse, Response

from app import answers, models
from app.http import negotiation
from app.http.auth import Caller
from app.http.problems import NotAcceptableError
from app.http.state import Boards, Cursor, Limit, Limits, in_turn, routing
from app.http.waiting import Watch
from app.pages import forms, site
from app.pages.reports import of_report, view_of
from app.requests.bodies import Words
from app.requests.limits import check_scores, room
from app.requests.testsets import Changed, Drafted, Put
from app.routes.questions import Picture, Values, add_links, add_shelf, as_it_stands, page_of
from sigtest.cached import cached_property
from sigtest.data.names import choose
from sigtest.decide.summary import decided as decided_anew
from sigtest.errors import InputError, RecipeError
from sigtest.render.comparison import present
from sigtest.render.formats import FORMATS
from sigtest.render.records import excerpt, render_json, with_pairs
from sigtest.render.standings import better
from sigtest.report import (
    LeaderboardReport,
    PairReport,
    Report,
    WarningReport,
    decode,
    listed,
    select,
)
from sigtest.significance import CORRECTIONS
from workers.errors import NotReadyError
from workers.questions import Record
from workers.store.boards import Standing, SystemRecord, TestSetRecord
from workers.store.records import Link
from workers.testsets import Claim, Leaderboard

PAGE = 100
ROWS, CLAIMED = b",\n", b'"significant": true'  # between pairs as they are stored, and in them
WAIT_SECONDS = 2  # for a newer one; until then there is one without the systems just submitted

router = routing(prefix=models.TESTSETS, tags=["leaderboards"])
people = routing(prefix="/boards", include_in_schema=False)

Id = Annotated[str, Path(alias="id", description="Id of a test set.")]
Name = Annotated[str, Path(alias="name", description="Name of the system.")]


# test sets


def _testset(request: Request, record: TestSetRecord, status: int = 200) -> Response:
    """A test set as it stands, or its page."""
    if negotiation.shows_pages(request):
        return RedirectResponse(f"/boards/{record.id}", 303)
    body = models.TestSetResource.of(record).model_dump_json(exclude_none=True)
    return answers.in_json(body, status, {"ETag": f'"{record.etag}"'})


@people.post("")
@router.post("", status_code=201)
def create_testset(request: Request, caller: Caller, boards: Boards, draft: Drafted) -> Response:
    """Make a test set; equal content and settings are the same test set (200)."""
    record, created = boards.make(draft.content, caller.name, draft.notes)
    answer = _testset(request, record, 201 if created else 200)
    answer.headers.setdefault("Location", f"{models.TESTSETS}/{record.id}")
    return answer


@router.get("/{id}")
def get_testset(request: Request, testset_id: Id, caller: Caller, boards: Boards) -> Response:
    """A test set, its settings and how many systems it has."""
    return answers.unless_held(request, _testset(request, boards.find(testset_id, caller.name)))


@people.post("/{id}/describe")
@router.patch("/{id}")
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
    check = partial(negotiation.require_match, request)
    resamples = change.content
    owner = caller.name
    if resamples is None:
        return _testset(request, boards.describe(testset_id, owner, change.notes, check))
    found = boards.find(testset_id, owner)
    check_scores(max(1, len(found.digests)), len(found.metrics), resamples, settings)
    boards.raise_resamples(testset_id, owner, resamples, check)
    return _testset(request, boards.describe(testset_id, owner, change.notes))


# systems


def _system(
    testset_id: str, record: SystemRecord, status: int = 200, wait: int | None = None
) -> Response:
    """A system as it stands."""
    headers = {
        "ETag": f'"{record.etag}"',
        **answers.waited(record.standing is Standing.PENDING, wait),
    }
    return answers.in_json(
        models.SystemResource.of(testset_id, record).model_dump_json(), status, headers
    )


@router.get("/{id}/systems")
def list_systems(
    testset_id: Id,
    caller: Caller,
    boards: Boards,
    settings: Limits,
    cursor: Cursor = None,
    limit: Limit = PAGE,
) -> models.SystemListing:
    """The systems of a test set in the order of their names."""
    most = min(limit, settings.max_page)
    records, after = boards.systems(testset_id, caller.name, cursor, most)
    entries = [models.SystemResource.of(testset_id, record) for record in records]
    return models.SystemListing(systems=entries, next_cursor=after)


@people.post("/{id}/systems")
@router.put("/{id}/systems/{name:path}", status_code=202)
async def put_system(
    request: Request,
    testset_id: Id,
    caller: Caller,
    boards: Boards,
    settings: Limits,
    watch: Watch,
    submission: Put,
    wait: negotiation.Wait,
    replace: Annotated[bool, Query(description="Whether other content may be replaced.")] = False,
) -> Response:
    """Submit a system, which is measured and compared with all others of its test set.

    The same content again changes nothing (200). `Prefer: wait=N` waits up to N seconds until it is
    measured. `If-Match` is about the system of this name: 404 where there is none.
    """
    check = partial(negotiation.require_match, request) if "if-match" in request.headers else None
    replaces = replace or bool(submission.besides.get("replace"))
    owner, system, notes = caller.name, submission.content, submission.notes

    fits = partial(room, settings=settings)
    record, verdict = await run_in_threadpool(
        boards.put, testset_id, owner, system, replaces, fits, notes, check
    )
    if negotiation.shows_pages(request):
        return RedirectResponse(f"/boards/{testset_id}", 303)
    if wait and record.standing is Standing.PENDING:
        record = await watch.until(
            testset_id,
            lambda: boards.system(testset_id, owner, record.name),
            lambda now: now.standing is not Standing.PENDING or now.digest != record.digest,
            wait,
        )
    pending = record.standing is Standing.PENDING and verdict != "known"
    done = 201 if verdict == "created" else 200
    answer = _system(testset_id, record, 202 if pending else done, wait)
    answer.headers["Location"] = models.system_path(testset_id, record.name)
    return answer


@router.get("/{id}/systems/{name:path}")
def get_system(
    request: Request, testset_id: Id, name: Name, caller: Caller, boards: Boards
) -> Response:
    """A system: pending, measured or failed, and its scores."""
    record = boards.system(testset_id, caller.name, name)
    return answers.unless_held(request, _system(testset_id, record))


@router.delete("/{id}/systems/{name:path}", status_code=204)
def delete_system(
    request: Request, testset_id: Id, name: Name, caller: Caller, boards: Boards
) -> Response:
    """Delete a system; the others stay as they are."""
    boards.remove(testset_id, caller.name, name, partial(negotiation.require_match, request))
    return Response(status_code=204)


# leaderboards


@dataclass(frozen=True)
class Board:
    """A leaderboard with the report that it shows.

    Attributes:
        current: What it shows.
        stored: Its report as it is stored.
        bare: The report without pairs.
        metric: Label of the metric to show.
        test: Name of the test to show.
        pairs: Their pairs, as they are stored.
        claims: Its significant differences, with the times when they were first shown; none where
            it is decided in another way than its test set says.
    """

    current: Leaderboard
    stored: bytes
    bare: Report
    metric: str
    test: str
    pairs: bytes
    claims: tuple[Claim, ...]

    @cached_property
    def report(self) -> Report:
        """The report of the metric and test."""
        rows = self.pairs.split(ROWS) if self.pairs else ()
        pairs = tuple(decode(PairReport, json.loads(row)) for row in rows)
        return select(replace(self.bare, pairs=pairs), metric=self.metric, test=self.test)

    def require_record(self, chosen: answers.PairOptions) -> Record:
        """The comparison that is shown.

        Args:
            chosen: What of it is asked for.

        Raises:
            NotReadyError: There is none yet, or it lacks a system that waits to be measured.
        """
        lacking = self.current.lacking
        if lacking and (len(self.current.systems) < 2 or {chosen.a, chosen.b} & {*lacking}):
            raise NotReadyError(f"Not in it yet: {', '.join(lacking)}; ask again.")
        if self.current.record is None:
            raise NotReadyError("The leaderboard is still to be written; ask again.")
        return self.current.record


async def board_of(
    request: Request,
    testset_id: Id,
    owner: Caller,
    boards: Boards,
    watch: Watch,
    measure: answers.MeasureNamed,
    decided: answers.Decided,
    wait: negotiation.Wait,
) -> Board:
    """A leaderboard, waited for until it has every system that is measured; also a dependency.

    Raises:
        RecipeError: An impossible choice.
    """
    caller = owner.name

    def read(shown: Leaderboard) -> Board:
        metric, test = _measure(shown.testset, measure)
        if (record := shown.record) is not None:
            stored = told = watch.questions.report(record.id, caller)
            try:
                if decided != answers.AS_ASKED:
                    told = render_json(answers.read(stored, record, decided)).encode()
                bare, pairs = excerpt(told, metric, test)
                if pairs:
                    decode(PairReport, json.loads(pairs.partition(ROWS)[0]))
                report = answers.read(bare, record)
            except (InputError, NotAcceptableError):
                pass  # another version wrote it, with other fields: it is made anew
            else:
                rows = [json.loads(row) for row in pairs.split(ROWS) if CLAIMED in row]
                names = [(row["a"], row["b"]) for row in rows]
                column = metric, test
                own = shown.testset.settings
                binding = (report.alpha, report.correction) == (own["alpha"], own["correction"])
                claims = boards.claims(shown.testset, column, names) if binding else ()
                return Board(shown, stored, report, metric, test, pairs, claims)
        empty = decided_anew(boards.empty(shown.testset), decided.alpha, decided.correction)
        return Board(replace(shown, record=None), b"", empty, metric, test, b"", ())

    look = partial(boards.leaderboard, testset_id, caller, set())
    seconds = WAIT_SECONDS if wait is None else wait
    return await in_turn(read, await watch.until(testset_id, look, lambda own: own.fresh, seconds))


def _measure(testset: TestSetRecord, measure: answers.MeasureOptions) -> tuple[str, str]:
    """The metric and the test to show.

    Raises:
        RecipeError: One that the test set has not, or that does not go with the correction.
    """
    metric = measure.metric or testset.metrics[0]
    choose(metric, testset.metrics, "metric", "metric of this test set")
    correction = str(testset.settings["correction"])
    joint = CORRECTIONS[correction].joint
    tests = (joint,) if joint in testset.tests else testset.tests
    test = measure.test or tests[0]
    choose(test, testset.tests, "test", "test of this test set")
    if test not in tests:
        raise RecipeError(f"correction {correction} goes with the test {joint} only.", field="test")
    return metric, test


ShownBoard = Annotated[Board, Depends(board_of)]


@router.get("/{id}/leaderboard")
async def leaderboard(
    request: Request, board: ShownBoard, wish: negotiation.Wished, wait: negotiation.Wait
) -> Response:
    """Systems by name with scores, clusters and rank ranges, and all pairs; one metric and test.

    It shows the comparison of the systems that are measured; `comparison` says where that has all
    metrics and tests. `alpha` and `correction` decide it anew, as they do any report. Systems that
    are not in it yet are `pending`. `Prefer: wait=N` waits up to N seconds, instead of two, until
    all that are measured are in it.
    """
    return answers.unless_held(request, await in_turn(written, board, wish, wait))


def written(board: Board, wish: negotiation.Wish, wait: int | None = None) -> Response:
    """A leaderboard in one of the formats: one metric and test, and what is pending."""
    name = negotiation.choose_format(wish)
    shown = board.current
    facts: dict[str, Any] = {
        **vars(shown.testset),
        **vars(board),
        "comparison": f"/v1/comparisons/{shown.comparison}" if shown.comparison else None,
        "capacity": shown.testset.capacity,
        "pending": shown.pending,
        "failed": shown.testset.failed,
    }
    envelope = models.LeaderboardEnvelope(**facts).model_dump(mode="json")
    if name == "json":
        heading = select(board.bare, metric=board.metric, test=board.test)
        bare = render_json(LeaderboardReport(envelope, heading))
        content: bytes | str = with_pairs(bare.encode(), board.pairs)
    else:
        warnings = [
            f"System {name} cannot be measured: {why}" for name, why in shown.testset.failed.items()
        ]
        if shown.lacking:
            warnings.append(f"Not in it yet: {', '.join(shown.lacking)}.")
        if shown.renewed:
            names = ", ".join(shown.renewed)
            warnings.append(f"Shown as before until they are measured: {names}.")
        said = (WarningReport("not-measured", sentence) for sentence in warnings)
        report = replace(board.report, warnings=(*board.report.warnings, *said))
        content = FORMATS[name].render(present(report, wish.layout))
    answer = answers.document(content, name, shown.testset.id)
    answer.headers.update(answers.waited(not shown.fresh, wait))
    return answer


@router.get("/{id}/leaderboard/plots/{picture}", response_class=Response)
async def leaderboard_picture(
    request: Request,
    watch: Watch,
    board: ShownBoard,
    picture: Picture,
    chosen: answers.PictureNamed,
) -> Response:
    """A picture of what the leaderboard shows, as SVG, PDF or PNG."""
    name, suffix = negotiation.choose_picture_format(request, picture, chosen.format)
    svg = await answers.draw(name, board.require_record(chosen), watch, chosen)
    return await answers.picture(request, svg, suffix)


@router.get("/{id}/leaderboard/distribution")
async def leaderboard_distribution(
    watch: Watch, board: ShownBoard, pair: answers.PairNamed, values: Values = False
) -> Response:
    """The pseudo-statistics that one pair's observed difference is held against."""
    record = board.require_record(pair)
    return await answers.distribution(record, watch, pair, values)


@people.post("/{id}/frozen")
@router.post("/{id}/frozen", status_code=201)
async def freeze(
    request: Request,
    testset_id: Id,
    caller: Caller,
    boards: Boards,
    watch: Watch,
    notes: Words,
    wait: negotiation.Wait,
) -> Response:
    """Let what the leaderboard shows stay, as a comparison whose report is never computed anew.

    It lasts until it is deleted, or as its `expires` says then, whatever becomes of the test set,
    and counts to the budget of what lasts. The same state is frozen once (200). 409 while systems
    are to be measured.
    """
    look = partial(boards.leaderboard, testset_id, caller.name, set())
    seconds = WAIT_SECONDS if wait is None else wait
    shown = await watch.until(testset_id, look, lambda own: own.fresh and not own.pending, seconds)
    record, created = await run_in_threadpool(boards.freeze, shown, notes)
    if negotiation.shows_pages(request):
        return RedirectResponse(page_of(record), 303)
    answer = as_it_stands(record, status=201 if created else 200)
    answer.headers["Location"] = f"/v1{page_of(record)}"
    return answer


@people.get("/{id}")
async def board_page(
    request: Request, board: ShownBoard, boards: Boards, view: answers.Viewed
) -> Response:
    """A board with what it shows, what is still to be measured, and a form for another system."""
    if not negotiation.wants_page(request):
        return await in_turn(written, board, negotiation.Wish(format="json"))
    link = await run_in_threadpool(boards.link, board.current.testset.id)
    return await in_turn(_page, request, board, view, link)


def _page(request: Request, board: Board, view: answers.View, link: Link | None) -> Response:
    """The page of a board, whose pairs and downloads are those of its comparison."""
    record = board.current.record
    here = page_of(record) if record is not None else ""
    if record is not None:
        shown = view_of(record, board.stored, view, here, pairs_at=here)
    else:
        shown = of_report(board.bare, view, here, opens=False)
    return site.page(
        request,
        "board.html",
        board=board.current,
        record=record,
        shown=shown,
        claims=_history(board),
        link=link,
        here=f"/boards/{board.current.testset.id}",
    )


def _history(board: Board) -> dict[str, tuple[int, str]]:
    """How many pairs became significant when, newest first, and who is better than whom."""
    pairs = {(pair.a, pair.b): pair for pair in board.report.pairs}
    higher = board.report.metrics[board.metric].higher_is_better
    won: dict[str, dict[str, list[str]]] = {}
    for claim in sorted(board.claims, key=lambda own: -own.claimed_at):
        pair = pairs.get((claim.a, claim.b))
        winner = better(pair, higher) if pair is not None else None
        if winner is not None:
            beaten = won.setdefault(site.moment(claim.claimed_at), {}).setdefault(winner, [])
            beaten.append(claim.b if winner == claim.a else claim.a)
    return {
        when: (sum(map(len, beaten.values())), victories(beaten)) for when, beaten in won.items()
    }


def victories(beaten: dict[str, list[str]]) -> str:
    """Who is better than whom; those that are better than the same are told in one sentence."""
    winners: dict[tuple[str, ...], list[str]] = {}
    for winner, losers in beaten.items():
        winners.setdefault(tuple(sorted(losers)), []).append(winner)
    sentences = [
        f"{listed(own)} {'is' if len(own) == 1 else 'are'} better than {listed(losers)}"
        for losers, own in winners.items()
    ]
    return f"{'; '.join(sentences)}."


add_shelf(
    router,
    people,
    "test set",
    lambda boards, record: models.TestSetResource.of(record),
    lambda request, owner: {
        "metrics": forms.measurable(),
        "controls": forms.controls(forms.OF_BOARDS),
    },
    "Delete a test set with its systems and everything that was computed.",
    PAGE,
)
add_links(router, people, "testset")
router.routes.extend(people.routes)
