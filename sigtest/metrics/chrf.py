"""chrF and chrF++ as sacreBLEU computes them (Popović 2015, 2017)."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import ClassVar, NamedTuple

import numpy as np

from sigtest.arrays import Array, Counts, Flags
from sigtest.compiled import compiled
from sigtest.data.testset import System, TestSet
from sigtest.data.text import Text
from sigtest.metrics.kernels import tokens
from sigtest.metrics.kernels.ngrams import NgramIndex, index_ngrams, match_ngrams, ngram_totals
from sigtest.metrics.sacre import SacreBleuMetric

TILE = 512  # scores worked on at a time


class Tally(NamedTuple):
    """N-grams of some kinds, counted.

    Attributes:
        hypotheses: (n, orders) of the hypotheses.
        references: (n * r, orders) of the references.
        matches: (n * r, orders) of both.
    """

    hypotheses: Counts
    references: Counts
    matches: Counts

    @classmethod
    def of(cls, hypotheses: tokens.Sequences, index: NgramIndex) -> Tally:
        """Count those of hypotheses, n, and of the n * r references that were indexed."""
        return cls(
            ngram_totals(hypotheses.lengths, index.order),
            ngram_totals(index.sequences.lengths, index.order),
            match_ngrams(hypotheses, index)[0],
        )


@dataclass(frozen=True)
class Chrf(SacreBleuMetric):
    """chrF, 0 to 100. Statistics per order: n-grams of hypothesis, of reference, matches.

    Attributes:
        char_order: Longest character n-gram.
        word_order: Longest word n-gram; 2 makes it chrF++.
        beta: Weight of recall against precision.
        lowercase: Ignore case.
        whitespace: Keep white space in character n-grams.
        eps_smoothing: Smooth with epsilon as chrF++.py, Moses and NLTK do.
    """

    name = "chrf"
    title = "chrF"
    papers = ("popovic-2015-chrf", "post-2018-call")
    program = "CHRF"
    ranges: ClassVar = {"char_order": (1, 10), "word_order": (0, 5), "beta": (1, 100)}

    char_order: int = 6
    word_order: int = 0
    beta: int = 2
    lowercase: bool = False
    whitespace: bool = False
    eps_smoothing: bool = False

    @property
    def width(self) -> int:
        return 3 * (self.char_order + self.word_order)

    def statistics(self, testset: TestSet, system: System) -> Array:
        references, hypotheses = testset.references, self.hypotheses(system)
        tallies = [self._tally_characters(references, hypotheses)]
        if self.word_order:
            tallies.append(self._tally_words(references, hypotheses))
        present = tokens.shared(references, "present", lambda: tokens.interleaved(references)[1])
        own, wanted, matched = (np.hstack(tables) for tables in zip(*tallies, strict=True))
        # As `CHRF._compute_segment_statistics`: without n-grams of some length in the reference,
        # those of the hypothesis are not counted either.
        own = np.where(wanted > 0, np.repeat(own, len(references), axis=0), 0)
        rows = np.stack([own, wanted, matched], axis=2).reshape(*present.shape, self.width)
        best = np.where(present, self.score(rows), -1.0).argmax(axis=1)  # of equals the first
        return rows[np.arange(len(rows)), best].astype(np.float64)

    def _tally_characters(self, references: Sequence[Text], hypotheses: Text) -> Tally:
        key = ("characters", self.lowercase, self.whitespace, self.char_order)

        def tally() -> Tally:
            index = tokens.shared(
                references,
                key,
                lambda: index_ngrams(
                    self._characters(tokens.interleaved(references)[0]), self.char_order
                ),
            )
            return Tally.of(self._characters(hypotheses.complete), index)

        return tokens.shared((hypotheses, *references), ("tally", *key), tally)

    def _tally_words(self, references: Sequence[Text], hypotheses: Text) -> Tally:
        tokenizer = tokens.Tokenizer("chrf", self.lowercase)
        index = tokens.shared(
            references,
            ("lines", tokenizer, self.word_order),
            lambda: index_ngrams(
                tokens.reference_words(references, tokenizer).lines, self.word_order
            ),
        )
        return Tally.of(tokens.hypothesis_words(references, hypotheses, tokenizer), index)

    def _characters(self, lines: Sequence[str]) -> tokens.Sequences:
        """One sequence of the characters that count a line."""
        text = tokens.code_points([line.lower() for line in lines] if self.lowercase else lines)
        return text if self.whitespace else tokens.Sequences(*_without_spaces(text, tokens.SPACES))

    def formula(self, sums: Array) -> Array:
        return _chrf(sums, float(self.beta**2), self.eps_smoothing)


@dataclass(frozen=True)
class ChrfPlusPlus(Chrf):
    """chrF++: chrF with word n-grams up to order 2."""

    name = "chrf++"
    title = "chrF++"
    papers = ("popovic-2017-chrf", "post-2018-call")

    word_order: int = 2


@compiled
def _without_spaces(text: tokens.Sequences, spaces: Flags) -> tuple[tokens.Symbols, Counts]:
    """Code points other than white space, and where lines begin."""
    symbols = np.empty_like(text.symbols)
    starts = np.zeros_like(text.starts)
    count = 0
    for line in range(len(starts) - 1):
        for i in range(text.starts[line], text.starts[line + 1]):
            symbols[count] = text.symbols[i]
            count += not spaces[text.symbols[i]]
        starts[line + 1] = count
    return symbols[:count].copy(), starts


@compiled
def _chrf(sums: Array, factor: float, epsilon_smoothing: bool) -> Array:
    """Score (3 * orders, N) sums as `CHRF._compute_f_score` does.

    Plain loops over slices of rows that stay in the cache.
    """
    orders = sums.shape[0] // 3
    size = sums.shape[1]
    scores = np.empty(size)
    for first in range(0, size, TILE):
        last = min(first + TILE, size)
        here = scores[first:last]
        if epsilon_smoothing:
            _mean_of_scores(sums, first, last, orders, factor, here)
        else:
            _score_of_means(sums, first, last, orders, factor, here)
    return scores


@compiled
def _score_of_means(
    sums: Array, first: int, last: int, orders: int, factor: float, here: Array
) -> None:
    """F of the mean precision and recall over the orders that both sides have."""
    precision, recall, used = np.zeros(len(here)), np.zeros(len(here)), np.zeros(len(here))
    for g in range(orders):
        given, wanted, matched = (
            sums[3 * g, first:last],
            sums[3 * g + 1, first:last],
            sums[3 * g + 2, first:last],
        )
        for i in range(len(here)):
            counted = (given[i] > 0.0) & (wanted[i] > 0.0)
            precision[i] += matched[i] / given[i] if counted else 0.0
            recall[i] += matched[i] / wanted[i] if counted else 0.0
            used[i] += 1.0 if counted else 0.0
    for i in range(len(here)):
        orders_used = used[i] if used[i] > 0.0 else 1.0
        p = precision[i] / orders_used
        r = recall[i] / orders_used
        below = factor * p + r
        here[i] = 100.0 * ((1.0 + factor) * p * r / below if below > 0.0 else 0.0)


@compiled
def _mean_of_scores(
    sums: Array, first: int, last: int, orders: int, factor: float, here: Array
) -> None:
    """Mean of the orders' F, none of which is quite 0: chrF as its first program had it."""
    epsilon = 1e-16
    here[:] = 0.0
    for g in range(orders):
        given, wanted, matched = (
            sums[3 * g, first:last],
            sums[3 * g + 1, first:last],
            sums[3 * g + 2, first:last],
        )
        for i in range(len(here)):
            p = matched[i] / given[i] if given[i] > 0.0 else epsilon
            r = matched[i] / wanted[i] if wanted[i] > 0.0 else epsilon
            below = factor * p + r
            here[i] += (1.0 + factor) * p * r / below if below > 0.0 else epsilon
    for i in range(len(here)):
        here[i] = 100.0 * (here[i] / orders)
