"""The routes of questions, the same for every kind, and of public links to their reports.

A route answers programs below /v1 and people elsewhere: what a form of a page asks leads on to a
page.
"""

import json
from collections.abc import AsyncIterator, Callable, Mapping
from dataclasses import dataclass
from functools import partial
from typing import Annotated, Any, cast

from fastapi import APIRouter, Depends, Header, Path, Query, Request
from fastapi.sse import EventSourceResponse, ServerSentEvent
from pydantic import BaseModel
from starlette.concurrency import run_in_threadpool
from starlette.responses import RedirectResponse, Response

from app import answers
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
from app.http.problems import KEY, KEY_WORDS, of_error
from app.http.state import (
    Cursor,
    Limit,
    Limits,
    OfKind,
    QuestionStore,
    in_turn,
    kind_of,
    routing,
)
from app.http.waiting import MAKING_SECONDS, Stream, Watch, Watcher
from app.models import LinkBody, LinkRequest, QuestionBody
from app.pages import forms, site
from app.pages.reports import Panel, panel, view_of
from app.requests.bodies import Written, has_body, read
from app.requests.forms import references
from app.requests.questions import Read
from sigtest.errors import SigtestError
from sigtest.kinds import KINDS, Kind
from sigtest.kinds.comparisons import Comparisons
from sigtest.render.drawing import adaptive
from workers.errors import GoneError, NotFoundError, NotReadyError
from workers.questions import Questions, Record, Status
from workers.store.lasting import Shelf

PAGE = 20
RACE_SECONDS = 2  # that the report of a race waits for scores just sent
BESIDE_SECONDS = 0.5  # that a report waits for its only pair, if nobody asked for that
Key = Annotated[
    str | None,
    Header(
        alias="Idempotency-Key",
        description="The same key returns the same question, for the service's retention; "
        f"with other content it is refused. {KEY_WORDS}.",
        pattern=KEY,
    ),
]
Picture = Annotated[str, Path(alias="picture", description="Which picture.")]
Values = Annotated[bool, Query(description="Every pseudo-statistic as well.")]


def _shelf(request: Request, kind: str) -> Any:
    """All things of a kind that may have a public link."""
    return getattr(request.state, f"{kind}s")


async def _stored(request: Request, questions: QuestionStore, caller: Caller) -> Record:
    """A question of who asks, or one that a race of theirs shows."""
    name, path = request.path_params["id"], request.url.path.removeprefix("/v1")
    if not path.startswith("/races/"):
        kind = await kind_of(request)
        return await run_in_threadpool(questions.find, name, caller.name, kind.path)
    look = partial(request.state.races.current, name, caller.name)
    watch: Watcher = request.state.watcher
    _, shown = await watch.until(name, look, lambda own: not own[0].pending, RACE_SECONDS)
    if shown is None:
        raise NotReadyError("There is no report of this race yet; send scores, or ask again.")
    return shown


def _linked(request: Request, questions: QuestionStore) -> Record:
    """The question that a public link leads to."""
    noted(request)
    link = questions.linked(request.path_params["link"])
    return cast("Record", _shelf(request, link.kind).behind(link))


Target = Annotated[Record, Depends(_stored)]
Linked = Annotated[Record, Depends(_linked)]


def page_of(record: Record) -> str:
    """The address of its page."""
    return f"/{record.kind}/{record.id}"


def as_it_stands(record: Record, wait: int | None = None, status: int = 200) -> Response:
    """A question; `wait` are the seconds that were granted to `Prefer: wait`."""
    waited = answers.waited(not record.status.finished, wait)
    body = QuestionBody.of(record).model_dump_json()
    return answers.in_json(body, status, {"ETag": f'"{record.etag}"', **waited})


async def submit(
    request: Request,
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
    draft = question.pop()
    if kept := draft.besides.get("kept"):
        looked = await in_turn(forms.looked_at, kind, draft.content)
        return await in_turn(site.page, request, "recognised.html", kept=kept, **looked)
    record, _ = await run_in_threadpool(
        questions.submit, kind.path, draft.content, caller.name, key, caller.budget, draft.notes
    )
    del draft  # its texts are not held while the request waits
    if shows_pages(request):
        return RedirectResponse(page_of(record), 303)
    record = await watch.settled(record, wait)
    answer = as_it_stands(record, wait, 200 if record.status is Status.SUCCEEDED else 202)
    answer.headers["Location"] = f"/v1{page_of(record)}"
    return answer


def listing(
    request: Request,
    kind: OfKind,
    caller: Caller,
    questions: QuestionStore,
    settings: Limits,
    wanted: answers.WantedQuestions,
    cursor: Cursor = None,
    limit: Limit = PAGE,
) -> Response:
    """The caller's questions of this kind, newest first.

    A page of a listing that is filtered may have fewer entries than its limit before the last.
    """
    most, chosen = min(limit, settings.max_page), wanted.filter
    records, after = questions.listing(caller.name, cursor, most, chosen, kind.path)
    if not wants_page(request):
        entries = [QuestionBody.of(record).model_dump(mode="json") for record in records]
        body = {kind.path: entries, "next_cursor": after}
        return answers.in_json(json.dumps(body, ensure_ascii=False))
    named = {
        name: (KINDS[own.kind].name, _finished(questions, caller.name, own.kind))
        for name, own in references(kind)
    }
    return site.page(
        request, "listing.html", kind=kind, records=records, after=after, wanted=chosen,
        statuses=[status.value for status in Status], named=named, **forms.choices(kind),
    )  # fmt: skip


def _finished(questions: Questions, caller: str, kind: str) -> list[Record]:
    """The caller's newest questions with a report that can be named."""
    records, _ = questions.listing(caller, None, PAGE, listed=kind)
    return [own for own in records if own.status is Status.SUCCEEDED and own.testset is None]


async def status(request: Request, watch: Watch, target: Target, wait: Wait) -> Response:
    """How far it is. `If-None-Match` and `Prefer: wait=N` save polling."""
    record = await watch.settled(target, wait)
    return answers.unless_held(request, as_it_stands(record, wait))


async def report(
    request: Request, questions: QuestionStore, target: Target, wish: Wished
) -> Response:
    """The report, in the format that `Accept` or `?format=` asks for."""
    stored = await run_in_threadpool(questions.report, target.id, target.caller)
    return answers.unless_held(request, await in_turn(answers.report, stored, target, wish))


async def decided_report(
    request: Request,
    questions: QuestionStore,
    target: Target,
    wish: Wished,
    choice: answers.Decided,
    part: answers.PartChosen,
) -> Response:
    """The report, in the format that `Accept` or `?format=` asks for.

    `alpha` and `correction` decide it anew from what was counted; nothing is drawn, so intervals
    keep their level. `metric`, `test` and `system` show a part of it, in which every number and
    decision is that of the whole.
    """
    stored = await run_in_threadpool(questions.report, target.id, target.caller)
    made = await in_turn(answers.report, stored, target, wish, choice.choice, part)
    return answers.unless_held(request, made)


async def picture(
    request: Request, watch: Watch, target: Target, name: Picture, chosen: answers.PictureNamed
) -> Response:
    """A picture of the report, as SVG, PDF or PNG by its suffix, `format` or `Accept`.

    A worker draws distributions when they are first asked for; 409 with `Retry-After` where that
    takes longer than this request.
    """
    page = shows_pages(request)
    named = f"{name}.svg" if page else name
    name, suffix = choose_picture_format(request, named, chosen.format)
    svg = await answers.draw(name, target, watch, chosen)
    # that of a page follows its reader's choice of light or dark
    svg = adaptive(svg) if page and suffix == "svg" else svg
    return await answers.picture(request, svg, suffix)


async def distribution(
    watch: Watch, target: Target, pair: answers.PairNamed, values: Values = False
) -> Response:
    """The pseudo-statistics that one pair's observed difference is held against."""
    return await answers.distribution(target, watch, pair, values)


async def segments(
    watch: Watch, target: Target, pair: answers.PairNamed, wanted: answers.SegmentsChosen
) -> Response:
    """The segments that made the difference between two systems, each with its share of it.

    Shares sum to the difference: plain differences over n where scores are means, and otherwise the
    mean effect of a segment on the way from the sums of b to those of a (Aumann & Shapley 1974).
    """
    shown = await answers.pair_view(target, watch, pair, wanted)
    return await in_turn(shown.answer)


async def events(
    watch: Watch, settings: Limits, target: Target, stream: Stream
) -> AsyncIterator[ServerSentEvent]:
    """Progress as Server-Sent Events: `progress` at every change, at last `finished`."""
    try:
        async for now in watch.changes(target, settings.max_event_seconds):
            event = "finished" if now.status.finished else "progress"
            data = QuestionBody.of(now).model_dump_json()
            yield ServerSentEvent(event=event, id=now.etag, raw_data=data)
    except SigtestError as error:  # the status code has been sent already
        yield ServerSentEvent(event="error", raw_data=bytes(of_error(error).body).decode())


def describe(
    request: Request, questions: QuestionStore, target: Target, written: Written
) -> Response:
    """Write title, tags or metadata on it; what is left out stays as it is."""
    check = partial(require_match, request)
    record = questions.describe(target.id, target.caller, written, check)
    return RedirectResponse(page_of(record), 303) if shows_pages(request) else as_it_stands(record)


def remove(request: Request, questions: QuestionStore, target: Target) -> Response:
    """Cancel it, or delete it with what was uploaded where it has finished."""
    check = partial(require_match, request)
    cancelled = questions.remove(target.id, target.caller, check)
    if shows_pages(request):
        onward = page_of(cancelled) if cancelled else f"/{target.kind}"
        return RedirectResponse(onward, 303)
    return as_it_stands(cancelled) if cancelled else Response(status_code=204)


@dataclass(frozen=True)
class Place:
    """Something of who asks that may have a public link.

    Attributes:
        shelf: What it stands on.
        name: Its id.
        caller: Whose it is.
    """

    shelf: Shelf[Any]
    name: str
    caller: str


async def _place(request: Request, questions: QuestionStore, caller: Caller) -> Place:
    name, path = request.path_params["id"], request.url.path.removeprefix("/v1").split("/")[1]
    kind = {"testsets": "testset", "boards": "testset", "races": "race"}.get(path, "question")
    place = Place(_shelf(request, kind), name, caller.name)
    if kind == "question":
        await _stored(request, questions, caller)
    else:
        await run_in_threadpool(place.shelf.find, name, caller.name)
    return place


async def _origins(request: Request) -> tuple[str, ...]:
    return (await read(request, LinkRequest.of)).origins if has_body(request) else ()


OwnPlace = Annotated[Place, Depends(_place)]
Origins = Annotated[tuple[str, ...], Depends(_origins)]


def get_link(place: OwnPlace) -> LinkBody:
    """The public link.

    Raises:
        NotFoundError: There is none.
    """
    link = place.shelf.link(place.name)
    if link is None:
        raise NotFoundError("It has no public link; PUT makes one.")
    return LinkBody.of(link)


def put_link(request: Request, place: OwnPlace, origins: Origins) -> LinkBody:
    """Make a public link, or say which other sites may show it; the address stays.

    With it everybody reads the report, or what the board shows now, in every format and with its
    pictures, and none of the texts.
    """
    made = LinkBody.of(place.shelf.share(place.name, place.caller, origins))
    return _back(request) if shows_pages(request) else made


def delete_link(request: Request, place: OwnPlace) -> Response:
    """Take the public link back; another one has another address."""
    place.shelf.unshare(place.name)
    return _back(request) if shows_pages(request) else Response(status_code=204)


def _back(request: Request) -> Any:
    return RedirectResponse(f"{request.url.path.rpartition('/')[0]}#keep", 303)


async def question(
    request: Request,
    questions: QuestionStore,
    watch: Watch,
    target: Target,
    view: answers.Viewed,
    wanted: answers.SegmentsChosen,
) -> Response:
    """A question: how far it is, or its report."""
    record, kind = target, KINDS[target.kind]
    if not wants_page(request):
        return answers.unless_held(request, as_it_stands(record))
    if record.status is not Status.SUCCEEDED:
        workers = 1 if record.status.finished else await run_in_threadpool(questions.workers)
        place = await run_in_threadpool(questions.place, record.id, target.caller)
        return await in_turn(
            site.page, request, "state.html", record=record, kind=kind, workers=workers, place=place
        )
    stored = await run_in_threadpool(questions.report, record.id, target.caller)
    shown = await in_turn(view_of, record, stored, view, page_of(record))
    link = await run_in_threadpool(questions.link, record.id)
    seconds = BESIDE_SECONDS if view.a is None else MAKING_SECONDS
    opened = await _opened(target, watch, shown.view, wanted, seconds)
    return await in_turn(
        site.page, request, "report.html", record=record, kind=kind, here=page_of(record),
        shown=shown, pair=opened, link=link, own=True,
    )  # fmt: skip


async def shared(
    request: Request, questions: QuestionStore, target: Linked, view: answers.Viewed
) -> Response:
    """A report for everybody who has its link: to be read, without what was uploaded."""
    record, here = target, request.url.path
    stored = await run_in_threadpool(questions.report, record.id, target.caller)
    if wants_page(request):
        shown = await in_turn(view_of, record, stored, view, here, opens=False)
        made = await in_turn(
            site.page, request, "report.html", record=record, kind=KINDS[record.kind], here=here,
            shown=shown, pair=None, link=None, own=False,
        )  # fmt: skip
        seen = bytes(made.body) + repr(record.link).encode()
        made.headers["ETag"] = answers.tag_of(seen)
    else:
        made = await in_turn(answers.report, stored, record, Wish(format="json"))
    return _published(request, record, answers.unless_held(request, made))


async def shared_report(
    request: Request,
    questions: QuestionStore,
    target: Linked,
    wish: Wished,
    choice: answers.Decided,
) -> Response:
    """The report behind a link, in any format."""
    made = await decided_report(request, questions, target, wish, choice, answers.WHOLE)
    return _published(request, target, made)


async def shared_picture(
    request: Request, watch: Watch, target: Linked, name: Picture, chosen: answers.PictureNamed
) -> Response:
    """A picture of the report behind a link."""
    return _published(request, target, await picture(request, watch, target, name, chosen))


def _published(request: Request, record: Record, answer: Response) -> Response:
    """An answer that pages of other sites show and read as far as its link lets them."""
    origins = record.link.origins if record.link else ()
    headers, origin = answer.headers, request.headers.get("origin")
    if "*" in origins or origin in origins:
        headers["Access-Control-Allow-Origin"] = "*" if "*" in origins else str(origin)
    headers.add_vary_header("Origin")
    headers["X-Robots-Tag"] = "noindex"
    # of pictures browsers say no origin: where some site may show them, all may
    headers["Cross-Origin-Resource-Policy"] = "cross-origin" if origins else "same-origin"
    if policy := headers.get("Content-Security-Policy", "").partition("; frame-ancestors")[0]:
        framed = " ".join(origins) or "'none'"
        headers["Content-Security-Policy"] = f"{policy}; frame-ancestors {framed}"
    return answer


async def pair_page(
    request: Request,
    watch: Watch,
    target: Target,
    view: answers.Viewed,
    wanted: answers.SegmentsChosen,
) -> Response:
    """One pair alone: its numbers, its distribution, the segments behind its difference."""
    if not wants_page(request):
        shown = await answers.pair_view(target, watch, view, wanted, view.choice)
        return await in_turn(shown.answer)
    opened = await _opened(target, watch, view, wanted)
    here = page_of(target)
    return await in_turn(site.page, request, "pair-page.html", pair=opened, here=here)


async def _opened(
    target: Record,
    watch: Watcher,
    view: answers.View,
    wanted: answers.SegmentOptions,
    seconds: float = MAKING_SECONDS,
) -> Panel | str | None:
    """The pair that is read at the moment; why it cannot be read yet; or nothing."""
    if view.a is None or view.b is None:
        return None
    record, choice = target, view.choice
    try:
        shown = await answers.pair_view(record, watch, view, wanted, choice, seconds)
    except (NotReadyError, GoneError) as error:
        return error.message
    return await in_turn(panel, shown, view.fields, page_of(record))


def add_shelf(
    router: APIRouter,
    people: APIRouter,
    name: str,
    body: Callable[[Any, Any], BaseModel],
    besides: Callable[[Request, str], Mapping[str, Any]],
    deleted: str,
    page: int = PAGE,
) -> None:
    """The routes that all shelves have: a listing, and deletion.

    Args:
        router: Whose last part is what the shelf is called in a listing.
        people: The same for pages; its prefix is their address, and the name of their template.
        name: Of one thing on it.
        body: What is told of one, by the shelf and its record.
        besides: What its page shows beside the listing, by the caller.
        deleted: What deletion does.
        page: Entries a page, where nothing is said.
    """
    listed = router.prefix.rpartition("/")[2]

    def list_shelf(
        request: Request, caller: Caller, settings: Limits, wanted: answers.Wanted,
        cursor: Cursor = None, limit: Limit = page,
    ) -> Response:  # fmt: skip
        shelf = getattr(request.state, listed)
        most, chosen = min(limit, settings.max_page), wanted.filter
        records, after = shelf.listing(caller.name, cursor, most, chosen)
        if wants_page(request):
            template, shown = f"{people.prefix[1:]}.html", besides(request, caller.name)
            return site.page(
                request, template, records=records, after=after, wanted=chosen, **shown
            )
        entries = [body(shelf, record).model_dump(mode="json") for record in records]
        told = json.dumps({listed: entries, "next_cursor": after}, ensure_ascii=False)
        return answers.in_json(told)

    def delete_from_shelf(
        request: Request,
        place: Annotated[str, Path(alias="id", description=f"Id of a {name}.")],
        caller: Caller,
    ) -> Response:
        getattr(request.state, listed).delete(place, caller.name, partial(require_match, request))
        if shows_pages(request):
            return RedirectResponse(people.prefix, 303)
        return Response(status_code=204)

    words = f"The caller's {name}s, newest first; `title` finds their names, too."
    add = router.add_api_route
    add("", list_shelf, name=f"list_{listed}", description=words)
    called, taken = f"delete_{name.replace(' ', '')}", delete_from_shelf
    add("/{id}", taken, methods=["DELETE"], status_code=204, name=called, description=deleted)
    people.add_api_route("", list_shelf, name=f"page_of_{listed}")
    people.add_api_route("/{id}/delete", taken, methods=["POST"], name=f"{called}_from_page")


def add_links(router: APIRouter, people: APIRouter, name: str) -> None:
    """The routes of the public link of what is called so."""
    add = router.add_api_route
    add("/{id}/link", get_link, name=f"get_link_of_{name}")
    add("/{id}/link", put_link, methods=["PUT"], name=f"put_link_of_{name}")
    taken = f"delete_link_of_{name}"
    add("/{id}/link", delete_link, methods=["DELETE"], status_code=204, name=taken)
    add = people.add_api_route
    add("/{id}/share", put_link, methods=["POST"], name=f"share_{name}_from_page")
    add("/{id}/unshare", delete_link, methods=["POST"], name=f"unshare_{name}_from_page")


def router_of(kind: Kind[Any]) -> APIRouter:
    """All routes of a kind: for programs, and for people."""
    name, stream = kind.name.replace(" ", "_"), EventSourceResponse
    shown = decided_report if kind.decides else report
    router = routing(prefix=f"/v1/{kind.path}", tags=[kind.path])
    people = routing(prefix=f"/{kind.path}", include_in_schema=False)
    add = router.add_api_route
    add("", submit, methods=["POST"], status_code=202, name=f"submit_{name}")
    add("", listing, name=f"list_{kind.path.replace('-', '_')}")
    add("/{id}", status, name=f"get_{name}")
    add("/{id}", describe, methods=["PATCH"], name=f"describe_{name}")
    add("/{id}", remove, methods=["DELETE"], name=f"delete_{name}")
    add("/{id}/report", shown, name=f"get_{name}_report")
    add_links(router, people, name)
    add("/{id}/plots/{picture}", picture, name=f"draw_{name}", response_class=Response)
    add("/{id}/events", events, name=f"follow_{name}", response_class=stream)
    if isinstance(kind, Comparisons):
        add("/{id}/segments", segments, name=f"get_{name}_segments")
        add("/{id}/distribution", distribution, name=f"get_{name}_distribution")
    add = people.add_api_route
    add("", listing, name=f"page_of_{name}s")
    add("", submit, methods=["POST"], name=f"ask_{name}")
    add("/{id}", question, name=f"page_of_{name}")
    add("/{id}/pairs", pair_page, name=f"pair_of_{name}")
    add("/{id}/report", shown, name=f"download_{name}")
    add("/{id}/pictures/{picture}.svg", picture, name=f"picture_of_{name}")
    add("/{id}/events", events, name=f"watch_{name}", response_class=stream)
    add("/{id}/describe", describe, methods=["POST"], name=f"describe_{name}_from_page")
    add("/{id}/delete", remove, methods=["POST"], name=f"delete_{name}_from_page")
    router.routes.extend(people.routes)
    return router


router = routing(prefix="/shared/{link}", include_in_schema=False)
router.add_api_route("", shared)
router.add_api_route("/report", shared_report)
router.add_api_route("/pictures/{picture}.svg", shared_picture)
