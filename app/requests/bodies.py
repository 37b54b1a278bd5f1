"""Bodies of requests: read off the event loop, as JSON or as forms with files.

Small ones are read in threads, others in the process beside this one, which has one body at a
time; each caller has two that wait for it.
"""

from __future__ import annotations

import asyncio
import copyreg
import gzip
import io
import json
import math
import re
from collections import Counter
from collections.abc import (
    AsyncIterator,
    Callable,
    Coroutine,
    Iterable,
    Iterator,
    Mapping,
    Sequence,
)
from contextlib import AsyncExitStack, asynccontextmanager
from dataclasses import dataclass
from functools import partial
from typing import Annotated, Any, BinaryIO, Generic, ParamSpec, Self, TypeVar
from urllib.parse import unquote

from fastapi import Depends, Query, Request
from starlette.concurrency import run_in_threadpool
from starlette.datastructures import FormData, UploadFile
from starlette.exceptions import HTTPException
from starlette.types import Message

from app.http.observing import EXCHANGE
from app.http.problems import MalformedError, UnreadyError, UnsupportedMediaError
from app.http.state import LeftEmpty, of_state, turn
from app.requests.reading import ReadingProcess
from app.settings import Settings
from sigtest.data.choices import choose
from sigtest.data.names import system_name
from sigtest.data.shape import shape_of
from sigtest.data.text import decode
from sigtest.errors import InputError, LimitError
from sigtest.files import Bounds, Entry, Gathered, Joining, Role, Upload, gather
from sigtest.files.tree import unpacking
from sigtest.requests.notes import PARTS, Noted, apart
from workers.questions import Status
from workers.store.records import Filter

JSON = "application/json"
FORM = "multipart/form-data"
MOST_DEPTH = 100
MOST_CONTAINERS = 500_000
MOST_VALUES = 4_000_000  # with their names, where they have some


def kind_of(request: Request) -> str:
    """The media type that a request states, without parameters; empty where it states none."""
    return request.headers.get("content-type", "").partition(";")[0].strip().lower()


def unread(kind: str, *read: str) -> UnsupportedMediaError:
    """The error of a body of one kind where only others are read."""
    *others, last = read
    known = f"{', '.join(others)} or {last}" if others else last
    return UnsupportedMediaError(f"Send {known}, not {kind or 'a body of no stated kind'}.")


def refuse_encoding(request: Request) -> None:
    """Check that a body is as it is.

    Raises:
        UnsupportedMediaError: It has a Content-Encoding.
    """
    if request.headers.get("content-encoding", "identity").lower() != "identity":
        raise UnsupportedMediaError(
            "A body with a Content-Encoding is not read; send .txt.gz files in a form."
        )


def parse_json(data: bytes, what: str) -> dict[str, Any]:
    """A JSON object, strictly: no NaN or Infinity, no field twice.

    The standard parser is used and not a schema over every string, for which test sets are
    too large.

    Raises:
        InputError: Not UTF-8.
        MalformedError: Not a JSON object, or too much in it.
    """
    _check_shape(data, what)
    unbounded: list[str] = []

    def number(text: str) -> float:
        value = float(text)
        if not math.isfinite(value):
            unbounded.append(text[:40])
        return value

    try:
        body = json.loads(
            decode(data, what),
            parse_constant=number,
            parse_float=number,
            object_pairs_hook=_distinct,
        )
        if unbounded:
            raise _not_finite(body, unbounded[0])
    except RecursionError:
        raise MalformedError(f"{what} is nested too deeply.", field=what) from None
    except json.JSONDecodeError as error:
        raise MalformedError(
            f"{what} is not JSON: {error.msg} at line {error.lineno}, column {error.colno}.",
            field=what,
            line=error.lineno,
        ) from None
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


def _not_finite(body: object, text: str) -> MalformedError:
    """The error of a number like NaN, saying where the first one is."""
    field = next(_not_finite_fields(body, "")) or "body"
    return MalformedError(f"{field} is {text}; every number must be finite.", field=field)


def _not_finite_fields(value: object, path: str) -> Iterator[str]:
    if isinstance(value, float) and not math.isfinite(value):
        yield path
    elif isinstance(value, dict):
        for name, entry in value.items():
            yield from _not_finite_fields(entry, f"{path}.{name}" if path else name)
    elif isinstance(value, list):
        for i, entry in enumerate(value):
            yield from _not_finite_fields(entry, f"{path}[{i}]")


def _distinct(pairs: Iterable[tuple[str, Any]]) -> dict[str, Any]:
    entries: dict[str, Any] = {}
    for name, value in pairs:
        if name in entries:
            raise MalformedError(f"The field {name[:60]!r} is given twice.", field=name)
        entries[name] = value
    return entries


P = ParamSpec("P")
T = TypeVar("T")

SMALL = 2**13  # bytes of a body that is read in this process
BODIES = 4  # as large as the largest that is accepted, may be here at a time


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
    async def body(self, request: Request) -> AsyncIterator[bytes]:
        """The body of a request, which is kept no longer than the block lasts.

        Raises:
            UnreadyError: See `holding`.
        """
        async with self.holding(request) as held:
            chunks = [chunk async for chunk in held.stream()]
            data = b"".join(chunks)
            chunks.clear()
            yield data

    @asynccontextmanager
    async def holding(self, request: Request) -> AsyncIterator[Request]:
        """The same request, whose body is in memory or in a file as long as the block lasts.

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

    async def run(self, size: int, parse: Callable[P, T], *args: P.args, **kwargs: P.kwargs) -> T:
        """Read and check what has so many bytes, when it is its turn; all of it can be pickled."""
        async with Work(self, size) as work:
            result: T = await work.run(parse, *args, **kwargs)
            return result


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
        self.run: Callable[..., Coroutine[Any, Any, Any]]
        self.run = run_in_threadpool if size <= SMALL else there
        self._taken = AsyncExitStack()

    async def __aenter__(self) -> Self:
        await self._taken.enter_async_context(turn())
        if self._lock is not None:
            await self._taken.enter_async_context(self._lock)
        return self

    async def __aexit__(self, *error: object) -> None:
        await self._taken.aclose()

    @asynccontextmanager
    async def paused(self) -> AsyncIterator[None]:
        """Let others have the turn until the block is left."""
        await self._taken.aclose()
        yield
        await self.__aenter__()


Parse = Annotated[Parser, of_state("parser")]


CHUNK = 2**20
SINGLE = ("documents", "labels", "source")  # of which a form has one file, or a list in `request`
ROLES: Mapping[str, Role] = {
    "archive": "anything", "references": "reference", "systems": "system", "hypotheses": "system",
    "scores": "scores", "documents": "documents", "labels": "labels", "source": "source",
}  # fmt: skip

Files = Mapping[str, Sequence[UploadFile]]


def file_of(name: str | None, data: bytes) -> UploadFile:
    """A file as a form has it."""
    return UploadFile(io.BytesIO(data), size=len(data), filename=name)


def _carried(file: UploadFile) -> tuple[Any, ...]:
    file.file.seek(0)
    return file_of, (file.filename, file.file.read())


copyreg.pickle(UploadFile, _carried)  # to the process that reads forms


@asynccontextmanager
async def form_of(request: Request, settings: Settings) -> AsyncIterator[FormData]:
    """The form that a request brings; its files are gone when the block is left.

    Raises:
        MalformedError: It is no form, or has too many parts.
        UnsupportedMediaError: Its texts are not UTF-8.
        UnreadyError: Too many large ones are held.
    """
    if re.search(r";\s*charset=(?!\"?utf-?8\b)", request.headers.get("content-type", ""), re.I):
        raise UnsupportedMediaError("Send the texts of a form in UTF-8, in no other charset.")
    parser: Parser = request.state.parser
    async with parser.holding(request) as held:
        try:
            form = await held.form(max_files=2 * settings.max_systems + 100, max_fields=100)
        except HTTPException as error:
            raise MalformedError(f"The form cannot be read: {error.detail}") from error
        try:
            yield form
        finally:
            await form.close()


def size_of(form: FormData) -> int:
    """Bytes of all parts, as they were sent."""
    parts = [part for _, part in form.multi_items()]
    return sum(len(part) if isinstance(part, str) else part.size or 0 for part in parts)


def check_parts(form: FormData, parts: Sequence[str]) -> None:
    """Check that a form has none but these parts."""
    for part in form:
        if part not in parts:
            raise InputError(
                f"Unknown part {part[:60]!r}; a form has {', '.join(parts)}.", field=part
            )


def request_of(form: FormData) -> dict[str, Any]:
    """The `request` part of a form, a field or a file; nothing where there is none."""
    parts = form.getlist("request")
    if not parts:
        return {}
    if len(parts) > 1:
        raise InputError("A form has one request part at most.", field="request")
    part = parts[0]
    return parse_json(part.encode() if isinstance(part, str) else part.file.read(), "request")


def files_of(form: FormData, part: str) -> list[UploadFile]:
    """The files of one part; a browser's empty file input is none."""
    files = []
    for entry in form.getlist(part):
        if isinstance(entry, str):
            raise InputError(f"{part} must be sent as files, each with its name.", field=part)
        if entry.filename or entry.size:
            files.append(entry)
    return files


def text_of(form: FormData, name: str) -> str:
    """The text of a field; empty where there is none."""
    value = form.get(name)
    return value if isinstance(value, str) else ""


def refuse_doubled(body: Mapping[str, Any], files: Files) -> None:
    """Check that nothing is both in `request` and in files, or in `request` where files belong."""
    for part in files:
        if part in SINGLE and len(files[part]) > 1:
            raise InputError(f"A form has one {part} file at most.", field=part)
        if part in body and (files[part] or part not in SINGLE):
            raise InputError(f"A form brings {part} as files, not in request.", field=part)


def given_of(files: Files, system: str | None = None) -> list[Entry]:
    """The files of a form, with what their parts and names say of them.

    Args:
        files: By part.
        system: Whose they are, where the request says it.
    """
    given = []
    for part, role in ROLES.items():
        for i, file in enumerate(files.get(part, ())):
            field = part if part in SINGLE else f"{part}[{i}]"
            label, name = _label_and_system(file) if role == "scores" else (None, None)
            upload = Upload(plain(file.filename), file.file.read())
            given.append(Entry(role, upload, system or name, label, field=field))
    return given


def gathered(given: Sequence[Entry], how: Joining, settings: Settings) -> Gathered:
    """What files bring together, within the limits of this service."""
    bounds = Bounds(
        files=settings.max_archive_files,
        text_bytes=settings.max_text_bytes,
        ratio=settings.max_archive_ratio,
        characters=settings.max_characters,
    )
    return gather(given, how, bounds)


def add_content(body: Mapping[str, Any], content: Mapping[str, Any]) -> dict[str, Any]:
    """A request with what files bring.

    Raises:
        InputError: Both bring the same.
    """
    twice = next((field for field in content if body.get(field) not in (None, [])), None)
    if twice is not None:
        raise InputError(f"{twice} are in files and in the request; give one.", field=twice)
    return {**body, **content}


def _label_and_system(file: UploadFile) -> tuple[str | None, str | None]:
    """What `[LABEL:]SYSTEM.tsv` says; without a label, names inside the file go before it."""
    label, colon, name = system_name(plain(file.filename)).rpartition(":")
    return (label, name) if colon else (None, None)


class FileReader:
    """Reads the text files of one upload, all together within a limit.

    Args:
        max_bytes: Bytes of text, decompressed.
    """

    def __init__(self, max_bytes: int) -> None:
        self.max_bytes = max_bytes
        self.left = max_bytes

    def content(self, file: BinaryIO, name: str) -> bytes:
        """The bytes of a file, as far as they are allowed."""
        if not name.endswith(".gz"):
            return self.read(file, name)
        with unpacking(file, name) as inner:
            return self.read(inner, name)

    def read(self, file: BinaryIO | gzip.GzipFile, name: str) -> bytes:
        """The rest of a file, in chunks: a gzip bomb is never unpacked beyond the limit."""
        chunks = []
        while chunk := file.read(min(CHUNK, self.left + 1)):
            chunks.append(chunk)
            self.left -= len(chunk)
            if self.left < 0:
                raise LimitError(
                    f"{name} takes the files' text beyond max_text_bytes, "
                    f"{self.max_bytes:,} bytes after decompression.",
                    limit="max_text_bytes",
                )
        return b"".join(chunks)


def plain(filename: str | None) -> str:
    """A file name as it was before a form's encoding escaped quotes and control characters."""
    return re.sub(r"%(0[0-9a-fA-F]|1[0-9a-fA-F]|22)", lambda m: unquote(m[0]), filename or "")


@dataclass(frozen=True)
class Submission(Generic[T]):
    """What a body brings, and what is written on it.

    Attributes:
        content: A question, test set or system, checked.
        notes: What is written on it.
    """

    content: T
    notes: Noted


async def read_object(request: Request, parser: Parser) -> dict[str, Any]:
    """The JSON of a request that may be of no other kind."""
    kind = kind_of(request)
    if kind != JSON:
        raise unread(kind, JSON)
    refuse_encoding(request)
    async with parser.body(request) as data:
        return await parser.run(len(data), parse_json, data, "body")


async def read_envelope(request: Request, parser: Parse) -> Noted:
    """Dependency: what the body writes."""
    notes, rest = apart(await read_object(request, parser))
    refuse_further(rest)
    return notes


def refuse_further(rest: Mapping[str, Any]) -> None:
    """Check that a change is of nothing but an envelope.

    Raises:
        RecipeError: It is.
    """
    for field in rest:
        choose(field, PARTS, field[:60], "field")


Written = Annotated[Noted, Depends(read_envelope)]
Title = Annotated[str, Query(max_length=200, description="Stands in the title.")]
Tags = Annotated[list[str] | None, Query(description="It has this tag; repeat it for several.")]


def _tags(given: list[str] | None) -> tuple[str, ...]:
    return tuple(filter(None, given or ()))


async def _filter(
    title: Title = "",
    tag: Tags = None,
    status: Annotated[Status | None, LeftEmpty, Query(description="Where it stands.")] = None,
) -> Filter:
    return Filter(title, _tags(tag), () if status is None else (status,))


QuestionFilter = Annotated[Filter, Depends(_filter)]


async def _written_filter(title: Title = "", tag: Tags = None) -> Filter:
    return Filter(title, _tags(tag))


TestSetFilter = Annotated[Filter, Depends(_written_filter)]
