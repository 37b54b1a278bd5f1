"""Requests whose texts come from elsewhere: an archive in the form, a test set of sacreBLEU."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any, BinaryIO

from app.settings import Settings
from sigtest.data.imports import Bounds, read_archive, read_builtin
from sigtest.errors import InputError, SigtestError

BUILTIN = "builtin"


def with_archive(
    body: Mapping[str, Any], file: BinaryIO, name: str, settings: Settings
) -> dict[str, Any]:
    """A request with the texts of an archive.

    Raises:
        InputError: The archive cannot be used, or the request has what it brings.
        LimitError: It unpacks to more than this service accepts.
    """
    bounds = Bounds(
        files=settings.max_archive_files,
        text_bytes=settings.max_text_bytes,
        ratio=settings.max_archive_ratio,
    )
    try:
        brought = read_archive(file.read(), name or "archive", bounds).as_json()
    except SigtestError as error:
        error.field = "archive"
        raise
    return _joined(body, brought, "archive")


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
    return _joined(body, {k: v for k, v in brought.items() if k != "systems"}, BUILTIN)


def _joined(body: Mapping[str, Any], brought: Mapping[str, Any], source: str) -> dict[str, Any]:
    twice = next((field for field in brought if body.get(field) not in (None, [])), None)
    if twice is not None:
        raise InputError(f"{twice} are in {source} and in the request; give one.", field=twice)
    return {**body, **brought}
