"""A request's body to a comparison: JSON, or a form with files. Nothing is stored here."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Annotated, Any

from fastapi import Depends, Request
from starlette.concurrency import run_in_threadpool
from starlette.datastructures import FormData, UploadFile

from app.http.state import Limits
from app.requests import limits
from app.requests.form import (
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
from app.requests.json import FORM, JSON, kind_of, parse_json, refuse_encoding, unread
from app.requests.sources import (
    BUILTIN,
    TESTSET,
    Own,
    OwnTestSets,
    with_archive,
    with_builtin,
)
from app.settings import Settings
from sigtest.comparison.parse import listed
from sigtest.data.names import system_name
from sigtest.errors import InputError
from sigtest.kinds import KINDS, Comparisons, File, Kind, Question

TESTSETS = "testsets"
PARTS = ("references", "systems", "scores", "documents", "labels", "archive", "request")


async def read_question(request: Request, settings: Limits, own: Own) -> Question:
    """Dependency: the question that the body asks, checked.

    Raises:
        SigtestError: The body is of no known kind, too large, malformed, or asks for nothing
            that can be done.
    """
    kind = KINDS[request.url.path.split("/")[2]]
    forms = (FORM,) if isinstance(kind, Comparisons) or kind.parts else ()
    media = kind_of(request)
    refuse_encoding(request)
    if media == JSON:
        data = await request.body()
        return await run_in_threadpool(question_of_json, data, kind, settings, own)
    if media in forms:
        async with form_of(request, settings) as form:
            return await run_in_threadpool(question_of_form, form, kind, settings, own)
    raise unread(media, JSON, *forms)


Read = Annotated[Question, Depends(read_question)]


def question_of_form(
    form: FormData, kind: Kind[Any], settings: Settings, own: OwnTestSets
) -> Question:
    """The question that a form asks, checked; see `read_question`."""
    if isinstance(kind, Comparisons):
        return _from_form(form, settings, own)
    return _from_files(form, kind, settings)


def question_of_json(
    data: bytes, kind: Kind[Any], settings: Settings, own: OwnTestSets
) -> Question:
    """The question that a JSON body asks, checked; see `read_question`."""
    body = parse_json(data, "body")
    if isinstance(kind, Comparisons):
        return _checked(body, settings, own)
    question: Question = kind.parse(body)
    return question


def _from_files(form: FormData, kind: Kind[Any], settings: Settings) -> Question:
    """A question of another kind: its request, and files that the kind reads itself."""
    check_parts(form, (*kind.parts, "request"))
    reader = FileReader(settings.max_text_bytes)
    files = [
        File(part, name, reader.content(file.file, name))
        for part in kind.parts
        for file in files_of(form, part)
        for name in [plain(file.filename)]
    ]
    question: Question = kind.parse(request_of(form), files)
    return question


def _from_form(form: FormData, settings: Settings, own: OwnTestSets) -> Question:
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


def _checked(body: Mapping[str, Any], settings: Settings, own: OwnTestSets) -> Question:
    body = listed(body)
    limits.check_content(body, settings)
    if body.get(TESTSET) is not None:
        body = own.fill(body)
    if body.get(BUILTIN) is not None:
        body = with_builtin(body, settings)
        limits.check_content(body, settings)
    named = (TESTSET, BUILTIN)
    asked = {field: body[field] for field in body if field not in named}
    question = Comparisons().parse(asked)
    limits.check_recipe(question.comparison, settings)
    return question
