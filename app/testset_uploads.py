"""A request's body to a test set or to what a system brings. Nothing is stored here."""

from __future__ import annotations

import io
from collections.abc import Mapping
from dataclasses import dataclass
from typing import Annotated, Any

from fastapi import Depends, Path, Request
from starlette.concurrency import run_in_threadpool

from app import limits
from app.dependencies import Limits
from app.errors import UnsupportedMediaError
from app.settings import Settings
from app.testset_schemas import SETTINGS
from app.uploads import FileReader, parse_json
from sigtest.comparison import testset_of
from sigtest.errors import InputError, LengthError, LimitError, RecipeError
from sigtest.recipe import Recipe, choose
from sigtest.testset import System
from sigtest.text import check_lines, parse_lines
from workers.leaderboards import Draft

CONTENT = ("references", "documents", "labels", "sources", "segments")
JSON = "application/json"
TEXT = "text/plain"
GZIP = ("application/gzip", "application/x-gzip")


@dataclass(frozen=True)
class Raise:
    """A larger number of resamples that was asked for."""

    resamples: int


async def read_draft(request: Request, settings: Limits) -> Draft:
    """Dependency: the test set that the body asks for, checked."""
    body = await _json(request)
    return await run_in_threadpool(_draft, body, settings)


async def read_raise(request: Request, settings: Limits) -> Raise:
    """Dependency: the resamples that the body asks for."""
    body = await _json(request)
    for field in body:
        if field != "resamples":
            raise RecipeError(
                f"{field[:60]!r} is fixed when a test set is made; only resamples can be raised.",
                field=field,
            )
    resamples = body.get("resamples")
    if not isinstance(resamples, int) or isinstance(resamples, bool):
        raise RecipeError("resamples must be a whole number.", field="resamples")
    _check_resamples(resamples, settings)
    return Raise(resamples)


async def read_system(
    request: Request,
    settings: Limits,
    name: Annotated[str, Path(description="Name of the system.")],
) -> System:
    """Dependency: what a system brings, as JSON or as text with one line a segment."""
    kind = _kind(request)
    if kind not in {JSON, TEXT, *GZIP}:
        raise UnsupportedMediaError(
            f"Send {JSON}, {TEXT} or {GZIP[0]}, not {kind or 'a body of no stated kind'}."
        )
    encoding = request.headers.get("content-encoding", "identity").lower()
    if encoding not in {"identity", "gzip"} or (encoding == "gzip" and kind == JSON):
        raise UnsupportedMediaError(f"A {kind} body with Content-Encoding {encoding} is not read.")
    data = await request.body()
    packed = kind in GZIP or encoding == "gzip"
    return await run_in_threadpool(_system, name, data, kind, packed, settings)


Drafted = Annotated[Draft, Depends(read_draft)]
Raised = Annotated[Raise, Depends(read_raise)]
Brought = Annotated[System, Depends(read_system)]


def _draft(body: Mapping[str, Any], settings: Settings) -> Draft:
    for field in body:
        choose(field, ("name", *CONTENT, *SETTINGS), field, "field")
    if "name" not in body:
        raise InputError("name is missing: what to call the test set.", field="name")
    limits.check_content(body, settings)
    recipe = Recipe.of({field: body[field] for field in SETTINGS if field in body})
    testset = testset_of(body)
    if body.get("sources") is not None:
        sources = check_lines(body["sources"], "sources", field="sources")
        if len(sources) != testset.segments:
            raise LengthError(
                f"sources has {len(sources)} entries, the test set has "
                f"{testset.segments} segments.",
                field="sources",
            )
    draft = Draft.of(body["name"], testset, recipe)
    if len(recipe.metrics) > settings.max_metrics:
        raise LimitError(
            f"{len(recipe.metrics)} metrics are more than max_metrics, {settings.max_metrics:,}.",
            limit="max_metrics",
            field="metrics",
        )
    _check_resamples(draft.plan.resamples, settings)
    return draft


def _check_resamples(resamples: int, settings: Settings) -> None:
    if resamples > settings.max_resamples:
        raise LimitError(
            f"{resamples:,} resamples are more than max_resamples, {settings.max_resamples:,}.",
            limit="max_resamples",
            field="resamples",
        )


def _system(name: str, data: bytes, kind: str, packed: bool, settings: Settings) -> System:
    if kind == JSON:
        body = parse_json(data, "body")
        for field in body:
            choose(field, ("hypotheses", "scores"), field, "field")
    else:
        reader = FileReader(settings.max_text_bytes)
        text = reader.content(io.BytesIO(data), "the file.gz" if packed else "the file")
        body = {"hypotheses": parse_lines(text, "the file")}
    limits.check_content({"systems": [{"name": name, **body}]}, settings)
    return System.of(name, body.get("hypotheses"), body.get("scores"))


async def _json(request: Request) -> dict[str, Any]:
    kind = _kind(request)
    if kind != JSON:
        raise UnsupportedMediaError(f"Send {JSON}, not {kind or 'a body of no stated kind'}.")
    return await run_in_threadpool(parse_json, await request.body(), "body")


def _kind(request: Request) -> str:
    return request.headers.get("content-type", "").partition(";")[0].strip().lower()
