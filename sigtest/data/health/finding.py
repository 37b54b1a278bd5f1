"""What a check finds, in words."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import dataclass

SHOWN = 5  # stretches of segments that a sentence lists


@dataclass(frozen=True)
class Finding:
    """One thing about one submission that its users should look at.

    Attributes:
        kind: Which check found it, one of `KINDS`.
        system: Whose output it is; empty where it is about the references.
        segments: The segments concerned, counted from 1; empty where all are.
        sentence: What a report says, with the system's name and the segments.
    """

    kind: str
    system: str
    segments: tuple[int, ...]
    sentence: str


def whole(kind: str, system: str, words: str) -> list[Finding]:
    """What is found of all of an output, in words that follow its name."""
    return [Finding(kind, system, (), f"{system}{words}.")]


def stretch(
    kind: str, system: str, segments: tuple[int, ...], total: int, words: str
) -> list[Finding]:
    """What is found of some segments of an output, in words that follow them."""
    sentence = f"{system}: {quoted(segments, total)} {words}."
    return [Finding(kind, system, segments, sentence)]


def numbered(places: Iterable[int]) -> tuple[int, ...]:
    """Segments as reports count them, from 1."""
    return tuple([place + 1 for place in places])


def quoted(segments: Sequence[int], total: int) -> str:
    """Segments in words: `segment 4`, `segments 1-3, 7 and 12 others`, `all 100 segments`."""
    if len(segments) == total:
        return f"all {total:,} segments"
    stretches: list[tuple[int, int]] = []
    for segment in segments:
        if stretches and segment == stretches[-1][1] + 1:
            stretches[-1] = (stretches[-1][0], segment)
        else:
            stretches.append((segment, segment))
    shown = [f"{a}" if a == b else f"{a}-{b}" for a, b in stretches[:SHOWN]]
    rest = len(segments) - sum(b - a + 1 for a, b in stretches[:SHOWN])
    more = f" and {rest:,} other{'' if rest == 1 else 's'}" if rest else ""
    return f"segment{'' if len(segments) == 1 else 's'} {', '.join(shown)}{more}"


def share(part: int, total: int) -> str:
    """`12 of 3,003`."""
    return f"{part:,} of {total:,}"
