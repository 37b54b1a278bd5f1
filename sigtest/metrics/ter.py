"""Translation edit rate as sacreBLEU computes it (Snover et al. 2006)."""

from __future__ import annotations

from dataclasses import dataclass
from typing import ClassVar

import numpy as np

from sigtest.arrays import Array
from sigtest.compiled import compiled
from sigtest.data.testset import System, TestSet
from sigtest.data.text import Text
from sigtest.metrics.base import Fraction
from sigtest.metrics.extraction.edits import edit_statistics
from sigtest.metrics.extraction.tercom import Tercom
from sigtest.metrics.program import SacreBleuMetric


@dataclass(frozen=True)
class Ter(SacreBleuMetric):
    """TER, 0 to 100 and above; lower is better. Statistics: edits, mean reference length.

    Attributes:
        normalized: Normalise and tokenise punctuation.
        no_punct: Remove punctuation.
        asian_support: Split Asian characters where the two options above apply.
        case_sensitive: Respect case.
    """

    name = "ter"
    title = "TER"
    papers = ("snover-etal-2006-study", "post-2018-call")
    program = "TER"
    fraction = Fraction(numerator=0, denominator=1)
    character_seconds = 5e-8
    score_seconds = 5e-9
    word_seconds: ClassVar[float] = 4e-6  # for random words of few; sentences take a tenth

    normalized: bool = False
    no_punct: bool = False
    asian_support: bool = False
    case_sensitive: bool = False

    @property
    def tokenization(self) -> str:
        return "asian" if self.normalized and self.asian_support else "tercom"

    @property
    def higher_is_better(self) -> bool:
        return False

    @property
    def width(self) -> int:
        return 2

    def statistics(self, testset: TestSet, system: System) -> Array:
        tokenizer = Tercom(self.normalized, self.no_punct, self.asian_support, self.case_sensitive)
        return edit_statistics(testset.references, self.hypotheses(system), tokenizer)

    def seconds(self, testset: TestSet, system: System) -> float:
        """Searches for shifts are linear in the words of the hypothesis, see `edit_statistics`."""
        text = system.hypotheses or Text(())
        words = sum(line.count(" ") + 1 for line in text.lines if line)
        if self.normalized:
            words = text.characters  # each sign may become a word
        searched = self.word_seconds * words * len(testset.references)
        return super().seconds(testset, system) + searched

    def formula(self, sums: Array) -> Array:
        return _ter(sums)


@compiled
def _ter(sums: Array) -> Array:
    """TER of (2, N) sums; without reference words any edit is an error rate of 1."""
    scores = np.empty(sums.shape[1])
    for i in range(len(scores)):
        edits, words = sums[0, i], sums[1, i]
        without = 1.0 if edits > 0.0 else 0.0
        scores[i] = 100.0 * (edits / words if words > 0.0 else without)
    return scores
