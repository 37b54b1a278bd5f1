"""A request's body to a test set or to what a system brings. Nothing is stored here."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, replace
from functools import partial
from typing import Annotated, Any
from urllib.parse import unquote_to_bytes

from fastapi import Depends, Path, Request
from starlette.datastructures import FormData

from app.http.problems import UnsupportedMediaError
from app.http.state import Limits
from app.requests import limits
from app.requests.bodies import (
    FORM,
    JSON,
    Parse,
    Submission,
    add_content,
    check_parts,
    files_of,
    form_of,
    gathered,
    given_of,
    kind_of,
    parse_json,
    read_object,
    refuse_doubled,
    refuse_encoding,
    refuse_further,
    request_of,
    size_of,
    unread,
)
from app.settings import Settings
from sigtest.comparison.plan import Part
from sigtest.data.names import check_name
from sigtest.data.testset import System
from sigtest.errors import InputError, RecipeError, SigtestError
from sigtest.files import STRICT, Entry, Joining, Upload, in_order, outputs_of
from sigtest.files.tree import GZIP as MAGIC
from sigtest.metrics import only_labels
from sigtest.requests.comparisons import listed
from sigtest.requests.notes import Noted, apart
from sigtest.requests.testsets import (
    ChangeRequest,
    OutputRequest,
    TestSetRequest,
    system_of,
    testset_of,
)
from workers.testsets import NewTestSet

PARTS = ("references", "documents", "labels", "source", "request")
OUTPUT_PARTS = ("hypotheses", "scores")
TEXT = "text/plain"
GZIP = ("application/gzip", "application/x-gzip")


@dataclass(frozen=True)
class Change:
    """What of a test set is to be changed.

    Attributes:
        notes: What is written on it.
        resamples: A larger number of them, where one is asked for.
    """

    notes: Noted
    resamples: int | None


async def read_testset(request: Request, settings: Limits, parser: Parse) -> Submission[NewTestSet]:
    """Dependency: the test set that the body asks for, checked."""
    kind = kind_of(request)
    if kind not in {JSON, FORM}:
        raise unread(kind, JSON, FORM)
    refuse_encoding(request)
    if kind == FORM:
        async with form_of(request, settings) as form:
            return await parser.run(size_of(form), testset_of_form, form, settings)
    async with parser.body(request) as data:
        return await parser.run(len(data), _testset_of_body, data, settings)


async def read_change(request: Request, settings: Limits, parser: Parse) -> Change:
    """Dependency: what the body changes of a test set."""
    notes, rest = apart(await read_object(request, parser))
    for field in rest:
        if field != "resamples":
            raise RecipeError(
                f"{field[:60]!r} is fixed when a test set is made; resamples can be raised, and "
                "title, tags and metadata be written.",
                field=field,
            )
    resamples = ChangeRequest.of(rest).resamples
    if resamples is not None:
        limits.check_count("max_resamples", "resamples", resamples, "resamples", settings)
    return Change(notes, resamples)


async def read_system(
    request: Request,
    settings: Limits,
    parser: Parse,
    name: Annotated[str, Path(description="Name of the system.")],
) -> Submission[System]:
    """Dependency: what a system brings, as JSON, as files, or as text with one line a segment."""
    _refuse_other_bytes(request)
    kind = kind_of(request)
    if kind == FORM:
        refuse_encoding(request)
        async with form_of(request, settings) as form:
            return await parser.run(size_of(form), system_of_form, name, form, settings)
    if kind not in {JSON, TEXT, *GZIP}:
        raise unread(kind, JSON, FORM, TEXT, GZIP[0])
    encoding = request.headers.get("content-encoding", "identity").lower()
    if encoding not in {"identity", "gzip"} or (encoding == "gzip" and kind == JSON):
        raise UnsupportedMediaError(f"{kind} with Content-Encoding {encoding} is not read.")
    packed = kind in GZIP or encoding == "gzip"
    async with parser.body(request) as data:
        read = partial(_output_of_body, name, data, kind, packed, settings)
        return await parser.run(len(data), _system, name, read, settings)


def _refuse_other_bytes(request: Request) -> None:
    """Check that the name in a path is UTF-8: what is not would become marks that are all alike."""
    try:
        unquote_to_bytes(request.scope.get("raw_path", b"")).decode()
    except UnicodeDecodeError:
        raise InputError("The system name in the path is not UTF-8.", field="name") from None


Drafted = Annotated[Submission[NewTestSet], Depends(read_testset)]
Changed = Annotated[Change, Depends(read_change)]
Put = Annotated[Submission[System], Depends(read_system)]


def testset_of_form(form: FormData, settings: Settings) -> Submission[NewTestSet]:
    """The test set that a form asks for, checked."""
    check_parts(form, PARTS)
    body = request_of(form)
    files = {part: files_of(form, part) for part in PARTS if part != "request"}
    refuse_doubled(body, files)
    how = Joining(labels=only_labels(body.get("metrics")))
    content = in_order(gathered(given_of(files), how, settings).material).as_json()
    del content["systems"]
    for name in ("notes", "runs"):  # which are about one reading, not about the systems to come
        content.pop(name, None)
    return _testset(add_content(body, content), settings)


def _testset_of_body(data: bytes, settings: Settings) -> Submission[NewTestSet]:
    return _testset(parse_json(data, "body"), settings)


def _testset(request: Mapping[str, Any], settings: Settings) -> Submission[NewTestSet]:
    notes, rest = apart(request)
    limits.check_content(listed(rest), settings)
    wanted = TestSetRequest.of(rest)
    check_name(wanted.name, "test set")
    recipe = wanted.recipe(wanted.metrics or ("bleu",))
    sizes = wanted.replicas, wanted.capacity
    asked = NewTestSet.of(wanted.name, testset_of(wanted, None), recipe, *sizes)
    _check_part(asked.part, settings)
    return Submission(asked, notes)


def _check_part(part: Part, settings: Settings) -> None:
    metrics = len(part.recipe.metrics)
    limits.check_count("max_metrics", "metrics", metrics, "metrics", settings)
    limits.check_count("max_resamples", "resamples", part.resamples, "resamples", settings)
    limits.check_scores(1, metrics, part.resamples, settings)
    limits.check_count("max_systems", "replicas", part.replicas, "outputs of a system", settings)


def _system(
    name: str, read: Callable[[], dict[str, Any]], settings: Settings
) -> Submission[System]:
    """What a body brings, checked; every error names the system."""
    try:
        check_name(name)
        notes, output = apart(read())
        limits.check_content(output, settings, system=name)
        return Submission(system_of(OutputRequest.of(output), name), notes)
    except SigtestError as error:
        error.system = name
        raise


def _output_of_body(
    name: str, data: bytes, kind: str, packed: bool, settings: Settings
) -> dict[str, Any]:
    if kind == JSON:
        return parse_json(data, "body")
    if packed and not data.startswith(MAGIC):
        raise InputError("The body is not a gzip file.", field="body")
    given = Entry("system", Upload("the file", data), name, field="body")
    return _output([given], name, settings)


def system_of_form(name: str, form: FormData, settings: Settings) -> Submission[System]:
    """What a system brings in a form, checked."""
    return _system(name, partial(_output_of_form, name, form, settings), settings)


def _output_of_form(name: str, form: FormData, settings: Settings) -> dict[str, Any]:
    """Several files of hypotheses are replicas, in the order of the form."""
    check_parts(form, (*OUTPUT_PARTS, "request"))
    files = {part: files_of(form, part) for part in OUTPUT_PARTS}
    notes, rest = apart(request_of(form))
    refuse_further(rest)
    several = len(files["hypotheses"]) > 1
    given = [
        replace(entry, run=several and entry.role == "system") for entry in given_of(files, name)
    ]
    return {**(_output(given, name, settings) if given else {}), **notes}


def _output(given: Sequence[Entry], name: str, settings: Settings) -> dict[str, Any]:
    """What files bring of one system, in the order of the test set."""
    return outputs_of(gathered(given, STRICT, settings).material)[name]
