"""Tercom's tokenization as sacreBLEU 2.6 writes it (`sacrebleu/tokenizers/tokenizer_ter.py`).

Its regular expressions run over all lines of a text joined by line feeds, which no line contains.
That changes nothing: normalization pads every line with spaces first, so that none of its rules
reaches across a line feed, and the other rules look at one character.
"""

from __future__ import annotations

import re
from collections.abc import Sequence
from dataclasses import dataclass

from sigtest.data.text import Text
from sigtest.metrics.extraction.sequences import Sequences
from sigtest.metrics.extraction.sharing import interleaved, shared
from sigtest.metrics.extraction.tokens import Spans, Tokenizer
from sigtest.metrics.extraction.vocabulary import Vocabulary
from sigtest.metrics.extraction.words import ReferenceWords

_ENTITIES = (("&quot;", '"'), ("&amp;", "&"), ("&lt;", "<"), ("&gt;", ">"))

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
class Tercom:
    """One way to cut a line into words; the options are sacreBLEU's.

    Attributes:
        normalized: Normalise and tokenise punctuation.
        no_punct: Remove punctuation.
        asian_support: Split Asian characters where the two options above apply.
        case_sensitive: Respect case.
    """

    normalized: bool = False
    no_punct: bool = False
    asian_support: bool = False
    case_sensitive: bool = False

    def references(self, texts: Sequence[Text]) -> ReferenceWords:
        """The words of all references of a test set; worked out once."""

        def cut() -> ReferenceWords:
            lines, present = interleaved(texts)
            lines = self._twice(lines) if self.normalized else lines
            return ReferenceWords(Vocabulary.of(self._spans(lines)), present)

        return shared(texts, self, cut)

    def hypotheses(self, text: Text, words: ReferenceWords) -> Sequences:
        """The words of hypotheses, by the numbers that they have in the references."""
        return words.vocabulary.numbers(self._spans(text.complete))

    def clean(self, lines: Sequence[str]) -> list[str]:
        """Lines whose words are parted by white space."""
        stripped = [line.rstrip() for line in lines]
        cased = stripped if self.case_sensitive else [line.lower() for line in stripped]
        if not (self.normalized or self.no_punct):
            return cased
        joined = self._normalize(cased) if self.normalized else "\n".join(cased)
        if self.no_punct:
            joined = self._remove_punctuation(joined)
        return joined.split("\n")

    def _spans(self, lines: Sequence[str]) -> Spans:
        return Tokenizer("none").spans(self.clean(lines))

    def _twice(self, lines: Sequence[str]) -> list[str]:
        """What sacreBLEU tokenizes references from: `TER` prepares them, then does so again.

        Normalization is not idempotent ("'s," becomes "'s ," and then " 's ,"); the rest is.
        """
        return [" ".join(line.split()) for line in self.clean(lines)]

    def _normalize(self, lines: list[str]) -> str:
        joined = "\n".join([f" {line} " for line in lines])
        for entity, character in _ENTITIES:
            joined = joined.replace(entity, character)
        for mark in _PADDED:
            joined = joined.replace(mark, f" {mark} ")
        joined = joined.replace("'s ", " 's ")  # a space follows at a line's end, too
        joined = _DASH_BEHIND_DIGIT.sub(" - ", _MARKS.sub(_part_marks, joined))
        return _ASIAN.sub(r" \1 ", joined) if self.asian_support else joined

    def _remove_punctuation(self, joined: str) -> str:
        for mark in _REMOVED:
            joined = joined.replace(mark, "")
        return _ASIAN_MARKS.sub("", joined) if self.asian_support else joined


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
