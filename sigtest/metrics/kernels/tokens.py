"""Lines as sequences of numbers: where words begin and end, and which words are equal.

sacreBLEU's and mteval's tokenizers are chains of regular expressions that put spaces into the text.
Where the spaces go depends on each character's kind and on its neighbours alone, so one pass over
the code points decides it. The tests compare the outcome with the expressions themselves.

Words have numbers, equal if and only if the words are equal. Only words of the references need
numbers; a hypothesis' other words match nothing.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from functools import cache
from typing import NamedTuple, TypeAlias, TypeVar, cast

import numpy as np
import numpy.typing as npt

from sigtest.arrays import Counts, Flags
from sigtest.compiled import compiled
from sigtest.data.text import Text

T = TypeVar("T")
Symbols: TypeAlias = npt.NDArray[np.int32]
Kinds: TypeAlias = npt.NDArray[np.uint8]

# A symbol that equals none, itself included: between references, and for words they lack.
SEPARATOR = -1

# What `str.isspace` and `str.split` call white space. A test compares it with this Python's.
WHITE_SPACE = (
    *range(0x09, 0x0E),
    *range(0x1C, 0x21),
    *(0x85, 0xA0, 0x1680),
    *range(0x2000, 0x200B),
    *(0x2028, 0x2029, 0x202F, 0x205F, 0x3000),
)
SPACES = np.zeros(0x110000, np.bool_)  # by code point
SPACES[list(WHITE_SPACE)] = True

# Kinds of characters. ALONE is a token by itself, DASH is one after a digit, MARK is one unless
# digits hold it (3.14) or the line ends there; DIGIT and what follows it in this list hold a mark.
LETTER, SPACE, ALONE, MARK, DASH, DIGIT, NOTHING = range(7)

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
_ENTITIES = (("&quot;", '"'), ("&amp;", "&"), ("&lt;", "<"), ("&gt;", ">"))
_ASCII_LOWER = {upper: upper + 32 for upper in range(ord("A"), ord("Z") + 1)}

TOKENIZERS = ("13a", "zh", "intl", "none", "blank", "char", "chrf", "mteval-13a", "mteval-intl")
UNPADDED = ("zh", "intl", "mteval-intl")  # where marks at a line's ends stand next to nothing


class Sequences(NamedTuple):
    """Consecutive sequences in one array: the i-th is `symbols[starts[i] : starts[i + 1]]`.

    Attributes:
        symbols: Code points, or numbers of words.
        starts: (sequences + 1,) where each begins.
    """

    symbols: Symbols
    starts: Counts

    @property
    def lengths(self) -> Counts:
        """(sequences,) number of symbols of each."""
        return np.diff(self.starts)


class Spans(NamedTuple):
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


def boundaries(lengths: Counts) -> Counts:
    """(n + 1,) where consecutive sequences of these lengths begin, and where the last ends."""
    return np.concatenate([[0], np.cumsum(lengths)])


def code_points(lines: Sequence[str]) -> Sequences:
    """One sequence of code points a line."""
    data = "".join(lines).encode("utf-32-le", "surrogatepass")
    lengths = np.fromiter(map(len, lines), np.int64, count=len(lines))
    return Sequences(np.frombuffer(data, "<u4").astype(np.int32), boundaries(lengths))


def shared(texts: Sequence[Text], key: object, derive: Callable[[], T]) -> T:
    """What `derive` makes of these texts under this key; made once, kept with the first text.

    Args:
        texts: All texts that it depends on.
        key: Everything else that it depends on.
        derive: Makes it.
    """
    known = texts[0].derived
    whole = (key, *texts[1:])
    if whole not in known:
        known[whole] = derive()
    return cast(T, known[whole])


def interleaved(texts: Sequence[Text]) -> tuple[list[str], Flags]:
    """References segment by segment.

    Returns:
        n * r lines, the references of a segment next to each other, empty where one is missing;
        and (n, r) False where one is missing.
    """
    lines = [
        line for segment in zip(*(text.lines for text in texts), strict=True) for line in segment
    ]
    present = np.array([line is not None for line in lines]).reshape(-1, len(texts))
    return [line if line is not None else "" for line in lines], present


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
        text = code_points(self.cleaned(lines))
        kinds = kinds_of(self.name.removeprefix("mteval-"))
        if self.name == "chrf":
            return Spans(text.symbols, *_cut_affixes(text, kinds))
        edge = NOTHING if self.name in UNPADDED else SPACE
        return Spans(text.symbols, *_cut(text, kinds, edge))

    def cleaned(self, lines: Sequence[str]) -> Sequence[str]:
        """Lines as they are before they are cut.

        `tokenization` of mteval-v13a.pl undoes entities first and lowers A to Z alone;
        `tokenization_international` of mteval-v14.pl undoes entities, which sacreBLEU's does not.
        """
        if self.name == "mteval-13a":
            lines = _without_markup(lines)
            return [line.translate(_ASCII_LOWER) for line in lines] if self.lowercase else lines
        if self.name == "mteval-intl":
            lines = [
                undo_entities(line.replace("<skipped>", "")).replace("&apos;", "'")
                for line in lines
            ]
            # Perl's lc knows no final sigma.
            return [line.replace("Σ", "σ").lower() for line in lines] if self.lowercase else lines
        cased = [line.lower() for line in lines] if self.lowercase else lines
        if self.name == "13a":
            return _without_markup(cased)
        if self.name == "intl":
            return [line.rstrip() for line in cased]
        return [line.strip() for line in cased] if self.name == "zh" else cased


def undo_entities(text: str) -> str:
    """Undo four entities, one after the other, as mteval does: `&amp;lt;` ends as `<`."""
    for entity, character in _ENTITIES:
        text = text.replace(entity, character)
    return text


def _without_markup(lines: Sequence[str]) -> Sequence[str]:
    """What `Tokenizer13a.__call__` does before its expressions; most lines have nothing to do."""
    joined = "\0".join(lines)
    marks = [mark for mark in _MARKUP if mark in joined]
    marked = {i for mark in marks for i, line in enumerate(lines) if mark in line}
    return [
        undo_entities(line.rstrip().replace("<skipped>", "").replace("-\n", "").replace("\n", " "))
        if i in marked
        else line
        for i, line in enumerate(lines)
    ]


@cache
def kinds_of(tokenizer: str) -> Kinds:
    """(0x110000,) kind of each code point: letters, but for those that the tokenizer names."""
    kinds = np.full(0x110000, ALONE if tokenizer == "char" else LETTER, np.uint8)
    if tokenizer in ("13a", "zh"):
        kinds[[point for point in range(128) if _ALONE_13A.match(chr(point))]] = ALONE
        kinds[list(b".,")], kinds[ord("-")], kinds[list(b"0123456789")] = MARK, DASH, DIGIT
    if tokenizer == "zh":
        for first, last in _CHINESE:
            kinds[first : last + 1] = ALONE
    if tokenizer == "chrf":
        kinds[list(_PUNCTUATION)] = MARK
    if tokenizer == "intl":
        import regex  # which sacreBLEU asks, too: Unicode versions differ

        every = "".join(map(chr, range(0x110000)))
        for kind, category in ((ALONE, "S"), (MARK, "P"), (DIGIT, "N")):
            kinds[list(map(ord, regex.findall(rf"\p{{{category}}}", every)))] = kind
    kinds[[ord(" ")] if tokenizer == "blank" else list(WHITE_SPACE)] = SPACE
    return kinds


@compiled
def _cut(text: Sequences, kinds: Kinds, edge: int) -> tuple[Counts, Counts, Counts]:
    """Cut at white space and round characters that stand alone.

    A mark is cut off when `([^0-9])([.,])` finds it, or else when `([.,])([^0-9])` does. The first
    consumes the character before the mark, so that in a run of marks it finds every second one.
    The others of the run then stand between spaces, except a last one followed by a digit.

    Args:
        text: Code points of all lines.
        kinds: Kind of each code point.
        edge: Kind that the places before and after a line count as.

    Returns:
        Where each word begins, where each ends, and the number of each line's first word.
    """
    points, line_starts = text.symbols, text.starts
    begins = np.empty(len(points), np.int64)
    ends = np.empty(len(points), np.int64)
    starts = np.zeros(len(line_starts), np.int64)
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
    return begins[:words].copy(), ends[:words].copy(), starts


@compiled
def _cut_affixes(text: Sequences, kinds: Kinds) -> tuple[Counts, Counts, Counts]:
    """Cut at white space, and one mark off the end of a word or else off its beginning.

    As `CHRF._remove_punctuation`, including that `(hi)` loses its closing bracket only.
    """
    points, line_starts = text.symbols, text.starts
    begins = np.empty(len(points), np.int64)
    ends = np.empty(len(points), np.int64)
    starts = np.zeros(len(line_starts), np.int64)
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
    return begins[:words].copy(), ends[:words].copy(), starts


class Vocabulary:
    """All references of a test set, cut into words. A word's number is where it first occurs.

    Attributes:
        lines: Numbers of words, one sequence a line: the references of a segment next to each
            other.
        present: (n, r) False where a reference is missing.
    """

    def __init__(self, spans: Spans, present: Flags) -> None:
        self.present = present
        self._spans = spans
        roomy = np.full(2 * len(spans.begins) + 1, SEPARATOR, np.int64)
        self.lines = Sequences(_numbers(spans, roomy, spans, True), spans.starts)
        taken = roomy[roomy >= 0]
        # hash * 2**32 + number, or -1; small, to stay in the cache
        self._entries = np.full(3 * len(taken) + 1, SEPARATOR, np.int64)
        _enter(taken, self._entries)

    def numbers(self, spans: Spans) -> Sequences:
        """One sequence of numbers a line; words that the references lack are separators."""
        return Sequences(_numbers(self._spans, self._entries, spans, False), spans.starts)

    @property
    def lengths(self) -> Counts:
        """(n, r) words of each reference; 0 where it is missing."""
        return self.lines.lengths.reshape(self.present.shape)

    def segments(self) -> Sequences:
        """One sequence a segment: its references, each followed by a separator."""
        count = self.present.size
        places = np.arange(len(self.lines.symbols))
        places += np.repeat(np.arange(count), self.lines.lengths)
        symbols = np.full(len(places) + count, SEPARATOR, np.int32)
        symbols[places] = self.lines.symbols
        starts = self.lines.starts + np.arange(count + 1)
        return Sequences(symbols, starts[:: self.present.shape[1]].copy())


def reference_words(references: Sequence[Text], tokenizer: Tokenizer) -> Vocabulary:
    """The words of all references of a test set."""

    def cut() -> Vocabulary:
        lines, present = interleaved(references)
        return Vocabulary(tokenizer.spans(lines), present)

    return shared(references, ("words", tokenizer), cut)


def hypothesis_words(
    references: Sequence[Text], hypotheses: Text, tokenizer: Tokenizer
) -> Sequences:
    """The words of hypotheses, by the numbers that they have in the references."""

    def cut() -> Sequences:
        words = reference_words(references, tokenizer)
        return words.numbers(tokenizer.spans(hypotheses.complete))

    return shared((hypotheses, *references), ("numbers", tokenizer), cut)


@compiled
def _numbers(known: Spans, entries: Counts, spans: Spans, learn: bool) -> Symbols:
    """Each word's number; a new word has its own place or, unless we `learn`, -1.

    Code points of a word are mixed into 31 bits. Words whose hashes agree are compared in full, so
    that an accident of hashing changes nothing.
    """
    numbers = np.empty(len(spans.begins), np.int32)
    for word in range(len(numbers)):
        begin, length = spans.begins[word], spans.ends[word] - spans.begins[word]
        hashed = 0
        for i in range(begin, begin + length):
            point = int(spans.points[i])
            hashed = ((hashed ^ point) * 0x01000193 + (hashed >> 15)) & 0x7FFFFFFF
        slot = (hashed * len(entries)) >> 31
        number = -1
        while entries[slot] >= 0 and number < 0:
            if entries[slot] >> 32 == hashed:
                other = entries[slot] & 0xFFFFFFFF
                first = known.begins[other]
                same = 0
                if known.ends[other] - first == length:
                    while (
                        same < length and known.points[first + same] == spans.points[begin + same]
                    ):
                        same += 1
                if same == length:
                    number = other
            slot = slot + 1 if slot + 1 < len(entries) else 0
        if learn and number < 0:
            number = word
            entries[slot] = hashed << 32 | word
        numbers[word] = number
    return numbers


@compiled
def _enter(taken: Counts, entries: Counts) -> None:
    """Put the entries of one hash table into another."""
    for entry in taken:
        slot = ((entry >> 32) * len(entries)) >> 31
        while entries[slot] >= 0:
            slot = slot + 1 if slot + 1 < len(entries) else 0
        entries[slot] = entry
