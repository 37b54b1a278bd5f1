"""Error rates of recognised speech, by words and by characters."""

from __future__ import annotations

import re
import unicodedata
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from typing import ClassVar

import numpy as np

from sigtest.arrays import Array, Counts
from sigtest.data.names import choose
from sigtest.data.testset import System, TestSet
from sigtest.data.text import Text
from sigtest.errors import InputError
from sigtest.metrics.base import Fraction, Metric
from sigtest.metrics.kernels import tokens
from sigtest.metrics.kernels.alignment import CELLS, align

COUNTED = ("substitutions", "deletions", "insertions", "hits", "words")
FORMS = ("none", "NFC", "NFD", "NFKC", "NFKD")
MOST_CELLS = 10**10  # words of a line times words of its reference: a minute, and 160 MB
BLANK = tokens.Tokenizer("blank")


@dataclass(frozen=True)
class Wer(Metric):
    """Word error rate, 0 to 100 and above; lower is better.

    The least substitutions, deletions and insertions, over the words of the reference: the rate
    of jiwer. How many there are of each kind follows from the alignment of NIST's scoring kit
    (sclite), which weighs a substitution 4 and the others 3, so that they may be more in all:
    reports show that rate, too, where it is another. Words stand between blanks, as in jiwer, and
    nothing else is done to a text unless an option says so. An empty reference has no words, and
    each word of its hypothesis is an insertion.

    Statistics: least edits; words of the reference; substitutions, deletions, insertions, and words
    that are right in the kit's alignment.

    Attributes:
        lowercase: Ignore case, as the kit does.
        no_punct: Remove punctuation, all that Unicode calls so.
        normalize: Unicode normalisation form: none, NFC, NFD, NFKC or NFKD.
        buffer: For `matched_pairs`: how many words that both systems have right part two stretches.
    """

    name = "wer"
    title = "word error rate"
    papers = ("morris-etal-2004-wer", "pallett-etal-1990-tools")
    implementation = "jiwer:4.0+sctk:2.4"
    fraction = Fraction(numerator=0, denominator=1)
    higher_is_better = False
    width = 6
    counted = True
    score_seconds = 5e-9
    ranges: ClassVar = {"buffer": (1, 100)}
    by_character: ClassVar[bool] = False
    cell_seconds: ClassVar[float] = 1e-8  # for a word of one line and a word of the other

    lowercase: bool = False
    no_punct: bool = False
    normalize: str = "none"
    buffer: int = 2

    def __post_init__(self) -> None:
        choose(self.normalize, FORMS, "metrics", f"normalization of {self.name}")
        super().__post_init__()

    @property
    def words(self) -> AlignedWords:
        return AlignedWords(self)

    def check(self, testset: TestSet, system: System) -> None:
        super().check(testset, system)
        if len(testset.references) > 1:
            raise InputError(
                f"{self.name} takes one reference, and there are {len(testset.references)}; which "
                "of several transcripts is right is not defined. Give one.",
                field="references",
            )
        cells = self.cells(testset, system)
        if max(cells, default=0) > MOST_CELLS:
            line = cells.index(max(cells)) + 1
            raise InputError(
                f"Line {line} of system {system.name!r} is too long: its words, or characters, "
                f"times those of its reference are {cells[line - 1]:,}, and {self.name} aligns up "
                f"to {MOST_CELLS:,}, as time grows with them. Cut both into utterances.",
                field="hypotheses",
                system=system.name,
                line=line,
            )

    def cells(self, testset: TestSet, system: System) -> list[int]:
        """Of each line, words times words of its reference."""
        reference = self.lengths(testset.references[0])
        hypotheses = self.lengths(self.hypotheses(system))
        return [a * b for a, b in zip(reference, hypotheses, strict=True)]

    def aligned(self, testset: TestSet, system: System) -> tuple[Counts, Counts]:
        """What `align` says, of numbers that are equal where words are."""
        texts = (*map(self.cleaned, (self.hypotheses(system), testset.references[0])),)

        def made() -> tuple[Counts, Counts]:
            if self.by_character:
                hypotheses, reference = (tokens.code_points(text.complete) for text in texts)
            else:
                reference = tokens.reference_words(texts[1:], BLANK).lines
                hypotheses = tokens.hypothesis_words(texts[1:], texts[0], BLANK)
            return align(hypotheses, reference, CELLS)

        return tokens.shared(texts, "aligned", made)

    def statistics(self, testset: TestSet, system: System) -> Array:
        return self.aligned(testset, system)[0].astype(float)

    def seconds(self, testset: TestSet, system: System) -> float:
        alone = super().seconds(testset, system)
        return alone + self.cell_seconds * sum(self.cells(testset, system))

    def formula(self, sums: Array) -> Array:
        # without words, each edit counts as one of one word, as in jiwer
        rates: Array = 100.0 * sums[0] / np.maximum(sums[1], 1.0)
        return rates

    def beside(self, sums: Sequence[float], runs: int) -> Mapping[str, int | float]:
        edits, words, *kinds, hits = map(int, sums)
        found = {
            name: count / runs if count % runs else count // runs
            for name, count in zip(COUNTED, (*kinds, hits, words), strict=True)
        }
        if sum(kinds) > edits:
            found["sclite"] = 100 * sum(kinds) / max(words, 1)
        return found

    def lengths(self, text: Text) -> list[int]:
        """How many words each line has, or characters; at most."""
        lines = self.cleaned(text).complete
        return [*map(len, lines)] if self.by_character else [s.count(" ") + 1 for s in lines]

    def cleaned(self, text: Text) -> Text:
        """Lines as the options want them; of words, with one blank where there are several."""

        def made() -> Text:
            joined = "\n".join(text.complete)  # no line has one inside, no rule reaches across it
            if self.normalize != "none":
                joined = unicodedata.normalize(self.normalize, joined)  # type: ignore[arg-type]
            if self.lowercase:
                joined = joined.lower()
            if self.no_punct:
                joined = "".join(c for c in joined if unicodedata.category(c)[0] != "P")
            if not self.by_character:
                joined = re.sub(r"[^\S\n]{2,}", " ", joined)
            return Text(line.strip() for line in joined.split("\n"))

        return tokens.shared((text,), ("cleaned", self), made)


@dataclass(frozen=True)
class AlignedWords:
    """What became of each word of the references: (words + n, 2), see `align`.

    Attributes:
        metric: Whose alignment it is.
    """

    local: ClassVar[bool] = False

    metric: Wer

    def signature(self, references: int) -> str:
        """Tells it from other measurements; where stretches end changes nothing."""
        return f"alignment of {replace(self.metric, buffer=Wer.buffer).signature(references)}"

    def numbers(self, testset: TestSet) -> int:
        """How many numbers an output is measured as, at most."""
        return 2 * (sum(self.metric.lengths(testset.references[0])) + testset.segments)

    def statistics(self, testset: TestSet, system: System) -> Array:
        """Two numbers a word, and two for each line's end."""
        return self.metric.aligned(testset, system)[1].astype(float)


@dataclass(frozen=True)
class Cer(Wer):
    """Character error rate: as `wer`, of characters. Blanks between words count, as in jiwer."""

    name = "cer"
    title = "character error rate"
    by_character = True
