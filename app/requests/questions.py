"""A request's body to a question, with what it names: finished questions, test sets."""

import json
import re
from collections.abc import Callable, Container, Mapping, Sequence
from contextlib import suppress
from functools import partial
from itertools import islice
from typing import Annotated, Any, TypeVar

from fastapi import Depends, Request
from starlette.concurrency import run_in_threadpool

from app.http.auth import Caller
from app.http.negotiation import Wait, shows_pages
from app.http.state import kind_of
from app.requests import bodies, limits
from app.requests.forms import PageForm, RawRequest, packed, page_form, texts_of, unpacked
from app.settings import Settings
from sigtest.data.names import choose
from sigtest.errors import InputError, SigtestError, inside
from sigtest.files.gathering import gather, read_builtin
from sigtest.files.join import Joining
from sigtest.files.material import in_order, metrics_of
from sigtest.files.tree import Meter
from sigtest.kinds import KINDS, Finished, FormFile, Kind, Question
from sigtest.kinds.comparisons import Comparisons
from sigtest.metrics import METRICS, only_labels
from sigtest.requests.comparisons import ComparisonRequest, SeveralRequest, listed
from sigtest.requests.model import MOST_FLAWS
from sigtest.requests.notes import PARTS as WRITTEN
from sigtest.requests.notes import Noted, Notes
from sigtest.requests.recipe import Choices, labels_needed
from workers.errors import NotFoundError
from workers.testsets import TestSets

Flaws = dict[tuple[str, str, str], SigtestError]  # by field of the request, and what is in it
T = TypeVar("T")
ID = re.compile("[0-9a-f]{32,64}")
Draft = bodies.Submission[Question]
TESTSET_ID = re.compile("[0-9a-f]{32}")
CHOICES = {*Choices.model_fields}
TEXTS_OF_TESTSETS = ("references", "documents", "labels", "source", "segments", "builtin")


async def read_question(request: Request, caller: Caller, wait: Wait) -> list[Draft]:
    """Dependency: the question that the body asks, checked.

    It is the only entry of a list: who takes it out is the only one who keeps its texts in memory.

    Raises:
        SigtestError: The body is of no known kind, too large, malformed, or asks for nothing
            that can be done.
    """
    kind, state = await kind_of(request), request.state
    forms = isinstance(kind, Comparisons) or kind.parts or kind.compares
    media, page = (bodies.JSON, bodies.FORM) if forms else (bodies.JSON,), shows_pages(request)
    async with bodies.body_of(request, *media) as (body, work), work:
        found = await work.run(_question, body, page, kind.path, state.settings)
        if isinstance(found, RawRequest):
            filled = await _with_finished(request, caller.name, kind, found.body, wait, work)
            texts = partial(_with_testset, state.testsets, caller.name)
            filled = await run_in_threadpool(_comparing, kind, filled, texts)
            raw = RawRequest(filled, found.files)
            found = await work.run(parsed, kind.path, raw, state.settings)
        besides = {}
        if page and isinstance(body, bodies.Form) and body.get("do") == "look":
            besides = {"kept": await work.run(_repacked, body, kind.path, state.settings)}
        return [Draft(*found, besides)]


Read = Annotated[list[Draft], Depends(read_question)]


def _question(
    body: bodies.Body, page: bool, path: str, settings: Settings
) -> tuple[Question, Noted] | RawRequest:
    """A question, and what is written on it; or its request where it names what is elsewhere."""
    kind = KINDS[path]
    if isinstance(body, bytes):
        raw = RawRequest(bodies.parse_json(body, "body"))
    else:
        raw = _of_form(body, page, kind, settings)
    compared = raw.body if isinstance(kind, Comparisons) else raw.body.get(kind.compares)
    names = isinstance(compared, Mapping) and compared.get("testset") is not None
    names = names or any(reference.ids(raw.body) for reference in kind.named)
    return raw if names else parsed(path, raw, settings)


def _of_form(form: bodies.Form, page: bool, kind: Kind[Any], settings: Settings) -> RawRequest:
    """What a form of the service, or that of a page, brings."""
    if page and isinstance(kept := form.get("kept"), str):
        return unpacked(kept, settings)
    parts = *texts_of(kind), *kind.parts
    read = page_form(form, kind) if page else PageForm(*bodies.parts_of(form, *parts))
    return _with_files(read, kind, settings) if isinstance(read, PageForm) else read


def _repacked(form: bodies.Form, path: str, settings: Settings) -> str:
    """What the form of a page brings, as text that another form carries back."""
    return packed(_of_form(form, True, KINDS[path], settings))


def rehearse() -> None:
    """Check a small question of every metric, so that nobody waits for what is loaded for that."""
    text = ["a b c d"]
    systems = [{"name": name, "hypotheses": text} for name in "ab"]
    for metric in METRICS:
        with suppress(SigtestError):  # it is not installed, or not about texts
            body = {"references": [text], "systems": systems, "metrics": [metric]}
            question = KINDS["comparisons"].parse(body)
            assert question.key
            assert question.seconds


def parsed(path: str, raw: RawRequest, settings: Settings) -> tuple[Question, Noted]:
    """A question whose comparison is no larger than is accepted, and what is written on it.

    Args:
        path: Of the kind.
        raw: With finished questions, and the texts of test sets, in the place of their ids.
        settings: Limits.

    Raises:
        SigtestError: The first thing that is wrong; `others` of it, what else is.
    """
    kind = KINDS[path]
    compares = isinstance(kind, Comparisons)
    models = (ComparisonRequest, SeveralRequest) if compares else (kind.request, Notes)
    known = dict.fromkeys([name for own in models for name in own.model_fields])
    known |= dict.fromkeys(kind.reading if raw.files else ())
    flaws: Flaws = {}
    for field in islice((own for own in raw.body if own not in known), MOST_FLAWS):
        _noted(flaws, (), choose, field, known, field[:60], "field")
    asked = {field: raw.body[field] for field in known if field in raw.body}
    notes = _noted(flaws, (), Notes.of, {k: asked.pop(k) for k in WRITTEN if k in asked})
    question = _noted(flaws, (), _asked, kind, asked, raw.files, settings)
    # once more without wrong choices, for what was brought; others may be wrong for lack of these
    optional = CHOICES - {"pairs", "unpaired", "" if compares else "metrics"}
    while question is None and (wrong := {top for top, *_ in flaws} & asked.keys() & optional):
        asked = {field: own for field, own in asked.items() if field not in wrong}
        question = _noted(flaws, CHOICES - {"metrics"}, _asked, kind, asked, raw.files, settings)
    if notes is None or question is None or flaws:
        first, *rest = [*flaws.values()][:MOST_FLAWS]
        first.others = tuple(rest)
        raise first
    return question, notes.written()


def _noted(flaws: Flaws, but: Container[str], check: Callable[..., T], *args: Any) -> T | None:
    """What a check yields; what is wrong is noted instead, but for what is with some fields."""
    try:
        return check(*args)
    except SigtestError as error:
        for own in (error, *error.others):
            place = (own.field or "").replace("[", ".").partition(".")
            if place[0] not in but:
                flaws.setdefault(place, own)
        return None


def _asked(kind: Kind[Any], body: Any, files: Sequence[FormFile], settings: Settings) -> Question:
    question: Question = kind.parse(_comparing(kind, body, partial(_with_texts, settings)), files)
    comparison = kind.comparison(question)
    if comparison is not None:
        with inside("" if isinstance(kind, Comparisons) else kind.compares):
            limits.check_recipe(comparison, settings)
    assert question.key  # both are kept with it, and take a while
    assert question.seconds >= 0
    return question


def _comparing(
    kind: Kind[Any], body: Mapping[str, Any], change: Callable[..., Mapping[str, Any]]
) -> Mapping[str, Any]:
    """A request with a change in the comparison that it is, or that it has in it."""
    if isinstance(kind, Comparisons):
        return change(body)
    if not isinstance(inner := body.get(kind.compares), Mapping):
        return body
    with inside(kind.compares):
        return {**body, kind.compares: change(inner)}


# what a request names


async def _with_finished(
    request: Request,
    caller: str,
    kind: Kind[Any],
    body: Mapping[str, Any],
    wait: float | None,
    work: bodies.Work,
) -> Mapping[str, Any]:
    """A request with finished questions in the place of their ids.

    Args:
        request: Which names them.
        caller: Whose they are.
        kind: Of the request.
        body: The request.
        wait: Seconds for those that are unfinished; meanwhile others have the turn.
        work: The turn of the request.

    Raises:
        InputError: Something that is no id stands where one belongs.
        NotFoundError: The caller has no question of this id and kind, or had one.
        NotReadyError: It is unfinished after the wait, failed or was cancelled.
    """
    questions = request.state.questions

    def answered(question_id: str) -> Finished:
        report = questions.report(question_id, caller)
        return Finished(questions.question(question_id, caller), json.loads(report))

    for reference in kind.named:
        answers, name = {}, KINDS[reference.kind].name
        for place, question_id in reference.ids(body).items():
            if not isinstance(question_id, str):
                raise InputError(f"{place} must be the id of a {name}.", field=place)
            with inside(place):
                if not ID.fullmatch(question_id):
                    raise NotFoundError(f"There is no {name} {question_id[:80]!r}.")
                look = partial(questions.find, question_id, caller, reference.kind)
                record = await run_in_threadpool(look)
                if not record.status.finished and wait:
                    async with work.paused():
                        await request.state.watcher.settled(record, wait)
                finished = await run_in_threadpool(answered, question_id)
                answers[place] = reference.take(finished)
        body = reference.replace(body, answers) if answers else body
    return body


def _with_testset(testsets: TestSets, caller: str, body: Mapping[str, Any]) -> Mapping[str, Any]:
    """A request with the references, documents and labels of the test set that it may name.

    Raises:
        InputError: No id, or some of these besides it.
        NotFoundError: The caller has, or had, no test set of this id.
    """
    name = body.get("testset")
    if name is None:
        return body
    if not isinstance(name, str):
        raise InputError("testset must be the id of a test set.", field="testset")
    for field in TEXTS_OF_TESTSETS:
        if body.get(field) not in (None, []):
            raise InputError(
                f"testset names a test set, which has all its texts; leave {field} out.",
                field=field,
            )
    try:
        if not TESTSET_ID.fullmatch(name):
            raise NotFoundError(f"There is no test set {name!r}.")
        found = testsets.testset(testsets.find(name, caller).id)
    except NotFoundError as error:
        error.field = "testset"
        raise
    return {
        **{k: own for k, own in body.items() if k not in (*TEXTS_OF_TESTSETS, "testset")},
        "references": [text.lines for text in found.references],
        "documents": found.documents,
        "labels": found.labels,
        "source": found.source.lines if found.source is not None else None,
        "segments": found.segments,
    }


def _with_texts(settings: Settings, body: Mapping[str, Any]) -> Mapping[str, Any]:
    """A request for a comparison with the texts that it names, no larger than is accepted.

    Raises:
        InputError: No such built-in test set, or references besides it.
        UnavailableError: It is not here and must not be downloaded.
    """
    body = listed(body)
    limits.check_content(body, settings)
    builtin = body.get("builtin")
    if builtin is not None:
        if not isinstance(builtin, str):
            raise InputError(
                "builtin must be a test set's name, such as wmt17/en-de.", field="builtin"
            )
        try:
            content = read_builtin(builtin, settings.allow_downloads).as_json()
        except SigtestError as error:
            error.field = "builtin"
            raise
        del content["systems"]
        body = bodies.add_content(body, content)
        limits.check_content(body, settings)
    return {field: body[field] for field in body if field not in ("testset", "builtin")}


# forms


def _with_files(form: PageForm, kind: Kind[Any], settings: Settings) -> RawRequest:
    """A request with the texts of files, and the files that the kind reads itself."""
    body, files = form.request, form.files
    texts = {part: files.get(part, ()) for part in texts_of(kind)}
    if isinstance(kind, Comparisons):
        chosen = body.get("metrics")
        body = _with_material(body, texts, settings)
        if form.usual and chosen is None and "bleu" in body["metrics"]:
            body["metrics"] = [*form.usual]
    elif any(texts.values()):
        inner = body.get(kind.compares, {})
        if not isinstance(inner, dict):
            raise InputError(f"{kind.compares} must be an object.", field=kind.compares)
        inner = {**kind.reads, **inner}
        body = {**body, kind.compares: _with_material(inner, texts, settings)}
    meter, read = Meter("The set of files", bodies.bounds_of(settings)), []
    for part in kind.parts:
        for file in files.get(part, ()):
            counted = meter.of_part(file.name)
            data = counted.unzipped(file.data, file.name)
            counted.add_bytes(len(data) - counted.read)  # those that are not packed count, too
            read.append(FormFile(part, file.name, data))
    return RawRequest(body, read)


def _with_material(body: dict[str, Any], files: bodies.Files, settings: Settings) -> dict[str, Any]:
    """A request for a comparison with the files of a form, in whose order they are read."""
    if "testsets" in body:
        raise InputError("A form is for one test set; send several as JSON.", field="testsets")
    body = {**body}
    missing, select = body.pop("missing", "error"), body.pop("select", None)
    columns = body.pop("columns", None)
    if not isinstance(select, str | None):
        raise InputError("select must name one of the test sets in the files.", field="select")
    metrics = body.get("metrics")
    labels, wanted = only_labels(metrics), labels_needed(metrics)
    apart = body.get("unpaired") is True
    how = Joining(missing, select, False, labels, wanted, columns=columns, unpaired=apart)
    limits.check_content({"systems": [*files["systems"]]}, settings)  # before any is unpacked
    bodies.refuse_doubled({name: body[name] for name in body if name != "archive"}, files)
    elsewhere = next((name for name in ("testset", "builtin") if body.get(name) is not None), None)
    if elsewhere is not None and files["references"]:
        raise InputError(
            f"{elsewhere} names a test set, which has references; leave the files out.",
            field="references",
        )
    material = gather(bodies.entries_of(files), how, bodies.bounds_of(settings))
    content = (material if elsewhere is None else in_order(material)).as_json()
    if elsewhere is not None:  # what the files of systems say besides counts for nothing
        content = {
            k: v for k, v in content.items() if k in ("systems", "notes", "runs") or files.get(k)
        }
    if metrics is None:
        body["metrics"] = metrics_of(material, elsewhere is not None)
    return {**material.usual, **bodies.add_content(body, content)}
