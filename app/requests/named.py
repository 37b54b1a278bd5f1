"""Finished questions of the caller that a request names instead of bringing what they say."""

from __future__ import annotations

import json
import re
from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

from starlette.concurrency import run_in_threadpool

from app.http.waiting import Watcher
from app.requests.parsing import Work
from sigtest.errors import InputError, SigtestError
from sigtest.kinds import KINDS, Finished, Kind
from workers.errors import NotFoundError
from workers.questions import Questions

ID = re.compile("[0-9a-f]{32,64}")


@dataclass(frozen=True)
class Named:
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
                place: await self._finished(reference.kind, question_id, place)
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
            return await run_in_threadpool(self._loaded, question_id)
        except SigtestError as error:
            error.field = place
            raise

    def _loaded(self, question_id: str) -> Finished:
        report = json.loads(self.questions.report(question_id, self.caller))
        return Finished(self.questions.question(question_id, self.caller), report)
