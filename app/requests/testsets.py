"""A request's body to a test set or to what a system brings. Nothing is stored here."""

from collections.abc import Mapping, Sequence
from dataclasses import replace
from functools import partial
from typing import Annotated, Any
from urllib.parse import unquote_to_bytes

from fastapi import Depends, Request

from app.http.negotiation import shows_pages
from app.http.state import Limits
from app.requests import bodies, limits
from app.requests.forms import choices_of, chosen_of
from app.settings import Settings
from sigtest.data.names import check_name, system_name
from sigtest.data.testset import System
from sigtest.errors import InputError, SigtestError
from sigtest.files.gathering import Entry, Upload, gather
from sigtest.files.join import STRICT, Joining
from sigtest.files.material import in_order, outputs_of
from sigtest.files.tree import GZIP as MAGIC
from sigtest.metrics import only_labels
from sigtest.requests import comparisons
from sigtest.requests.model import options
from sigtest.requests.notes import PlainNotes
from workers.testsets import NewTestSet

BESIDES = ("replace", "testset", "contrastive")  # that the form of a page says of a system
PARTS = ("references", "documents", "labels", "source")
SIZES = [own for own in options(comparisons.TestSetRequest) if own.name in ("replicas", "capacity")]


async def read_testset(request: Request, settings: Limits) -> bodies.Submission[NewTestSet]:
    """Dependency: the test set that the body asks for, checked."""
    async with bodies.body_of(request, bodies.JSON, bodies.FORM) as (body, work), work:
        return await work.run(_testset, body, shows_pages(request), settings)


async def read_change(request: Request, settings: Limits) -> bodies.Submission[int | None]:
    """Dependency: how many resamples a test set is to have instead, and what is written on it."""
    return await bodies.read(request, partial(_change, settings))


def _change(settings: Settings, body: Mapping[str, Any]) -> bodies.Submission[int | None]:
    change = comparisons.ChangeRequest.of(body)
    resamples = change.resamples
    if resamples is not None:
        limits.check_count("max_resamples", "resamples", resamples, "resamples", settings)
    return bodies.Submission(resamples, change.written())


async def read_system(request: Request, settings: Limits) -> bodies.Submission[System]:
    """Dependency: what a system brings, as JSON, as files, or as text with one line a segment."""
    try:  # what is not UTF-8 would become marks that are all alike
        unquote_to_bytes(request.scope.get("raw_path", b"")).decode()
    except UnicodeDecodeError:
        raise InputError("The system name in the path is not UTF-8.", field="name") from None
    name = request.path_params.get("name")
    media = bodies.JSON, bodies.FORM, bodies.TEXT, bodies.GZIP
    encoding = request.headers.get("content-encoding", "").lower()
    async with bodies.body_of(request, *media) as (body, work), work:
        return await work.run(_system, name, body, (bodies.media_of(request), encoding), settings)


Drafted = Annotated[bodies.Submission[NewTestSet], Depends(read_testset)]
Changed = Annotated[bodies.Submission[int | None], Depends(read_change)]
Put = Annotated[bodies.Submission[System], Depends(read_system)]


def _testset(body: bodies.Body, page: bool, settings: Settings) -> bodies.Submission[NewTestSet]:
    """The test set that JSON, a form or the form of a page asks for."""
    if isinstance(body, bytes):
        request = bodies.parse_json(body, "body")
    elif page:
        files = {part: bodies.files_of(body, part) for part in PARTS}
        request = _with_files(_choices(body), files, settings)
    else:
        request = _with_files(*bodies.parts_of(body, *PARTS), settings)
    limits.check_content(comparisons.listed(request), settings)
    wanted = comparisons.TestSetRequest.of(request)
    check_name(wanted.name, "test set")
    recipe = wanted.recipe(wanted.metrics or ("bleu",))
    sizes = wanted.replicas, wanted.capacity
    draft = NewTestSet.of(wanted.name, comparisons.testset_of(wanted, None), recipe, *sizes)
    metrics, resamples = len(draft.part.recipe.metrics), draft.part.resamples
    limits.check_count("max_metrics", "metrics", metrics, "metrics", settings)
    limits.check_count("max_resamples", "resamples", resamples, "resamples", settings)
    limits.check_scores(1, metrics, resamples, settings)
    outputs = draft.part.replicas
    limits.check_count("max_systems", "replicas", outputs, "outputs of a system", settings)
    return bodies.Submission(draft, wanted.written())


def _choices(form: bodies.Form) -> dict[str, Any]:
    """What the form of a page chooses of a new test set."""
    more = chosen_of(form, SIZES, "")
    name = bodies.text_of(form, "name")
    return {**choices_of(form), **more, **bodies.written(form), "name": name}


def _with_files(body: dict[str, Any], files: bodies.Files, settings: Settings) -> dict[str, Any]:
    bodies.refuse_doubled(body, files)
    how = Joining(labels=only_labels(body.get("metrics")))
    content = in_order(gather(bodies.entries_of(files), how, bodies.bounds_of(settings))).as_json()
    # of systems, and of one reading, a test set has nothing
    content = {k: v for k, v in content.items() if k not in ("systems", "notes", "runs")}
    return bodies.add_content(body, content)


def _system(
    name: str | None, body: bodies.Body, media: tuple[str, str], settings: Settings
) -> bodies.Submission[System]:
    """What a system brings, checked; every error names the system.

    Args:
        name: Of the system; the form of a page says it, or its file.
        body: As it was sent.
        media: Its type, and how it is encoded.
        settings: Limits.
    """
    besides = {}
    if name is None:
        assert isinstance(body, bodies.Form)
        files = bodies.files_of(body, "hypotheses")
        if not files:
            raise InputError("No file was chosen: the output of the system.", field="hypotheses")
        name = bodies.text_of(body, "name") or system_name(files[0].name)
        besides = {field: bodies.text_of(body, field) for field in BESIDES}
        body = bodies.Form([("hypotheses", file) for file in files])
    try:
        check_name(name)
        output = _output(name, body, media, settings)
        limits.check_content(output, settings, system=name)
        wanted = comparisons.SubmissionRequest.of(output)
        return bodies.Submission(comparisons.system_of(wanted, name), wanted.written(), besides)
    except SigtestError as error:
        error.system = name
        raise


def _output(
    name: str, body: bodies.Body, media: tuple[str, str], settings: Settings
) -> dict[str, Any]:
    """A system's output as JSON has it; several files of a form are replicas, in their order."""
    request: Mapping[str, Any] = {}
    entries: Sequence[Entry]
    if isinstance(body, bodies.Form):
        request, files = bodies.parts_of(body, "hypotheses", "scores")
        PlainNotes.of(request)  # which says nothing else
        several = len(files["hypotheses"]) > 1
        entries = [
            replace(entry, run=several and entry.role == "system")
            for entry in bodies.entries_of(files, name)
        ]
    elif media[0] == bodies.JSON:
        return bodies.parse_json(body, "body")
    elif (media[0] == bodies.GZIP or media[1] == "gzip") and not body.startswith(MAGIC):
        raise InputError("The body is not a gzip file.", field="body")
    else:
        entries = [Entry("system", Upload("the file", body), name, field="body")]
    content = (
        outputs_of(gather(entries, STRICT, bodies.bounds_of(settings)))[name] if entries else {}
    )
    return {**content, **request}
