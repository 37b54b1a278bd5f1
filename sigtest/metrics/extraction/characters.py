"""Statistics of chrF: n-grams of characters and, for chrF++, of words; the best reference."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np

from sigtest.arrays import Array, Counts, Flags
from sigtest.compiled import compiled
from sigtest.data.text import Text
from sigtest.metrics.extraction.ngrams import NgramIndex, count_matches, index_ngrams
from sigtest.metrics.extraction.sequences import (
    SPACES,
    Sequences,
    Symbols,
    code_points,
    ngram_totals,
)
from sigtest.metrics.extraction.sharing import interleaved, shared
from sigtest.metrics.extraction.tokens import Tokenizer
from sigtest.metrics.extraction.words import hypothesis_words, reference_words


@dataclass(frozen=True)
class Alphabet:
    """Which characters of a line count.

    Attributes:
        lowercase: Ignore case.
        whitespace: Keep white space.
    """

    lowercase: bool
    whitespace: bool

    def characters(self, lines: Sequence[str]) -> Sequences:
        """One sequence of characters a line."""
        text = code_points([line.lower() for line in lines] if self.lowercase else lines)
        if self.whitespace:
            return text
        symbols = np.empty_like(text.symbols)
        starts = np.zeros_like(text.starts)
        _drop_spaces(text.symbols, text.starts, SPACES, symbols, starts)
        return Sequences(symbols[: starts[-1]].copy(), starts)


@dataclass(frozen=True, eq=False)
class Tally:
    """N-grams of one kind, counted.

    Attributes:
        given: (n, orders) of the hypotheses.
        wanted: (n * r, orders) of the references.
        matched: (n * r, orders) of both.
    """

    given: Counts
    wanted: Counts
    matched: Counts


def chrf_statistics(
    references: Sequence[Text],
    hypotheses: Text,
    alphabet: Alphabet,
    orders: tuple[int, int],
    beta: int,
    epsilon_smoothing: bool,
) -> Array:
    """Count n-grams, with the reference of each segment that gives it the best score.

    Args:
        references: Reference sets, r.
        hypotheses: One line a segment, n.
        alphabet: Characters that count.
        orders: Longest n-gram of characters and of words; 0 for none.
        beta: Weight of recall against precision.
        epsilon_smoothing: How to score a segment.

    Returns:
        (n, 3 * orders) n-grams of hypothesis, of reference and of both, for each length.
    """
    characters, words = orders
    tallies = [_tally_characters(references, hypotheses, alphabet, characters)]
    if words:
        tallies.append(_tally_words(references, hypotheses, alphabet.lowercase, words))
    present = shared(references, "present", lambda: interleaved(references)[1])
    statistics = np.zeros((len(hypotheses), 3 * (characters + words)))
    _choose(
        np.hstack([tally.given for tally in tallies]),
        np.hstack([tally.wanted for tally in tallies]),
        np.hstack([tally.matched for tally in tallies]),
        present,
        float(beta**2),
        epsilon_smoothing,
        statistics,
    )
    return statistics


def _tally_characters(
    references: Sequence[Text], hypotheses: Text, alphabet: Alphabet, order: int
) -> Tally:
    index = shared(
        references,
        ("characters", alphabet, order),
        lambda: index_ngrams(alphabet.characters(interleaved(references)[0]), order),
    )

    def tally() -> Tally:
        return _tally(alphabet.characters(hypotheses.complete), index)

    return shared((hypotheses,), index, tally)


def _tally_words(
    references: Sequence[Text], hypotheses: Text, lowercase: bool, order: int
) -> Tally:
    tokenizer = Tokenizer("chrf", lowercase)
    words = reference_words(references, tokenizer)
    index = shared(
        references, ("lines", tokenizer, order), lambda: index_ngrams(words.lines, order)
    )
    return _tally(hypothesis_words(hypotheses, words, tokenizer), index)


def _tally(hypotheses: Sequences, index: NgramIndex) -> Tally:
    return Tally(
        ngram_totals(hypotheses.lengths, index.order),
        ngram_totals(index.sequences.lengths, index.order),
        count_matches(hypotheses, index),
    )


@compiled
def _drop_spaces(
    points: Symbols, line_starts: Counts, spaces: Flags, symbols: Symbols, starts: Counts
) -> None:
    """Copy code points other than white space to `symbols`, and where lines begin to `starts`."""
    kept = 0
    for line in range(len(line_starts) - 1):
        for i in range(line_starts[line], line_starts[line + 1]):
            symbols[kept] = points[i]
            kept += not spaces[points[i]]
        starts[line + 1] = kept


@compiled
def _choose(
    given: Counts,
    wanted: Counts,
    matched: Counts,
    present: Flags,
    factor: float,
    epsilon_smoothing: bool,
    statistics: Array,
) -> None:
    """Fill in each segment's statistics with the first of its references that scores best.

    As `CHRF._compute_segment_statistics`: without n-grams of some length in the reference, those of
    the hypothesis are not counted either.
    """
    segments, orders = given.shape
    row = np.zeros(3 * orders)
    for s in range(segments):
        best = -1.0
        for r in range(present.shape[1]):
            if not present[s, r]:
                continue
            line = s * present.shape[1] + r
            for g in range(orders):
                row[3 * g] = given[s, g] if wanted[line, g] > 0 else 0
                row[3 * g + 1] = wanted[line, g]
                row[3 * g + 2] = matched[line, g]
            score = _f_score(row, factor, epsilon_smoothing)
            if score > best:
                best = score
                for i in range(len(row)):
                    statistics[s, i] = row[i]


@compiled
def _f_score(row: Array, factor: float, epsilon_smoothing: bool) -> float:
    """Score one segment in the arithmetic of `CHRF._compute_f_score`, operation by operation."""
    epsilon = 1e-16
    orders = len(row) // 3
    score = 0.0
    used = 0
    precisions = 0.0
    recalls = 0.0
    for g in range(orders):
        precision = row[3 * g + 2] / row[3 * g] if row[3 * g] > 0 else epsilon
        recall = row[3 * g + 2] / row[3 * g + 1] if row[3 * g + 1] > 0 else epsilon
        below = factor * precision + recall
        score += (1 + factor) * precision * recall / below if below > 0 else epsilon
        if row[3 * g] > 0 and row[3 * g + 1] > 0:
            precisions += precision
            recalls += recall
            used += 1
    if epsilon_smoothing:
        return 100 * score / orders
    if used == 0:
        return 0.0
    precisions /= used
    recalls /= used
    if precisions + recalls == 0:
        return 0.0
    score = (1 + factor) * precisions * recalls
    score /= factor * precisions + recalls
    return 100 * score
