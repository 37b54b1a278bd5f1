"""Translation edit rate as sacreBLEU computes it (Snover et al. 2006)."""

import re
from collections.abc import Sequence
from dataclasses import dataclass
from typing import ClassVar

import numpy as np

from sigtest.arrays import Array
from sigtest.data.testset import System, TestSet
from sigtest.data.text import Text
from sigtest.metrics.base import Fraction
from sigtest.metrics.kernels import tokens
from sigtest.metrics.kernels.edits import corpus_edits
from sigtest.metrics.sacre import SacreBleuMetric

# The class [{-~[-` -&(-+:-@/]: ASCII punctuation without ' , - . and without the space, as more
# spaces where there is one change nothing.
_PADDED = '!"#$%&()*+/:;<=>?@[\\]^_`{|}~'

_REMOVED = '.,?:;!"()'
_DIGITS = "0123456789"
_MARKS = re.compile(r"[.,]+")
_DASH_BEHIND_DIGIT = re.compile(r"-(?<=[0-9]-)")  # begins with a literal: searched for faster

_ASIAN_PUNCT = r"\u3001\u3002\u3008-\u3011\u3014-\u301f\uff61-\uff65\u30fb"
_FULL_WIDTH_PUNCT = r"\uff0e\uff0c\uff1f\uff1a\uff1b\uff01\uff02\uff08\uff09"
_ASIAN_MARKS = re.compile(f"[{_ASIAN_PUNCT}{_FULL_WIDTH_PUNCT}]")

# Every class that sacreBLEU pads, one after the other. The upper end 3f22 is its own (32ff was
# meant). Its three rules for kana are anchored at the start of a line, where normalization has put
# a space, so that they never match and are left out.
_ASIAN = re.compile(
    r"([\u4e00-\u9fff\u3400-\u4dbf\u31c0-\u31ef\u2e80-\u2eff\u3300-\u33ff\uf900-\ufaff"
    rf"\ufe30-\ufe4f\u3200-\u3f22{_ASIAN_PUNCT}{_FULL_WIDTH_PUNCT}])"
)


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
    higher_is_better = False
    width = 2
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

    def statistics(self, testset: TestSet, system: System) -> Array:
        words = self.reference_words(testset.references)
        own = words.numbers(self._spans(self.hypotheses(system).complete))
        edits = corpus_edits(own, words.lines, True).reshape(words.present.shape)
        fewest = np.where(words.present, edits, np.iinfo(int).max).min(axis=1)
        lengths = words.lengths.sum(axis=1) / words.present.sum(axis=1)
        return np.stack([fewest.astype(float), lengths], axis=1)

    def seconds(self, testset: TestSet, system: System) -> float:
        """Searches for shifts are linear in the words of the hypothesis, see `edits.py`."""
        text = system.hypotheses or Text(())
        words = sum(line.count(" ") + 1 for line in text.lines if line)
        if self.normalized:
            words = text.characters  # each sign may become a word
        searched = self.word_seconds * words * len(testset.references)
        return super().seconds(testset, system) + searched

    def formula(self, sums: Array) -> Array:
        edits, words = sums
        without = (edits > 0.0) * 1.0  # any edit is an error rate of 1
        return 100.0 * np.divide(edits, words, out=without, where=words > 0.0)

    def reference_words(self, texts: Sequence[Text]) -> tokens.Vocabulary:
        """The words of all references of a test set; worked out once."""

        def cut() -> tokens.Vocabulary:
            lines, present = tokens.interleaved(texts)
            if self.normalized:
                # sacreBLEU's `TER` prepares references, then does so again; normalization is not
                # idempotent ("'s," becomes "'s ," and then " 's ,"), the rest is
                lines = [" ".join(line.split()) for line in self.clean(lines)]
            return tokens.Vocabulary(self._spans(lines), present)

        return tokens.shared(texts, self, cut)

    def clean(self, lines: Sequence[str]) -> list[str]:
        """Lines whose words are parted by white space, as sacreBLEU 2.6 does (`tokenizer_ter.py`).

        Its regular expressions run over all lines of a text joined by line feeds, which no line
        contains. That changes nothing: normalization pads every line with spaces first, so that
        none of its rules reaches across a line feed, and the other rules look at one character.
        """
        stripped = [line.rstrip() for line in lines]
        cased = stripped if self.case_sensitive else [line.lower() for line in stripped]
        if not (self.normalized or self.no_punct):
            return cased
        joined = self._normalize(cased) if self.normalized else "\n".join(cased)
        if self.no_punct:
            for mark in _REMOVED:
                joined = joined.replace(mark, "")
            joined = _ASIAN_MARKS.sub("", joined) if self.asian_support else joined
        return joined.split("\n")

    def _spans(self, lines: Sequence[str]) -> tokens.Spans:
        return tokens.Tokenizer("none").spans(self.clean(lines))

    def _normalize(self, lines: list[str]) -> str:
        joined = tokens.undo_entities("\n".join([f" {line} " for line in lines]))
        for mark in _PADDED:
            joined = joined.replace(mark, f" {mark} ")
        joined = joined.replace("'s ", " 's ")  # a space follows at a line's end, too
        joined = _DASH_BEHIND_DIGIT.sub(" - ", _MARKS.sub(_part_marks, joined))
        return _ASIAN.sub(r" \1 ", joined) if self.asian_support else joined


def _part_marks(run: re.Match[str]) -> str:
    """Points and commas in a row, with the spaces that two expressions of sacreBLEU put there.

    `([^0-9])([.,])` takes the character before a mark along, so that it finds every second mark of
    a row; `([.,])([^0-9])` then finds the others, except a last one with a digit behind it.
    """
    marks = run[0]
    after_digit = run.string[run.start() - 1] in _DIGITS
    before_digit = run.string[run.end()] in _DIGITS
    last_found = len(marks) % 2 != after_digit
    if last_found or not before_digit:
        return f" {' '.join(marks)} "
    return marks if len(marks) == 1 else f" {' '.join(marks)}"
