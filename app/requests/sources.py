"""Requests whose texts come from elsewhere: archives, test sets of sacreBLEU or of the caller."""

from __future__ import annotations

import re
from collections.abc import Mapping
from dataclasses import dataclass
from typing import Annotated, Any, BinaryIO

from fastapi import Depends

from app.http.auth import Caller
from app.http.state import Boards
from app.settings import Settings
from sigtest.data.imports import Bounds, read_archive, read_builtin
from sigtest.errors import InputError, SigtestError
from workers.errors import NotFoundError
from workers.testsets import TestSets

BUILTIN = "builtin"
TESTSET = "testset"
BROUGHT = ("references", "documents", "labels", "segments", BUILTIN)
ID = re.compile("[0-9a-f]{32}")


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


@dataclass(frozen=True)
class OwnTestSets:
    """The test sets of one caller.

    Attributes:
        boards: Where they are.
        caller: Whose they are.
    """

    boards: TestSets
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
        for field in BROUGHT:
            if body.get(field) not in (None, []):
                raise InputError(
                    f"testset names a test set, which has all its texts; leave {field} out.",
                    field=field,
                )
        if not ID.fullmatch(asked):
            raise NotFoundError(f"There is no test set {asked!r}.", field=TESTSET)
        try:
            found = self.boards.testset(asked, self.caller)
        except NotFoundError as error:
            error.field = TESTSET
            raise
        return {
            **{field: value for field, value in body.items() if field not in (TESTSET, *BROUGHT)},
            "references": [text.lines for text in found.references],
            "documents": found.documents,
            "labels": found.labels,
            "segments": found.segments,
        }


async def _own(caller: Caller, boards: Boards) -> OwnTestSets:
    return OwnTestSets(boards, caller.name)


Own = Annotated[OwnTestSets, Depends(_own)]
