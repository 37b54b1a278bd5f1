"""Bodies of requests: read off the event loop, as JSON or as forms with files.

Small ones are read in threads, others in the process beside this one, which has one body at a
time; each caller has two that wait for it.
"""

import asyncio
import json
import re
from collections import Counter
from collections.abc import AsyncIterator, Callable, Iterable, Mapping, Sequence
from contextlib import AsyncExitStack, asynccontextmanager
from dataclasses import dataclass, field
from functools import partial
from typing import Annotated, Any, Generic, ParamSpec, Self, TypeVar
from urllib.parse import unquote

from fastapi import Depends, Request
from starlette.concurrency import run_in_threadpool
from starlette.datastructures import ImmutableMultiDict, UploadFile
from starlette.exceptions import HTTPException
from starlette.types import Message

from app.http.negotiation import shows_pages
from app.http.observing import EXCHANGE
from app.http.problems import MalformedError, UnreadyError, UnsupportedMediaError
from app.http.state import turn
from app.requests.reading import ReadingProcess
from app.settings import Settings
from sigtest.data.names import system_name
from sigtest.data.shape import shape_of
from sigtest.data.text import decode
from sigtest.errors import InputError
from sigtest.files.gathering import Entry, Role, Upload
from sigtest.files.tree import Bounds
from sigtest.requests.notes import Noted, Notes, PlainNotes

JSON, FORM = "application/json", "multipart/form-data"
TEXT, GZIP = "text/plain", "application/gzip"
OTHER_NAMES = {"application/x-gzip": GZIP}
MOST_DEPTH = 100
MOST_CONTAINERS = 500_000
MOST_VALUES = 4_000_000  # with their names, where they have some
ESCAPED = re.compile("%([01][0-9a-fA-F]|22)")
SMALL = 2**13  # bytes of a body that is read in this process
BODIES = 4  # as large as the largest that is accepted, may be here at a time

P = ParamSpec("P")
T = TypeVar("T")


class Form(ImmutableMultiDict[str, str | Upload]):
    """A form as it was sent: texts and files, by part."""

    @property
    def size(self) -> int:
        """Its characters and bytes."""
        parts = (part for _, part in self.multi_items())
        return sum(len(part if isinstance(part, str) else part.data) for part in parts)


Body = bytes | Form
Files = Mapping[str, Sequence[Upload]]


@dataclass(frozen=True)
class Submission(Generic[T]):
    """What a body brings, and what is written on it.

    Attributes:
        content: A question, test set or system, checked.
        notes: What is written on it.
        besides: What else the form of a page says, such as which of its buttons was pressed.
    """

    content: T
    notes: Noted
    besides: Mapping[str, str] = field(default_factory=dict)


class Parser:
    """Shared by all requests of one front end.

    Args:
        max_bytes: Size of the largest body that is accepted.
        process: Reads all but small ones.
    """

    def __init__(self, max_bytes: int, process: ReadingProcess) -> None:
        self._most = BODIES * max_bytes
        self._held: Counter[str] = Counter()  # bytes, by caller
        self.process = process
        self.reading = asyncio.Lock()

    @asynccontextmanager
    async def holding(self, request: Request) -> AsyncIterator[Request]:
        """The same request, whose body is in memory as long as the block lasts.

        A caller may hold as much as is left for all others.

        Raises:
            UnreadyError: Too many large bodies are held, in the middle of one.
        """
        own, caller = 0, EXCHANGE.get().caller

        async def counted() -> Message:
            nonlocal own
            message = await request.receive()
            size = len(message.get("body", b""))
            own += size
            self._held[caller] += size
            if self._held[caller] > self._most - self._held.total():
                raise UnreadyError("Too many large bodies came at a time; send it again.")
            return message

        try:
            yield Request(request.scope, counted)
        finally:
            self._held[caller] -= own
            self._held += Counter()  # without those who hold nothing


class Work:
    """A turn to read and check, as long as the block; left while its request waits for others.

    What was read waits for no second turn: all that came meanwhile would have the first, and be in
    memory, too.

    Args:
        parser: Has the process that reads, and the lock of who uses it.
        size: Bytes of what is read.
    """

    def __init__(self, parser: Parser, size: int) -> None:
        self._lock = None if size <= SMALL else parser.reading
        there = partial(parser.process.run, size)
        self._run: Callable[..., Any] = run_in_threadpool if size <= SMALL else there
        self._turn = AsyncExitStack()

    async def run(self, parse: Callable[P, T], *args: P.args, **kwargs: P.kwargs) -> T:
        """Read or check; all of it can be pickled."""
        result: T = await self._run(parse, *args, **kwargs)
        return result

    async def __aenter__(self) -> Self:
        await self._turn.enter_async_context(turn())
        if self._lock is not None:
            await self._turn.enter_async_context(self._lock)
        return self

    async def __aexit__(self, *error: object) -> None:
        await self._turn.aclose()

    @asynccontextmanager
    async def paused(self) -> AsyncIterator[None]:
        """Let others have the turn until the block is left."""
        await self._turn.aclose()
        yield
        await self.__aenter__()


def media_of(request: Request) -> str:
    """The media type that a request states, without parameters; empty where it states none."""
    media = request.headers.get("content-type", "").partition(";")[0].strip().lower()
    return OTHER_NAMES.get(media, media)


@asynccontextmanager
async def body_of(request: Request, *media: str) -> AsyncIterator[tuple[Body, Work]]:
    """A body, and the turn to read it; what it holds is gone when the block is left.

    Args:
        request: Which brings it. Where its address is that of a page, it is a form.
        media: Which it may be. Of text and gzip, Content-Encoding is left to who reads them.

    Raises:
        UnsupportedMediaError: It is something else, or compressed, or texts not in UTF-8.
        MalformedError: It is no form, or has too many parts.
        UnreadyError: Too many large ones are held.
    """
    kind = FORM if shows_pages(request) else media_of(request)
    if kind not in media and not shows_pages(request):
        *others, last = media
        known = f"{', '.join(others)} or {last}" if others else last
        raise UnsupportedMediaError(f"Send {known}, not {kind or 'a body of no stated kind'}.")
    encoding = request.headers.get("content-encoding", "identity").lower()
    if encoding != "identity" and (encoding != "gzip" or kind not in (TEXT, GZIP)):
        raise UnsupportedMediaError(
            "A body with a Content-Encoding is not read; send .txt.gz files in a form."
        )
    parser: Parser = request.state.parser
    async with parser.holding(request) as held:
        body = await _form_of(held) if kind == FORM else await held.body()
        yield body, Work(parser, body.size if isinstance(body, Form) else len(body))


async def _form_of(request: Request) -> Form:
    if re.search(r";\s*charset=(?!\"?utf-?8\b)", request.headers.get("content-type", ""), re.I):
        raise UnsupportedMediaError("Send the texts of a form in UTF-8, in no other charset.")
    settings: Settings = request.state.settings
    parts: list[tuple[str, str | Upload]] = []
    try:
        files, size = 2 * settings.max_systems + 100, settings.max_body_bytes
        async with request.form(max_files=files, max_fields=100, max_part_size=size) as form:
            for name, part in form.multi_items():
                if isinstance(part, UploadFile):
                    # as it was before a form's encoding escaped quotes and control characters
                    file = ESCAPED.sub(lambda found: unquote(found[0]), part.filename or "")
                    parts.append((name, Upload(file, await part.read())))
                else:
                    parts.append((name, part))
    except HTTPException as error:
        raise MalformedError(f"The form cannot be read: {error.detail}") from error
    return Form(parts)


# JSON


def parse_json(data: bytes, what: str) -> dict[str, Any]:
    """A JSON object, no field of which stands there twice.

    The standard parser is used and not a schema over every string, for which test sets are
    too large. NaN and Infinity are left to whom each number is for: they know its place.

    Raises:
        MalformedError: Not a JSON object in UTF-8, or too much in it.
    """
    _check_shape(data, what)
    try:
        body = json.loads(decode(data, what), object_pairs_hook=_distinct)
    except json.JSONDecodeError as error:
        raise MalformedError(
            f"{what} is not JSON: {error.msg} at line {error.lineno}, column {error.colno}.",
            field=what,
            line=error.lineno,
        ) from None
    except InputError as error:  # not UTF-8, or a field twice
        raise MalformedError(error.message, field=error.field, line=error.line) from None
    except ValueError:  # a whole number of thousands of digits
        raise MalformedError(f"{what} has a number that is too long.", field=what) from None
    if not isinstance(body, dict):
        raise MalformedError(f"{what} must be a JSON object.", field=what)
    return body


def _check_shape(data: bytes, what: str) -> None:
    """Refuse what would take many times its bytes of memory, before it does."""
    shape = shape_of(data)
    if shape.depth > MOST_DEPTH:
        raise MalformedError(
            f"{what} is nested too deeply: {shape.depth:,} levels, of at most {MOST_DEPTH}.",
            field=what,
        )
    for count, most, things in (
        (shape.containers, MOST_CONTAINERS, "lists and objects"),
        (shape.values, MOST_VALUES, "values"),
    ):
        if count > most:
            raise MalformedError(
                f"{what} has {count:,} {things}, more than the {most:,} that are read as JSON; "
                "send texts and scores as files of a form.",
                field=what,
            )


def _distinct(pairs: Iterable[tuple[str, Any]]) -> dict[str, Any]:
    entries: dict[str, Any] = {}
    for name, value in pairs:
        if name in entries:
            raise InputError(f"The field {name[:60]!r} is given twice.", field=name)
        entries[name] = value
    return entries


async def read(request: Request, parse: Callable[[dict[str, Any]], T]) -> T:
    """What becomes of a JSON object, or of title and tags as the form of a page has them."""
    async with body_of(request, JSON) as (body, work), work:
        return await work.run(_parsed, parse, body)


def _parsed(parse: Callable[[dict[str, Any]], T], body: Body) -> T:
    return parse(parse_json(body, "body") if isinstance(body, bytes) else written(body))


# what is written


async def read_notes(request: Request) -> Noted:
    """Dependency: what the body writes; it says nothing else."""
    return (await read(request, Notes.of)).written()


async def read_words(request: Request) -> Noted:
    """Dependency: the same of what never expires; there need not be a body."""
    return (await read(request, PlainNotes.of)).written() if has_body(request) else {}


def has_body(request: Request) -> bool:
    """Whether a request brings anything."""
    headers = request.headers
    return headers.get("content-length", "0") != "0" or "transfer-encoding" in headers


def written(form: Form) -> dict[str, Any]:
    """What is written, as the form's fields say it, as far as it has these."""
    fields = ("title", "tags", "expires", "origins")
    words: dict[str, Any] = {k: form[k] for k in fields if isinstance(form.get(k), str)}
    for name in {"tags", "origins"} & words.keys():
        words[name] = [word.strip() for word in words[name].split(",") if word.strip()]
    return words


Written = Annotated[Noted, Depends(read_notes)]
Words = Annotated[Noted, Depends(read_words)]


# forms

SINGLE = ("documents", "labels", "source")  # of which a form has one file, or a list in `request`
ROLES: Mapping[str, Role] = {
    "archive": "anything", "references": "reference", "systems": "system", "hypotheses": "system",
    "scores": "scores", "documents": "documents", "labels": "labels", "source": "source",
}  # fmt: skip


def parts_of(form: Form, *parts: str) -> tuple[dict[str, Any], Files]:
    """The `request` part of a form, a field or a file, and its files.

    Args:
        form: As it was sent.
        parts: That have files; no others are there.
    """
    for part in form:
        if part not in (*parts, "request"):
            known = ", ".join((*parts, "request"))
            raise InputError(f"Unknown part {part[:60]!r}; a form has {known}.", field=part)
    files = {part: files_of(form, part) for part in parts}
    requests = form.getlist("request")
    if len(requests) > 1:
        raise InputError("A form has one request part at most.", field="request")
    data = [part.encode() if isinstance(part, str) else part.data for part in requests]
    return parse_json(data[0], "request") if data else {}, files


def files_of(form: Form, part: str) -> list[Upload]:
    """The files of one part; a browser's empty file input is none."""
    files = []
    for entry in form.getlist(part):
        if isinstance(entry, str):
            raise InputError(f"{part} must be sent as files, each with its name.", field=part)
        if entry.name or entry.data:
            files.append(entry)
    return files


def text_of(form: Form, name: str) -> str:
    """The text of a field without blanks at its ends; empty where there is none."""
    value = form.get(name)
    return value.strip() if isinstance(value, str) else ""


def refuse_doubled(body: Mapping[str, Any], files: Files) -> None:
    """Check that nothing is both in `request` and in files, or in `request` where files belong."""
    for part in files:
        if part in SINGLE and len(files[part]) > 1:
            raise InputError(f"A form has one {part} file at most.", field=part)
        if part in body and (files[part] or part not in SINGLE):
            raise InputError(f"A form brings {part} as files, not in request.", field=part)


def entries_of(files: Files, system: str | None = None) -> list[Entry]:
    """The files of a form, with what their parts and names say of them.

    Args:
        files: By part; scores are called `[LABEL:]SYSTEM.tsv`, and without a label names inside the
            file go before that of the file.
        system: Whose they are, where the request says it.
    """
    entries = []
    for part, role in ROLES.items():
        for i, file in enumerate(files.get(part, ())):
            label, colon, own = system_name(file.name).rpartition(":")
            named = role == "scores" and colon
            entry = Entry(
                role,
                file,
                system or (own if named else None),
                label if named else None,
                field=part if part in SINGLE else f"{part}[{i}]",
            )
            entries.append(entry)
    return entries


def bounds_of(settings: Settings) -> Bounds:
    """How much files of a form may be."""
    return Bounds(
        files=settings.max_archive_files,
        text_bytes=settings.max_text_bytes,
        ratio=settings.max_archive_ratio,
        characters=settings.max_characters,
    )


def add_content(body: Mapping[str, Any], content: Mapping[str, Any]) -> dict[str, Any]:
    """A request with what files bring.

    Raises:
        InputError: Both bring the same.
    """
    twice = next((name for name in content if body.get(name) not in (None, [])), None)
    if twice is not None:
        raise InputError(f"{twice} are in files and in the request; give one.", field=twice)
    return {**body, **content}
