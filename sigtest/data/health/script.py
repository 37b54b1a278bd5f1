"""Script and language of outputs, held against the references; scripts that need a tokenizer."""

from __future__ import annotations

import heapq
from collections import Counter
from collections.abc import Mapping, Sequence
from functools import cached_property
from itertools import chain

import numpy as np
from numpy.typing import NDArray

from sigtest.data.health.finding import Finding, Lines, numbered, quoted
from sigtest.data.health.symbols import CLASSES, LATIN, NAMES, classes_of, letters, places_of

UNSPACED = {
    "Han": ("Chinese", "zh"),
    "Kana": ("Japanese", "ja-mecab"),
    "Hangul": ("Korean", "ko-mecab"),
    **{name: (name, "char") for name in ("Thai", "Lao", "Khmer", "Myanmar", "Tibetan")},
}
AT_BLANKS = {"13a", "intl", "none", "tercom", "mteval-13a", "mteval-intl"}  # tokenizers that cut
EXPECTED = 0.1  # share of letters from which a script belongs to the references
LOST = 0.25  # share of a script's part in the references that an output must keep
FOREIGN_LINE = 0.3  # share of expected letters below which a line is in another script
OWN_LINE = 0.7  # the same of the reference, above which that is a surprise
FOREIGN_PART = 0.3  # of the characters of such a line, blanks and digits among them
LETTERS = 6  # of a reference line that is judged
FEW, PART = 3, 0.01  # lines in another script before anything is said
STRANGE = 0.02  # share of lines that are looked at, in another language
SAMPLE = 400  # lines whose words are looked at
COMMON = 60  # words that make the profile of a language
WORDS = 7  # of a line that is judged
KEPT = 0.5  # share of the references' common words that an output in their language has


class Profile:
    """Scripts and common words of a text.

    Args:
        text: Its lines.
    """

    def __init__(self, text: Lines) -> None:
        self.text = text

    @cached_property
    def shares(self) -> NDArray[np.float64]:
        """Share of letters in each script, of a sample."""
        counts = letters(self.text.sampled)
        return counts / max(1, int(counts.sum()))

    @cached_property
    def main(self) -> tuple[int, ...]:
        """Scripts that belong to it."""
        return tuple(int(s) for s in np.flatnonzero(self.shares >= EXPECTED))

    @cached_property
    def places(self) -> list[int]:
        """Lines that are looked at, evenly over the text."""
        return list(dict.fromkeys(np.linspace(0, len(self.text) - 1, SAMPLE).astype(int).tolist()))

    @cached_property
    def words(self) -> list[set[str]]:
        """Words of the lines at `places`; their letters where nothing separates words."""
        if self.text.spaced:
            return self.text.words_at(self.places)
        return [set(self.text.lines[i].lower()) for i in self.places]

    @cached_property
    def common(self) -> frozenset[str]:
        """The words that stand in most lines."""
        counts = Counter(chain.from_iterable(self.words))
        if len(counts) > 2 * COMMON:
            least = heapq.nlargest(2 * COMMON, counts.values())[-1]
            counts = Counter({word: count for word, count in counts.items() if count >= least})
        # ties: sets have another order in each process, so the word that comes first in the text
        left, first = set(counts), dict.fromkeys(counts, 0)
        for i, line in enumerate(self.words):
            new = line & left
            first.update(dict.fromkeys(new, i))
            left -= new
        ranked = sorted(counts, key=lambda word: (-counts[word], first[word], word))
        found = [word for word in ranked[: 2 * COMMON] if any(map(str.isalpha, word))]
        return frozenset(found[:COMMON])

    @cached_property
    def usual(self) -> list[int]:
        """How many of the common words stand in each line of `places`."""
        return _held(self.words, self.common)


def _held(lines: Sequence[set[str]], words: frozenset[str]) -> list[int]:
    """How many of some words each line has."""
    return [len(line & words) for line in lines]


def find_scripts(name: str, output: Profile, reference: Profile) -> list[Finding]:
    """An output, or lines of it, in other scripts than the references."""
    expected = reference.main
    total = len(output.text)
    lost = [s for s in expected if output.shares[s] < LOST * reference.shares[s]]
    kept = sum(output.shares[s] for s in expected)
    whole = sum(reference.shares[s] for s in expected)
    if lost or kept < 0.5 * whole:
        has = ", ".join(NAMES[s] for s in output.main) or "no letters"
        return [
            Finding(
                "wrong_script",
                name,
                (),
                f"{name} is written in {has}, the references in "
                f"{', '.join(NAMES[s] for s in expected)}.",
            )
        ]
    foreign = _foreign_lines(output, reference)
    if len(foreign) < max(FEW, PART * total):
        return []
    segments = numbered(foreign)
    return [
        Finding(
            "wrong_script",
            name,
            segments,
            f"{name}: {quoted(segments, total)} are hardly in "
            f"{' or '.join(NAMES[s] for s in expected)}, as their references are.",
        )
    ]


def _foreign_lines(output: Profile, reference: Profile) -> list[int]:
    """Lines with letters in other scripts where the reference has them in its own."""
    foreign = np.zeros(CLASSES, dtype=bool)
    foreign[1 : len(NAMES)] = True
    foreign[list(reference.main)] = False
    if not foreign[LATIN] and output.text.beyond_ascii[foreign].sum() < FEW * LETTERS:
        return []
    places = places_of(classes_of(output.text.joined), foreign)
    if len(places) < FEW * LETTERS:
        return []
    strange = np.bincount(output.text.lines_of(places), minlength=len(output.text))
    many = (strange >= LETTERS) & (strange >= FOREIGN_PART * output.text.lengths)
    found = []
    for i in map(int, np.flatnonzero(many)):
        own, right = (letters(classes_of(text.lines[i])) for text in (output.text, reference.text))
        expected = int(right[list(reference.main)].sum())
        if right.sum() >= LETTERS and expected >= OWN_LINE * right.sum():
            mine = int(own[list(reference.main)].sum())
            if mine < FOREIGN_LINE * own.sum():
                found.append(i)
    return found


def find_languages(
    name: str, output: Profile, reference: Profile, source: Profile | None
) -> list[Finding]:
    """An output, or lines of it, without the common words of the references."""
    common = reference.common
    here, there = _held(output.words, common), reference.usual
    words, right = sum(map(len, output.words)), sum(map(len, reference.words))
    if words < WORDS or right < WORDS or not sum(there):
        return []
    kept, usual = sum(here) / words, sum(there) / right
    if kept < KEPT * usual:
        foreign = source.common - common if source is not None else frozenset()
        like_source = sum(_held(output.words, foreign)) > sum(here)
        language = "that of the source" if like_source else "another than that of the references"
        return [
            Finding(
                "wrong_language",
                name,
                (),
                f"{name}: the language seems to be {language}: {kept:.0%} of its words are among "
                f"the {len(common)} most common of the references, where {usual:.0%} are usual.",
            )
        ]
    strange = [
        i
        for i, own, a, b in zip(reference.places, output.words, here, there, strict=True)
        if len(own) >= WORDS and a == 0 and b >= 2
    ]
    return _strange_lines(name, strange, len(here), len(output.text))


def _strange_lines(name: str, lines: list[int], looked_at: int, total: int) -> list[Finding]:
    """Lines without any common word, if they are too many for chance."""
    if len(lines) < max(FEW, STRANGE * looked_at):
        return []
    segments = numbered(lines)
    return [
        Finding(
            "wrong_language",
            name,
            segments,
            f"{name}: {quoted(segments, total)} seem to be in another language than the "
            f"references ({looked_at:,} segments were looked at).",
        )
    ]


def check_tokenizers(
    references: Lines | Profile, tokenizers: Mapping[str, str]
) -> tuple[Finding, ...]:
    """Metrics that cut words at blanks, where the references have none or few.

    Args:
        references: The first reference set.
        tokenizers: The tokenizer of each metric that has one, by the metric's label (`bleu`:
            `13a`).
    """
    profile = references if isinstance(references, Profile) else Profile(references)
    scripts = [NAMES[s] for s in profile.main if NAMES[s] in UNSPACED]
    if not scripts:
        return ()
    script = (
        "Kana" if "Kana" in scripts else max(scripts, key=lambda s: profile.shares[NAMES.index(s)])
    )
    language, tokenizer = UNSPACED[script]
    found = []
    for metric, used in tokenizers.items():
        if used in AT_BLANKS:
            found.append(
                Finding(
                    "tokenizer",
                    "",
                    (),
                    f"The references are in {script} script ({language}), and {metric} cuts words "
                    f"with the tokenizer {used}, made for scripts with blanks between words; "
                    f"{_advice(metric, tokenizer)}.",
                )
            )
    return tuple(found)


def _advice(metric: str, tokenizer: str) -> str:
    name = metric.partition(":")[0]
    if name == "bleu":
        other = "" if tokenizer in {"char", "zh"} else ", or bleu:tokenize=char,"
        return f"ask for bleu:tokenize={tokenizer}{other} (tokenize={tokenizer})"
    if name == "ter":
        return "ask for ter:normalized=true,asian_support=true"
    return f"use chrf, or bleu:tokenize={tokenizer}"
