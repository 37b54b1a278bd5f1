"""How much one request may bring and ask for."""

from collections.abc import Iterator, Mapping, Sequence
from typing import Any

from app.settings import Settings
from sigtest.comparison.comparison import Comparison
from sigtest.data.text import whole
from sigtest.errors import LimitError
from workers.store.boards import TestSetRecord

COLUMNS = ("references", "documents", "labels", "systems", "hypotheses", "replicas", "scores")
Column = tuple[str, str | None, Sequence[Any]]  # field, system, entries


def check_count(limit: str, field: str, count: int, what: str, settings: Settings) -> None:
    """Check one number that a request brings or asks for.

    Args:
        limit: Name of the setting that says how many are accepted.
        field: Where they are in the request.
        count: How many.
        what: Of what.
        settings: How much is accepted.

    Raises:
        LimitError: Too many.
    """
    accepted: int = getattr(settings, limit)
    if count > accepted:
        raise LimitError(
            f"{count:,} {what} are more than {limit}, {accepted:,}.", limit=limit, field=field
        )


def check_content(
    body: Mapping[str, Any], settings: Settings, path: str = "", system: str | None = None
) -> None:
    """Check the sizes of a request's texts before their meaning; other flaws are left alone.

    Args:
        body: The request, or a part of it.
        settings: How much is accepted.
        path: Where the part is in the request.
        system: Whose the part is.

    Raises:
        LimitError: Too many systems or segments, or too long a segment.
    """
    if isinstance(systems := body.get("systems"), list):
        check_count("max_systems", f"{path}systems", len(systems), "systems", settings)
    texts = {name: body[name] for name in COLUMNS if name in body}
    for field, whose, lines in _columns(texts, path, system):
        if len(lines) > settings.max_segments:
            raise LimitError(
                f"{field} has {len(lines):,} segments, more than max_segments, "
                f"{settings.max_segments:,}.",
                limit="max_segments",
                field=field,
                system=whose,
            )
        sizes = [len(line) if isinstance(line, str) else 0 for line in lines]
        if max(sizes, default=0) > settings.max_characters:
            line = next(i for i, size in enumerate(sizes) if size > settings.max_characters)
            raise LimitError(
                f"{field}, segment {line + 1}: {sizes[line]:,} characters are more than "
                f"max_characters, {settings.max_characters:,}.",
                limit="max_characters",
                field=field,
                system=whose,
                line=line + 1,
            )
    segments = whole(body.get("segments")) or 0
    check_count("max_segments", f"{path}segments", segments, "segments", settings)
    listed = body.get("testsets")
    testsets = listed if isinstance(listed, list) else []
    entries = {i: own for i, own in enumerate(testsets) if isinstance(own, Mapping)}
    outputs = [own["systems"] for own in entries.values() if isinstance(own.get("systems"), list)]
    what = "outputs (systems x test sets)"
    check_count("max_systems", "testsets", sum(map(len, outputs)), what, settings)
    for i, entry in entries.items():
        check_content(entry, settings, f"testsets[{i}].")


def _columns(value: object, path: str, system: str | None) -> Iterator[Column]:
    """Every list in a part of a request that should have one entry a segment."""
    if isinstance(value, Mapping):
        name = value.get("name")
        for key, entry in value.items():
            place = f"{path}{'.' * (path[-1:] not in ('', '.'))}{key}"
            yield from _columns(entry, place, name if isinstance(name, str) else system)
    elif isinstance(value, list | tuple) and value:
        first = value[0]
        lists = isinstance(first, list | tuple) and not isinstance([*first, ""][0], int | float)
        if isinstance(first, Mapping) or lists:  # tuples of numbers are scores of a segment
            for i, entry in enumerate(value):
                yield from _columns(entry, f"{path}[{i}]", system)
        else:
            yield path, system, value


def check_recipe(comparison: Comparison, settings: Settings) -> None:
    """Check how much a validated comparison asks for, on one test set or on several.

    Raises:
        LimitError: Too many metrics, resamples, scores of these, or rows of the report.
    """
    plan, recipe = comparison.plan, comparison.plan.recipe
    rows = plan.pair_count * len(recipe.metrics) * len(recipe.tests)
    outputs = sum(len(part.systems) * part.replicas for part in plan.parts)
    place = "testsets" if len(plan.parts) > 1 else "systems"
    for limit, field, count, what in (
        ("max_metrics", "metrics", len(recipe.metrics), "metrics"),
        ("max_resamples", "resamples", plan.resamples, "resamples"),
        ("max_systems", place, outputs, "outputs (systems x replicas x test sets)"),
        ("max_rows", place, rows, "rows of a report (pairs x metrics x tests)"),
    ):
        check_count(limit, field, count, what, settings)
    check_scores(plan.numbers_per_draw, len(recipe.metrics), plan.parts[0].draws, settings)


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
