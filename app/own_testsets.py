"""Requests that name a test set of their caller instead of spelling its references out."""

from __future__ import annotations

import re
from collections.abc import Mapping
from dataclasses import dataclass
from typing import Annotated, Any

from fastapi import Depends

from app.auth import Caller
from app.dependencies import Boards
from app.imports import BUILTIN
from sigtest.errors import InputError
from workers.errors import NotFoundError
from workers.leaderboards import Leaderboards

TESTSET = "testset"
BROUGHT = ("references", "documents", "labels", "segments", BUILTIN)
ID = re.compile("[0-9a-f]{32}")


@dataclass(frozen=True)
class OwnTestSets:
    """The test sets of one caller.

    Attributes:
        boards: Where they are.
        caller: Whose they are.
    """

    boards: Leaderboards
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
