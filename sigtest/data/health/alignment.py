"""Lines that stand in the wrong place: shifted, as a whole or in a stretch, or in another order.

Lengths of lines find stretches that fit better some lines up or down; words decide. Where a text is
displaced further, rare words say where its lines belong.
"""

from __future__ import annotations

from collections import Counter, defaultdict
from collections.abc import Mapping, Sequence
from functools import cached_property

import numpy as np
from numpy.lib.stride_tricks import sliding_window_view
from numpy.typing import NDArray

from sigtest.data.health.finding import Finding, Lines, numbered, quoted, words_of

FURTHEST = 12  # lines up or down that lengths are compared
ROUGH = 10.0  # characters by which short lines differ for no reason
WORST = 1.0  # difference of log lengths beyond which a line says nothing more
PRICE = 0.12  # by how much lines must fit better, on average, to count
GAIN = 2.0  # what a stretch must gain in all before its words are looked at
SHORTEST = 6  # lines of a stretch
TOGETHER = 1 << 15  # gains that are summed at a time: fewer calls, in little memory
LOOKED_AT = 40  # lines of a stretch, or of a text, whose words are compared
BETTER = 0.1  # share of words by which the other place must agree more
WINS = 0.7  # share of lines for which it must
RARE = 3  # lines in which a word may stand and still say where it belongs
VOTES = 2  # rare words that agree about a place
DISPLACED = 0.25  # share of lines with votes that belong elsewhere


class Index:
    """Where rare words of the references stand; made once for all systems.

    Args:
        reference: The lines that outputs are held against.
    """

    def __init__(self, reference: Lines) -> None:
        self.reference = reference
        self.lengths = np.log(reference.lengths + ROUGH)
        self.known = reference.lengths > 0

    def further(self, moves: Sequence[int]) -> tuple[NDArray[np.float64], NDArray[np.bool_]]:
        """(moves, n) lengths of the lines so far from each, and whether they are known.

        Lengths are infinite beyond the ends, which is as bad as can be.
        """
        rows = np.array(moves) + FURTHEST
        lengths, known = self._windows
        return lengths[rows], known[rows]

    @cached_property
    def _windows(self) -> tuple[NDArray[np.float64], NDArray[np.bool_]]:
        """(2 FURTHEST + 1, n) the same of all moves, from the first to the last; not in memory."""
        n = len(self.lengths)
        lengths = np.pad(self.lengths, FURTHEST, constant_values=np.inf)
        known = np.pad(self.known, FURTHEST, constant_values=True)
        return sliding_window_view(lengths, n), sliding_window_view(known, n)

    @cached_property
    def rare(self) -> Mapping[str, list[int]]:
        """Lines of each word that stands in few."""
        found: defaultdict[str, list[int]] = defaultdict(list)
        for i, line in enumerate(self.reference.lines):
            for word in shingles(line, self.reference.spaced):
                found[word].append(i)
        return {word: lines for word, lines in found.items() if len(lines) <= RARE}


def shingles(line: str, spaced: bool) -> set[str]:
    """What of a line is compared: its words, or where there are no blanks pairs of characters."""
    if spaced:
        return words_of(line)
    return {line[i : i + 2] for i in range(len(line) - 1)}


def _looked_at(text: Lines, i: int, spaced: bool) -> set[str]:
    """The same of one of the few lines that several checks look at."""
    return text.words(i) if spaced else shingles(text.lines[i], spaced)


def find_shifts(name: str, output: Lines, index: Index) -> list[Finding]:
    """Stretches of one output, or all of it, that belong elsewhere."""
    found = _by_lengths(name, output, index)
    if found or _fits(output, index):
        return found
    return _by_words(name, output, index)


def _fits(output: Lines, index: Index) -> bool:
    """Whether most lines have more words in common with their own reference than with another."""
    reference, spaced, total = index.reference, index.reference.spaced, len(output)
    compared = better = 0
    for i in _spread(0, total):
        words, here = _looked_at(output, i, spaced), _looked_at(reference, i, spaced)
        away = _looked_at(reference, (i + FURTHEST + 1) % total, spaced)
        if words and here and away:
            compared += 1
            better += _overlap(words, here) > _overlap(words, away)
    return better >= (1 - DISPLACED / 2) * compared


def _spread(start: int, end: int) -> list[int]:
    """Some places, evenly from a start to before an end."""
    return list(dict.fromkeys(np.linspace(start, end - 1, LOOKED_AT).astype(int).tolist()))


def _by_lengths(name: str, output: Lines, index: Index) -> list[Finding]:
    """Stretches that fit better up to some lines up or down, the best first."""
    own = np.log(output.lengths + ROUGH)
    known = index.known & (output.lengths > 0)
    if known.sum() < SHORTEST:
        return []
    own = own - np.median((own - index.lengths)[known])
    here = _misfit(own, index.lengths, known)
    most = min(FURTHEST, len(own) - SHORTEST - 1)
    moves = [*range(-most, 0), *range(1, most + 1)]
    stretches = []
    together = max(1, TOGETHER // len(own))
    for first in range(0, len(moves), together):
        some = moves[first : first + together]
        lengths, there = index.further(some)
        judged = there & (known | np.isinf(lengths))
        gains = here - _misfit(own, lengths, judged) - PRICE
        stretches += _best_stretches(some, gains)
    found: list[Finding] = []
    taken = np.zeros(len(own), dtype=bool)
    for _, k, start, end in sorted(stretches, reverse=True):
        start, end = max(start, -k), min(end, len(own) - k)
        if not taken[start:end].any() and _agrees(output, index, k, start, end):
            taken[start:end] = True
            found.append(_shifted(name, k, start, end, len(own)))
    return found


def _misfit(
    own: NDArray[np.float64], lengths: NDArray[np.float64], known: NDArray[np.bool_]
) -> NDArray[np.float64]:
    """(..., n) how far lengths differ; nothing where one is not known."""
    misfit = own - lengths
    np.abs(misfit, out=misfit)
    np.minimum(misfit, WORST, out=misfit)
    misfit *= known
    return misfit


def _best_stretches(
    moves: Sequence[int], gains: NDArray[np.float64]
) -> list[tuple[float, int, int, int]]:
    """Of each move the stretch that gains most, where that is enough: gain, move, start and end.

    Args:
        moves: How many lines further.
        gains: (moves, n) what each line gains by each.
    """
    sums = np.zeros((len(moves), gains.shape[1] + 1))
    np.cumsum(gains, axis=1, out=sums[:, 1:])
    rises = sums - np.minimum.accumulate(sums, axis=1)
    found = []
    for k, own, end, gain in zip(moves, sums, rises.argmax(axis=1), rises.max(axis=1), strict=True):
        if gain >= GAIN:
            start = int(np.argmin(own[: end + 1]))
            if end - start >= SHORTEST:
                found.append((float(gain), k, start, int(end)))
    return found


def _agrees(output: Lines, index: Index, k: int, start: int, end: int) -> bool:
    """Whether words, too, say that a stretch belongs k lines further."""
    reference, spaced = index.reference, index.reference.spaced
    gained = []
    for i in _spread(start, end):
        words = _looked_at(output, i, spaced)
        here, there = _looked_at(reference, i, spaced), _looked_at(reference, i + k, spaced)
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


def _by_words(name: str, output: Lines, index: Index) -> list[Finding]:
    """A text whose lines belong far away, by the rare words of some of them."""
    moves: list[tuple[int, int]] = []
    voted = 0
    for i in _spread(0, len(output)):
        votes: Counter[int] = Counter()
        for word in shingles(output.lines[i], index.reference.spaced):
            votes.update(index.rare.get(word, ()))
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
        return [_shifted(name, k, moved[0], moved[-1] + 1, len(output))]
    return [_reordered(name, [i for i, _ in moves], voted)]


def _reordered(name: str, moved: Sequence[int], looked_at: int) -> Finding:
    return Finding(
        "shifted",
        name,
        numbered(moved),
        f"{name}: lines stand in another order than the references: {len(moved)} of {looked_at} "
        f"that were looked at fit other segments (such as segment {moved[0] + 1}).",
    )
