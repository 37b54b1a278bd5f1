"""Statistics of word n-grams: what BLEU and NIST need of hypotheses and references."""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np

from sigtest.arrays import Array, Counts, Flags
from sigtest.data.text import Text
from sigtest.metrics.extraction.ngrams import (
    NgramIndex,
    count_matches,
    index_ngrams,
    weigh_matches,
)
from sigtest.metrics.extraction.sequences import SEPARATOR, Sequences, ngram_totals
from sigtest.metrics.extraction.sharing import interleaved, shared
from sigtest.metrics.extraction.tokens import Tokenizer
from sigtest.metrics.extraction.vocabulary import Vocabulary


@dataclass(frozen=True, eq=False)
class ReferenceWords:
    """All references of a test set, cut into words.

    Attributes:
        vocabulary: Their words, in n * r lines, the references of a segment next to each other.
        present: (n, r) False where a reference is missing.
    """

    vocabulary: Vocabulary
    present: Flags

    @property
    def lines(self) -> Sequences:
        """(n * r) sequences of numbers of words."""
        return self.vocabulary.lines

    @property
    def lengths(self) -> Counts:
        """(n, r) words of each reference; 0 where it is missing."""
        return self.lines.lengths.reshape(self.present.shape)

    def segments(self) -> Sequences:
        """One sequence a segment: its references, each followed by a separator."""
        count = len(self.lines)
        places = np.arange(len(self.lines.symbols))
        places += np.repeat(np.arange(count), self.lines.lengths)
        symbols = np.full(len(places) + count, SEPARATOR, dtype=np.int32)
        symbols[places] = self.lines.symbols
        starts = self.lines.starts + np.arange(count + 1)
        return Sequences(symbols, starts[:: self.present.shape[1]].copy())


def reference_words(references: Sequence[Text], tokenizer: Tokenizer) -> ReferenceWords:
    """The words of all references of a test set."""

    def cut() -> ReferenceWords:
        lines, present = interleaved(references)
        return ReferenceWords(Vocabulary.of(tokenizer.spans(lines)), present)

    return shared(references, ("words", tokenizer), cut)


def hypothesis_words(hypotheses: Text, words: ReferenceWords, tokenizer: Tokenizer) -> Sequences:
    """The words of hypotheses, by the numbers that they have in the references."""

    def cut() -> Sequences:
        return words.vocabulary.numbers(tokenizer.spans(hypotheses.complete))

    return shared((hypotheses,), words.vocabulary, cut)


def bleu_statistics(
    references: Sequence[Text], hypotheses: Text, tokenizer: Tokenizer, order: int
) -> Array:
    """(n, 2 + 2 * order) lengths of hypothesis and closest reference, matches, totals."""
    words = reference_words(references, tokenizer)
    index = _segment_index(references, tokenizer, order)
    own = hypothesis_words(hypotheses, words, tokenizer)
    totals = ngram_totals(own.lengths, order)
    lengths = own.lengths[:, None]
    # Of two reference lengths equally near, the shorter (`BLEU._get_closest_ref_len`).
    nearness = np.abs(lengths - words.lengths) << 32 | words.lengths
    nearest = np.where(words.present, nearness, np.iinfo(np.int64).max).min(axis=1, keepdims=True)
    closest = nearest & 0xFFFFFFFF
    matches = count_matches(own, index)
    return np.hstack([lengths, closest, matches, totals]).astype(np.float64)


def nist_statistics(
    references: Sequence[Text], hypotheses: Text, tokenizer: Tokenizer, order: int
) -> Array:
    """(n, 1 + 2 * order) mean reference length, information of matches, totals."""
    words = reference_words(references, tokenizer)
    index = _segment_index(references, tokenizer, order)
    information = shared(
        references, ("information", tokenizer, order), lambda: _information(words, order)
    )
    own = hypothesis_words(hypotheses, words, tokenizer)
    lengths = words.lengths.sum(axis=1) / words.present.sum(axis=1)
    matched = weigh_matches(own, index, information)
    return np.hstack([lengths[:, None], matched, ngram_totals(own.lengths, order)])


def _segment_index(references: Sequence[Text], tokenizer: Tokenizer, order: int) -> NgramIndex:
    """The n-grams of each segment's references together."""
    return shared(
        references,
        ("segments", tokenizer, order),
        lambda: index_ngrams(reference_words(references, tokenizer).segments(), order),
    )


def _information(words: ReferenceWords, order: int) -> Array:
    """(symbols * order,) information of the n-gram of each length that ends at each position.

    The logarithm, base 2, of how often its first n - 1 words occur in all references over how often
    all n do; for single words, of the number of all words over how often one occurs
    (`compute_ngram_info` of mteval-v13a.pl, with max_ngram_order as its n-gram limit).
    """
    segments = words.segments()
    symbols = segments.symbols
    whole = Sequences(symbols, np.array([0, len(symbols)], dtype=np.int64))
    places = index_ngrams(whole, order, wide=True).names.reshape(-1, order)
    known = places >= 0
    ngrams = places * np.int64(order) + np.arange(order)
    counts = np.where(known, np.bincount(ngrams[known], minlength=places.size)[ngrams], 1)
    prefixes = np.ones_like(counts)
    prefixes[:, 0] = len(words.lines.symbols)
    prefixes[1:, 1:] = counts[:-1, :-1]
    if order > 1:
        # mteval tests the prefix itself for truth, and Perl holds "0" to be false.
        zero = words.vocabulary.numbers(Tokenizer("none").spans(["0"])).symbols
        prefixes[1:, 1][(symbols[:-1] == zero) & (zero != SEPARATOR)] = len(words.lines.symbols)
    logarithms = np.zeros(max(counts.max(initial=1), prefixes.max(initial=1)) + 1)
    for count in np.union1d(counts, prefixes):
        logarithms[count] = math.log2(count) if count else 0.0
    return np.where(known, logarithms[prefixes] - logarithms[counts], 0.0).ravel()
