"""The routes of races whose scores arrive in batches, for programs and for people."""

import time
from collections.abc import AsyncIterator
from functools import partial
from typing import Annotated

from fastapi import Depends, Header, Path, Request
from fastapi.sse import EventSourceResponse, ServerSentEvent
from starlette.concurrency import run_in_threadpool
from starlette.responses import RedirectResponse, Response

from app import answers, models
from app.http.auth import Caller
from app.http.negotiation import Wait, require_match, shows_pages, wants_page
from app.http.problems import of_error
from app.http.state import Limits, RaceStore, in_turn, routing
from app.http.waiting import Stream, Watch
from app.pages import forms, site
from app.pages.reports import view_of
from app.requests import bodies, limits
from app.requests.bodies import Written
from app.requests.forms import reader
from app.routes.questions import RACE_SECONDS, add_links, add_shelf, picture, report
from app.settings import Settings
from sigtest.arrays import Array
from sigtest.errors import InputError, SigtestError
from sigtest.files.gathering import read_bytes
from sigtest.files.join import Joining
from sigtest.files.tree import Bounds
from sigtest.race.compute import batch_of, scores_in
from sigtest.race.kind import KIND
from sigtest.requests.model import options
from sigtest.requests.notes import PARTS
from sigtest.requests.races import ObservationsRequest, RaceRequest
from workers.races import RaceRecord

Batch = tuple[list[str], dict[str, Array]]  # names of items, and scores of each system
FIELDS = options(RaceRequest, PARTS)

router = routing(prefix=models.RACES, tags=[KIND.path])
people = routing(prefix="/races", include_in_schema=False)


def _found(
    race_id: Annotated[str, Path(alias="id", description="Id of a race.")],
    caller: Caller,
    races: RaceStore,
) -> RaceRecord:
    return races.find(race_id, caller.name)


async def _read_batch(request: Request, settings: Limits) -> Batch:
    async with bodies.body_of(request, bodies.JSON, bodies.FORM) as (body, work), work:
        return await work.run(_batch, body, settings)


Found = Annotated[RaceRecord, Depends(_found)]
Wanted = Annotated[RaceRequest, reader(RaceRequest)]
Sent = Annotated[Batch, Depends(_read_batch)]


def _batch(body: bodies.Body, settings: Settings) -> Batch:
    if isinstance(body, bytes):
        return batch_of(ObservationsRequest.of(bodies.parse_json(body, "body")).scores)
    files = bodies.parts_of(body, "scores")[1]["scores"]
    if len(files) != 1:
        raise InputError("A batch is one file, the part scores of a form.", field="scores")
    bounds = Bounds(text_bytes=settings.max_text_bytes, ratio=settings.max_archive_ratio)
    name = files[0].name
    found = read_bytes(files[0].data, name, bounds, Joining(columns="systems"))
    if (ids := found.ids) is None:
        what = f"{name} must say in a column id which item each row is of: a batch may come again."
        raise InputError(what, field="scores")
    return batch_of({k: dict(zip(ids, own, strict=True)) for k, own in scores_in(found).items()})


def _as_it_stands(
    request: Request, record: RaceRecord, status: int = 200, wait: int | None = None
) -> Response:
    """A race as it stands, or its page."""
    if shows_pages(request) and request.method == "POST":
        return RedirectResponse(f"/races/{record.id}", 303)
    headers = {"ETag": f'"{record.etag}"', "Location": f"{models.RACES}/{record.id}"}
    headers |= answers.waited(record.pending, wait)
    return answers.in_json(models.RaceResource.of(record).model_dump_json(), status, headers)


@people.post("")
@router.post("", status_code=201)
def create_race(
    request: Request, caller: Caller, races: RaceStore, settings: Limits, wanted: Wanted
) -> Response:
    """Make a race, whose scores arrive in batches; the same request is the same race (200)."""
    limits.check_count("max_systems", "systems", len(wanted.systems), "systems", settings)
    record, created = races.make(wanted, caller.name)
    return _as_it_stands(request, record, 201 if created else 200)


@router.get("/{id}")
async def get_race(
    request: Request, record: Found, races: RaceStore, watch: Watch, wait: Wait
) -> Response:
    """A race, and what came. `Prefer: wait=N` waits until its report has all scores."""
    look = partial(races.current, record.id, record.caller)
    now, _ = await watch.until(record.id, look, lambda own: not own[0].pending, wait or 0)
    return answers.unless_held(request, _as_it_stands(request, now, wait=wait))


@people.post("/{id}/observations")
@router.post("/{id}/observations")
def observe_race(request: Request, record: Found, races: RaceStore, batch: Sent) -> Response:
    """Send a batch of scores, of which all are taken or none.

    A score that is there already changes nothing, so that a batch may be sent again; another score
    of the same item and system is refused (409). Items count in the order in which they come first,
    and a pair takes them as soon as both systems have a score.
    """
    return _as_it_stands(request, races.observe(record.id, record.caller, *batch))


@people.post("/{id}/describe")
@router.patch("/{id}")
def change_race(request: Request, record: Found, races: RaceStore, written: Written) -> Response:
    """Write title, tags, metadata or how long it lasts; all else is fixed when a race is made."""
    check = partial(require_match, request)
    return _as_it_stands(request, races.describe(record.id, record.caller, written, check))


@people.get("/{id}")
async def race_page(
    request: Request, record: Found, races: RaceStore, watch: Watch, view: answers.Viewed
) -> Response:
    """A race with its report, and a form for a batch."""
    look = partial(races.current, record.id, record.caller)
    now, shown = await watch.until(record.id, look, lambda own: not own[0].pending, RACE_SECONDS)
    if not wants_page(request):
        return answers.unless_held(request, _as_it_stands(request, now))
    made = None
    if shown is not None:
        stored = await run_in_threadpool(watch.questions.report, shown.id, now.caller)
        made = await in_turn(view_of, shown, stored, view, f"/races/{now.id}")
    link = await run_in_threadpool(races.link, now.id)
    here = f"/races/{now.id}"
    return await in_turn(
        site.page, request, "race.html", record=now, shown=made, link=link, here=here
    )


async def events(
    record: Found, races: RaceStore, watch: Watch, settings: Limits, stream: Stream,
    last: Annotated[int, Header(alias="Last-Event-ID", ge=0)] = 0,
) -> AsyncIterator[ServerSentEvent]:  # fmt: skip
    """Server-Sent Events: each pair that is `decided`, `progress` at every change, then `finished`.

    With the `Last-Event-ID` of a stream before, which browsers send, no decided pair comes twice.
    """
    deadline, etag = time.monotonic() + settings.max_event_seconds, ""

    def look() -> tuple[RaceRecord, list[str]]:
        return races.current(record.id, record.caller)[0], races.decisions(record.id, last)

    try:
        while (left := deadline - time.monotonic()) > 0 and not watch.stopping.is_set():
            differs = partial(lambda before, own: own[0].etag != before, etag)
            now, facts = await watch.until(record.id, look, differs, left)
            for fact in facts:
                last += 1
                yield ServerSentEvent(event="decided", id=str(last), raw_data=fact)
            if etag != now.etag:
                etag, over = now.etag, now.over is not None and not now.pending
                told = models.RaceResource.of(now).model_dump_json()
                yield ServerSentEvent(event="finished" if over else "progress", raw_data=told)
                if over:
                    return
    except SigtestError as error:  # the status code has been sent already
        yield ServerSentEvent(event="error", raw_data=bytes(of_error(error).body).decode())


router.add_api_route("/{id}/report", report, name="get_race_report")
router.add_api_route("/{id}/plots/{picture}", picture, name="draw_race", response_class=Response)
router.add_api_route("/{id}/events", events, name="follow_race", response_class=EventSourceResponse)
people.add_api_route("/{id}/report", report, name="download_race")
add_shelf(
    router,
    people,
    "race",
    lambda races, record: models.RaceResource.of(record),
    lambda request, owner: {"controls": forms.controls(FIELDS)},
    "Delete a race with its scores and reports.",
)
add_links(router, people, "race")
router.routes.extend(people.routes)
