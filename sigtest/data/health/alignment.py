"""Lines that stand in the wrong place: shifted, as a whole or in a stretch, or in another order.

Lengths of lines find stretches that fit better some lines up or down; words decide. Where a text is
displaced further, rare words say where its lines belong.
"""

from __future__ import annotations

from collections import Counter, defaultdict
from collections.abc import Sequence

import numpy as np
from numpy.typing import NDArray

from sigtest.data.health.finding import Finding, numbered, quoted
from sigtest.data.health.lines import COMPARED, FURTHEST, Lines, spread, words_of

ROUGH = 10.0  # characters by which short lines differ for no reason
WORST = 1.0  # difference of log lengths beyond which a line says nothing more
PRICE = 0.12  # by how much lines must fit better, on average, to count
GAIN = 2.0  # what a stretch must gain in all before its words are looked at
SHORTEST = 6  # lines of a stretch
BETTER = 0.1  # share of words by which the other place must agree more
WINS = 0.7  # share of lines for which it must
RARE = 3  # lines in which a word may stand and still say where it belongs
VOTES = 2  # rare words that agree about a place
DISPLACED = 0.25  # share of lines with votes that belong elsewhere


def find_shifts(name: str, output: Lines, reference: Lines) -> list[Finding]:
    """Stretches of one output, or all of it, that belong elsewhere."""
    found = _by_lengths(name, output, reference)
    return found if found or _fits(output, reference) else _by_words(name, output, reference)


def _fits(output: Lines, reference: Lines) -> bool:
    """Whether most lines have more words in common with their own reference than with another."""
    compared = better = 0
    for i, here, there in reference.beside:
        if words := words_of(output.lines[i], reference.sample.spaced):
            compared += 1
            better += _overlap(words, here) > _overlap(words, there)
    return better >= (1 - DISPLACED / 2) * compared


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
    """A text whose lines belong far away, by the rare words of some of them."""
    places: defaultdict[str, list[int]] = defaultdict(list)
    for i, line in enumerate(reference.lines):
        for word in words_of(line, reference.sample.spaced):
            places[word].append(i)
    moves: list[tuple[int, int]] = []
    voted = 0
    for i in spread(0, len(output.lines), COMPARED):
        votes: Counter[int] = Counter()
        for word in words_of(output.lines[i], reference.sample.spaced):
            if len(lines := places.get(word, ())) <= RARE:
                votes.update(lines)
        best, count = max(votes.items(), key=lambda vote: (vote[1], -vote[0]), default=(i, 0))
        if count >= VOTES:
            voted += 1
            if votes[i] == 0:
                moves.append((i, best - i))
    if len(moves) < max(SHORTEST, DISPLACED * voted):
        return []
    k, agreed = Counter(move for _, move in moves).most_common(1)[0]
    if agreed >= 0.6 * len(moves):
        moved = [i for i, move in moves if move == k]
        return [_shifted(name, k, moved[0], moved[-1] + 1, len(output.lines))]
    return [_reordered(name, [i for i, _ in moves], voted)]


def _reordered(name: str, moved: Sequence[int], looked_at: int) -> Finding:
    return Finding(
        "shifted",
        name,
        numbered(moved),
        f"{name}: lines stand in another order than the references: {len(moved)} of {looked_at} "
        f"that were looked at fit other segments (such as segment {moved[0] + 1}).",
    )
