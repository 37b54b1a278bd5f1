"""Lines that stand in the wrong place: shifted, as a whole or in a stretch, or in another order.

Lengths of lines find stretches that fit better some lines up or down; words decide. Where a text is
displaced further, rare words say where its lines belong.
"""

from __future__ import annotations

from collections import Counter

import numpy as np
from numpy.typing import NDArray

from sigtest.data.health.finding import Finding, numbered, quoted
from sigtest.data.health.lines import COMPARED, FURTHEST, Lines, split, spread, words_of

ROUGH = 10.0  # characters by which short lines differ for no reason
WORST = 1.0  # difference of log lengths beyond which a line says nothing more
PRICE = 0.12  # by how much lines must fit better, on average, to count
GAIN = 2.0  # what a stretch must gain in all before its words are looked at
SHORTEST = 6  # lines of a stretch
BETTER = 0.1  # share of words by which the other place must agree more
WINS = 0.7  # share of lines for which it must
VOTES = 2  # rare words that two lines have of each other's references
SURE = 3  # rare words of another reference
DISPLACED = 0.002  # share of lines that belong elsewhere


def find_shifts(name: str, output: Lines, reference: Lines) -> list[Finding]:
    """Stretches of one output, or all of it, that belong elsewhere."""
    return _by_lengths(name, output, reference) or _by_words(name, output, reference)


def _by_lengths(name: str, output: Lines, reference: Lines) -> list[Finding]:
    """Stretches that fit better up to some lines up or down, the best first."""
    own, lengths = np.log(output.lengths + ROUGH), np.log(reference.lengths + ROUGH)
    known = (reference.lengths > 0) & (output.lengths > 0)
    if known.sum() < SHORTEST:
        return []
    own -= np.median((own - lengths)[known])
    own[output.lengths == 0], lengths[reference.lengths == 0] = np.inf, -np.inf
    here = _misfit(own, lengths) * known - PRICE
    if _best_stretch(here)[0] < 0.99 * GAIN:  # what lines gain at the most wherever they belong
        return []
    total = len(own)
    most = min(FURTHEST, total - SHORTEST - 1)
    stretches = []
    for k in (*range(-most, 0), *range(1, most + 1)):
        at, to = slice(max(0, -k), total - max(0, k)), slice(max(0, k), total - max(0, -k))
        gain, start, end = _best_stretch(here[at] - _misfit(own[at], lengths[to]))
        if gain >= GAIN and end - start >= SHORTEST:
            stretches.append((gain, k, at.start + start, at.start + end))
    found: list[Finding] = []
    taken = np.zeros(total, dtype=bool)
    for _, k, start, end in sorted(stretches, reverse=True):
        if not taken[start:end].any() and _agrees(output, reference, k, start, end):
            taken[start:end] = True
            found.append(_shifted(name, k, start, end, total))
    return found


def _misfit(own: NDArray[np.float64], lengths: NDArray[np.float64]) -> NDArray[np.float64]:
    """(n,) how far lengths differ; as far as can be where one is not known."""
    return np.minimum(np.abs(own - lengths), WORST)


def _best_stretch(gains: NDArray[np.float64]) -> tuple[float, int, int]:
    """The most that lines in a row gain, where they begin and where they end."""
    sums = np.zeros(len(gains) + 1)
    np.cumsum(gains, out=sums[1:])
    rises = sums - np.minimum.accumulate(sums)
    end = int(rises.argmax())
    return float(rises[end]), int(sums[: end + 1].argmin()), end


def _agrees(output: Lines, reference: Lines, k: int, start: int, end: int) -> bool:
    """Whether words, too, say that a stretch belongs k lines further."""
    gained = []
    for i in spread(start, end, COMPARED):
        lines = (output.lines[i], reference.lines[i], reference.lines[i + k])
        words, here, there = (words_of(line, reference.sample.spaced) for line in lines)
        if words and here and there and here != there:
            gained.append(_overlap(words, there) - _overlap(words, here))
    if len(gained) < SHORTEST:
        return False
    wins = sum(gain > 0 for gain in gained) / len(gained)
    return wins >= WINS and float(np.mean(gained)) >= BETTER


def _overlap(words: set[str], others: set[str]) -> float:
    return len(words & others) / min(len(words), len(others))


def _shifted(name: str, k: int, start: int, end: int, total: int) -> Finding:
    segments = numbered(range(start, end))
    lines = f"{abs(k)} line{'' if abs(k) == 1 else 's'}"
    where = "all its lines" if end - start >= 0.9 * (total - abs(k)) else quoted(segments, total)
    return Finding(
        "shifted",
        name,
        segments,
        f"{name}: {where} seem shifted by {lines}: the output of segment {start + 1} fits the "
        f"reference of segment {start + 1 + k}.",
    )


def _by_words(name: str, output: Lines, reference: Lines) -> list[Finding]:
    """Lines without a rare word of their reference and with several of another.

    Of real outputs, no two lines have those of each other, and one line in 20,000 has SURE of
    another (`tests/sigtest/data/test_health_shared.py`).
    """
    (rare, places), spaced = reference.rare, reference.sample.spaced
    total = len(output.lines)
    moves: dict[int, int] = {}
    sure = []
    for i, (line, own) in enumerate(zip(output.lines, rare, strict=True)):
        words = {*split(line, spaced)}
        if own.isdisjoint(words):
            votes = Counter(place for word in words & places.keys() for place in places[word])
            best, count = max(votes.items(), key=lambda vote: (vote[1], -vote[0]), default=(i, 0))
            if count >= VOTES:
                moves[i] = best
            if count >= SURE:
                sure.append(i)
    moved = [i for i, place in moves.items() if moves.get(place) == i]
    if len(sure) >= max(SHORTEST, DISPLACED * total):
        moved = sure
    if not moved:
        return []
    k, agreed = Counter(moves[i] - i for i in moved).most_common(1)[0]
    if agreed >= max(SHORTEST, 0.6 * len(moved)):
        shifted = [i for i in moved if moves[i] - i == k]
        return [_shifted(name, k, shifted[0], shifted[-1] + 1, total)]
    first = moved[0]
    sentence = (
        f"{name}: lines stand in another order than the references: {len(moved)} of {total:,} fit "
        f"other segments (such as segment {first + 1}, which fits the reference of segment "
        f"{moves[first] + 1})."
    )
    return [Finding("shifted", name, numbered(moved), sentence)]
