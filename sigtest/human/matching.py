"""Whether judgements and outputs speak of the same systems and segments.

Files differ in names: WMT's judgements carry a number after each (`Online-W.2`), outputs do not,
and some systems have another name altogether. What is still unmatched is an error.
"""

from __future__ import annotations

import re
from collections.abc import Mapping, Sequence
from dataclasses import dataclass

import numpy as np

from sigtest.arrays import Counts
from sigtest.errors import InputError

FEWEST = 3  # systems that both sides must share
SHOWN = 12  # names that a message lists

_NUMBER = re.compile(r"\.\d+$")
_CAMPAIGN = re.compile(r"^wmt\d\d\.")
_HUMAN = re.compile(r"^(human|ref)[-_ ]?\w?$", re.IGNORECASE)


@dataclass(frozen=True)
class MatchedSystems:
    """Systems that were judged and whose outputs are there.

    Attributes:
        given: Name among the outputs by name among the judgements.
        references: Judged human translations without outputs.
    """

    given: Mapping[str, str]
    references: tuple[str, ...]


@dataclass(frozen=True)
class MatchedSegments:
    """Where judged segments stand in a test set.

    Attributes:
        line: (n,) 0-based line of each judged segment, in the order of its ids.
        warnings: What was assumed.
    """

    line: Counts
    warnings: tuple[str, ...]


def match_systems(
    judged: Sequence[str], given: Sequence[str], aliases: Mapping[str, str] | None = None
) -> MatchedSystems:
    """Find the outputs of every judged system.

    Names match if they are equal, by an alias, or without the judgements' final number and
    campaign prefix.

    Args:
        judged: Names among the judgements.
        given: Names among the outputs or scores.
        aliases: Name among the outputs by name among the judgements.

    Raises:
        InputError: A system that only one side has, or fewer than three that both have.
    """
    found: dict[str, str] = {}
    for name in judged:
        match = next((s for s in spellings(name, aliases or {}) if s in given), None)
        if match is not None and match not in found.values():
            found[name] = match
    left = [name for name in judged if name not in found]
    references = tuple(name for name in left if _HUMAN.match(_NUMBER.sub("", name)))
    missing = [name for name in left if name not in references]
    extra = [name for name in given if name not in found.values()]
    if missing or extra:
        raise InputError(
            f"Systems differ: only judged are {_listed(missing)}; only outputs have "
            f"{_listed(extra)}. Name what belongs together (aliases), or leave the others out.",
            field="aliases",
        )
    if len(found) < FEWEST:
        raise InputError(
            f"Only {len(found)} systems have both judgements and outputs ({_listed(list(found))}); "
            f"at least {FEWEST} are needed.",
            field="judgements",
        )
    return MatchedSystems(found, references)


def spellings(name: str, aliases: Mapping[str, str]) -> tuple[str, ...]:
    """What a judged system may be called elsewhere."""
    plain = _CAMPAIGN.sub("", name)
    return aliases.get(name, name), plain, _NUMBER.sub("", plain)


def match_segments(ids: Sequence[str], segments: int) -> MatchedSegments:
    """Read judged segments' ids as lines of a test set.

    Ids count from 1, as WMT's do; from 0 where one is 0.

    Args:
        ids: Of the judged segments.
        segments: Of the test set.

    Raises:
        InputError: An id that is no line of the test set.
    """
    numbers = np.empty(len(ids), dtype=np.int64)
    for i, name in enumerate(ids):
        if not name.isdecimal() or len(name) > 12:
            raise InputError(
                f"Segment id {name[:60]!r} is no line number, so it names no segment of the test "
                "set.",
                field="judgements",
            )
        numbers[i] = int(name)
    first = 0 if len(ids) and int(numbers.min()) == 0 else 1
    beyond = numbers >= segments + first
    if beyond.any():
        name = ids[int(np.argmax(beyond))]
        raise InputError(
            f"Segment {name} was judged; the test set has {segments:,} segments (ids count from "
            f"{first} here).",
            field="judgements",
        )
    said: tuple[str, ...] = ()
    if first == 0:
        said = ("Judged segments count from 0 here, as one has the id 0: segment 0 is line 1.",)
    return MatchedSegments(numbers - first, said)


def _listed(names: Sequence[str]) -> str:
    more = f" and {len(names) - SHOWN} more" if len(names) > SHOWN else ""
    return ", ".join(names[:SHOWN]) + more if names else "none"
