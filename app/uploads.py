"""A request's body to a comparison: JSON, or a form with files. Nothing is stored here."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Annotated, Any

from fastapi import Depends, Request
from starlette.concurrency import run_in_threadpool
from starlette.datastructures import FormData, UploadFile

from app import limits
from app.bodies import FORM, JSON, kind_of, parse_json, refuse_encoding, unread
from app.dependencies import Limits
from app.forms import (
    FileReader,
    add_scores,
    add_texts,
    check_parts,
    files_of,
    form_of,
    label_and_system,
    plain,
    refuse_doubled,
    request_of,
)
from app.imports import BUILTIN, with_archive, with_builtin
from app.own_testsets import TESTSET, Own, OwnTestSets
from app.settings import Settings
from sigtest.comparison.comparison import Comparison
from sigtest.comparison.parse import parse_comparison
from sigtest.comparison.suite import Suite
from sigtest.data.names import system_name
from sigtest.errors import InputError
from workers.work import Asked

TESTSETS = "testsets"
PARTS = ("references", "systems", "scores", "documents", "labels", "archive", "request")


async def read_comparison(request: Request, settings: Limits, own: Own) -> Asked:
    """Dependency: the comparison that the body asks for, checked.

    Raises:
        SigtestError: The body is of no known kind, too large, malformed, or asks for nothing
            that can be done.
    """
    kind = kind_of(request)
    refuse_encoding(request)
    if kind == JSON:
        data = await request.body()
        return await run_in_threadpool(_from_json, data, settings, own)
    if kind == FORM:
        async with form_of(request, settings) as form:
            return await run_in_threadpool(_from_form, form, settings, own)
    raise unread(kind, JSON, FORM)


Submitted = Annotated[Asked, Depends(read_comparison)]


def _from_json(data: bytes, settings: Settings, own: OwnTestSets) -> Asked:
    body = parse_json(data, "body")
    return _checked_suite(body, settings) if TESTSETS in body else _checked(body, settings, own)


def _from_form(form: FormData, settings: Settings, own: OwnTestSets) -> Comparison:
    """Files are read in the order of the form, which pairs keep."""
    check_parts(form, PARTS)
    body = request_of(form)
    if TESTSETS in body:
        raise InputError("A form is for one test set; send several as JSON.", field=TESTSETS)
    reader = FileReader(settings.max_text_bytes)
    files = {part: files_of(form, part) for part in PARTS if part not in ("archive", "request")}
    limits.check_content({"systems": files["systems"]}, settings)  # before anything is unpacked
    refuse_doubled(body, files)
    if archives := files_of(form, "archive"):
        if len(archives) > 1 or any(files.values()):
            raise InputError("A form with an archive brings no other file.", field="archive")
        archive = archives[0]
        body = with_archive(body, archive.file, plain(archive.filename), settings)
        return _checked(body, settings, own)
    add_texts(body, files, reader)
    body["systems"] = [
        {
            "name": system_name(plain(file.filename)),
            "hypotheses": reader.lines(file, f"systems[{i}]"),
        }
        for i, file in enumerate(files["systems"])
    ]
    _add_scores(body["systems"], files["scores"], reader)
    return _checked(body, settings, own)


def _add_scores(
    systems: list[dict[str, Any]], files: Sequence[UploadFile], reader: FileReader
) -> None:
    """Attach files of numbers to systems; new ones bring no text."""
    named = {system["name"]: system for system in systems}
    for i, file in enumerate(files):
        _, name = label_and_system(file)
        if name not in named:
            named[name] = {"name": name}
            systems.append(named[name])
        add_scores(named[name], name, file, f"scores[{i}]", reader)


def _checked(body: Mapping[str, Any], settings: Settings, own: OwnTestSets) -> Comparison:
    limits.check_content(body, settings)
    if body.get(TESTSET) is not None:
        body = own.fill(body)
        limits.check_content(body, settings)
    if body.get(BUILTIN) is not None:
        body = with_builtin(body, settings)
        limits.check_content(body, settings)
    named = (TESTSET, BUILTIN)
    comparison = parse_comparison({field: body[field] for field in body if field not in named})
    limits.check_recipe(comparison, settings)
    return comparison


def _checked_suite(body: Mapping[str, Any], settings: Settings) -> Suite:
    limits.check_testsets(body, settings)
    suite = Suite.of(body)
    limits.check_recipe(suite, settings)
    return suite
