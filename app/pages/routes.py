"""The routes of pages. Each address answers JSON to a program that asks for it."""

from __future__ import annotations

from collections.abc import AsyncIterator
from functools import partial
from pathlib import Path as Folder
from typing import Annotated, Any

from fastapi import APIRouter, Depends, Path, Query, Request
from fastapi.sse import EventSourceResponse, ServerSentEvent
from starlette.concurrency import run_in_threadpool
from starlette.datastructures import FormData
from starlette.responses import RedirectResponse, Response

from app.http.negotiation import AsPage, Wish, Wished
from app.http.state import Asked, Cursor, InDigits, Limits, OfKind, in_turn, routing
from app.http.waiting import MAKING_SECONDS, Stream, Watch, Watcher
from app.pages import forms, site
from app.pages.forms import packed, recognised, unpacked
from app.pages.panel import Panel, panel
from app.pages.reports import shown
from app.pages.site import Noted, Visitor, noted
from app.questions import answers
from app.questions.answers import answer as shared_out
from app.questions.answers import behind, draw
from app.questions.options import (
    Decided,
    PictureNamed,
    SegmentOptions,
    SegmentsWanted,
    View,
    Viewed,
)
from app.questions.routes import events
from app.requests.bodies import Parse, WantedQuestions, file_of, form_of, size_of
from app.requests.questions import Sent, asked_with, read_form
from app.schema.document import PROBLEMS
from app.schema.models import EntryBody
from app.settings import Settings
from sigtest.errors import InputError
from sigtest.kinds import KINDS, Kind, Question
from sigtest.metrics.sacre import lacking
from sigtest.render.drawing import adaptive
from sigtest.requests.notes import apart
from sigtest.significance import ALTERNATIVES, CORRECTIONS, TESTS
from workers.errors import NotReadyError
from workers.questions import Questions, Record, Status

router = routing()
EXAMPLE = Folder(__file__).parents[2] / "examples" / "shared-task"
PAGE, RECENT = 20, 5
BESIDE_SECONDS = 0.5  # that a report waits for its only pair, if nobody asked for that
COMPARISONS = KINDS["comparisons"]
EXAMPLE_REQUEST = {"metrics": ["bleu", "chrf", "ter"], "unit": "document"}

Id = Annotated[str, Path(alias="id")]


async def _found(question_id: Id, kind: OfKind, caller: Visitor, asked: Asked) -> Record:
    return await run_in_threadpool(asked.find, question_id, caller.name, kind.path)


Found = Annotated[Record, Depends(_found)]


@router.get("/", tags=["probes"], response_model=EntryBody, responses=PROBLEMS)
def entry(request: Request, as_page: AsPage, visitor: Noted, asked: Asked) -> Response:
    """Where the description of this service is, and its collections; a page for browsers."""
    if not as_page:
        return Response(EntryBody().model_dump_json(), media_type="application/json")
    recent, _ = (
        asked.listing(visitor.name, COMPARISONS.path, None, RECENT) if visitor else ([], None)
    )
    return site.page(
        request,
        "new.html",
        metrics=forms.measurable(),
        lacking=lacking,
        usual=forms.USUAL,
        tests=TESTS,
        corrections=CORRECTIONS,
        alternatives=ALTERNATIVES,
        example=EXAMPLE.is_dir(),
        records=recent,
    )


@router.get("/static/{digest}/{name}", include_in_schema=False)
async def static(digest: str, name: str) -> Response:
    """A static file."""
    return site.static(name)


def listing(
    request: Request,
    kind: OfKind,
    caller: Visitor,
    asked: Asked,
    settings: Limits,
    as_page: AsPage,
    wanted: WantedQuestions,
    cursor: Cursor = None,
    limit: Annotated[int, Query(ge=1), InDigits] = PAGE,
) -> Response:
    """The caller's questions of a kind, newest first."""
    most = min(limit, settings.max_page)
    records, after = asked.listing(caller.name, kind.path, cursor, most, wanted)
    if not as_page:
        return answers.listing(kind, records, after)
    named = [
        forms.Named(name, KINDS[own.kind].name, _finished(asked, caller.name, own.kind))
        for name, own in forms.references(kind)
    ]
    return site.page(
        request, "listing.html", kind=kind, records=records, after=after, wanted=wanted,
        statuses=[status.value for status in Status], named=named,
        controls=forms.controls(kind.fields),
        inside={name: forms.controls(own, name) for name, own in kind.inside.items()},
        metrics=forms.measurable(), tests=TESTS,
    )  # fmt: skip


def _finished(asked: Questions, caller: str, kind: str) -> tuple[Record, ...]:
    """The caller's newest questions with a report that can be named."""
    records, _ = asked.listing(caller, kind, None, PAGE)
    return tuple(own for own in records if own.status is Status.SUCCEEDED and own.testset is None)


async def submit(
    request: Request,
    kind: OfKind,
    caller: Visitor,
    asked: Asked,
    settings: Limits,
    parser: Parse,
) -> Response:
    """Ask the question of a form; its page is where to go on."""
    async with form_of(request, settings) as form, parser.work(size_of(form)) as work:
        brought = await asked_with(request, caller, kind, work, partial(_sent, form))
        if form.get("do") == "look":
            kept = await work.run(_packed, form, kind.path, settings)
            return await run_in_threadpool(_looked, request, kind, brought.asked, kept)
    record, _ = await run_in_threadpool(
        asked.submit,
        kind.path,
        brought.asked,
        caller.name,
        None,
        caller.budget,
        brought.notes,
    )
    return RedirectResponse(f"/{record.kind}/{record.id}", 303)


def _packed(form: FormData, path: str, settings: Settings) -> str:
    for _, part in form.multi_items():
        if not isinstance(part, str):
            part.file.seek(0)
    return packed(_sent(form, path, settings))


def _sent(form: FormData, path: str, settings: Settings) -> Sent:
    kind = KINDS[path]
    kept, example = form.get("kept"), form.get("example")
    if isinstance(kept, str):
        return unpacked(kept, settings)
    if isinstance(example, str) and kind is COMPARISONS:
        return read_form(_example(), kind, settings)
    if isinstance(example, str):
        return forms.example_of(kind, example)
    return forms.sent(form, kind, settings)


def _looked(request: Request, kind: Kind[Any], question: Question, kept: str) -> Response:
    """What was recognised, to be looked at before anything is computed."""
    found = recognised(kind, question)
    return site.page(
        request,
        "recognised.html",
        kind=kind,
        found=found,
        sentences=() if kind is COMPARISONS else kind.recognised(question),
        about=question.about,
        seconds=question.seconds,
        kept=kept,
    )


def _example() -> FormData:
    if not EXAMPLE.is_dir():
        raise InputError("The example is not installed here.")
    files = [
        ("references", EXAMPLE / "reference.en"),
        ("documents", EXAMPLE / "documents.txt"),
        *(("systems", path) for path in sorted((EXAMPLE / "systems").iterdir())),
    ]
    brought = [(part, file_of(path.name, path.read_bytes())) for part, path in files]
    return forms.with_request(brought, EXAMPLE_REQUEST)


async def question(
    request: Request,
    found: Found,
    caller: Visitor,
    asked: Asked,
    watch: Watch,
    as_page: AsPage,
    view: Viewed,
    wanted: SegmentsWanted,
) -> Response:
    """A question: how far it is, or its report."""
    if not as_page:
        return answers.unless_held(request, answers.question(found))
    kind, here = KINDS[found.kind], f"/{found.kind}/{found.id}"
    if found.status is not Status.SUCCEEDED:
        workers = 1 if found.status.finished else await run_in_threadpool(asked.workers)
        place = await run_in_threadpool(asked.place, found.id, caller.name)
        return site.page(
            request, "state.html", record=found, kind=kind, workers=workers, place=place
        )
    stored = await run_in_threadpool(asked.report, found.id, caller.name)
    told = await in_turn(shown, found, stored, view, here)
    link = await run_in_threadpool(asked.link, found.id, caller.name)
    seconds = BESIDE_SECONDS if view.a is None else MAKING_SECONDS
    opened = await _opened(found, caller.name, watch, told.view, wanted, seconds)
    return await in_turn(
        site.page, request, "report.html", record=found, kind=kind, here=here, shown=told,
        pair=opened, link=link, own=True,
    )  # fmt: skip


async def pair_page(
    request: Request,
    found: Found,
    caller: Visitor,
    watch: Watch,
    as_page: AsPage,
    view: Viewed,
    wanted: SegmentsWanted,
) -> Response:
    """One pair alone: its numbers, its distribution, the segments behind its difference."""
    if not as_page:
        told = await behind(found, caller.name, watch, view, wanted, view.choice)
        return await in_turn(shared_out, told, wanted)
    opened = await _opened(found, caller.name, watch, view, wanted)
    return site.page(request, "pair-page.html", pair=opened, here=f"/{found.kind}/{found.id}")


async def _opened(
    found: Record,
    caller: str,
    watch: Watcher,
    view: View,
    wanted: SegmentOptions,
    seconds: float = MAKING_SECONDS,
) -> Panel | str | None:
    """The pair that is read at the moment; why it cannot be read yet; or nothing."""
    if view.a is None or view.b is None:
        return None
    try:
        told = await behind(found, caller, watch, view, wanted, view.choice, seconds)
    except NotReadyError as error:
        return error.message
    here = f"/{found.kind}/{found.id}"
    return await in_turn(panel, told, wanted, view.fields, here)


async def report(
    request: Request, caller: Visitor, asked: Asked, found: Found, wish: Wished, choice: Decided
) -> Response:
    """The report in any format."""
    stored = await run_in_threadpool(asked.report, found.id, caller.name)
    return answers.unless_held(
        request, await in_turn(answers.report, stored, found, wish, choice.choice)
    )


async def picture(
    request: Request,
    caller: Visitor,
    watch: Watch,
    found: Found,
    name: Annotated[str, Path(alias="picture")],
    options: PictureNamed,
) -> Response:
    """A picture that follows its reader's choice of light or dark."""
    svg = await draw(name, found, caller.name, watch, options)
    return answers.picture(request, adaptive(svg))


async def follow(
    caller: Visitor, watch: Watch, settings: Limits, found: Found, stream: Stream
) -> AsyncIterator[ServerSentEvent]:
    """Progress, as the service tells it."""
    async for event in events(caller, watch, settings, found, stream):
        yield event


def remove(caller: Visitor, asked: Asked, found: Found) -> Response:
    """Cancel it, or delete it where it has finished."""
    cancelled = asked.remove(found.id, caller.name)
    onward = f"/{found.kind}/{found.id}" if cancelled else f"/{found.kind}"
    return RedirectResponse(onward, 303)


async def describe(
    request: Request, caller: Visitor, asked: Asked, found: Found, settings: Limits
) -> Response:
    """Write title and tags on it."""
    async with form_of(request, settings) as form:
        notes, _ = apart(forms.written(form))
    await run_in_threadpool(asked.describe, found.id, caller.name, notes)
    return RedirectResponse(f"/{found.kind}/{found.id}", 303)


def share(caller: Visitor, asked: Asked, found: Found) -> Response:
    """Give a report a public link."""
    asked.share(found.id, caller.name)
    return RedirectResponse(f"/{found.kind}/{found.id}#keep", 303)


def unshare(caller: Visitor, asked: Asked, found: Found) -> Response:
    """Take it back."""
    asked.unshare(found.id, caller.name)
    return RedirectResponse(f"/{found.kind}/{found.id}#keep", 303)


def router_of(kind: Kind[Any]) -> APIRouter:
    """The pages of one kind of question; every kind has the same."""
    made = routing(prefix=f"/{kind.path}", include_in_schema=False)
    name = kind.name.replace(" ", "_")
    add = made.add_api_route
    add("", listing, name=f"page_of_{name}s")
    add("", submit, methods=["POST"], name=f"ask_{name}")
    add("/{id}", question, name=f"page_of_{name}")
    add("/{id}/pairs", pair_page, name=f"pair_of_{name}")
    add("/{id}/report", report, name=f"download_{name}")
    add("/{id}/pictures/{picture}.svg", picture, name=f"picture_of_{name}")
    add("/{id}/events", follow, name=f"watch_{name}", response_class=EventSourceResponse)
    add("/{id}/describe", describe, methods=["POST"], name=f"write_on_{name}")
    add("/{id}/share", share, methods=["POST"], name=f"share_{name}")
    add("/{id}/unshare", unshare, methods=["POST"], name=f"unshare_{name}")
    add("/{id}/delete", remove, methods=["POST"], name=f"remove_{name}")
    return made


for _kind_of_question in KINDS.values():
    router.routes.extend(router_of(_kind_of_question).routes)


async def _linked(link: Annotated[str, Path()], asked: Asked) -> tuple[Record, str]:
    return await run_in_threadpool(asked.shared, link)


Linked = Annotated[tuple[Record, str], Depends(_linked)]


@router.get("/shared/{link}", include_in_schema=False, dependencies=[Depends(noted)])
async def shared(
    request: Request, link: str, linked: Linked, asked: Asked, view: Viewed, as_page: AsPage
) -> Response:
    """A report for everybody who has its link: to be read, without what was uploaded."""
    record, caller = linked
    stored = await run_in_threadpool(asked.report, record.id, caller)
    if as_page:
        made = await in_turn(_page, request, record, stored, view, f"/shared/{link}")
    else:
        made = await in_turn(answers.report, stored, record, Wish("application/json"))
    made.headers["X-Robots-Tag"] = "noindex"
    return made


def _page(request: Request, record: Record, stored: bytes, view: View, here: str) -> Response:
    told = shown(record, stored, view, here, opens=False)
    return site.page(
        request, "report.html", record=record, kind=KINDS[record.kind], here=here, shown=told,
        pair=None, link=None, own=False,
    )  # fmt: skip


@router.get("/shared/{link}/report", include_in_schema=False)
async def shared_report(
    request: Request, linked: Linked, asked: Asked, wish: Wished, choice: Decided
) -> Response:
    """The report behind a link, in any format."""
    record, caller = linked
    stored = await run_in_threadpool(asked.report, record.id, caller)
    return answers.unless_held(
        request, await in_turn(answers.report, stored, record, wish, choice.choice)
    )


@router.get("/shared/{link}/pictures/{picture}.svg", include_in_schema=False)
async def shared_picture(
    request: Request,
    linked: Linked,
    watch: Watch,
    name: Annotated[str, Path(alias="picture")],
    options: PictureNamed,
) -> Response:
    """A picture of the report behind a link."""
    record, caller = linked
    svg = await draw(name, record, caller, watch, options)
    return answers.picture(request, adaptive(svg))
