"""Forms with files: which parts there are, and what is in the files."""

from __future__ import annotations

import copyreg
import gzip
import io
import re
from collections.abc import AsyncIterator, Mapping, Sequence
from contextlib import asynccontextmanager
from typing import Any, BinaryIO
from urllib.parse import unquote

from fastapi import Request
from starlette.datastructures import FormData, UploadFile
from starlette.exceptions import HTTPException

from app.http.errors import MalformedError, UnsupportedMediaError
from app.requests.json import parse_json
from app.requests.parsing import Parser
from app.settings import Settings
from sigtest.data.names import system_name
from sigtest.errors import InputError, LimitError
from sigtest.files import Bounds, Gathered, Given, Joining, Role, Upload, gather
from sigtest.files.tree import unpacking

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


def given_of(files: Files, system: str | None = None) -> list[Given]:
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
            given.append(Given(role, upload, system or name, label, field=field))
    return given


def gathered(given: Sequence[Given], how: Joining, settings: Settings) -> Gathered:
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
