"""NIST as mteval-v13a and mteval-v14 compute it (Doddington 2002)."""

import math
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import ClassVar

import numpy as np

from sigtest.arrays import Array
from sigtest.compiled import compiled
from sigtest.data.names import choose
from sigtest.data.testset import System, TestSet
from sigtest.metrics.base import Metric
from sigtest.metrics.bleu import segment_index
from sigtest.metrics.kernels import tokens
from sigtest.metrics.kernels.ngrams import index_ngrams, match_ngrams, ngram_totals

TOKENIZERS = ("13a", "intl")

# `nist_length_penalty` of mteval-v13a.pl: one half where the output is two thirds as long.
_BETA = -math.log(0.5) / math.log(1.5) ** 2


@dataclass(frozen=True)
class Nist(Metric):
    """NIST, 0 upwards. Statistics: mean reference length, information of matches, totals.

    How informative an n-gram is follows from its counts in all references of the test set, whatever
    segments a resample draws. A missing reference is left out of its segment's mean length (mteval
    has no such thing).

    Attributes:
        lowercase: Ignore case. Off by default as in the other metrics here, which is mteval's `-c`;
            mteval without options ignores case.
        tokenize: `13a`, or `intl` for mteval's `--international-tokenization`, which undoes
            entities where BLEU's `intl` leaves them.
        max_ngram_order: Longest n-gram.
    """

    name = "nist"
    character_seconds = 1.3e-7
    score_seconds = 2e-8
    title = "NIST"
    papers = ("doddington-2002-automatic",)
    ranges: ClassVar = {"max_ngram_order": (1, 9)}

    lowercase: bool = False
    tokenize: str = "13a"
    max_ngram_order: int = 5

    @property
    def tokenization(self) -> str:
        return self.tokenize

    def __post_init__(self) -> None:
        choose(self.tokenize, TOKENIZERS, "metrics", "tokenizer of nist")
        super().__post_init__()

    @property
    def width(self) -> int:
        return 1 + 2 * self.max_ngram_order

    @property
    def implementation(self) -> str:
        return "mteval:13a" if self.tokenize == "13a" else "mteval:14"

    @classmethod
    def choices(cls) -> Mapping[str, Sequence[str]]:
        return {"tokenize": TOKENIZERS}

    @property
    def tokenizer(self) -> tokens.Tokenizer:
        """Cuts lines into words; the one that BLEU uses where they do not differ."""
        if self.tokenize == "13a" and not self.lowercase:
            return tokens.Tokenizer("13a")
        return tokens.Tokenizer(f"mteval-{self.tokenize}", self.lowercase)

    def statistics(self, testset: TestSet, system: System) -> Array:
        references, hypotheses = testset.references, self.hypotheses(system)
        tokenizer, order = self.tokenizer, self.max_ngram_order
        words = tokens.reference_words(references, tokenizer)
        information = tokens.shared(
            references, ("information", tokenizer, order), lambda: _information(words, order)
        )
        own = tokens.hypothesis_words(references, hypotheses, tokenizer)
        lengths = words.lengths.sum(axis=1) / words.present.sum(axis=1)
        _, matched = match_ngrams(own, segment_index(references, tokenizer, order), information)
        return np.hstack([lengths[:, None], matched, ngram_totals(own.lengths, order)])

    def formula(self, sums: Array) -> Array:
        return _nist(sums, _BETA)


def _information(words: tokens.Vocabulary, order: int) -> Array:
    """(symbols * order,) information of the n-gram of each length that ends at each position.

    The logarithm, base 2, of how often its first n - 1 words occur in all references over how often
    all n do; for single words, of the number of all words over how often one occurs
    (`compute_ngram_info` of mteval-v13a.pl, with max_ngram_order as its n-gram limit).
    """
    segments = words.segments()
    symbols = segments.symbols
    whole = tokens.Sequences(symbols, np.array([0, len(symbols)], np.int64))
    places = index_ngrams(whole, order, wide=True).names.reshape(-1, order)
    known = places >= 0
    ngrams = places * np.int64(order) + np.arange(order)
    counts = np.where(known, np.bincount(ngrams[known], minlength=places.size)[ngrams], 1)
    prefixes = np.ones_like(counts)
    prefixes[:, 0] = len(words.lines.symbols)
    prefixes[1:, 1:] = counts[:-1, :-1]
    if order > 1:
        # mteval tests the prefix itself for truth, and Perl holds "0" to be false.
        zero = words.numbers(tokens.Tokenizer("none").spans(["0"])).symbols
        prefixes[1:, 1][(symbols[:-1] == zero) & (zero != tokens.SEPARATOR)] = len(
            words.lines.symbols
        )
    logarithms = np.zeros(max(counts.max(initial=1), prefixes.max(initial=1)) + 1)
    for count in np.union1d(counts, prefixes):
        logarithms[count] = math.log2(count) if count else 0.0
    return np.where(known, logarithms[prefixes] - logarithms[counts], 0.0).ravel()


@compiled
def _nist(sums: Array, beta: float) -> Array:
    """NIST of (1 + 2 * order, N) sums, as `nist_score` of mteval-v13a.pl has it."""
    order = (len(sums) - 1) // 2
    scores = np.zeros(sums.shape[1])
    for g in range(order):
        information, counts = sums[1 + g], sums[1 + order + g]
        for i in range(len(scores)):
            scores[i] += information[i] / max(counts[i], 1.0)
    wanted, words = sums[0], sums[1 + order]
    for i in range(len(scores)):
        if words[i] == 0:
            scores[i] = 0.0
        elif words[i] < wanted[i]:
            scores[i] *= math.exp(-beta * math.log(words[i] / wanted[i]) ** 2)
    return scores
