"""How much one request may bring and ask for."""

from __future__ import annotations

import asyncio
from collections.abc import Iterator, Mapping, Sequence
from contextlib import suppress
from typing import Any

from starlette.types import ASGIApp, Message, Receive, Scope, Send

from app.problems import of_error
from app.settings import Settings
from sigtest.comparison import Comparison
from sigtest.errors import LimitError, SigtestError

DROP_SECONDS = 10
DROP_TIMES = 3  # as large as the largest body that is kept


class BodyLimit:
    """Middleware that counts a body while it comes in and keeps none that is too large."""

    def __init__(self, app: ASGIApp, max_bytes: int) -> None:
        self.app = app
        self.max_bytes = max_bytes

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        """Refuse a body before it is read where its size is announced, else at the limit."""
        if scope["type"] != "http":
            await self.app(scope, receive, send)
            return
        headers = dict(scope["headers"])
        announced = headers.get(b"content-length", b"0")
        if announced.isdigit() and int(announced) > self.max_bytes:
            if b"expect" not in headers:  # who expects 100 has not sent anything yet
                await self.drop_rest(receive)
            await of_error(self.error())(scope, receive, send)
            return
        read = 0

        async def counting() -> Message:
            nonlocal read
            message = await receive()
            read += len(message.get("body", b""))
            if read > self.max_bytes:
                await self.drop_rest(receive)
                raise self.error()
            return message

        await self.app(scope, counting, send)

    async def drop_rest(self, receive: Receive) -> None:
        """Read on for a while and keep nothing of it.

        Closing a connection while its client still sends would take the answer away with it.
        """
        dropped = 0
        with suppress(TimeoutError):
            async with asyncio.timeout(DROP_SECONDS):
                while dropped <= DROP_TIMES * self.max_bytes:
                    message = await receive()
                    dropped += len(message.get("body", b""))
                    if not message.get("more_body"):
                        return

    def error(self) -> SigtestError:
        """The error of a body that is too large."""
        return LimitError(
            f"The body is larger than max_body_bytes, {self.max_bytes:,} bytes.",
            limit="max_body_bytes",
        )


def check_content(body: Mapping[str, Any], settings: Settings) -> None:
    """Check the sizes of a request's texts before their meaning; other flaws are left alone.

    Raises:
        LimitError: Too many systems or segments, or too long a segment.
    """
    systems = body.get("systems")
    if isinstance(systems, list) and len(systems) > settings.max_systems:
        raise LimitError(
            f"{len(systems)} systems are more than max_systems, {settings.max_systems:,}.",
            limit="max_systems",
            field="systems",
        )
    for field, system, lines in _columns(body):
        if len(lines) > settings.max_segments:
            raise LimitError(
                f"{field} has {len(lines):,} segments, more than max_segments, "
                f"{settings.max_segments:,}.",
                limit="max_segments",
                field=field,
                system=system,
            )
        longest = max((len(line) for line in lines if isinstance(line, str)), default=0)
        if longest > settings.max_characters:
            raise _too_long(field, system, lines, settings.max_characters)


def check_recipe(comparison: Comparison, settings: Settings) -> None:
    """Check how much a validated comparison asks for.

    Raises:
        LimitError: Too many metrics, resamples, or rows of the report.
    """
    plan, recipe = comparison.plan, comparison.recipe
    rows = len(plan.pairs) * len(recipe.metrics) * len(recipe.tests)
    outputs = len(plan.systems) * plan.replicas
    for limit, field, asked, what in (
        ("max_metrics", "metrics", len(recipe.metrics), "metrics"),
        ("max_resamples", "resamples", plan.resamples, "resamples"),
        ("max_systems", "systems", outputs, "outputs (systems x replicas)"),
        ("max_rows", "systems", rows, "rows of a report (pairs x metrics x tests)"),
    ):
        accepted: int = getattr(settings, limit)
        if asked > accepted:
            raise LimitError(
                f"{asked:,} {what} are more than {limit}, {accepted:,}.", limit=limit, field=field
            )


def _columns(body: Mapping[str, Any]) -> Iterator[tuple[str, str | None, Sequence[Any]]]:
    """Everything in a request that should have one entry a segment: field, system, entries."""
    for i, lines in enumerate(_list(body.get("references"))):
        yield f"references[{i}]", None, _list(lines)
    for field in ("documents", "labels"):
        yield field, None, _list(body.get(field))
    for i, system in enumerate(_list(body.get("systems"))):
        if isinstance(system, Mapping):
            name = system.get("name")
            known = name if isinstance(name, str) else None
            yield f"systems[{i}].hypotheses", known, _list(system.get("hypotheses"))
            for j, lines in enumerate(_list(system.get("replicas"))):
                yield f"systems[{i}].replicas[{j}]", known, _list(lines)
            scores = system.get("scores")
            for label, numbers in scores.items() if isinstance(scores, Mapping) else ():
                yield f"systems[{i}].scores.{label}", known, _list(numbers)


def _list(value: object) -> Sequence[Any]:
    return value if isinstance(value, list | tuple) else ()


def _too_long(field: str, system: str | None, lines: Sequence[Any], limit: int) -> LimitError:
    line, length = next(
        (i + 1, len(text))
        for i, text in enumerate(lines)
        if isinstance(text, str) and len(text) > limit
    )
    return LimitError(
        f"{field}, segment {line}: {length:,} characters are more than max_characters, {limit:,}.",
        limit="max_characters",
        field=field,
        system=system,
        line=line,
    )
