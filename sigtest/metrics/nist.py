"""NIST as mteval-v13a and mteval-v14 compute it (Doddington 2002)."""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence
from dataclasses import dataclass

import numpy as np

from sigtest.arrays import Array
from sigtest.compiled import compiled
from sigtest.data.choices import choose
from sigtest.data.testset import System, TestSet
from sigtest.errors import RecipeError
from sigtest.metrics.base import Metric
from sigtest.metrics.extraction.tokens import Tokenizer
from sigtest.metrics.extraction.words import nist_statistics

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

    lowercase: bool = False
    tokenize: str = "13a"
    max_ngram_order: int = 5

    @property
    def tokenization(self) -> str:
        return self.tokenize

    def __post_init__(self) -> None:
        """Check the options.

        Raises:
            RecipeError: An option outside its range.
        """
        choose(self.tokenize, TOKENIZERS, "metrics", "tokenizer of nist")
        if not 1 <= self.max_ngram_order <= 9:
            raise RecipeError("nist's max_ngram_order must be from 1 to 9.", field="metrics")

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
    def tokenizer(self) -> Tokenizer:
        """Cuts lines into words; the one that BLEU uses where they do not differ."""
        if self.tokenize == "13a" and not self.lowercase:
            return Tokenizer("13a")
        return Tokenizer(f"mteval-{self.tokenize}", self.lowercase)

    def statistics(self, testset: TestSet, system: System) -> Array:
        return nist_statistics(
            testset.references, self.hypotheses(system), self.tokenizer, self.max_ngram_order
        )

    def formula(self, sums: Array) -> Array:
        return _nist(sums, _BETA)


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
