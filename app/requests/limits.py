"""How much one request may bring and ask for."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping, Sequence
from typing import Any

from app.settings import Settings
from sigtest.comparison.comparison import Comparison
from sigtest.data.numbers import whole
from sigtest.errors import LimitError
from workers.store.boards import TestSetRecord

Column = tuple[str, str | None, Sequence[Any]]  # field, system, entries


def check_count(limit: str, field: str, asked: int, what: str, settings: Settings) -> None:
    """Check one number that a request brings or asks for.

    Args:
        limit: Name of the setting that says how many are accepted.
        field: Where they are in the request.
        asked: How many.
        what: Of what.
        settings: How much is accepted.

    Raises:
        LimitError: Too many.
    """
    accepted: int = getattr(settings, limit)
    if asked > accepted:
        raise LimitError(
            f"{asked:,} {what} are more than {limit}, {accepted:,}.", limit=limit, field=field
        )


def check_content(body: Mapping[str, Any], settings: Settings, path: str = "") -> None:
    """Check the sizes of a request's texts before their meaning; other flaws are left alone.

    Args:
        body: The request, or a part of it.
        settings: How much is accepted.
        path: Where the part is in the request.

    Raises:
        LimitError: Too many systems or segments, or too long a segment.
    """
    systems = body.get("systems")
    if isinstance(systems, list):
        check_count("max_systems", f"{path}systems", len(systems), "systems", settings)
    _check_columns(_columns(body), settings, path)
    segments = whole(body.get("segments")) or 0
    check_count("max_segments", f"{path}segments", segments, "segments", settings)
    testsets = [own if isinstance(own, Mapping) else {} for own in _list(body.get("testsets"))]
    outputs = sum(len(_list(testset.get("systems"))) for testset in testsets)
    check_count("max_systems", "testsets", outputs, "outputs (systems x test sets)", settings)
    for i, testset in enumerate(testsets):
        check_content(testset, settings, f"testsets[{i}].")


def check_output(name: str, output: Mapping[str, Any], settings: Settings) -> None:
    """The same for what one system brings.

    Raises:
        LimitError: Too many segments, or too long a segment.
    """
    _check_columns(_columns_of(output, "", name), settings, "")


def _check_columns(columns: Iterable[Column], settings: Settings, path: str) -> None:
    for name, system, lines in columns:
        field = path + name
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
    """Check how much a validated comparison asks for, on one test set or on several.

    Raises:
        LimitError: Too many metrics, resamples, scores of these, or rows of the report.
    """
    plan, recipe = comparison.plan, comparison.plan.recipe
    parts = plan.parts
    rows = plan.seen * len(recipe.metrics) * len(recipe.tests)
    outputs = sum(len(part.systems) * part.replicas for part in parts)
    place = "testsets" if len(parts) > 1 else "systems"
    for limit, field, asked, what in (
        ("max_metrics", "metrics", len(recipe.metrics), "metrics"),
        ("max_resamples", "resamples", plan.resamples, "resamples"),
        ("max_systems", place, outputs, "outputs (systems x replicas x test sets)"),
        ("max_rows", place, rows, "rows of a report (pairs x metrics x tests)"),
    ):
        check_count(limit, field, asked, what, settings)
    check_scores(plan.kept, len(recipe.metrics), plan.resamples, settings)


def check_scores(kept: int, metrics: int, resamples: int, settings: Settings) -> None:
    """Check how many scores resampling would keep.

    Args:
        kept: Systems, once for each of their test sets; and whatever has standard errors.
        metrics: How many.
        resamples: R.
        settings: How many are accepted.

    Raises:
        LimitError: Too many; it says how many resamples would do.
    """
    if kept * metrics * resamples > settings.max_scores:
        raise LimitError(
            f"{kept:,} x {metrics:,} x {resamples:,} scores (systems of all test sets, and "
            f"whatever has standard errors, x metrics x resamples) are more than max_scores, "
            f"{settings.max_scores:,}; at most {settings.max_scores // (kept * metrics):,} "
            "resamples fit.",
            limit="max_scores",
            field="resamples",
        )


def room(testset: TestSetRecord, settings: Settings) -> tuple[int, str]:
    """How many systems a test set may have, and the limit that says so."""
    scores = len(testset.metrics) * testset.settings["resamples"]  # of one system
    return min(
        (settings.max_systems // testset.settings["replicas"], "max_systems"),
        (settings.max_scores // scores, "max_scores"),
    )


def _columns(body: Mapping[str, Any]) -> Iterator[Column]:
    """Everything in a request that should have one entry a segment."""
    for i, lines in enumerate(_list(body.get("references"))):
        yield f"references[{i}]", None, _list(lines)
    for field in ("documents", "labels"):
        yield field, None, _list(body.get(field))
    for i, system in enumerate(_list(body.get("systems"))):
        if isinstance(system, Mapping):
            name = system.get("name")
            known = name if isinstance(name, str) else None
            yield from _columns_of(system, f"systems[{i}].", known)


def _columns_of(system: Mapping[str, Any], path: str, name: str | None) -> Iterator[Column]:
    yield f"{path}hypotheses", name, _list(system.get("hypotheses"))
    for i, lines in enumerate(_list(system.get("replicas"))):
        yield f"{path}replicas[{i}]", name, _list(lines)
    scores = system.get("scores")
    for label, numbers in scores.items() if isinstance(scores, Mapping) else ():
        yield f"{path}scores.{label}", name, _list(numbers)


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
