"""The surface of outputs: damaged letters, tokens, capitals, lengths, ends that are missing."""

from __future__ import annotations

import re
from collections.abc import Sequence

import numpy as np
from numpy.typing import NDArray

from sigtest.data.health.finding import Finding, numbered, stretch, whole
from sigtest.data.health.lines import Lines
from sigtest.data.health.symbols import points_of

LEADS = "\xc2\xc3\xd0\xd1\xd7\xd8\xd9\xe0\xe2\xe3\xe4\xe5\xe6\xe7\xe8\xe9"
LATIN = "[\u0080-\u00bf\u0152\u0153\u0160\u0161\u017d\u017e\u0192\u02c6\u02dc\u2013-\u2122]"
ALPHABET = "[\u0080-\u00bf\u0152-\u0192\u02c6\u02dc\u2013-\u2122]"
INDIC, KANA, HAN = (
    "[\u00a4-\u00b7].",
    "[\u0080-\u0083\u0192\u201a\u20ac].",
    "[\u0080-\u00bf\u2013-\u2122].",
)
MOJIBAKE = (  # what UTF-8's bytes become when they are read as Latin-1 or cp1252
    f"[{LEADS}](?:(?<=[\u00c2\u00c3]){LATIN}|(?<=\u00e2)[\u20ac\u0080]."
    f"|(?<=[\u00d0\u00d1]){ALPHABET}[\u00d0\u00d1]{ALPHABET}"
    f"|(?<=[\u00d7-\u00d9]){ALPHABET}[\u00d7-\u00d9]{ALPHABET}"
    f"|(?<=\u00e0){INDIC}\u00e0{INDIC}|(?<=\u00e3){KANA}\u00e3{KANA}"
    f"|(?<=[\u00e4-\u00e9]){HAN}[\u00e4-\u00e9]{HAN})"
)
ENTITY = r"&(?:amp|quot|lt|gt|apos|nbsp|#\d{2,5}|#x[0-9a-fA-F]{2,4});"
ESCAPE = r"\\u[0-9a-fA-F]{4}|\\x[0-9a-fA-F]{2}"
LOST_LETTERS = r"\w\?\w|(?:^|\s)\?(?:\w|\?|\s[^\W_A-Z])"
SUBWORDS = "@@ |@-@|\u2581|<unk>|</s>"
CONTROLS = "".join(map(chr, [*range(0x09), *range(0x0B, 0x20), *range(0x7F, 0xA0)]))
ACCENTS = "".join(map(chr, range(0x300, 0x370)))
ENDS = ".?!\u3002\uff01\uff1f\u2026:;\u0964\u061f\u06d4\u1362\u17d4\u104b\u0f0d"
CLOSING = " \"'\u201c\u201d\u2019\u00bb\u00ab\u300d\u300f)]}"
FEW = 5  # lines before something that may be chance is said
CUT_PART = 0.02
SHORT, LONG = 0.5, 2.0  # times the usual length
SHORT_PART = 0.02
LOOPED, PIECE = 0.5, 8  # share of pieces of so many characters that differ, in a line that loops
HASHED = 0x9E3779B97F4A7C15  # an odd number without order in its bits
LINE_BITS = 20  # of a hash that give way to the number of its line
GROWN = 1.3  # times the length of its reference that such a line has
LINE = 40  # characters of a reference from which lengths are compared
TOO_SHORT, TOO_LONG = 0.7, 1.5  # characters of an output for each of the reference
SPACED = 0.5  # share of marks with a blank before them, in tokenised text
JOINED = 0.1  # the same, in plain text
MARKS = ",.?!"
CASED = 0.3  # share of symbols that have capitals, in scripts that have them
ENOUGH = 20  # marks or blanks from which a share says something


DAMAGE = (  # what it is, lines from which it is said, a symbol of such lines, and what they match
    ("replacement characters (U+FFFD)", 1, "\ufffd", ""),
    ("UTF-8 read as another encoding", 2, LEADS, MOJIBAKE),
    ("control characters", 1, CONTROLS, ""),
    ("letters that became question marks", 3, "?", LOST_LETTERS),
    ("HTML entities", FEW, "&", ENTITY),
    ("escapes such as \\u00e9", 2, "\\", ESCAPE),
    ("pieces of words or tokens such as @@ or <unk>", FEW, "@\u2581<", SUBWORDS),
    ("accents apart from their letters (Unicode NFD)", FEW, ACCENTS, ""),
)


def find_damage(name: str, output: Lines, reference: Lines) -> list[Finding]:
    """Letters that were decoded wrongly or lost, and marks of other programs."""
    found: list[Finding] = []
    for what, least, marks, pattern in DAMAGE:
        lines = _damaged(output, marks, pattern)
        if len(lines) >= least and len(lines) > 2 * len(_damaged(reference, marks, pattern)):
            verb = "has" if len(lines) == 1 else "have"
            words = f"{verb} {what}"
            found += stretch("encoding", name, numbered(lines), len(output.lines), words)
    return found


def _damaged(text: Lines, marks: str, pattern: str) -> list[int]:
    """Lines that match; each has one of the marks, which are looked for first."""
    lines = text.having(marks)
    matches = re.compile(pattern).search if lines and pattern else bool
    return [i for i in lines if matches(text.lines[i])]


def find_tokens(name: str, output: Lines, reference: Lines) -> list[Finding]:
    """Blanks before marks, or between words that have none, on one side only."""
    ours, theirs = _spaced_marks(output), _spaced_marks(reference)
    what = None
    if ours is not None and theirs is not None:
        if ours >= SPACED and theirs <= JOINED:
            what = "is tokenised (blanks before marks), the references are not"
        elif theirs >= SPACED and ours <= JOINED:
            what = "is not tokenised, the references are (blanks before marks)"
    if what is None:
        own, right = _blanks(output), _blanks(reference)
        if own > 0.2 and right < 0.05:
            what = "has blanks between words or characters, the references have none"
        elif right > 0.2 and own < 0.05:
            what = "has no blanks between words or characters, the references have"
    return [] if what is None else whole("tokenised", name, f" {what}")


def _spaced_marks(text: Lines) -> float | None:
    """Share of marks with a blank before them."""
    marks = sum(text.counts[mark] for mark in MARKS)
    spaced = sum(text.sample.count(f" {mark}") for mark in MARKS)
    return spaced / marks if marks >= ENOUGH else None


def _blanks(text: Lines) -> float:
    return text.counts[" "] / len(text.sample) if len(text.sample) >= ENOUGH else 0.1


def find_case(name: str, output: Lines, reference: Lines) -> list[Finding]:
    """Small or capital letters only, where the references have both."""
    ours, theirs = _capitals(output), _capitals(reference)
    if ours is None or theirs is None:
        return []
    if theirs > 0.01 and ours < 0.1 * theirs:
        what = "has hardly any capital letters, the references have"
    elif theirs < 0.5 and ours > 0.9:
        what = "has capital letters only, the references have not"
    elif ours > 0.01 and theirs < 0.1 * ours:
        what = "has capital letters, the references have hardly any"
    else:
        return []
    return whole("case", name, f" {what}")


def _capitals(text: Lines) -> float | None:
    """Share of capitals among the letters that have them, where these are enough."""
    upper = sum(count for symbol, count in text.counts.items() if symbol.isupper())
    lower = sum(count for symbol, count in text.counts.items() if symbol.islower())
    return upper / (upper + lower) if upper + lower >= CASED * len(text.sample) else None


def find_lengths(name: str, output: Lines, reference: Lines) -> list[Finding]:
    """An output, or lines of it, far shorter or longer than the references; ends cut off."""
    total = len(output.lines)
    judged = (reference.lengths > 0) & (output.lengths > 0)
    if not judged.any():
        return []
    ratio = output.lengths[judged].sum() / reference.lengths[judged].sum()
    found: list[Finding] = []
    if not TOO_SHORT <= ratio <= TOO_LONG:
        found += whole("length", name, f" has {ratio:.2f} characters for each of the references")
    segments = numbered(_cut_lines(output, reference, ratio))
    if len(segments) >= max(FEW, CUT_PART * total):
        words = "end early, without the mark that ends a sentence"
        found += stretch("truncated", name, segments, total, words)
    far = _far_lines(name, output, reference, ratio, set(segments))
    said = any(finding.kind == "length" for finding in far)
    return [*found, *far, *([] if said else _looping_lines(name, output, reference))]


def _looping_lines(name: str, output: Lines, reference: Lines) -> list[Finding]:
    """Lines that say the same over and over, where their references do not."""
    grown = (output.lengths >= LINE) & (output.lengths > GROWN * reference.lengths)
    places = np.flatnonzero(grown & (reference.lengths > 0))
    own, right = (varieties([text.lines[i] for i in places]) for text in (output, reference))
    segments = numbered(places[(own < LOOPED) & (own < LOOPED * right)])
    if len(segments) < FEW:
        return []
    words = "repeat the same words on and on"
    return stretch("length", name, segments, len(output.lines), words)


def varieties(lines: Sequence[str]) -> NDArray[np.float64]:
    """(n,) the share of pieces of each line that differ, by hashes; 1 where there is no piece."""
    hashes = points_of("".join(lines)).astype(np.uint64)
    for step in (1, 2, 4):  # of two symbols, of four, of eight
        hashes = hashes[:-step] * np.uint64(pow(HASHED, step, 1 << 64)) + hashes[step:]
    hashes *= np.uint64(HASHED)  # for the first bits to tell the last symbols apart, too
    lengths = np.fromiter(map(len, lines), np.int64, len(lines))
    pieces = np.maximum(lengths - PIECE + 1, 0)
    line = np.repeat(np.arange(len(lines)), pieces)
    ahead = np.cumsum(lengths) - lengths - (np.cumsum(pieces) - pieces)
    found = hashes[np.arange(len(line)) + ahead[line]] >> np.uint64(LINE_BITS)
    found += line.astype(np.uint64) << np.uint64(64 - LINE_BITS)
    found.sort()
    first = np.append(True, found[1:] != found[:-1])[: len(found)]
    differ = np.bincount(line[np.flatnonzero(first)], minlength=len(lines))
    return np.where(pieces > 0, differ / np.maximum(pieces, 1), 1.0)


def _cut_lines(output: Lines, reference: Lines, ratio: float) -> list[int]:
    """Lines that are shorter than usual and do not end like their references."""
    usual = np.clip(ratio, TOO_SHORT, 1.2)
    short = (output.lengths < 0.8 * usual * reference.lengths) & (reference.lengths >= LINE)
    return [
        int(i)
        for i in np.flatnonzero(short & (output.lengths > 0))
        if reference.lines[i].rstrip(CLOSING)[-1:] in ENDS
        and output.lines[i].rstrip(CLOSING)[-1:] not in ENDS
    ]


def _far_lines(
    name: str, output: Lines, reference: Lines, ratio: float, said: set[int]
) -> list[Finding]:
    """Lines half or twice as long as they should be."""
    expected = np.clip(ratio, TOO_SHORT, TOO_LONG) * reference.lengths
    judged = (reference.lengths >= LINE) & (output.lengths > 0)
    found: list[Finding] = []
    for kind, what, far in (
        ("truncated", "are less than half as long as the references suggest",
         output.lengths < SHORT * expected),
        ("length", "are more than twice as long as the references suggest",
         output.lengths > LONG * expected),
    ):  # fmt: skip
        segments = tuple(s for s in numbered(np.flatnonzero(judged & far)) if s not in said)
        if len(segments) >= max(FEW, SHORT_PART * len(output.lines)):
            found += stretch(kind, name, segments, len(output.lines), what)
    return found
