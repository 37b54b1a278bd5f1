"""Error rates of recognised speech, by words and by characters."""

from __future__ import annotations

import re
import sys
import unicodedata
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from functools import cache
from typing import ClassVar

import numpy as np

from sigtest.arrays import Array, Counts
from sigtest.data.names import choose
from sigtest.data.testset import System, TestSet
from sigtest.data.text import Text
from sigtest.errors import InputError
from sigtest.metrics.base import Fraction, Metric
from sigtest.metrics.kernels.alignment import CELLS, DELETIONS, EDITS, SUBSTITUTIONS, align
from sigtest.metrics.kernels.tokens import Sequences, Tokenizer, Vocabulary, code_points, shared

FORMS = ("none", "NFC", "NFD", "NFKC", "NFKD")
LONGEST = 100_000  # words or characters of a line: a minute, and 160 MB
_BLANKS = re.compile(r"[^\S\n]{2,}")


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
        normalize: Unicode normalisation form.
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

    @classmethod
    def choices(cls) -> Mapping[str, Sequence[str]]:
        return {"normalize": FORMS}

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
        own = {"field": "hypotheses", "system": system.name}
        for text, whose, where in (
            (testset.references[0], "the reference", {"field": "references"}),
            (self.hypotheses(system), f"system {system.name!r}", own),
        ):
            lengths = self.lengths(text)
            longest = max(lengths, default=0)
            if longest > LONGEST:
                unit = "characters" if self.by_character else "words"
                raise InputError(
                    f"Line {lengths.index(longest) + 1} of {whose} has {longest:,} {unit}, and "
                    f"{self.name} aligns lines of up to {LONGEST:,}, as time and memory grow with "
                    "their square. Cut it into utterances.",
                    line=lengths.index(longest) + 1,
                    **where,
                )

    def aligned(self, testset: TestSet, system: System) -> tuple[Counts, Counts, Counts]:
        """Words of each reference, and what `align` says."""
        reference, hypotheses = testset.references[0], self.hypotheses(system)

        def made() -> tuple[Counts, Counts, Counts]:
            known, other = self.sequences(reference, hypotheses)
            return known.lengths, *align(other, known, CELLS)

        return shared((hypotheses, reference), ("aligned", *self._how), made)

    def statistics(self, testset: TestSet, system: System) -> Array:
        words, counts, _ = self.aligned(testset, system)
        right = words - counts[:, SUBSTITUTIONS] - counts[:, DELETIONS]
        columns = [counts[:, EDITS], words, *counts[:, SUBSTITUTIONS:].T, right]
        return np.column_stack(columns).astype(np.float64)

    def seconds(self, testset: TestSet, system: System) -> float:
        texts = (testset.references[0], self.hypotheses(system))
        cells = sum(a * b for a, b in zip(*map(self.lengths, texts), strict=True))
        return super().seconds(testset, system) + self.cell_seconds * cells

    def formula(self, sums: Array) -> Array:
        # without words, each edit counts as one of one word, as in jiwer
        rates: Array = 100.0 * sums[0] / np.maximum(sums[1], 1.0)
        return rates

    def beside(self, sums: Sequence[float], runs: int) -> Mapping[str, int | float]:
        edits, words, *kinds, right = map(int, sums)
        names = ("substitutions", "deletions", "insertions", "hits", "words")
        found: dict[str, int | float] = {
            name: count / runs if count % runs else count // runs
            for name, count in zip(names, (*kinds, right, words), strict=True)
        }
        errors = sum(kinds)
        return found if errors == edits else {**found, "sclite": 100 * errors / max(words, 1)}

    def lengths(self, text: Text) -> list[int]:
        """How many words each line has, or characters; at most."""
        lines = self.cleaned(text)
        return [*map(len, lines)] if self.by_character else [s.count(" ") + 1 for s in lines]

    def sequences(self, reference: Text, hypotheses: Text) -> tuple[Sequences, Sequences]:
        """Both texts as numbers that are equal where words are."""
        lines, others = self.cleaned(reference), self.cleaned(hypotheses)
        if self.by_character:
            return code_points(lines), code_points(others)
        tokenizer = Tokenizer("blank")

        def cut() -> Vocabulary:
            return Vocabulary(tokenizer.spans(lines), np.ones((len(lines), 1), dtype=np.bool_))

        known = shared((reference,), ("cut", *self._how), cut)
        return known.lines, known.numbers(tokenizer.spans(others))

    def cleaned(self, text: Text) -> list[str]:
        """Lines as the options want them; of words, with one blank where there are several."""

        def made() -> list[str]:
            joined = "\n".join(text.complete)  # no line has one inside, no rule reaches across it
            if self.normalize != "none":
                joined = unicodedata.normalize(self.normalize, joined)  # type: ignore[arg-type]
            if self.lowercase:
                joined = joined.lower()
            if self.no_punct:
                joined = joined.translate(_punctuation())
            if not self.by_character:
                joined = _BLANKS.sub(" ", joined)
            return [line.strip() for line in joined.split("\n")]

        return shared((text,), ("cleaned", *self._how), made)

    @property
    def _how(self) -> tuple[object, ...]:
        """What the alignment depends on."""
        return self.by_character, self.lowercase, self.no_punct, self.normalize


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
        return f"words of {replace(self.metric, buffer=Wer.buffer).signature(references)}"

    def numbers(self, testset: TestSet) -> int:
        """How many numbers an output is measured as, at most."""
        return 2 * (sum(self.metric.lengths(testset.references[0])) + testset.segments)

    def statistics(self, testset: TestSet, system: System) -> Array:
        """Two numbers a word, and two for each line's end."""
        return self.metric.aligned(testset, system)[2].astype(np.float64)


@dataclass(frozen=True)
class Cer(Wer):
    """Character error rate: as `wer`, of characters. Blanks between words count, as in jiwer."""

    name = "cer"
    title = "character error rate"
    by_character = True


@cache
def _punctuation() -> dict[int, None]:
    return {p: None for p in range(sys.maxunicode + 1) if unicodedata.category(chr(p))[0] == "P"}
