"""A request's body to a comparison: JSON, or a form with files. Nothing is stored here."""

from __future__ import annotations

import gzip
import json
import math
import re
import zlib
from collections.abc import Iterable, Iterator, Mapping, Sequence
from typing import Annotated, Any, BinaryIO
from urllib.parse import unquote

from fastapi import Depends, Request
from starlette.concurrency import run_in_threadpool
from starlette.datastructures import FormData, UploadFile
from starlette.exceptions import HTTPException

from app import limits
from app.dependencies import Limits
from app.errors import MalformedError, UnsupportedMediaError
from app.imports import BUILTIN, with_archive, with_builtin
from app.settings import Settings
from sigtest.comparison import Comparison
from sigtest.errors import InputError, LimitError, SigtestError
from sigtest.numbers import LABEL, parse_numbers
from sigtest.testset import system_name
from sigtest.text import decode, parse_lines

CHUNK = 2**20
PARTS = ("references", "systems", "scores", "documents", "labels", "archive", "request")


SINGLE = ("documents", "labels")  # of which a form has one file, or a list in `request`


async def read_comparison(request: Request, settings: Limits) -> Comparison:
    """Dependency: the comparison that the body asks for, checked.

    Raises:
        SigtestError: The body is of no known kind, too large, malformed, or asks for nothing
            that can be done.
    """
    kind = request.headers.get("content-type", "").partition(";")[0].strip().lower()
    if request.headers.get("content-encoding", "identity").lower() != "identity":
        raise UnsupportedMediaError(
            "A body with a Content-Encoding is not read; send .txt.gz files in a form."
        )
    if kind == "application/json":
        data = await request.body()
        return await run_in_threadpool(_from_json, data, settings)
    if kind == "multipart/form-data":
        try:
            form = await request.form(max_files=2 * settings.max_systems + 100, max_fields=100)
        except HTTPException as error:
            raise MalformedError(f"The form cannot be read: {error.detail}") from error
        try:
            return await run_in_threadpool(_from_form, form, settings)
        finally:
            await form.close()
    raise UnsupportedMediaError(
        f"Send application/json or multipart/form-data, not {kind or 'a body of no stated kind'}."
    )


Submitted = Annotated[Comparison, Depends(read_comparison)]


def _from_json(data: bytes, settings: Settings) -> Comparison:
    return _checked(parse_json(data, "body"), settings)


def _from_form(form: FormData, settings: Settings) -> Comparison:
    """Files are read in the order of the form, which pairs keep."""
    for part in form:
        if part not in PARTS:
            raise InputError(
                f"Unknown part {part[:60]!r}; a form has {', '.join(PARTS)}.", field=part
            )
    body = _choices_of(form)
    reader = FileReader(settings.max_text_bytes)
    files = {part: _files(form, part) for part in PARTS if part not in ("archive", "request")}
    limits.check_content({"systems": files["systems"]}, settings)  # before anything is unpacked
    for part in files:
        if part in body and (files[part] or part not in SINGLE):
            raise InputError(f"A form brings {part} as files, not in request.", field=part)
    if archives := _files(form, "archive"):
        if len(archives) > 1 or any(files.values()):
            raise InputError("A form with an archive brings no other file.", field="archive")
        archive = archives[0]
        body = with_archive(body, archive.file, _plain(archive.filename), settings)
        return _checked(body, settings)
    body["references"] = [
        reader.lines(file, f"references[{i}]") for i, file in enumerate(files["references"])
    ]
    body["systems"] = [
        {
            "name": system_name(_plain(file.filename)),
            "hypotheses": reader.lines(file, f"systems[{i}]"),
        }
        for i, file in enumerate(files["systems"])
    ]
    _add_scores(body["systems"], files["scores"], reader)
    for part in SINGLE:
        if len(files[part]) > 1:
            raise InputError(f"A form has one {part} file at most.", field=part)
        if files[part]:
            body[part] = reader.lines(files[part][0], part)
    return _checked(body, settings)


def _add_scores(
    systems: list[dict[str, Any]], files: Sequence[UploadFile], reader: FileReader
) -> None:
    """Attach files of numbers, called `[LABEL:]SYSTEM.tsv`, to systems; new ones bring no text."""
    named = {system["name"]: system for system in systems}
    for i, file in enumerate(files):
        field = f"scores[{i}]"
        label, _, name = system_name(_plain(file.filename)).rpartition(":")
        try:
            rows = parse_numbers(reader.lines(file, field), _plain(file.filename))
        except InputError as error:
            error.field = field
            raise
        if name not in named:
            named[name] = {"name": name}
            systems.append(named[name])
        brought = named[name].setdefault("scores", {})
        if (label or LABEL) in brought:
            raise InputError(
                f"System {name!r} has two files of {label or LABEL!r} scores.",
                field=field,
                system=name,
            )
        brought[label or LABEL] = rows


def _checked(body: Mapping[str, Any], settings: Settings) -> Comparison:
    limits.check_content(body, settings)
    if BUILTIN in body:
        body = with_builtin(body, settings)
        limits.check_content(body, settings)
    comparison = Comparison.of(body)
    limits.check_recipe(comparison, settings)
    return comparison


class FileReader:
    """Reads the text files of one upload, all together within a limit.

    Args:
        max_bytes: Bytes of text, decompressed.
    """

    def __init__(self, max_bytes: int) -> None:
        self.max_bytes = max_bytes
        self.left = max_bytes

    def lines(self, upload: UploadFile, field: str) -> tuple[str, ...]:
        """The lines of a file; one called `.gz` is decompressed.

        Raises:
            InputError: Empty, damaged, or not UTF-8.
            LimitError: More text than this upload may bring.
        """
        name = _plain(upload.filename)
        try:
            return parse_lines(self.content(upload.file, name), name)
        except SigtestError as error:
            error.field = field
            raise

    def content(self, file: BinaryIO, name: str) -> bytes:
        """The bytes of a file, as far as they are allowed."""
        if not name.endswith(".gz"):
            return self.read(file, name)
        try:
            with gzip.GzipFile(fileobj=file, mode="rb") as inner:
                return self.read(inner, name)
        except (gzip.BadGzipFile, EOFError, zlib.error) as error:
            raise InputError(f"{name} is not a whole gzip file: {error}") from error

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


def parse_json(data: bytes, what: str) -> dict[str, Any]:
    """A JSON object, strictly: no NaN or Infinity, no field twice.

    The standard parser is used and not a schema over every string, for which test sets are
    too large.

    Raises:
        InputError: Not UTF-8.
        MalformedError: Not a JSON object.
    """
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


def _choices_of(form: FormData) -> dict[str, Any]:
    """The `request` part of a form, a field or a file; nothing where there is none."""
    parts = form.getlist("request")
    if not parts:
        return {}
    if len(parts) > 1:
        raise InputError("A form has one request part at most.", field="request")
    part = parts[0]
    return parse_json(part.encode() if isinstance(part, str) else part.file.read(), "request")


def _files(form: FormData, part: str) -> list[UploadFile]:
    """The files of one part; a browser's empty file input is none."""
    files = []
    for entry in form.getlist(part):
        if isinstance(entry, str):
            raise InputError(f"{part} must be sent as files, each with its name.", field=part)
        if entry.filename or entry.size:
            files.append(entry)
    return files


def _plain(filename: str | None) -> str:
    """A file name as it was before a form's encoding escaped quotes and control characters."""
    return re.sub(r"%(0[0-9a-fA-F]|1[0-9a-fA-F]|22)", lambda m: unquote(m[0]), filename or "")
