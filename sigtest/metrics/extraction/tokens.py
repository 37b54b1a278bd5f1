"""Where words begin and end: sacreBLEU's and mteval's tokenizers over arrays of code points.

The tokenizers are chains of regular expressions that put spaces into the text. Where the spaces go
depends on each character's kind and on its neighbours alone, so one pass over the code points
decides it. The tests compare the outcome with the expressions themselves.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from functools import cache, partial
from typing import TypeAlias

import numpy as np
import numpy.typing as npt

from sigtest.arrays import Counts
from sigtest.compiled import compiled
from sigtest.metrics import sacre
from sigtest.metrics.extraction.sequences import (
    WHITE_SPACE,
    Symbols,
    code_points,
)

Kinds: TypeAlias = npt.NDArray[np.uint8]

LETTER, SPACE, ALONE, MARK, DASH, DIGIT, NOTHING = range(7)
"""Kinds of characters. ALONE is a token by itself, DASH is one after a digit, MARK is one unless
digits hold it (3.14) or the line ends there; DIGIT and what follows it in this list hold a mark."""

# The first of the expressions in sacrebleu/tokenizers/tokenizer_re.py.
_ALONE_13A = re.compile(r"[\{-\~\[-\` -\&\(-\+\:-\@\/]")

# _UCODE_RANGES in sacrebleu/tokenizers/tokenizer_zh.py, as Python compares them: '\u20000' is two
# characters there, so that the range meant for Extension B holds U+2001 to U+2A6D instead.
_CHINESE = (
    *((0x3400, 0x4DB5), (0x4E00, 0x9FA5), (0x9FA6, 0x9FBB), (0xF900, 0xFA2D), (0xFA30, 0xFA6A)),
    *((0xFA70, 0xFAD9), (0x2001, 0x2A6D), (0x2F81, 0x2FA1), (0xFF00, 0xFFEF), (0x2E80, 0x2EFF)),
    *((0x3000, 0x303F), (0x31C0, 0x31EF), (0x2F00, 0x2FDF), (0x2FF0, 0x2FFF), (0x3100, 0x312F)),
    *((0x31A0, 0x31BF), (0xFE10, 0xFE1F), (0xFE30, 0xFE4F), (0x2600, 0x26FF), (0x2700, 0x27BF)),
    *((0x3200, 0x32FF), (0x3300, 0x33FF)),
)

_MARKUP = ("&", "-\n", "<skipped>")
_PUNCTUATION = b"!\"#$%&'()*+,-./:;<=>?@[\\]^_`{|}~"


@dataclass(frozen=True)
class Tokenizer:
    """One way to cut a line into words.

    Attributes:
        name: One of TOKENIZERS.
        lowercase: Ignore case.
    """

    name: str
    lowercase: bool = False

    def spans(self, lines: Sequence[str]) -> Spans:
        """Cut lines into words."""
        rules = TOKENIZERS[self.name]
        text = code_points(rules.clean(lines, self.lowercase))
        begins = np.empty(len(text.symbols), dtype=np.int64)
        ends = np.empty(len(text.symbols), dtype=np.int64)
        starts = np.zeros(len(lines) + 1, dtype=np.int64)
        if self.name == "chrf":
            _cut_affixes(text.symbols, text.starts, rules.kinds(), begins, ends, starts)
        else:
            edge = SPACE if rules.padded else NOTHING
            _cut(text.symbols, text.starts, rules.kinds(), edge, begins, ends, starts)
        words = starts[-1]
        return Spans(text.symbols, begins[:words].copy(), ends[:words].copy(), starts)


@dataclass(frozen=True, eq=False)
class Spans:
    """The words of lines; the w-th is `points[begins[w] : ends[w]]`.

    Attributes:
        points: Code points of all lines.
        begins: (words,) where each begins.
        ends: (words,) where each ends.
        starts: (lines + 1,) number of each line's first word.
    """

    points: Symbols
    begins: Counts
    ends: Counts
    starts: Counts


@dataclass(frozen=True)
class Rules:
    """What tells one tokenizer from another.

    Attributes:
        clean: Changes to the lines before they are cut; the flag asks for lower case.
        kinds: (0x110000,) kind of each code point.
        padded: Whether marks at either end of a line stand next to a space or to nothing.
    """

    clean: Callable[[Sequence[str], bool], Sequence[str]]
    kinds: Callable[[], Kinds]
    padded: bool = True


@cache
def _kinds(
    alone: Sequence[int] = (),
    mark: Sequence[int] = (),
    dash: Sequence[int] = (),
    digit: Sequence[int] = (),
) -> Kinds:
    """(0x110000,) kinds; all others are letters, but for white space."""
    kinds = np.full(0x110000, LETTER, dtype=np.uint8)
    for kind, points in ((ALONE, alone), (MARK, mark), (DASH, dash), (DIGIT, digit)):
        kinds[list(points)] = kind
    kinds[list(WHITE_SPACE)] = SPACE
    return kinds


@cache
def _kinds_13a() -> Kinds:
    alone = tuple(point for point in range(128) if _ALONE_13A.match(chr(point)))
    return _kinds(alone, mark=b".,", dash=b"-", digit=b"0123456789")


@cache
def _kinds_zh() -> Kinds:
    kinds = _kinds_13a().copy()
    for first, last in _CHINESE:
        kinds[first : last + 1] = ALONE
    kinds[list(WHITE_SPACE)] = SPACE
    return kinds


@cache
def _kinds_intl() -> Kinds:
    # sacreBLEU's own expressions say what \p{P}, \p{N} and \p{S} are: Unicode versions differ.
    (mark_after, _), (mark_before, _), (symbol, _) = sacre.TokenizerV14International()._re  # type: ignore[no-untyped-call]
    every = [chr(point) for point in range(0x110000)]
    marks = tuple(ord(mark) for _, mark in mark_after.findall("a" + "a".join(every)))
    digits = tuple(map(ord, mark_before.sub("", "." + ".".join(every))[1::2]))
    symbols = tuple(map(ord, symbol.findall("".join(every))))
    return _kinds(alone=symbols, mark=marks, digit=digits)


def _cased(lines: Sequence[str], lowercase: bool) -> Sequence[str]:
    return [line.lower() for line in lines] if lowercase else lines


def _right_stripped(lines: Sequence[str], lowercase: bool) -> Sequence[str]:
    return [line.rstrip() for line in _cased(lines, lowercase)]


def _stripped(lines: Sequence[str], lowercase: bool) -> Sequence[str]:
    return [line.strip() for line in _cased(lines, lowercase)]


def _without_markup(lines: Sequence[str], lowercase: bool) -> Sequence[str]:
    """What `Tokenizer13a.__call__` does before its expressions; most lines have nothing to do."""
    lines = _cased(lines, lowercase)
    joined = "\0".join(lines)
    marks = [mark for mark in _MARKUP if mark in joined]
    marked = {i for mark in marks for i, line in enumerate(lines) if mark in line}
    return [_clean_13a(line.rstrip()) if i in marked else line for i, line in enumerate(lines)]


def _clean_13a(line: str) -> str:
    line = line.replace("<skipped>", "").replace("-\n", "").replace("\n", " ")
    return _unescape(line)


def _unescape(line: str) -> str:
    """Undo four entities, one after the other, as mteval does: `&amp;lt;` ends as `<`."""
    line = line.replace("&quot;", '"').replace("&amp;", "&")
    return line.replace("&lt;", "<").replace("&gt;", ">")


_ASCII_LOWER = {upper: upper + 32 for upper in range(ord("A"), ord("Z") + 1)}


def _mteval_13a(lines: Sequence[str], lowercase: bool) -> Sequence[str]:
    """`tokenization` of mteval-v13a.pl: entities first, then A to Z alone are lowered."""
    lines = _without_markup(lines, False)
    return [line.translate(_ASCII_LOWER) for line in lines] if lowercase else lines


def _mteval_intl(lines: Sequence[str], lowercase: bool) -> Sequence[str]:
    """`tokenization_international` of mteval-v14.pl, which undoes entities; sacreBLEU does not."""
    lines = [_unescape(line.replace("<skipped>", "")).replace("&apos;", "'") for line in lines]
    # Perl's lc knows no final sigma.
    return [line.replace("Σ", "σ").lower() for line in lines] if lowercase else lines


TOKENIZERS = {
    "13a": Rules(_without_markup, _kinds_13a),
    "zh": Rules(_stripped, _kinds_zh, padded=False),
    "intl": Rules(_right_stripped, _kinds_intl, padded=False),
    "none": Rules(_cased, _kinds),
    "char": Rules(_cased, partial(_kinds, alone=range(0x110000))),
    "chrf": Rules(_cased, partial(_kinds, mark=_PUNCTUATION)),
    "mteval-13a": Rules(_mteval_13a, _kinds_13a),
    "mteval-intl": Rules(_mteval_intl, _kinds_intl, padded=False),
}


@compiled
def _cut(
    points: Symbols,
    line_starts: Counts,
    kinds: Kinds,
    edge: int,
    begins: Counts,
    ends: Counts,
    starts: Counts,
) -> None:
    """Cut at white space and round characters that stand alone.

    A mark is cut off when `([^0-9])([.,])` finds it, or else when `([.,])([^0-9])` does. The first
    consumes the character before the mark, so that in a run of marks it finds every second one.
    The others of the run then stand between spaces, except a last one followed by a digit.

    Args:
        points: Code points of all lines.
        line_starts: Where each line begins.
        kinds: Kind of each code point.
        edge: Kind that the places before and after a line count as.
        begins: To be filled with where each word begins.
        ends: To be filled with where each word ends.
        starts: To be filled with the number of each line's first word.
    """
    words = 0
    for line in range(len(line_starts) - 1):
        last = line_starts[line + 1]
        inside = False  # a word whose end is not known yet
        before = edge
        found = False  # whether the character before is a mark that the first expression found
        for i in range(line_starts[line], last):
            kind = kinds[points[i]]
            alone = kind == ALONE or (kind == DASH and before == DIGIT)
            if kind == MARK:
                found = before < DIGIT and not (before == MARK and found)
                after = kinds[points[i + 1]] if i + 1 < last else edge
                alone = found or after < DIGIT
            before = kind
            if inside and (alone or kind == SPACE):
                ends[words] = i
                words += 1
                inside = False
            if alone:
                begins[words] = i
                ends[words] = i + 1
                words += 1
            elif not inside and kind != SPACE:
                begins[words] = i
                inside = True
        if inside:
            ends[words] = last
            words += 1
        starts[line + 1] = words


@compiled
def _cut_affixes(
    points: Symbols,
    line_starts: Counts,
    kinds: Kinds,
    begins: Counts,
    ends: Counts,
    starts: Counts,
) -> None:
    """Cut at white space, and one mark off the end of a word or else off its beginning.

    As `CHRF._remove_punctuation`, including that `(hi)` loses its closing bracket only.
    """
    words = 0
    for line in range(len(line_starts) - 1):
        last = line_starts[line + 1]
        begin = line_starts[line]
        for i in range(line_starts[line], last + 1):
            if i < last and kinds[points[i]] != SPACE:
                continue
            if i > begin:
                cut = i
                if i > begin + 1:
                    if kinds[points[i - 1]] == MARK:
                        cut = i - 1
                    elif kinds[points[begin]] == MARK:
                        cut = begin + 1
                begins[words] = begin
                ends[words] = cut
                words += 1
                if cut < i:
                    begins[words] = cut
                    ends[words] = i
                    words += 1
            begin = i + 1
        starts[line + 1] = words
