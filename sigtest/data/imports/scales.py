"""What scores look like when something is wrong: other scales, numbers for none, metrics apart."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence

from sigtest.data.imports.material import Scores, examples

UNEQUAL_SCALES = 50.0  # how many times the mean of one system may be that of another
STAND_INS = (-1.0, -99.0, -999.0, -9999.0, -99999.0)  # what programs write for no score
FEWEST = 2  # other scores that show what a score is
LISTED = 8  # metrics in a sentence


def doubts(tables: Sequence[Scores], systems: Sequence[str]) -> list[str]:
    """Sentences about scores that may not be what they seem.

    Args:
        tables: All scores of all systems.
        systems: Names of all systems.
    """
    labels = dict.fromkeys(table.label for table in tables)
    by_label = {label: [table for table in tables if table.label == label] for label in labels}
    found = [
        sentence
        for label, alike in by_label.items()
        for sentence in [*_stand_ins(alike)] or _unequal_scales(label, alike)
    ]
    return [*found, *_unshared(by_label, systems)]


def _unshared(tables: Mapping[str, Sequence[Scores]], systems: Sequence[str]) -> Iterator[str]:
    """Which scores some systems lack, so that they do not count."""
    lacking = {
        label: [name for name in systems if name not in {table.system for table in alike}]
        for label, alike in tables.items()
    }
    told = [f"{label!r} (not of {names[0]!r})" for label, names in lacking.items() if names]
    if told:
        yield f"Scores that not all systems have are not compared: {examples(told, LISTED)}."


def _unequal_scales(label: str, tables: Sequence[Scores]) -> Iterator[str]:
    """Whether scores are fractions in one system and percent in another."""
    means: dict[str, float] = {}
    for table in tables:
        sizes = [abs(v) for v in table.values if isinstance(v, float | int)]
        if sizes and max(sizes) > 0:
            means[table.system] = sum(sizes) / len(sizes)
    if len(means) < 2:
        return
    low, high = min(means, key=means.__getitem__), max(means, key=means.__getitem__)
    if means[low] <= 1 < means[high] and means[high] > UNEQUAL_SCALES * means[low]:
        yield (
            f"{label}: scores of {low!r} are about {means[low]:.3g} and those of {high!r} "
            f"about {means[high]:.3g}; one may be a fraction and the other percent."
        )


def _stand_ins(tables: Sequence[Scores]) -> Iterator[str]:
    """Whether the only negative scores are all the same number, as programs write for none."""
    for table in tables:
        values = [v for run in table.runs for v in run if isinstance(v, float | int)]
        negative = {v for v in values if v < 0}
        count = sum(v < 0 for v in values)
        if len(negative) == 1 and negative <= {*STAND_INS} and len(values) - count >= FEWEST:
            yield (
                f"{table.label}: {count:,} of {len(values):,} scores of {table.system!r} "
                f"{'is' if count == 1 else 'are'} {min(negative):g} and no other is negative; if "
                "that stands for a missing score, leave it empty."
            )
