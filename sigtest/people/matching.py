"""Whether judgements and outputs speak of the same systems and segments.

Files differ in names: WMT's judgements carry a number after each (`Online-W.2`), outputs do not,
and some systems have another name altogether. What is still unmatched is an error.
"""

from __future__ import annotations

import re
from collections.abc import Mapping, Sequence
from dataclasses import dataclass

from sigtest.data.numbers import in_digits
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
    sides = [("only judged are", missing), ("not judged are", extra)]
    unmatched = [f"{words} {_listed(names)}" for words, names in sides if names]
    if unmatched:
        alias = "name what belongs together (aliases; --alias FROM=TO in the shell), or "
        raise InputError(
            f"Systems differ: {'; '.join(unmatched)}; "
            f"{alias if len(unmatched) > 1 else ''}leave them out.",
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


def check_segments(ids: Sequence[str], segments: int) -> tuple[str, ...]:
    """Check that judged segments are of a test set.

    Ids that are numbers are lines of the test set. They count from 1, as WMT's do; from 0 where one
    is 0. Ids of another kind, such as those of FLORES, name no line, and are not looked at.

    Args:
        ids: Of the judged segments.
        segments: Of the test set.

    Returns:
        What was assumed, as sentences.

    Raises:
        InputError: A number beyond the test set, or numbers and other ids together.
    """
    numbers = [name for name in ids if in_digits(name)]
    if not numbers:
        return ()
    if len(numbers) < len(ids):
        name = next(name for name in ids if not in_digits(name))
        raise InputError(
            f"Segment id {name[:60]!r} is no line number, as {numbers[0][:12]} and other ids are, "
            "so it names no segment of the test set.",
            field="judgements",
        )
    first = 0 if any(int(name) == 0 for name in numbers) else 1
    beyond = next((name for name in numbers if int(name) >= segments + first), None)
    if beyond is not None:
        raise InputError(
            f"Segment {beyond[:12]} was judged; the test set has {segments:,} segments (ids count "
            f"from {first} here).",
            field="judgements",
        )
    if first == 0:
        return ("Judged segments count from 0 here, as one has the id 0: segment 0 is line 1.",)
    return ()


def _listed(names: Sequence[str]) -> str:
    more = f" and {len(names) - SHOWN} more" if len(names) > SHOWN else ""
    return ", ".join(names[:SHOWN]) + more if names else "none"
