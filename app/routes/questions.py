"""The routes of questions, the same for every kind, and of public links to their reports."""

from __future__ import annotations

import re
from collections.abc import AsyncIterator, Callable
from functools import partial
from typing import Annotated, Any

from fastapi import APIRouter, Depends, Header, Path, Query, Request
from fastapi.sse import EventSourceResponse, ServerSentEvent
from pydantic import AfterValidator
from pydantic_core import PydanticCustomError
from starlette.concurrency import run_in_threadpool
from starlette.responses import RedirectResponse, Response

from app.answers import questions as answers
from app.answers.options import (
    Decided,
    PairNamed,
    PartChosen,
    PictureNamed,
    SegmentOptions,
    SegmentsChosen,
    View,
    Viewed,
)
from app.answers.questions import answer as shared_out
from app.answers.questions import behind, distribution_of, draw
from app.http.auth import Caller, noted
from app.http.negotiation import (
    Wait,
    Wish,
    Wished,
    choose_picture_format,
    require_match,
    shows_pages,
    wants_page,
)
from app.http.problems import stream_error
from app.http.state import Cursor, Limit, Limits, OfKind, QuestionStore, in_turn, routing
from app.http.waiting import MAKING_SECONDS, Stream, Watch, Watcher
from app.pages import forms, site
from app.pages.forms import recognised
from app.pages.panel import Panel, panel
from app.pages.reports import view_of
from app.requests.bodies import Parse, QuestionFilter, Work, Written, form_of, size_of
from app.requests.questions import Read, asked_with
from app.schema import document
from app.schema.models import DistributionBody, QuestionBody, SegmentsBody, listing_model
from sigtest.errors import SigtestError
from sigtest.kinds import KINDS, Kind, Question
from sigtest.kinds.comparisons import Comparisons
from sigtest.render.drawing import adaptive
from sigtest.requests.notes import apart
from sigtest.significance import TESTS
from workers.errors import NotReadyError
from workers.questions import Questions, Record, Status

PAGE = 20
BESIDE_SECONDS = 0.5  # that a report waits for its only pair, if nobody asked for that
COMPARISONS = KINDS["comparisons"]

KEY = re.compile("[!-~]{1,255}")


def _plain(key: str | None) -> str | None:
    """A key that fits into a header; the error of another one says in words what it may be."""
    if key is not None and not KEY.fullmatch(key):
        raise PydanticCustomError(
            "key", "A key is 1 to 255 letters, digits and signs of ASCII, without spaces."
        )
    return key


Key = Annotated[
    str | None,
    AfterValidator(_plain),
    Header(
        alias="Idempotency-Key",
        description="The same key always returns the same question, as long as that is kept; "
        "with other content it is refused. 1 to 255 letters, digits and signs of ASCII, without "
        "spaces.",
        json_schema_extra={"pattern": f"^{KEY.pattern}$"},
    ),
]

Id = Annotated[str, Path(alias="id", description="Id that the submission was answered with.")]


async def _stored(
    question_id: Id, kind: OfKind, caller: Caller, questions: QuestionStore
) -> Record:
    return await run_in_threadpool(questions.find, question_id, caller.name, kind.path)


Stored = Annotated[Record, Depends(_stored)]


async def submit(
    kind: OfKind,
    caller: Caller,
    questions: QuestionStore,
    watch: Watch,
    question: Read,
    wait: Wait,
    key: Key = None,
) -> Response:
    """Ask a question.

    Equal content and an equal `Idempotency-Key` both return the question that exists; one that
    failed or was cancelled runs again. 200 says that the report is there, 202 that it is not yet.
    `Prefer: wait=N` waits up to N seconds for the end.
    """
    brought = question.pop()
    record, _ = await run_in_threadpool(
        questions.submit,
        kind.path,
        brought.content,
        caller.name,
        key,
        caller.budget,
        brought.notes,
    )
    del brought  # its texts are not held while the request waits
    record = await watch.settled(record, caller.name, wait)
    return answers.submitted(record, wait)


def listing(
    request: Request,
    kind: OfKind,
    caller: Caller,
    questions: QuestionStore,
    settings: Limits,
    wanted: QuestionFilter,
    cursor: Cursor = None,
    limit: Limit = PAGE,
) -> Response:
    """The caller's questions of this kind, newest first.

    A page of a listing that is filtered may have fewer entries than its limit before the last.
    """
    most = min(limit, settings.max_page)
    records, after = questions.listing(caller.name, kind.path, cursor, most, wanted)
    if not wants_page(request):
        return answers.listing(kind, records, after)
    named = [
        forms.FinishedQuestions(
            name, KINDS[own.kind].name, _finished(questions, caller.name, own.kind)
        )
        for name, own in forms.references(kind)
    ]
    return site.page(
        request, "listing.html", kind=kind, records=records, after=after, wanted=wanted,
        statuses=[status.value for status in Status], named=named,
        controls=forms.controls(kind.fields),
        compared=forms.controls(forms.COMPARED, kind.compares) if kind.compares else (),
        inside={name: forms.controls(own, name) for name, own in kind.inside.items()},
        metrics=forms.measurable(), tests=TESTS,
    )  # fmt: skip


def _finished(questions: Questions, caller: str, kind: str) -> tuple[Record, ...]:
    """The caller's newest questions with a report that can be named."""
    records, _ = questions.listing(caller, kind, None, PAGE)
    return tuple(own for own in records if own.status is Status.SUCCEEDED and own.testset is None)


async def status(
    request: Request, caller: Caller, watch: Watch, record: Stored, wait: Wait
) -> Response:
    """How far it is. `If-None-Match` and `Prefer: wait=N` save polling."""
    record = await watch.settled(record, caller.name, wait)
    return answers.unless_held(request, answers.question(record, wait=wait))


async def report(
    request: Request, caller: Caller, questions: QuestionStore, record: Stored, wish: Wished
) -> Response:
    """The report, in the format that `Accept` or `?format=` asks for."""
    stored = await run_in_threadpool(questions.report, record.id, caller.name)
    return answers.unless_held(request, await in_turn(answers.report, stored, record, wish))


async def decided_report(
    request: Request,
    caller: Caller,
    questions: QuestionStore,
    record: Stored,
    wish: Wished,
    choice: Decided,
    part: PartChosen,
) -> Response:
    """The report, in the format that `Accept` or `?format=` asks for.

    `alpha` and `correction` decide it anew from what was counted; nothing is drawn, so intervals
    keep their level. `metric`, `test` and `system` show a part of it, in which every number and
    decision is that of the whole.
    """
    stored = await run_in_threadpool(questions.report, record.id, caller.name)
    made = await in_turn(answers.report, stored, record, wish, choice.choice, part)
    return answers.unless_held(request, made)


async def picture(
    request: Request,
    caller: Caller,
    watch: Watch,
    record: Stored,
    name: Annotated[str, Path(alias="picture", description="Which picture.")],
    options: PictureNamed,
) -> Response:
    """A picture of the report, as SVG, PDF or PNG by its suffix, `format` or `Accept`.

    A worker draws distributions when they are first asked for; 409 with `Retry-After` where that
    takes longer than this request.
    """
    name, suffix = choose_picture_format(request, name, options.format)
    svg = await draw(name, record, caller.name, watch, options)
    # that of a page follows its reader's choice of light or dark
    svg = adaptive(svg) if shows_pages(request) and suffix == "svg" else svg
    return await answers.picture(request, svg, suffix)


async def distribution(
    caller: Caller,
    watch: Watch,
    record: Stored,
    options: PairNamed,
    values: Annotated[bool, Query(description="Every pseudo-statistic as well.")] = False,
) -> Response:
    """The pseudo-statistics that one pair's observed difference is held against."""
    drawn = await distribution_of(record, caller.name, watch, options)
    return await in_turn(answers.distribution, drawn, values)


async def segments(
    caller: Caller, watch: Watch, record: Stored, options: PairNamed, wanted: SegmentsChosen
) -> Response:
    """The segments that made the difference between two systems, each with its share of it.

    Shares sum to the difference: plain differences over n where scores are means, and otherwise the
    mean effect of a segment on the way from the sums of b to those of a (Aumann & Shapley 1974).
    """
    shown = await behind(record, caller.name, watch, options, wanted)
    return await in_turn(shared_out, shown, wanted)


async def events(
    caller: Caller, watch: Watch, settings: Limits, record: Stored, stream: Stream
) -> AsyncIterator[ServerSentEvent]:
    """Progress as Server-Sent Events: `progress` at every change, at last `finished`."""
    try:
        async for now in watch.changes(record, caller.name, settings.max_event_seconds):
            told = "finished" if now.status.finished else "progress"
            data = QuestionBody.of(now).model_dump_json()
            yield ServerSentEvent(event=told, id=now.etag, raw_data=data)
    except SigtestError as error:  # the status code has been sent already
        yield ServerSentEvent(event="error", raw_data=stream_error(error))


def describe(
    request: Request, caller: Caller, questions: QuestionStore, record: Stored, written: Written
) -> Response:
    """Write title, tags or metadata on it; what is left out stays as it is."""
    check = partial(require_match, request)
    return answers.question(questions.describe(record.id, caller.name, written, check))


def remove(request: Request, caller: Caller, questions: QuestionStore, record: Stored) -> Response:
    """Cancel it, or delete it with what was uploaded where it has finished."""
    cancelled = questions.remove(record.id, caller.name, partial(require_match, request))
    return answers.question(cancelled) if cancelled else Response(status_code=204)


async def ask(
    request: Request,
    kind: OfKind,
    caller: Caller,
    questions: QuestionStore,
    settings: Limits,
    parser: Parse,
) -> Response:
    """Ask the question of a form; its page is where to go on."""
    async with form_of(request, settings) as form, Work(parser, size_of(form)) as work:
        brought = await asked_with(request, caller, kind, work, partial(forms.read, form))
        if form.get("do") == "look":
            kept = await work.run(forms.repacked, form, kind.path, settings)
            return await run_in_threadpool(_looked, request, kind, brought.content, kept)
    record, _ = await run_in_threadpool(
        questions.submit,
        kind.path,
        brought.content,
        caller.name,
        None,
        caller.budget,
        brought.notes,
    )
    return RedirectResponse(f"/{record.kind}/{record.id}", 303)


def _looked(request: Request, kind: Kind[Any], question: Question, kept: str) -> Response:
    """What was recognised, to be looked at before anything is computed."""
    entries = recognised(kind, question)
    return site.page(
        request,
        "recognised.html",
        kind=kind,
        found=entries,
        sentences=() if kind is COMPARISONS else kind.recognised(question),
        about=question.about,
        seconds=question.seconds,
        kept=kept,
    )


async def question(
    request: Request,
    record: Stored,
    caller: Caller,
    questions: QuestionStore,
    watch: Watch,
    view: Viewed,
    wanted: SegmentsChosen,
) -> Response:
    """A question: how far it is, or its report."""
    if not wants_page(request):
        return answers.unless_held(request, answers.question(record))
    kind, here = KINDS[record.kind], f"/{record.kind}/{record.id}"
    if record.status is not Status.SUCCEEDED:
        workers = 1 if record.status.finished else await run_in_threadpool(questions.workers)
        place = await run_in_threadpool(questions.place, record.id, caller.name)
        return site.page(
            request, "state.html", record=record, kind=kind, workers=workers, place=place
        )
    stored = await run_in_threadpool(questions.report, record.id, caller.name)
    told = await in_turn(view_of, record, stored, view, here)
    link = await run_in_threadpool(questions.link, record.id, caller.name)
    seconds = BESIDE_SECONDS if view.a is None else MAKING_SECONDS
    opened = await _opened(record, caller.name, watch, told.view, wanted, seconds)
    return await in_turn(
        site.page, request, "report.html", record=record, kind=kind, here=here, shown=told,
        pair=opened, link=link, own=True,
    )  # fmt: skip


async def pair_page(
    request: Request,
    record: Stored,
    caller: Caller,
    watch: Watch,
    view: Viewed,
    wanted: SegmentsChosen,
) -> Response:
    """One pair alone: its numbers, its distribution, the segments behind its difference."""
    if not wants_page(request):
        told = await behind(record, caller.name, watch, view, wanted, view.choice)
        return await in_turn(shared_out, told, wanted)
    opened = await _opened(record, caller.name, watch, view, wanted)
    return site.page(request, "pair-page.html", pair=opened, here=f"/{record.kind}/{record.id}")


async def _opened(
    record: Record,
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
        told = await behind(record, caller, watch, view, wanted, view.choice, seconds)
    except NotReadyError as error:
        return error.message
    here = f"/{record.kind}/{record.id}"
    return await in_turn(panel, told, wanted, view.fields, here)


def remove_from_page(caller: Caller, questions: QuestionStore, record: Stored) -> Response:
    """Cancel it, or delete it where it has finished."""
    cancelled = questions.remove(record.id, caller.name)
    onward = f"/{record.kind}/{record.id}" if cancelled else f"/{record.kind}"
    return RedirectResponse(onward, 303)


async def describe_from_page(
    request: Request, caller: Caller, questions: QuestionStore, record: Stored, settings: Limits
) -> Response:
    """Write title and tags on it."""
    async with form_of(request, settings) as form:
        notes, _ = apart(forms.written(form))
    await run_in_threadpool(questions.describe, record.id, caller.name, notes)
    return RedirectResponse(f"/{record.kind}/{record.id}", 303)


def share(caller: Caller, questions: QuestionStore, record: Stored) -> Response:
    """Give a report a public link."""
    questions.share(record.id, caller.name)
    return RedirectResponse(f"/{record.kind}/{record.id}#keep", 303)


def unshare(caller: Caller, questions: QuestionStore, record: Stored) -> Response:
    """Take it back."""
    questions.unshare(record.id, caller.name)
    return RedirectResponse(f"/{record.kind}/{record.id}#keep", 303)


def router_of(kind: Kind[Any]) -> APIRouter:
    """All routes of a kind: for programs, and for people."""
    router = APIRouter()
    name = kind.name.replace(" ", "_")
    shown = decided_report if kind.decides else report
    programs = routing(prefix=f"/v1/{kind.path}", tags=[kind.path], responses=document.PROBLEMS)
    add = programs.add_api_route
    listed: document.Described = {200: {"model": listing_model(kind)}}
    held, drawn = document.CACHING, document.pictures(kind)
    add("", submit, methods=["POST"], status_code=202, name=f"submit_{name}",
        openapi_extra=document.submission(kind), responses=document.SUBMITTED)  # fmt: skip
    add("", listing, name=f"list_{kind.path.replace('-', '_')}", responses=listed)
    add("/{id}", status, name=f"get_{name}", openapi_extra=document.POLLING,
        responses=document.STATUS)  # fmt: skip
    add("/{id}", describe, methods=["PATCH"], name=f"describe_{name}",
        openapi_extra=document.DESCRIBE, responses=document.DESCRIBED)  # fmt: skip
    add("/{id}", remove, methods=["DELETE"], name=f"delete_{name}",
        openapi_extra=document.MATCHED, responses=document.REMOVAL)  # fmt: skip
    add("/{id}/report", shown, name=f"get_{name}_report", openapi_extra=held,
        responses=document.report(kind))  # fmt: skip
    add("/{id}/plots/{picture}", picture, name=f"draw_{name}", openapi_extra=drawn,
        response_class=Response, responses=document.PICTURE)  # fmt: skip
    add("/{id}/events", events, name=f"follow_{name}", response_class=EventSourceResponse,
        responses=document.EVENTS)  # fmt: skip
    if isinstance(kind, Comparisons):
        add("/{id}/segments", segments, name=f"get_{name}_segments",
            responses={200: {"model": SegmentsBody}})  # fmt: skip
        add("/{id}/distribution", distribution, name=f"get_{name}_distribution",
            responses={200: {"model": DistributionBody}})  # fmt: skip
    people = routing(prefix=f"/{kind.path}", include_in_schema=False)
    add = people.add_api_route
    add("", listing, name=f"page_of_{name}s")
    add("", ask, methods=["POST"], name=f"ask_{name}")
    add("/{id}", question, name=f"page_of_{name}")
    add("/{id}/pairs", pair_page, name=f"pair_of_{name}")
    add("/{id}/report", shown, name=f"download_{name}")
    add("/{id}/pictures/{picture}.svg", picture, name=f"picture_of_{name}")
    add("/{id}/events", events, name=f"watch_{name}", response_class=EventSourceResponse)
    for action, route in FROM_PAGES.items():
        add(f"/{{id}}/{action}", route, methods=["POST"], name=f"{action}_{name}_from_page")
    router.routes.extend([*programs.routes, *people.routes])
    return router


FROM_PAGES: dict[str, Callable[..., Any]] = {
    "describe": describe_from_page,
    "share": share,
    "unshare": unshare,
    "delete": remove_from_page,
}


router = routing()


async def _linked(link: Annotated[str, Path()], questions: QuestionStore) -> tuple[Record, str]:
    return await run_in_threadpool(questions.shared, link)


Linked = Annotated[tuple[Record, str], Depends(_linked)]


@router.get("/shared/{link}", include_in_schema=False, dependencies=[Depends(noted)])
async def shared(
    request: Request, link: str, linked: Linked, questions: QuestionStore, view: Viewed
) -> Response:
    """A report for everybody who has its link: to be read, without what was uploaded."""
    record, caller = linked
    stored = await run_in_threadpool(questions.report, record.id, caller)
    if wants_page(request):
        made = await in_turn(_shared_page, request, record, stored, view, f"/shared/{link}")
    else:
        made = await in_turn(answers.report, stored, record, Wish("application/json"))
    made.headers["X-Robots-Tag"] = "noindex"
    return made


def _shared_page(
    request: Request, record: Record, stored: bytes, view: View, here: str
) -> Response:
    told = view_of(record, stored, view, here, opens=False)
    return site.page(
        request, "report.html", record=record, kind=KINDS[record.kind], here=here, shown=told,
        pair=None, link=None, own=False,
    )  # fmt: skip


@router.get("/shared/{link}/report", include_in_schema=False)
async def shared_report(
    request: Request, linked: Linked, questions: QuestionStore, wish: Wished, choice: Decided
) -> Response:
    """The report behind a link, in any format."""
    record, caller = linked
    stored = await run_in_threadpool(questions.report, record.id, caller)
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
    return await answers.picture(request, adaptive(svg))
