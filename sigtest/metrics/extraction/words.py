"""Statistics of word n-grams: what BLEU, NIST and chrF++ need of hypotheses and references."""

from __future__ import annotations

import math
from dataclasses import dataclass
from functools import cached_property, partial

import numpy as np

from sigtest.arrays import Array, Counts, Flags
from sigtest.metrics.extraction.memo import remembered
from sigtest.metrics.extraction.ngrams import (
    NgramIndex,
    count_matches,
    index_ngrams,
    weigh_matches,
)
from sigtest.metrics.extraction.sequences import SEPARATOR, Sequences, boundaries
from sigtest.metrics.extraction.tokens import Tokenizer
from sigtest.metrics.extraction.vocabulary import Vocabulary
from sigtest.testset import TestSet
from sigtest.text import Text


class WordReferences:
    """The references of a test set, cut into words by one tokenizer.

    Attributes:
        tokenizer: Cuts them.
        present: (n, r) False where a reference is missing.
        vocabulary: Their words.
        lines: n * r sequences of words, the references of a segment next to each other.
    """

    def __init__(self, testset: TestSet, tokenizer: Tokenizer) -> None:
        self.tokenizer = tokenizer
        lines, self.present = interleaved(testset)
        self.vocabulary = Vocabulary.of(tokenizer.spans(lines))
        self.lines = self.vocabulary.numbers(self.vocabulary.spans)
        self._indexes: dict[tuple[int, bool], NgramIndex] = {}

    @property
    def lengths(self) -> Counts:
        """(n, r) words of each reference, 0 where it is missing."""
        return self.lines.lengths.reshape(self.present.shape)
