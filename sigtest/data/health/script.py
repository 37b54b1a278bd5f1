"""Script and language of outputs, held against the references; scripts that need a tokenizer."""

from __future__ import annotations

from collections import Counter
from collections.abc import Mapping
from functools import lru_cache
from itertools import chain, compress

import numpy as np
from numpy.typing import NDArray

from sigtest.data.health.finding import Finding, numbered, stretch, whole
from sigtest.data.health.lines import LOOKED_AT, Lines, spread
from sigtest.data.health.symbols import NAMES, OTHER, letters_of, standing, table_of_scripts

UNSPACED = {
    "Han": ("Chinese", "zh"),
    "Kana": ("Japanese", "ja-mecab"),
    "Hangul": ("Korean", "ko-mecab"),
    **{name: (name, "char") for name in ("Thai", "Lao", "Khmer", "Myanmar", "Tibetan")},
}
AT_BLANKS = {"13a", "intl", "none", "tercom", "mteval-13a", "mteval-intl"}  # tokenizers that cut
EAST_ASIAN = {"zh", "asian"}  # that cut Han, perhaps Kana, and all else at blanks
LOST = 0.25  # share of a script's part in the references that an output must keep
LEADING = 0.25  # of the letters that scripts of whole lines have, more than those of names only
FOREIGN_LINE = 0.3  # share of expected letters below which a line is in another script
OWN_LINE = 0.7  # the same of the reference, above which that is a surprise
FOREIGN_PART = 0.3  # of the characters of such a line, blanks and digits among them
ENOUGH = 6  # letters of a reference line that is judged
FEW, PART = 3, 0.01  # lines in another script before anything is said
STRANGE = 0.02  # share of lines that are looked at, in another language
WORDS = 7  # of a text that is judged
SURE = 3.0  # common words that a line has on average, from which one with none is strange
KEPT = 0.5  # share of the references' common words that an output in their language has


def find_scripts(name: str, output: Lines, reference: Lines) -> list[Finding]:
    """An output, or lines of it, in other scripts than the references."""
    ours, theirs = output.sample, reference.sample
    expected = theirs.main
    kept, there = (own.letters[expected] / max(1, own.letters.sum()) for own in (ours, theirs))
    if (kept < LOST * there).any() or kept.sum() < 0.5 * there.sum():
        has = ", ".join(NAMES[s] for s in ours.main) or "no letters"
        right = ", ".join(NAMES[s] for s in expected)
        return whole("wrong_script", name, f" is written in {has}, the references in {right}")
    total = len(output.lines)
    segments = numbered(_foreign_lines(output, reference))
    if len(segments) < max(FEW, PART * total):
        return []
    scripts = " or ".join(NAMES[s] for s in expected)
    words = f"are hardly in {scripts}, as their references are"
    return stretch("wrong_script", name, segments, total, words)


def _foreign_lines(output: Lines, reference: Lines) -> list[int]:
    """Lines with letters in other scripts where the reference has them in its own."""
    letters = reference.sample.letters
    own_scripts = np.flatnonzero(letters >= LEADING * max(1, letters.sum())).tolist()
    foreign, places = _foreign_letters(*own_scripts), [*range(len(output.lines))]
    if not foreign[ord("a")]:  # then no line of ASCII has foreign letters
        places = [i for i in places if not output.lines[i].isascii()]
    if len(places) < FEW:
        return []
    at, _ = standing([output.lines[i] for i in places], foreign)
    strange = np.bincount(at, minlength=len(places))
    many = strange >= np.maximum(ENOUGH, FOREIGN_PART * output.lengths[places])
    found = []
    for i in compress(places, many):
        own, right = (letters_of(Counter(text.lines[i])) for text in (output, reference))
        expected = right[own_scripts].sum()
        judged = right.sum() >= ENOUGH and expected >= OWN_LINE * right.sum()
        if judged and own[own_scripts].sum() < FOREIGN_LINE * own.sum():
            found.append(i)
    return found


@lru_cache(maxsize=16)
def _foreign_letters(*main: int) -> NDArray[np.uint8]:
    """1 for each code point that is a letter of another than some scripts."""
    return (~np.isin(table_of_scripts(), [OTHER, *main])).astype(np.uint8)


def find_languages(
    name: str, output: Lines, reference: Lines, source: Lines | None
) -> list[Finding]:
    """An output, or lines of it, without the common words of the references."""
    common, spaced = reference.common, reference.sample.spaced
    ours, theirs = output.words(spaced), reference.words(spaced)
    apart = [*chain.from_iterable(theirs[1::2])]  # common words are those of the other lines
    words, right = sum(map(len, ours)), len(apart)
    here = sum(map(common.__contains__, chain.from_iterable(ours)))
    there = sum(map(common.__contains__, apart))
    if words < WORDS or right < WORDS or words * there < SURE * right:
        return []
    usual = there / right
    if here / words < KEPT * usual:
        foreign = source.common.keys() - common.keys() if source is not None else set()
        like_source = sum(map(foreign.__contains__, chain.from_iterable(ours))) > here
        language = "that of the source" if like_source else "another than that of the references"
        return whole(
            "wrong_language",
            name,
            f": the language seems to be {language}: {here / words:.0%} of its words are among the "
            f"{len(common)} most common of the references, where {usual:.0%} are usual",
        )
    looked_at = spread(0, len(output.lines), LOOKED_AT)
    segments = numbered(
        i
        for i, own, its in zip(looked_at, ours, theirs, strict=True)
        if common.keys().isdisjoint(own)
        and len(own) * usual >= SURE
        and len(common.keys() & its) >= 2
    )
    if len(segments) < max(FEW, STRANGE * len(looked_at)):
        return []
    compared = f"than the references ({len(looked_at):,} segments were looked at)"
    language = f"seem to be in another language {compared}"
    return stretch("wrong_language", name, segments, len(output.lines), language)


def check_tokenizers(references: Lines, tokenizers: Mapping[str, str]) -> list[Finding]:
    """Metrics whose tokenizer does not cut the words of the references' script.

    Args:
        references: The first reference set.
        tokenizers: The tokenizer of each metric that has one, by the metric's label (`bleu`:
            `13a`).
    """
    own = references.sample
    letters = {NAMES[s]: own.letters[s] for s in own.main if NAMES[s] in UNSPACED}
    if not letters:
        return []
    script = "Kana" if "Kana" in letters else max(letters, key=letters.__getitem__)
    language, tokenizer = UNSPACED[script]
    sentences = (
        f"The references are in {script} script ({language}), and {metric} cuts words with the "
        f"tokenizer {used}, made for {made}; {_advice(metric, script, tokenizer)}."
        for metric, used in tokenizers.items()
        if (made := _made_for(used, script)) and (used in AT_BLANKS or tokenizer == "char")
    )
    return [Finding("tokenizer", "", (), sentence) for sentence in sentences]


def _made_for(used: str, script: str) -> str | None:
    if used in AT_BLANKS:
        korean = " (Korean has none before its particles)" if script == "Hangul" else ""
        return f"scripts with blanks between words{korean}"
    return "Chinese and Japanese" if used in EAST_ASIAN else None


def _advice(metric: str, script: str, tokenizer: str) -> str:
    name = metric.partition(":")[0]
    if name == "bleu":
        other = "" if tokenizer in {"char", "zh"} else " or bleu:tokenize=char"
        return f"ask for bleu:tokenize={tokenizer}{other}"
    if name == "ter" and script in {"Han", "Kana"}:
        return "ask for ter:normalized=true,asian_support=true"
    return f"use chrf, or bleu:tokenize={tokenizer}"
