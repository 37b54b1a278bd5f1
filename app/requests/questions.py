"""A request's body to a question, with what it names: finished questions, test sets."""

from __future__ import annotations

import json
import re
from collections.abc import Callable, Mapping, Sequence
from contextlib import suppress
from dataclasses import dataclass
from functools import cache, partial
from typing import Annotated, Any, cast

from fastapi import Depends, Request
from starlette.concurrency import run_in_threadpool
from starlette.datastructures import FormData

from app.http.auth import Caller, Principal
from app.http.negotiation import Wait
from app.http.state import asked_kind
from app.http.waiting import Watcher
from app.requests import limits
from app.requests.bodies import (
    FORM,
    JSON,
    FileReader,
    Parser,
    Submission,
    Work,
    add_content,
    check_parts,
    files_of,
    form_of,
    gathered,
    given_of,
    kind_of,
    parse_json,
    plain,
    refuse_doubled,
    refuse_encoding,
    request_of,
    size_of,
    unread,
)
from app.settings import Settings
from sigtest.data.choices import choose
from sigtest.errors import InputError, SigtestError, inside
from sigtest.files import Joining, in_order, metrics_of, read_builtin
from sigtest.kinds import KINDS, Finished, FormFile, Kind, Question
from sigtest.kinds.comparisons import Comparisons
from sigtest.metrics import METRICS, only_labels
from sigtest.requests.comparisons import ComparisonRequest, SeveralRequest, listed
from sigtest.requests.notes import PARTS as WRITTEN
from sigtest.requests.notes import Noted, apart
from sigtest.requests.recipe import labels_asked
from workers.errors import NotFoundError
from workers.questions import Questions
from workers.settings import Settings as QueueSettings
from workers.store.server import connect
from workers.tasks.context import Context
from workers.testsets import TestSets

ID = re.compile("[0-9a-f]{32,64}")


@dataclass(frozen=True)
class NamedQuestions:
    """The questions that one caller may name.

    Attributes:
        questions: Where they are.
        watch: Waits for those that are unfinished.
        caller: Whose they are.
        seconds: How long to wait, as `Prefer` says.
        work: The turn of the request, which others have meanwhile.
    """

    questions: Questions
    watch: Watcher
    caller: str
    seconds: float | None
    work: Work

    async def fill(self, kind: Kind[Any], body: Mapping[str, Any]) -> Mapping[str, Any]:
        """A request with finished questions in the place of their ids.

        Raises:
            InputError: Something that is no id stands where one belongs.
            NotFoundError: The caller has no question of this id and kind, or had one.
            NotReadyError: It is unfinished after the wait, failed or was cancelled.
        """
        for reference in kind.named:
            found = {
                place: reference.take(await self._finished(reference.kind, question_id, place))
                for place, question_id in reference.ids(body).items()
            }
            if found:
                body = reference.replace(body, found)
        return body

    async def _finished(self, kind: str, question_id: object, place: str) -> Finished:
        try:
            if not isinstance(question_id, str):
                raise InputError(f"{place} must be the id of a {KINDS[kind].name}.")
            if not ID.fullmatch(question_id):
                raise NotFoundError(f"There is no {KINDS[kind].name} {question_id[:80]!r}.")
            record = await run_in_threadpool(self.questions.find, question_id, self.caller, kind)
            if not record.status.finished and self.seconds:
                async with self.work.paused():
                    await self.watch.settled(record, self.caller, self.seconds)
            report = await run_in_threadpool(self.questions.report, question_id, self.caller)
            question = await run_in_threadpool(self.questions.question, question_id, self.caller)
            return Finished(question, json.loads(report))
        except SigtestError as error:
            error.field = place
            raise


BUILTIN = "builtin"
TESTSET = "testset"
TEXTS_OF_TESTSETS = ("references", "documents", "labels", "source", "segments", BUILTIN)
TESTSET_ID = re.compile("[0-9a-f]{32}")


def with_builtin(body: Mapping[str, Any], settings: Settings) -> dict[str, Any]:
    """A request with the references that its `builtin` names.

    Raises:
        InputError: No such test set, or references besides it.
        UnavailableError: It is not here and must not be downloaded.
    """
    asked = body[BUILTIN]
    if not isinstance(asked, str):
        raise InputError("builtin must be a test set's name, such as wmt17/en-de.", field=BUILTIN)
    try:
        brought = read_builtin(asked, settings.allow_downloads).as_json()
    except SigtestError as error:
        error.field = BUILTIN
        raise
    del brought["systems"]
    return add_content(body, brought)


@cache
def _testsets(store: QueueSettings) -> TestSets:
    """The test sets there, for as long as this process lives."""
    return TestSets(Context.on(connect(store), store))


@dataclass(frozen=True)
class OwnTestSets:
    """The test sets of one caller.

    Attributes:
        store: Where they are.
        caller: Whose they are.
    """

    store: QueueSettings
    caller: str

    def fill(self, body: Mapping[str, Any]) -> dict[str, Any]:
        """A request with the references, documents and labels that its `testset` names.

        Raises:
            InputError: No id, or some of these besides it.
            NotFoundError: The caller has, or had, no test set of this id.
        """
        asked = body[TESTSET]
        if not isinstance(asked, str):
            raise InputError("testset must be the id of a test set.", field=TESTSET)
        for field in TEXTS_OF_TESTSETS:
            if body.get(field) not in (None, []):
                raise InputError(
                    f"testset names a test set, which has all its texts; leave {field} out.",
                    field=field,
                )
        if not TESTSET_ID.fullmatch(asked):
            raise NotFoundError(f"There is no test set {asked!r}.", field=TESTSET)
        try:
            found = _testsets(self.store).testset(asked, self.caller)
        except NotFoundError as error:
            error.field = TESTSET
            raise
        return {
            **{
                field: value
                for field, value in body.items()
                if field not in (TESTSET, *TEXTS_OF_TESTSETS)
            },
            "references": [text.lines for text in found.references],
            "documents": found.documents,
            "labels": found.labels,
            "source": found.source.lines if found.source is not None else None,
            "segments": found.segments,
        }


TESTSETS = "testsets"
ARCHIVE, REQUEST = "archive", "request"
TEXTS = ("references", "systems", "scores", "documents", "labels", "source", ARCHIVE)


@dataclass(frozen=True)
class Sent:
    """What a body brings.

    Attributes:
        body: The request, with the texts of files where the kind compares.
        files: That the kind reads itself.
    """

    body: Mapping[str, Any]
    files: Sequence[FormFile] = ()


async def read_question(request: Request, caller: Caller, wait: Wait) -> list[Submission[Question]]:
    """Dependency: the question that the body asks, checked.

    It is the only entry of a list: who takes it out is the only one who keeps its texts in memory.

    Raises:
        SigtestError: The body is of no known kind, too large, malformed, or asks for nothing
            that can be done.
    """
    state = request.state
    settings, parser = cast(Settings, state.settings), cast(Parser, state.parser)
    kind = await asked_kind(request)
    forms = (FORM,) if isinstance(kind, Comparisons) or kind.parts or kind.compares else ()
    media = kind_of(request)
    refuse_encoding(request)
    if media == JSON:
        async with parser.body(request) as data, Work(parser, len(data)) as work:
            return [await asked_with(request, caller, kind, work, partial(_of_json, data), wait)]
    if media in forms:
        async with form_of(request, settings) as form, Work(parser, size_of(form)) as work:
            return [await asked_with(request, caller, kind, work, partial(read_form, form), wait)]
    raise unread(media, JSON, *forms)


def _of_json(data: bytes, path: str, settings: Settings) -> Sent:
    return Sent(parse_json(data, "body"))


Read = Annotated[list[Submission[Question]], Depends(read_question)]


async def asked_with(
    request: Request,
    caller: Principal,
    kind: Kind[Any],
    work: Work,
    read: Callable[[str, Settings], Sent],
    wait: int | None = None,
) -> Submission[Question]:
    """The question that is asked with what was sent.

    Args:
        request: Which brought it.
        caller: Who asks, and may name own questions and test sets.
        kind: Of the question.
        work: The turn of the request.
        read: Reads what was sent, for the path of a kind and within limits; can be pickled.
        wait: Seconds for questions that are named and unfinished.

    Raises:
        SigtestError: It asks for nothing that can be done.
    """
    state = request.state
    own = OwnTestSets(state.questions.context.settings, caller.name)
    notes, found = await work.run(_question, read, kind.path, state.settings, own)
    if isinstance(found, Sent):
        answers = NamedQuestions(state.questions, state.watcher, caller.name, wait, work)
        filled = Sent(await answers.fill(kind, found.body), found.files)
        found = await work.run(parsed, kind.path, filled, state.settings, own)
    return Submission(found, notes)


def _question(
    read: Callable[[str, Settings], Sent], path: str, settings: Settings, own: OwnTestSets
) -> tuple[Noted, Question | Sent]:
    """What is written on a question, and that; or what was sent where it names finished ones."""
    sent, kind = read(path, settings), KINDS[path]
    known = fields_of(kind)
    for field in sent.body if known else ():
        choose(field, (*known, *(kind.reading if sent.files else ())), field[:60], "field")
    notes, body = apart(sent.body)
    sent = Sent(body, sent.files)
    if any(reference.ids(body) for reference in kind.named):
        return notes, sent
    return notes, parsed(path, sent, settings, own)


def fields_of(kind: Kind[Any]) -> tuple[str, ...]:
    """What a request of a kind may say, as its schema has it; nothing where that names nothing."""
    if isinstance(kind, Comparisons):
        asked = {**ComparisonRequest.model_fields, **SeveralRequest.model_fields}
        return tuple(asked)
    named = kind.schema().get("properties")
    return (*named, *WRITTEN) if named else ()


def rehearse() -> None:
    """Check a small question of every metric, so that nobody waits for what is loaded for that."""
    text = ["a b c d"]
    body = {
        "references": [text],
        "systems": [{"name": name, "hypotheses": text} for name in "ab"],
    }
    for metric in METRICS:
        with suppress(SigtestError):  # it is not installed, or not about texts
            asked = KINDS["comparisons"].parse({**body, "metrics": [metric]})
            assert asked.key
            assert asked.seconds


def parsed(path: str, sent: Sent, settings: Settings, own: OwnTestSets) -> Question:
    """The question, whose comparison is no larger than this service accepts.

    Args:
        path: Of the kind.
        sent: With finished questions in the place of their ids.
        settings: Limits.
        own: The caller's test sets.

    Raises:
        SigtestError: It asks for nothing that can be done.
    """
    kind, body, files = KINDS[path], sent.body, sent.files
    if isinstance(kind, Comparisons):
        body = _with_texts(body, settings, own)
    elif kind.compares and isinstance(body.get(kind.compares), Mapping):
        with inside(kind.compares):
            texts = _with_texts(body[kind.compares], settings, own)
        body = {**body, kind.compares: texts}
    question: Question = kind.parse(body, files)
    comparison = kind.comparison(question)
    if comparison is not None:
        with inside("" if isinstance(kind, Comparisons) else kind.compares):
            limits.check_recipe(comparison, settings)
    assert question.key  # both are kept with it, and take a while
    assert question.seconds >= 0
    return question


def read_form(form: FormData, path: str, settings: Settings, usual: Sequence[str] = ()) -> Sent:
    """The request of a form and the files that the kind reads itself.

    Args:
        form: As it was sent.
        path: Of the kind that is asked.
        settings: Limits.
        usual: Metrics of a comparison of texts where none is chosen, instead of those inferred.

    Raises:
        SigtestError: Something that cannot be read.
    """
    kind = KINDS[path]
    alone = isinstance(kind, Comparisons)
    texts = TEXTS if alone or kind.compares else ()
    check_parts(form, (*texts, *kind.parts, REQUEST))
    body = request_of(form)
    reader = FileReader(settings.max_text_bytes)
    if alone:
        chosen = body.get("metrics")
        body = _texts_of(form, body, settings)
        if usual and chosen is None and "bleu" in body["metrics"]:
            body["metrics"] = [*usual]
    elif any(form.getlist(part) for part in texts):
        inner = body.get(kind.compares, {})
        if not isinstance(inner, dict):
            raise InputError(f"{kind.compares} must be an object.", field=kind.compares)
        body[kind.compares] = _texts_of(form, inner, settings)
    files = [
        FormFile(part, name, reader.content(file.file, name))
        for part in kind.parts
        for file in files_of(form, part)
        for name in [plain(file.filename)]
    ]
    return Sent(body, files)


def _texts_of(form: FormData, body: dict[str, Any], settings: Settings) -> dict[str, Any]:
    """A request for a comparison with the files of a form, in whose order they are read."""
    if TESTSETS in body:
        raise InputError("A form is for one test set; send several as JSON.", field=TESTSETS)
    how = _joining(body)
    files = {part: files_of(form, part) for part in TEXTS}
    limits.check_content({"systems": files["systems"]}, settings)  # before anything is unpacked
    refuse_doubled({name: body[name] for name in body if name != ARCHIVE}, files)
    elsewhere = next((name for name in (TESTSET, BUILTIN) if body.get(name) is not None), None)
    if elsewhere is not None and files["references"]:
        raise InputError(
            f"{elsewhere} names a test set, which has references; leave the files out.",
            field="references",
        )
    material = gathered(given_of(files), how, settings).material
    content = (material if elsewhere is None else in_order(material)).as_json()
    if elsewhere is not None:  # what the files of systems say besides counts for nothing
        content = {
            k: v for k, v in content.items() if k in ("systems", "notes", "runs") or files[k]
        }
    if body.get("metrics") is None:
        body = {**body, "metrics": metrics_of(material, elsewhere is not None)}
    return add_content(body, content)


def _joining(body: dict[str, Any]) -> Joining:
    """What to do where files do not match, taken out of a form's request."""
    missing = body.pop("missing", "error")
    select = body.pop("select", None)
    if not isinstance(select, str | None):
        raise InputError("select must name one of the test sets in the files.", field="select")
    metrics = body.get("metrics")
    return Joining(missing, select, False, only_labels(metrics), labels_asked(metrics))


def _with_texts(body: Mapping[str, Any], settings: Settings, own: OwnTestSets) -> Mapping[str, Any]:
    """A request for a comparison with the texts that it names, no larger than is accepted."""
    body = listed(body)
    limits.check_content(body, settings)
    if body.get(TESTSET) is not None:
        body = own.fill(body)
    if body.get(BUILTIN) is not None:
        body = with_builtin(body, settings)
        limits.check_content(body, settings)
    return {field: body[field] for field in body if field not in (TESTSET, BUILTIN)}
