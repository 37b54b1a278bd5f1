"""BLEU as sacreBLEU computes it (Papineni et al. 2002; Post 2018)."""

import math
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from typing import ClassVar

import numpy as np

from sigtest.arrays import Array
from sigtest.compiled import compiled
from sigtest.data.names import choose
from sigtest.data.testset import System, TestSet
from sigtest.data.text import Text
from sigtest.errors import UnavailableError
from sigtest.metrics import sacre
from sigtest.metrics.kernels import ngrams, tokens
from sigtest.metrics.sacre import SacreBleuMetric

TILE = 512  # scores worked on at a time
FAST = ("13a", "char", "intl", "none", "zh")  # tokenizers that need no sacreBLEU to run
SMOOTHING = ("none", "floor", "add-k", "exp")
SMOOTH_DEFAULTS = {"floor": 0.1, "add-k": 1.0}  # sacreBLEU's


@dataclass(frozen=True)
class Bleu(SacreBleuMetric):
    """BLEU, 0 to 100. Statistics: lengths of hypothesis and reference, matches, totals.

    Beside it reports have the precisions before smoothing, in percent, the brevity penalty and the
    length of the output over that of the reference.

    Attributes:
        lowercase: Ignore case.
        tokenize: sacreBLEU's tokenizer.
        smooth_method: What a precision without matches becomes: none, floor, add-k or exp.
        smooth_value: Parameter of floor and add-k; 0 takes sacreBLEU's default (0.1 and 1).
        max_ngram_order: Longest n-gram.
        effective_order: Ignore the orders that no hypothesis is long enough for.
    """

    name = "bleu"
    title = "BLEU"
    papers = ("papineni-etal-2002-bleu", "post-2018-call")
    program = "BLEU"
    counted = True
    ranges: ClassVar = {"max_ngram_order": (1, 9), "smooth_value": (0, 1_000_000)}

    lowercase: bool = False
    tokenize: str = "13a"
    smooth_method: str = "exp"
    smooth_value: float = 0.0
    max_ngram_order: int = 4
    effective_order: bool = False

    @property
    def tokenization(self) -> str:
        return self.tokenize

    def __post_init__(self) -> None:
        if self.tokenize not in FAST:
            choose(self.tokenize, sorted(sacre.BLEU.TOKENIZERS), "metrics", "tokenizer of bleu")
        choose(self.smooth_method, SMOOTHING, "metrics", "smooth_method of bleu")
        super().__post_init__()

    @classmethod
    def choices(cls) -> Mapping[str, Sequence[str]]:
        known = sorted(sacre.BLEU.TOKENIZERS)
        return {"tokenize": [name for name in known if not sacre.lacking(name)]}

    @property
    def arguments(self) -> dict[str, object]:
        return {**super().arguments, "smooth_value": self.smooth_value or None, "force": True}

    def check(self, testset: TestSet, system: System) -> None:
        super().check(testset, system)
        if lacking := sacre.lacking(self.tokenize):
            raise UnavailableError(
                f"bleu:tokenize={self.tokenize} needs {lacking}.", field="metrics"
            )

    @property
    def width(self) -> int:
        return 2 + 2 * self.max_ngram_order

    def statistics(self, testset: TestSet, system: System) -> Array:
        hypotheses, references = self.hypotheses(system), testset.references
        if self.tokenize not in FAST:
            return self._by_sentence(testset, hypotheses)
        tokenizer, order = tokens.Tokenizer(self.tokenize, self.lowercase), self.max_ngram_order
        words = tokens.reference_words(references, tokenizer)
        own = tokens.hypothesis_words(references, hypotheses, tokenizer)
        lengths = own.lengths[:, None]
        # Of two reference lengths equally near, the shorter (`BLEU._get_closest_ref_len`).
        near = np.abs(lengths - words.lengths) << 32 | words.lengths
        nearest = np.where(words.present, near, np.iinfo(np.int64).max).min(axis=1, keepdims=True)
        matches, _ = ngrams.match_ngrams(own, segment_index(references, tokenizer, order))
        totals = ngrams.ngram_totals(own.lengths, order)
        return np.hstack([lengths, nearest & 0xFFFFFFFF, matches, totals]).astype(np.float64)

    def _by_sentence(self, testset: TestSet, hypotheses: Text) -> Array:
        """(n, k) statistics out of sacreBLEU's scores of single segments."""
        program = replace(self, effective_order=True).reference_program  # counts stay the same
        texts, found = [text.lines for text in testset.references], []
        for own, *lines in zip(hypotheses.complete, *texts, strict=True):
            score = program.sentence_score(own, [line for line in lines if line is not None])
            found.append((score.sys_len, score.ref_len, *score.counts, *score.totals))
        return np.array(found, np.float64)

    def beside(self, sums: Sequence[float], runs: int) -> Mapping[str, int | float]:
        length, wanted, *counts = sums
        each = zip(counts, counts[self.max_ngram_order :], strict=False)
        shares = (100 * right / max(tried, 1.0) for right, tried in each)
        found = {f"precision_{n}": share for n, share in enumerate(shares, 1)}
        penalty = min(1.0, math.exp(1 - wanted / length)) if length else 0.0
        return found | {"brevity_penalty": penalty, "length_ratio": length / max(wanted, 1.0)}

    def formula(self, sums: Array) -> Array:
        smoothing = self.smooth_value or SMOOTH_DEFAULTS.get(self.smooth_method, 0.0)
        return _bleu(
            sums,
            self.max_ngram_order,
            SMOOTHING.index(self.smooth_method),
            smoothing,
            self.effective_order,
        )


def segment_index(
    references: Sequence[Text], tokenizer: tokens.Tokenizer, order: int
) -> ngrams.NgramIndex:
    """The n-grams of each segment's references together."""
    return tokens.shared(
        references,
        ("segments", tokenizer, order),
        lambda: ngrams.index_ngrams(
            tokens.reference_words(references, tokenizer).segments(), order
        ),
    )


@compiled
def _bleu(sums: Array, order: int, method: int, smoothing: float, effective: bool) -> Array:
    """BLEU of (2 + 2 * order, N) sums; `method` indexes SMOOTHING.

    The common case, every order matched and no brevity penalty, is a ratio of two products and
    runs in vector instructions; the rest is mended one by one. Plain loops over slices of rows
    that stay in the cache: array expressions are ten times slower here.
    """
    size = sums.shape[1]
    scores = np.empty(size)
    totals = np.empty(TILE)
    added = smoothing if method == 2 else 0.0
    for first in range(0, size, TILE):
        last = min(first + TILE, size)
        here = scores[first:last]
        if _geometric_means(sums, first, last, order, added, here, totals) < len(here):
            for i in range(len(here)):
                if not 0.0 < here[i] < math.inf:
                    counts = sums[2:, first + i]
                    here[i] = _smoothed(counts, order, method, smoothing, effective)
        _penalise(sums[0, first:last], sums[1, first:last], here)
    return scores


@compiled
def _geometric_means(
    sums: Array, first: int, last: int, order: int, added: float, here: Array, totals: Array
) -> int:
    """Geometric means of the precisions, in percent; how many are usable as they are."""
    _multiply(sums, first, last, 2, added, here)
    _multiply(sums, first, last, 2 + order, added, totals)
    usable = 0
    for i in range(len(here)):
        ratio = here[i] / totals[i]
        here[i] = ratio
        usable += (ratio > 0.0) & (ratio < math.inf)
    if order == 4:
        for i in range(len(here)):
            here[i] = 100.0 * math.sqrt(math.sqrt(here[i]))
    else:
        for i in range(len(here)):
            here[i] = 100.0 * here[i] ** (1.0 / order)
    return usable


@compiled
def _multiply(sums: Array, first: int, last: int, row: int, added: float, product: Array) -> None:
    """Multiply a row and the ones of the higher orders after it; add-k spares the unigrams."""
    unigrams = sums[row, first:last]
    for i in range(len(unigrams)):
        product[i] = unigrams[i]
    order = (len(sums) - 2) // 2
    for g in range(1, order):
        counts = sums[row + g, first:last]
        for i in range(len(counts)):
            product[i] *= counts[i] + added


@compiled
def _penalise(lengths: Array, wanted: Array, here: Array) -> None:
    """Multiply by the brevity penalty where a hypothesis is short."""
    short = 0
    for i in range(len(here)):
        short += lengths[i] < wanted[i]
    if short > 0:
        for i in range(len(here)):
            if lengths[i] < wanted[i]:
                here[i] *= math.exp(1.0 - wanted[i] / lengths[i]) if lengths[i] > 0.0 else 0.0


@compiled
def _smoothed(  # noqa: C901 - `BLEU.compute_bleu` line by line
    counts: Array, order: int, method: int, smoothing: float, effective: bool
) -> float:
    """BLEU without brevity penalty where an order has no match, as `BLEU.compute_bleu` has it."""
    correct, total = counts[:order], counts[order:]
    halved = 1.0
    logarithms = 0.0
    used, matched = order, 0.0
    for g in range(order):
        matched = max(matched, correct[g])
    if matched == 0.0:
        return 0.0
    for g in range(order):
        right, tried = correct[g], total[g]
        if method == 2 and g > 0:
            right, tried = right + smoothing, tried + smoothing
        if tried == 0:
            if not effective:
                return 0.0
            break
        if effective:
            used = g + 1
        if right == 0:
            if method == 3:
                halved = halved * 2.0
                right = 1.0 / halved
            elif method == 1:
                right = smoothing
            else:
                return 0.0
        logarithms += math.log(100.0 * right / tried)
    return math.exp(logarithms / used)
