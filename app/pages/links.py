"""Public links: reports for everybody who was given the address, to be read."""

from __future__ import annotations

from typing import Annotated

from fastapi import Depends, Path, Request
from starlette.concurrency import run_in_threadpool
from starlette.responses import Response

from app.http.negotiation import AsPage, Wish, Wished
from app.http.state import Asked, routing
from app.http.turns import in_turn
from app.http.waiting import Watch
from app.pages import site
from app.pages.choice import Choice, Chosen
from app.pages.reports import shown
from app.pages.visitors import noted
from app.questions import answers
from app.questions.deciding import Decided
from app.questions.drawing import OptionsNamed, draw
from sigtest.kinds import KINDS
from sigtest.render.drawing import adaptive
from workers.questions import Record

router = routing()


async def _linked(link: Annotated[str, Path()], asked: Asked) -> tuple[Record, str]:
    return await run_in_threadpool(asked.shared, link)


Linked = Annotated[tuple[Record, str], Depends(_linked)]


@router.get("/shared/{link}", include_in_schema=False, dependencies=[Depends(noted)])
async def shared(
    request: Request, link: str, linked: Linked, asked: Asked, choice: Chosen, as_page: AsPage
) -> Response:
    """A report for everybody who has its link: to be read, without what was uploaded."""
    record, caller = linked
    stored = await run_in_threadpool(asked.report, record.id, caller)
    if as_page:
        made = await in_turn(_page, request, record, stored, choice, f"/shared/{link}")
    else:
        made = await in_turn(answers.report, stored, record, Wish("application/json"))
    made.headers["X-Robots-Tag"] = "noindex"
    return made


def _page(request: Request, record: Record, stored: bytes, choice: Choice, here: str) -> Response:
    view = shown(record, stored, choice, here, opens=False)
    return site.page(
        request, "report.html", record=record, kind=KINDS[record.kind], here=here, shown=view,
        pair=None, link=None, own=False,
    )  # fmt: skip


@router.get("/shared/{link}/report", include_in_schema=False)
async def shared_report(
    request: Request, linked: Linked, asked: Asked, wish: Wished, choice: Decided
) -> Response:
    """The report behind a link, in any format."""
    record, caller = linked
    stored = await run_in_threadpool(asked.report, record.id, caller)
    return answers.unless_held(request, await in_turn(answers.report, stored, record, wish, choice))


@router.get("/shared/{link}/pictures/{picture}.svg", include_in_schema=False)
async def shared_picture(
    request: Request,
    linked: Linked,
    watch: Watch,
    name: Annotated[str, Path(alias="picture")],
    options: OptionsNamed,
) -> Response:
    """A picture of the report behind a link."""
    record, caller = linked
    svg = await draw(name, record, caller, watch, options)
    return answers.picture(request, adaptive(svg))
