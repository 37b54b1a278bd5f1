"""Requests whose references come from elsewhere: test sets of sacreBLEU or of the caller."""

from __future__ import annotations

import re
from collections.abc import Mapping
from dataclasses import dataclass
from functools import cache
from typing import Any

from app.requests.form import add_content
from app.settings import Settings
from sigtest.errors import InputError, SigtestError
from sigtest.files import read_builtin
from workers.errors import NotFoundError
from workers.settings import Settings as QueueSettings
from workers.store.server import connect
from workers.tasks.context import Context
from workers.testsets import TestSets

BUILTIN = "builtin"
TESTSET = "testset"
BROUGHT = ("references", "documents", "labels", "source", "segments", BUILTIN)
ID = re.compile("[0-9a-f]{32}")


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
        for field in BROUGHT:
            if body.get(field) not in (None, []):
                raise InputError(
                    f"testset names a test set, which has all its texts; leave {field} out.",
                    field=field,
                )
        if not ID.fullmatch(asked):
            raise NotFoundError(f"There is no test set {asked!r}.", field=TESTSET)
        try:
            found = _testsets(self.store).testset(asked, self.caller)
        except NotFoundError as error:
            error.field = TESTSET
            raise
        return {
            **{field: value for field, value in body.items() if field not in (TESTSET, *BROUGHT)},
            "references": [text.lines for text in found.references],
            "documents": found.documents,
            "labels": found.labels,
            "source": found.source.lines if found.source is not None else None,
            "segments": found.segments,
        }
